"""Recordings, ours and others', played back: nothing is dialled, nothing breaks."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.support.commands import DUETTO, Inside, clean_environment, sentence
from tests.support.recordings import FOLDER, names
from tests.support.seat import Seat
from tests.support.server_words import (
    called,
    completed,
    created,
    delta,
    done,
    function_call,
    message,
    patch_call,
    spoken,
    turn,
)
from tests.support.tables import case
from tests.support.terminal import Terminal
from tests.support.turns import CACHE, PATCH
from tui.cli.replay import replay_command
from tui.cli.replay_session import ENDED, STRANGER, ReplaySession
from tui.core.conversation import BlockKind, user_item
from tui.core.files import file_block
from tui.core.wire.recording import read
from tui.engine import intents

OPEN = "Open files, as they stand in the editor now:\n"
QUOTED = OPEN + file_block("cache.py", CACHE, state="active", cursor="2:1")


class Tape:
    """A recording in the making."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._t = 0.0

    def asked(self, *texts: str, items: Any = (), **fields: Any) -> Tape:
        """A request with these messages of the user."""
        given = [*items, *map(user_item, texts)]
        return self.frame(
            "c2s", {"type": "response.create", "model": "m", "input": given, **fields}
        )

    def said(self, *frames: dict[str, Any], wait_s: float = 0.001) -> Tape:
        for frame in frames:
            self.frame("s2c", frame, wait_s)
        return self

    def frame(self, direction: str, frame: dict[str, Any], wait_s: float = 0.001) -> Tape:
        self._t += wait_s
        entry = {"dir": direction, "t": self._t, "conn": 1, "frame": frame}
        self._lines.append(json.dumps(entry))
        return self

    def stage(self, speed: float = 0) -> ReplaySession:
        return ReplaySession(read(line.encode() for line in self._lines), speed)

    def file(self, folder: Path) -> Path:
        file = folder / "r.jsonl"
        file.write_text("\n".join(self._lines))
        return file


@asynccontextmanager
async def seated(stage: ReplaySession) -> AsyncIterator[Seat]:
    try:
        yield Seat(stage.session)
    finally:
        await stage.close()


def printed(file: Path, *arguments: str) -> str:
    result = CliRunner().invoke(replay_command, [str(file), "--text", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_every_recording_of_other_clients_plays(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in names():
        with case(name):

            def no_dial(*arguments: object) -> None:
                raise AssertionError("a replay dials nothing")

            monkeypatch.setattr(socket.socket, "connect", no_dial)
            said = printed(FOLDER / name)
            refused = "handshake_4" in name or "handshake_5" in name
            assert said.startswith("> ") != refused
            assert [record for record in caplog.records if record.levelname == "ERROR"] == []
            texts = [
                part["text"]
                for line in (FOLDER / name).read_text().splitlines()
                if (frame := json.loads(line)["frame"]).get("type") == "response.output_text.done"
                for part in [frame]
            ]
            shown = [text for text in texts if text.strip() in said]
            assert bool(shown) == bool(texts)


def test_an_answer_that_broke_is_shown_as_cut_and_then_whole() -> None:
    said = printed(FOLDER / "exec_close1011_gpt55.jsonl")
    assert said.index("(cut)") < said.index("trying again") < said.index("Hello from the fake")
    assert said.count("> CLOSE1011 please") == 1


async def test_edits_land_in_the_files_that_were_quoted() -> None:
    tape = Tape().asked(QUOTED, "make it safe").said(*turn(1, *called(patch_call(PATCH))))
    stage = tape.stage()
    async with seated(stage) as seat:
        await stage.play()
        await seat.idle()
        (hunk,) = seat.session.workspace.hunks
        assert hunk.decidable
        assert seat.session.status.active_path == "cache.py"
        assert (stage.root / "cache.py").read_text() == CACHE
        root = stage.root
    assert not root.exists()


async def test_a_file_is_as_the_next_request_says_it_was() -> None:
    """The recorded user accepted, and edited: the replay has it from the quotation."""
    later = OPEN + file_block("cache.py", "# all new\n", state="active")
    tape = Tape().asked(QUOTED, "one").said(*turn(1, *called(patch_call(PATCH))))
    output = {"type": "custom_tool_call_output", "call_id": "call_1", "output": "ok"}
    tape.asked(items=[output]).said(*turn(2, *spoken("done")))
    tape.asked(later, "two").said(*turn(3, *spoken("fine")))
    stage = tape.stage()
    async with seated(stage) as seat:
        await stage.play()
        await seat.idle()
        assert seat.session.workspace.buffers["cache.py"].text() == "# all new\n"
        assert seat.said() == "done\nfine"


async def test_a_file_that_a_tool_read_is_there_from_the_start() -> None:
    read_file = function_call("read_file", json.dumps({"path": "cache.py"}))
    output = {"type": "function_call_output", "call_id": "call_1"}
    tape = Tape().asked("look").said(*turn(1, *called(read_file)))
    tape.asked(items=[{**output, "output": file_block("cache.py", CACHE)}])
    tape.said(*turn(2, *spoken("seen")))
    stage = tape.stage()
    async with seated(stage) as seat:
        await stage.play()
        await seat.idle()
        assert seat.said() == "seen"
        tools = [b for b in seat.session.transcript.blocks if b.kind is BlockKind.TOOL]
        assert [block.text for block in tools] == [f"{CACHE.count(chr(10))} lines"]


@pytest.mark.parametrize("path", ["../out.py", "/tmp/out.py", "~/out.py", ".git/config", "a/../.."])
async def test_nothing_is_laid_out_elsewhere(path: str, tmp_path: Path) -> None:
    quoted = OPEN + file_block(path, "stolen", state="active")
    stage = Tape().asked(quoted, "hi").said(*turn(1, *spoken("fine"))).stage()
    async with seated(stage) as seat:
        await stage.play()
        assert await seat.idle() == "fine"
        assert list(stage.root.iterdir()) == []
        assert not (stage.root.parent / "out.py").exists()


async def test_nothing_is_run() -> None:
    stage = Tape().asked(QUOTED, "hi").said(*turn(1, *spoken("fine"))).stage()
    async with seated(stage) as seat:
        await stage.play()
        await seat.idle()
        seat.session.submit(intents.RunCommand("touch ran"))
        await seat.until(lambda: not seat.session.status.running)
        assert not (stage.root / "ran").exists()


@pytest.mark.slow
async def test_the_viewer_may_press_esc_and_the_rest_plays_on() -> None:
    long = [delta("word ") for _ in range(50)]
    tape = Tape().asked("one").said(created("r1"), *long, wait_s=0.05)
    tape.said(done(message("word " * 50)), completed("r1"))
    tape.asked("two").said(*turn(2, *spoken("fine")))
    stage = tape.stage(speed=1.0)
    async with seated(stage) as seat:
        playing = asyncio.create_task(stage.play())
        await seat.until(lambda: "word" in seat.said())
        seat.session.submit(intents.Interrupt())
        await seat.until(lambda: seat.session.status.outcome == "interrupted")
        stopped = seat.said()
        async with asyncio.timeout(60):
            await playing
        await seat.idle()
        assert 0 < stopped.count("word") < 50
        assert seat.said() == f"{stopped}\nfine"


@pytest.mark.parametrize("when", ["before it", "after it"])
async def test_what_the_viewer_types_is_sent_nowhere(when: str) -> None:
    stage = Tape().asked("one").said(*turn(1, *spoken("fine"))).stage()
    async with seated(stage) as seat:
        if when == "after it":
            await stage.play()
            await seat.idle()
        assert (await seat.ask("and I?")).endswith(STRANGER)
        if when == "before it":
            await stage.play()
            assert (await seat.idle()).endswith("fine")


async def test_a_recording_that_ends_mid_answer_ends_well() -> None:
    stage = Tape().asked("one").said(created("r1"), delta("half")).stage()
    async with seated(stage) as seat:
        await stage.play()
        assert await seat.idle() == "half"
        assert seat.session.status.outcome == "interrupted"
    broken = Tape().asked("one").said(created("r1"), delta("half"))
    stage = broken.frame("s2c", {"_meta": "close", "code": 1011, "reason": "oops"}).stage()
    async with seated(stage) as seat:
        await stage.play()
        assert await seat.idle() == f"half\n{ENDED}"
        assert seat.texts(BlockKind.TEXT, "failed") == ["half"]
        assert seat.session.status.outcome == "completed"


async def test_the_speed_divides_recorded_time() -> None:
    stage = (
        Tape().asked("one").said(created("r1"), delta("a"), completed("r1"), wait_s=0.4).stage(4)
    )
    async with seated(stage) as seat:
        began = time.monotonic()
        await stage.play()
        await seat.idle()
        assert time.monotonic() - began >= 0.28


def test_broken_lines_are_counted(tmp_path: Path) -> None:
    file = Tape().asked("one").said(*turn(1, *spoken("fine"))).file(tmp_path)
    file.write_text(f"not json\n{file.read_text()}\n{{}}\n")
    result = CliRunner().invoke(replay_command, [str(file), "--text"])
    assert "2 lines are not of a recording" in result.stderr
    assert "fine" in result.stdout


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"\0\xff" * 99, "no recorded frames"),
        (b"{}", "no"),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "x").write_bytes(content)
    inside = Inside(tmp_path, clean_environment(tmp_path / "home"))
    assert words in sentence(inside.run("replay", "x", "--text"), 2)


def test_wrong_usage_is_one_sentence(tmp_path: Path) -> None:
    inside = Inside(tmp_path, clean_environment(tmp_path / "home"))
    file = Tape().asked("one").said(*turn(1, *spoken("fine"))).file(tmp_path)
    assert "no recording" in sentence(inside.run("replay", "missing", "--text"), 2)
    assert "is not a file" in sentence(inside.run("replay", ".", "--text"), 2)
    for speed in ("fast", "-1", "nan", "inf"):
        ran = inside.run("replay", file, "--text", "--speed", speed)
        assert "is not a speed" in sentence(ran, 2)
    assert "needs a terminal" in sentence(inside.run("replay", file), 2)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_no_workspace_behind(tmp_path: Path, number: signal.Signals) -> None:
    tape = Tape().asked("one").said(*turn(1, *spoken("fine")))
    file = tape.asked("two").said(created("r2"), wait_s=500.0).file(tmp_path)
    environment = clean_environment(tmp_path / "home") | {"TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [*DUETTO, "replay", str(file), "--text", "--speed", "1"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        while b"fine" not in process.stdout.readline():
            assert process.poll() is None
        assert list(tmp_path.glob("duetto-replay-*"))
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert b"Traceback" not in errors
    assert not list(tmp_path.glob("duetto-replay-*"))


@pytest.mark.slow
def test_it_plays_into_the_app(tmp_path: Path) -> None:
    tape = Tape().asked(QUOTED, "make it safe").said(*turn(1, *called(patch_call(PATCH))))
    output = {"type": "custom_tool_call_output", "call_id": "call_1", "output": "ok"}
    file = tape.asked(items=[output]).said(*turn(2, *spoken("All done."))).file(tmp_path)
    command = [*DUETTO, "replay", str(file), "--speed", "max"]
    environment = clean_environment(tmp_path / "home")
    with Terminal(command, env=environment, cwd=tmp_path) as term:
        term.wait_for("All done.")
        assert "cache.py" in term.text
        term.leave()
