from __future__ import annotations

import asyncio
import json
import os
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from tui.core.wire.masking import Mask
from tui.effects import recorder as module
from tui.effects.recorder import Recorder, Tracer
from tui.errors import FileRefused


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


async def test_frames_and_what_is_none_are_kept_in_order(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    recorder = Recorder(file, Mask(["secret-secret"]), {"program": "duetto"})
    recorder.meta("c2s", 100.0, 1, {"_meta": "handshake", "headers": {"Authorization": "x"}})
    recorder.frame("c2s", 100.5, 1, '{"type":"response.create","key":"secret-secret"}')
    recorder.frame("s2c", 101.25, 2, b'{"type":"x","delta":"\xc3\xa9"}')
    recorder.frame("s2c", 101.25, 2, b"\xff")
    await recorder.close()
    assert [(e["dir"], e["t"], e["conn"]) for e in lines(file)] == [
        ("c2s", 0, 0),
        ("c2s", 0, 1),
        ("c2s", 0.5, 1),
        ("s2c", 1.25, 2),
        ("s2c", 1.25, 2),
    ]
    frames = [entry["frame"] for entry in lines(file)]
    assert frames[0] == {"_meta": "recording", "program": "duetto"}
    assert frames[1]["headers"] == {"Authorization": "[key]"}
    assert frames[2]["key"] == "[key]********"
    assert frames[3]["delta"] == "é"
    assert frames[4] == {"_raw": "\ufffd"}
    assert "secret" not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_a_key_in_pieces_is_masked_and_the_order_stays(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    recorder = Recorder(file, Mask(["secret-secret"]))
    for number, piece in enumerate(["my sec", "ret-se", "cret!", " sec"]):
        event = {"type": "response.output_text.delta", "item_id": "m", "delta": piece}
        recorder.frame("s2c", number, 1, json.dumps(event))
    recorder.frame("c2s", 4.0, 1, '{"type":"response.interrupt"}')
    recorder.meta("s2c", 5.0, 1, {"_meta": "close", "reason": "for secret-secret"})
    await recorder.close()
    assert [entry["t"] for entry in lines(file)] == [0, 1, 2, 3, 4, 5]
    deltas = [entry["frame"].get("delta", "") for entry in lines(file)]
    assert "".join(deltas) == "my [key]********! sec"
    assert [len(piece) for piece in deltas[:4]] == [6, 6, 5, 4]
    assert "secret-" not in file.read_text()


async def test_it_is_not_written_on_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that hangs stops nothing."""
    monkeypatch.setattr(module, "CLOSE_S", 0.05)
    monkeypatch.setattr(module, "BACKLOG_BYTES", 1000)
    monkeypatch.setattr(module, "FLUSH_S", 0.001)
    pipe, writing = os.pipe()
    os.set_blocking(writing, True)
    monkeypatch.setattr(module, "_made", lambda *_: writing)
    recorder = Recorder(tmp_path / "r", Mask())
    told: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    recorder.on_failed = told.set_result
    async with asyncio.timeout(60):
        while not told.done():
            recorder.frame("s2c", 1.0, 1, b'{"a":"' + b"x" * 100_000 + b'"}')
            await asyncio.sleep(0.002)
    assert "does not keep up" in told.result()
    recorder.frame("s2c", 2.0, 1, b"{}")
    await recorder.close()
    os.close(pipe)  # lets the thread end


async def test_a_full_disk_ends_it_with_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FLUSH_S", 0.001)
    monkeypatch.setattr(module, "_made", lambda *_: os.open("/dev/full", os.O_WRONLY))
    recorder = Recorder(tmp_path / "r.jsonl", Mask())
    told: list[str] = []
    failed = asyncio.Event()

    def fail(words: str) -> None:
        told.append(words)
        failed.set()

    recorder.on_failed = fail
    for number in range(3):
        recorder.frame("s2c", number, 1, b"{}")
    async with asyncio.timeout(60):
        await failed.wait()
    recorder.frame("s2c", 9.0, 1, b"{}")
    await recorder.close()
    assert told == [f"the recording {tmp_path / 'r.jsonl'} ends here: no space left on device"]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    full, empty, link = tmp_path / "full", tmp_path / "empty", tmp_path / "link"
    full.write_text("mine")
    empty.touch(mode=0o644)
    link.symlink_to(empty)
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name, words in [
        ("full", "is there already"),
        ("link", "cannot record"),
        ("folder", "cannot record"),
        ("pipe", "cannot record"),
        ("no/such/place", "no such file"),
    ]:
        with pytest.raises(FileRefused, match=words):
            Recorder(tmp_path / name, Mask())
    assert full.read_text() == "mine"


async def test_an_empty_file_is_taken_and_made_private(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch(mode=0o644)
    await Recorder(empty, Mask()).close()
    assert stat.S_IMODE(empty.stat().st_mode) == 0o600


def stamps(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_what_lies_there_is_not_written_over(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.write_text("mine")
    with pytest.raises(FileRefused, match="it is there already; name another one"):
        Tracer(there)
    with pytest.raises(FileRefused, match="cannot trace"):
        Tracer(tmp_path / "no" / "folder")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileRefused):
        Tracer(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(there)
    with pytest.raises(FileRefused):
        Tracer(tmp_path / "link")
    assert there.read_text() == "mine"


def test_a_disk_that_is_full_ends_the_trace_and_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tracer = Tracer(tmp_path / "trace.jsonl")
    os.close(tracer._descriptor)
    tracer.stamp("key", "x")
    tracer.stamp("key", "x")
    assert len(caplog.records) == 1
    tracer.close()
    tracer.stamp("key", "after the end")


async def test_a_loop_that_is_held_up_is_told(tmp_path: Path) -> None:
    tracer = Tracer(tmp_path / "trace.jsonl")
    tracer.watch()

    async def has(count: int) -> list[float]:
        async with asyncio.timeout(60):
            while len(found := stamps(tracer.file)) < count:
                await asyncio.sleep(0)
        return [float(str(stamp["detail"])) for stamp in found]

    before = len(await has(3))
    hold_up(0.1)
    late = await has(before + 2)
    assert max(late[before - 1 :]) >= 90
    tracer.close()
    assert tracer._beating.cancelled()


def hold_up(seconds: float) -> None:
    time.sleep(seconds)
