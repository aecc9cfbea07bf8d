"""The real program against servers that never stop sending: it can be stopped, or says why."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.commands import DUETTO, clean_environment
from tests.support.floods import flooding

pytestmark = pytest.mark.slow


@contextmanager
def asking(tmp_path: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """``duetto exec`` at work, whose answer has begun."""
    (tmp_path / "work").mkdir()
    url = f"ws://127.0.0.1:{port}/v1/responses"
    process = subprocess.Popen(
        [*DUETTO, "exec", "go", "-C", str(tmp_path / "work"), "--endpoint", url, "--fast", "m"],
        env=clean_environment(tmp_path / "home"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        assert os.read(process.stdout.fileno(), 100).startswith(b"start ")
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("name", ["unknown events", "text"])
def test_exec_is_ended_by_a_signal_under_a_flood(tmp_path: Path, name: str) -> None:
    with flooding(name) as port, asking(tmp_path, port) as process:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        assert process.returncode == 130


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("pings", "more than 1,000 empty or control frames in a second"),
        ("many keys", "a message with more than 50,000 values"),
        ("large text", "The answer was stopped: it is longer than 16 MB"),
    ],
)
def test_exec_says_why_it_hears_no_more_of_a_flood(tmp_path: Path, name: str, why: str) -> None:
    with flooding(name) as port, asking(tmp_path, port) as process:
        _, said = process.communicate(timeout=30)
        assert process.returncode == 1
        assert why in said.decode()
