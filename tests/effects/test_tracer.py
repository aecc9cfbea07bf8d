from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from pathlib import Path

import pytest

from tui.effects.tracer import Tracer
from tui.errors import FileRefused


def stamps(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_stamp_is_a_line_with_a_time_of_the_machine(tmp_path: Path) -> None:
    tracer = Tracer(tmp_path / "trace.jsonl")
    before = time.monotonic_ns()
    tracer.stamp("key", "escape")
    tracer.stamp("painted", '7 "\n')
    after = time.monotonic_ns()
    # nothing waits in memory: a process that is killed leaves it all
    first, second = stamps(tracer.file)
    tracer.close()
    assert (first["name"], first["detail"]) == ("key", "escape")
    assert second["detail"] == '7 "\n'
    assert before <= int(str(first["t_ns"])) <= int(str(second["t_ns"])) <= after
    assert tracer.file.stat().st_mode & 0o777 == 0o600


def test_threads_do_not_mix_their_lines(tmp_path: Path) -> None:
    tracer = Tracer(tmp_path / "trace.jsonl")
    threads = [
        threading.Thread(target=lambda: [tracer.stamp("wire", "x" * 50) for _ in range(200)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tracer.close()
    assert len(stamps(tracer.file)) == 800


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
    await asyncio.sleep(0.05)
    hold_up(0.1)
    await asyncio.sleep(0.05)
    tracer.close()
    late = [float(str(stamp["detail"])) for stamp in stamps(tracer.file)]
    assert max(late) >= 90
    assert len(late) >= 8
    count = len(late)
    await asyncio.sleep(0.02)
    assert len(stamps(tracer.file)) == count


def hold_up(seconds: float) -> None:
    time.sleep(seconds)
