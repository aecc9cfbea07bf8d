"""Windows as servers' refusals said, kept over runs for some days."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec

from tui.effects.learnt_windows import LearntWindows

URL = "https://llm.example/v1"


def test_the_last_one_is_kept_for_a_model_of_a_server(tmp_path: Path) -> None:
    windows = LearntWindows(tmp_path)
    windows.keep(URL, "m", 8192)
    windows.keep(URL, "m", 4096)
    assert LearntWindows(tmp_path).known(URL, "m") == 4096
    assert windows.known(URL, "other") is None
    assert windows.file.stat().st_mode & 0o077 == 0


def test_it_is_forgotten_after_a_week(tmp_path: Path) -> None:
    windows = LearntWindows(tmp_path)
    long_ago = int(time.time()) - 8 * 86_400
    windows.file.write_bytes(msgspec.json.encode({"windows": {f"{URL} m": [4096, long_ago]}}))
    assert windows.known(URL, "m") is None


def test_a_broken_file_costs_what_was_learnt(tmp_path: Path) -> None:
    windows = LearntWindows(tmp_path)
    windows.file.write_bytes(b"{")
    assert windows.known(URL, "m") is None
    windows.keep(URL, "m", 4096)
    assert windows.known(URL, "m") == 4096
