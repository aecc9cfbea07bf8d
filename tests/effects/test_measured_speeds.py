"""Speeds of the user's own turns, kept over runs."""

from __future__ import annotations

from pathlib import Path

from tui.effects.measured_speeds import MeasuredSpeeds, Speed

URL = "https://api.groq.com/openai/v1"


def test_the_median_of_the_last_turns_is_kept(tmp_path: Path) -> None:
    speeds = MeasuredSpeeds(tmp_path)
    for rate in [10.0] * 20 + [900.0, 1000.0, 1100.0] * 5:
        speeds.keep(URL, "m", rate, 0.1)
    assert MeasuredSpeeds(tmp_path).all() == {f"{URL} m": Speed(1000.0, 0.1, 15)}
    assert speeds.file.stat().st_mode & 0o077 == 0
