"""Windows as servers' refusals said, and speeds of the user's own turns, kept over runs."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec

from tui.effects.known_models import LearntWindows, MeasuredSpeeds, Speed

URL = "https://llm.example/v1"


def test_the_last_one_is_kept_for_a_model_of_a_server(tmp_path: Path) -> None:
    windows = LearntWindows(tmp_path)
    windows.keep(URL, "m", 8192)
    windows.keep(URL, "m", 4096)
    assert LearntWindows(tmp_path).known(URL, "m") == 4096
    assert windows.known(URL, "other") is None
    assert windows.models.file.stat().st_mode & 0o077 == 0


def test_it_is_forgotten_after_a_week(tmp_path: Path) -> None:
    windows = LearntWindows(tmp_path)
    long_ago = int(time.time()) - 8 * 86_400
    table = {f"{URL} m": [4096, long_ago]}
    windows.models.file.write_bytes(msgspec.json.encode({"windows": table}))
    assert windows.known(URL, "m") is None


def test_a_broken_file_costs_what_was_learnt(tmp_path: Path) -> None:
    windows = LearntWindows(tmp_path)
    windows.models.file.write_bytes(b"{")
    assert windows.known(URL, "m") is None
    windows.keep(URL, "m", 4096)
    assert windows.known(URL, "m") == 4096


def test_the_median_of_the_last_turns_is_kept(tmp_path: Path) -> None:
    speeds = MeasuredSpeeds(tmp_path)
    for rate in [10.0] * 20 + [900.0, 1000.0, 1100.0] * 5:
        speeds.keep(URL, "m", rate, 0.1)
    assert MeasuredSpeeds(tmp_path).all() == {f"{URL} m": Speed(1000.0, 0.1, 15)}
