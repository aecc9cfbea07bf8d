"""The last words never stand in the way of the end."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from tui.cli.open_app import LastWords
from tui.core.unsaved import Unsaved, UnsavedFile
from tui.effects.rescue import RescueFolders


def test_a_fault_in_what_would_be_lost_keeps_what_was_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> Unsaved:
        raise AttributeError("whole")

    folders = RescueFolders(tmp_path / "state", str(tmp_path))
    kept = Unsaved((UnsavedFile("a.py", b"typed", b"old"),))
    folders.keep(kept)
    words = LastWords(broken, folders)
    words.keep()
    words.keep()
    words.say()
    assert capsys.readouterr().err.splitlines() == [
        "duetto: what was typed last may be lost; /rescue brings back what was kept"
    ]
    assert len(list((tmp_path / "state" / "rescue").glob("*/files/a.py"))) == 1


def test_they_are_said_where_the_screen_was_still_lent_to_an_editor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lends it puts its own stream in the place of stderr after everybody else."""
    words = LastWords(Unsaved, RescueFolders(tmp_path / "state", str(tmp_path)))
    words.keep()
    words.add("what your editor had is in FOLDER")
    with monkeypatch.context() as swapped:
        swapped.setattr(sys, "stderr", io.StringIO())
        words.say()
    assert capsys.readouterr().err == "duetto: what your editor had is in FOLDER\n"
