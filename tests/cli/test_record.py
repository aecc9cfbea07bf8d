"""``--record``: every frame both ways, and no key anywhere."""

from __future__ import annotations

import asyncio
import json
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.support.commands import DUETTO, Duetto, Inside, clean_environment, sentence
from tests.support.composed import composed
from tests.support.nasty_server import Nasty, Refusal, nasty
from tests.support.seat import Seat
from tests.support.server_words import error, spoken, turn
from tui.cli.practice import ensure
from tui.cli.replay import replay_command
from tui.cli.replay_session import ReplaySession
from tui.core.conversation import BlockKind
from tui.core.wire.recording import read
from tui.effects import recorder as recorder_module
from tui.engine import intents
from tui.engine.session import Session
from tui.settings import RehearsalSettings, Settings, parse

KEY = "correct-horse-battery-staple"
HEADER = "extra-header-secret"
QUERY = "query/secret value"


def config(url: str) -> str:
    return f"""
[endpoints.here]
url = "{url}"
key_env = "MODEL_PASS"
key_header = "api-key"
headers = {{ "X-Pass" = "{HEADER}", "X-Team" = "blue" }}
query = {{ sig = "{QUERY}" }}
[models.fast]
name = "m"
"""


async def recorded(
    folder: Path, server: Nasty, *arguments: str, code: int = 0
) -> tuple[list[dict[str, Any]], str]:
    """``duetto exec --record`` over that server: the lines of the recording, and all output."""
    (folder / "work").mkdir()
    file = folder / "r.jsonl"
    async with nasty(server) as url:
        (folder / "config.toml").write_text(config(url))
        process = await asyncio.create_subprocess_exec(
            *DUETTO, "exec", "--debug", f"my key is {KEY}, is it?", "-C", str(folder / "work"),
            "--config", str(folder / "config.toml"), "--record", str(file), *arguments,
            env=clean_environment(folder / "home") | {"MODEL_PASS": KEY},
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        async with asyncio.timeout(60):
            out, _ = await process.communicate()
    assert process.returncode == code, out
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    log = (folder / "home" / "state" / "duetto.log").read_text()
    for text in (file.read_text(), log):
        for secret in (KEY, HEADER, QUERY, "query%2Fsecret", "secret%20value"):
            assert secret not in text
    assert "Traceback" not in log + out.decode()
    return [json.loads(line) for line in file.read_text().splitlines()], out.decode()


@pytest.mark.slow
async def test_a_turn_is_recorded_without_keys_and_plays_back(tmp_path: Path) -> None:
    said = f"yes, it is {KEY}"
    server = Nasty([turn(1, *spoken(said))])
    lines, out = await recorded(tmp_path, server)
    assert said in out
    (headers,) = server.headers
    assert headers["api-key"] == KEY
    assert headers["X-Pass"] == HEADER
    assert "Authorization" not in headers

    assert [line["conn"] for line in lines] == [0] + [lines[1]["conn"]] * (len(lines) - 1)
    frames = [line["frame"] for line in lines]
    assert frames[0]["roles"]["fast"]["model"] == "m"
    dialled = frames[1]
    assert dialled["_meta"] == "handshake"
    assert dialled["headers"] == {
        "X-Pass": "[key]**************",
        "X-Team": "blue",
        "api-key": "[key]",
    }
    assert "sig=[key]" in dialled["url"]
    types = [frame.get("type", frame.get("_meta")) for frame in frames]
    assert types[2:5] == ["handshake_response", "response.create", "response.created"]
    assert types[-2:] == ["response.completed", "close"]
    assert [line["t"] for line in lines] == sorted(line["t"] for line in lines)

    arguments = [str(tmp_path / "r.jsonl"), "--text"]
    shown = await asyncio.to_thread(CliRunner().invoke, replay_command, arguments)
    assert "> my key is [key]" in shown.output
    assert "yes, it is [key]" in shown.output


@pytest.mark.slow
async def test_a_server_that_repeats_the_key_and_a_refusal(tmp_path: Path) -> None:
    script = [[error(400, "invalid_request_error", f"Incorrect API key provided: {KEY}")]]
    lines, _ = await recorded(tmp_path, Nasty(script), code=1)
    assert any(line["frame"].get("type") == "error" for line in lines)
    (tmp_path / "two").mkdir()
    refusing = Nasty([turn(1)], refusals=[Refusal(401)] * 9)
    lines, _ = await recorded(tmp_path / "two", refusing, code=3)
    rejected = [
        line["frame"] for line in lines if line["frame"].get("_meta") == "handshake_rejected"
    ]
    assert "401" in rejected[0]["reason"]


def test_nothing_is_overwritten_and_nothing_started(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    inside = Inside(tmp_path, clean_environment(tmp_path / "home"))
    for file, words in (
        ("mine", "is there already"),
        ("no/such/r", "no such file"),
        (".", "cannot"),
    ):
        assert words in sentence(inside.run("exec", "hi", "--record", file), 2)
        assert words in sentence(inside.run("--record", file, "exec", "hi"), 2)
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.mark.slow
@pytest.mark.parametrize("as_json", [False, True])
def test_a_full_disk_does_not_touch_the_turn(tmp_path: Path, as_json: bool) -> None:
    """The shell limits the size of files, which is what a full disk looks like."""
    duetto = Duetto(tmp_path, clean_environment(tmp_path / "home"))
    (tmp_path / "home" / "state").mkdir(parents=True)
    flag = "--json" if as_json else "--debug"
    ran = duetto.shell(
        f'ulimit -f 16; exec "$@" exec "list your exercises" --record r.jsonl {flag}'
    )
    assert ran.returncode == 0, ran.stderr
    told = (ran.stdout if as_json else ran.stderr).decode()
    assert told.count("The recording stopped") == 1
    assert "Traceback" not in told
    assert (tmp_path / "r.jsonl").stat().st_size <= 16 * 1024


async def test_a_recording_that_fails_warns_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_module, "FLUSH_S", 0.001)
    async with nasty(Nasty([turn(1, *spoken("fine"))])) as url:
        settings, keys = parse(config(url), "config.toml"), {"MODEL_PASS": KEY}
        file = tmp_path / "r.jsonl"
        async with composed(tmp_path, settings, environ=keys, record=file) as (seat, composition):
            recorder = composition._recorder
            assert recorder is not None
            recorder._stop("the disk is gone")
            recorder._stop("the disk is gone")
            assert await seat.ask("go") == "fine"
            assert [t.what for t in seat.troubles] == ["The recording stopped"]
            assert [t.severity for t in seat.troubles] == ["warning"]


@pytest.mark.slow
async def test_our_own_recording_plays_back_to_the_same_conversation(tmp_path: Path) -> None:
    """Edits, Esc half-way, another prompt, another role: over the rehearsal, then without it."""
    settings = Settings(rehearsal=RehearsalSettings(fast_tokens_s=400, mistakes=0.0))
    root, file = ensure(tmp_path / "data"), tmp_path / "r.jsonl"
    async with composed(root, settings, record=file) as (seat, _):
        session = seat.session
        session.submit(intents.Prompt("make the cache safe for threads"))
        await seat.until(lambda: session.workspace.hunks and session.status.busy)
        session.submit(intents.Interrupt())
        await seat.idle()
        await seat.ask("let slug take a max_length")
        session.submit(intents.Accept())
        session.submit(intents.Switch("deep"))
        session.submit(intents.Throttle(10_000))
        await seat.ask("hello")
        happened = blocks(session), stages(session)
    with file.open("rb") as opened:
        stage = ReplaySession(read(opened), 0)
    try:
        seat = Seat(stage.session)
        await stage.play()
        await seat.idle()
        assert (blocks(stage.session), stages(stage.session)) == happened
        assert [kind for kind, *_ in happened[0]].count("user") == 3
    finally:
        await stage.close()


def blocks(session: Session) -> list[tuple[str, str, str]]:
    """The conversation without its figures."""
    figures = (BlockKind.NOTE, BlockKind.PACE)
    kept = [block for block in session.transcript.blocks if block.kind not in figures]
    return [(block.kind.value, block.state, block.text) for block in kept]


def stages(session: Session) -> list[tuple[str, str]]:
    return [(hunk.path, hunk.stage.value) for hunk in session.workspace.hunks]
