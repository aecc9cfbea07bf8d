"""The last words never stand in the way of the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tui.cli.last_words import LastWords
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
