from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path

import pytest

from tui.effects.tracer import Tracer
from tui.errors import FileRefused


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
        async with asyncio.timeout(30):
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
