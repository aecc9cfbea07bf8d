"""What killed duettos left behind goes at the next start; what is in use, or not ours, stays."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import pytest

from tui.cli.replay_session import ReplaySession
from tui.core.wire.recording import read
from tui.effects.leftovers import clear_left


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    return tmp_path / "tmp"


REPORT, OTHER = (f"duetto-{digit * 32}.report" for digit in "12")


def left(place: Path, hours: float, mode: int = 0o700) -> Path:
    """A file, or with a name below it a folder, of so many hours ago."""
    if place.suffix:
        place.write_text("<testsuite/>")
    else:
        (place / "below").mkdir(parents=True, exist_ok=True)
        place.chmod(mode)
        (place / "below/a.py").touch()
    os.utime(place, (time.time() - 3600 * hours,) * 2)
    return place


def test_old_ones_go_and_all_else_stays(temporary: Path, tmp_path: Path) -> None:
    gone = [left(temporary / REPORT, 2), left(temporary / "duetto-replay-x_3abcde", 2)]
    kept = [left(temporary / OTHER, 0), left(temporary / "mine.report", 9)]
    kept += [left(temporary / "duetto-mine", 9), left(temporary / "duetto-command-abcdefgh", 9)]
    gone += [left(temporary / "duetto-command-hgfedcba", 30)]
    elsewhere = left(tmp_path / "elsewhere", 9)
    (temporary / "duetto-replay-abcdefgh").symlink_to(elsewhere)
    clear_left()
    assert not any(place.exists() for place in gone)
    assert all(place.exists() for place in (*kept, elsewhere / "below/a.py"))


def test_what_the_user_named_alike_stays(temporary: Path) -> None:
    """As a report of one's own, or a clone of a repository, which others may read."""
    names = "duetto-speed.report", "duetto-replay-x.txt", "duetto-command-line-docs"
    kept = [left(temporary / name, 99) for name in names]
    kept += [left(temporary / "duetto-replay-recorder", 99, 0o755)]
    clear_left()
    assert all(place.exists() for place in kept)


@pytest.mark.usefixtures("temporary")
async def test_a_replay_that_is_open_keeps_its_folder() -> None:
    stage = ReplaySession(read([]), 0)
    left(stage.root, 9)
    clear_left()
    assert (stage.root / "below/a.py").exists()
    await stage.close()
    assert not stage.root.exists()
