from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tui.bridge.rehearsal import TRY_HERE
from tui.bridge.rehearsal.scripts import load_scripts
from tui.cli.models import SessionSetup, resolve
from tui.cli.open_app import LastWords, options_for, require_screen, trouble_with
from tui.cli.options import ModelFlags
from tui.cli.practice import ensure
from tui.core.unsaved import Unsaved, UnsavedFile
from tui.effects.rescue import RescueFolders
from tui.errors import UsageError
from tui.settings import Paths, Settings


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A terminal of 80x24 that a test can change."""
    state = SimpleNamespace(tty=True, columns=80, rows=24, fileno=lambda: 1)
    state.isatty = lambda: state.tty
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(
        os, "get_terminal_size", lambda fd: os.terminal_size((state.columns, state.rows))
    )
    return state


def test_80x24_will_do(terminal: SimpleNamespace) -> None:
    require_screen(terminal, terminal, terminal)


def test_a_dumb_terminal_is_refused(
    terminal: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for term, named in (("dumb", "TERM=dumb"), ("unknown", "TERM=unknown"), ("", "TERM is not")):
        monkeypatch.setenv("TERM", term)
        with pytest.raises(UsageError, match=f"{named}.*duetto --linear"):
            require_screen(terminal, terminal, terminal)


def test_redirected_errors_are_said_where_they_are_seen(
    terminal: SimpleNamespace, tmp_path: Path
) -> None:
    said: list[str] = []
    terminal.write, terminal.flush = said.append, lambda: None
    with (tmp_path / "log").open("w") as log, pytest.raises(UsageError, match="stderr"):
        require_screen(terminal, terminal, log)
    assert "do not redirect it" in "".join(said)


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


def test_nothing_wrong_nothing_said() -> None:
    assert trouble_with([]) is None


def test_one_note_tells_all_and_names_each_file_once() -> None:
    told = trouble_with(["/c.toml line 12 asks", "/c.toml line 3: keys.x: none", "odd"])
    assert told is not None
    assert told.noted
    assert told.what == "3 things in your settings are not used"
    assert told.why.splitlines() == [
        "In /c.toml",
        "line 3: keys.x: none",
        "line 12 asks",
        "odd",
    ]


def test_many_are_counted() -> None:
    told = trouble_with([f"/c.toml line {n}: keys.x: none" for n in range(30)])
    assert told is not None
    assert told.why.count("line ") == 9
    assert told.why.endswith("and 21 more")


def setup(root: Path, home: Path) -> SessionSetup:
    paths = Paths.find({"DUETTO_HOME": str(home)})
    return SessionSetup(root, Settings(), resolve(Settings(), ModelFlags(), {}), paths)


def test_the_practice_workspace_offers_its_exercises(tmp_path: Path) -> None:
    root = ensure(tmp_path / "data")
    options = options_for(setup(root, tmp_path))
    assert options.prompts == tuple(exercise.prompt for exercise in load_scripts())
    assert options.suggest is not None
    assert options.suggest() == options.prompts[0]
    assert options_for(setup(tmp_path, tmp_path)).prompts == (TRY_HERE,)
