"""Themes with the real binary: chosen, kept, and put on while their file is written."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.terminal import Terminal
from tui.ui import theme

Start = Callable[..., Terminal]


@pytest.fixture
def home(environment: dict[str, str]) -> Iterator[Path]:
    yield Path(environment["DUETTO_HOME"])
    theme.library.own_folder(None)


def grounds(term: Terminal) -> set[str]:
    """The backgrounds on the screen."""
    return {cell.bg for cell in term.cells(lambda cell: True)}


def of(name: str) -> str:
    return theme.cached_theme(name).colours["background"].removeprefix("#")


def test_what_is_chosen_is_kept_and_the_settings_file_stays(
    start: Start, home: Path, tmp_path: Path
) -> None:
    config = home / "config.toml"
    config.write_text('# my settings\n[editor]\ntheme = "ember"\n')
    (tmp_path / "a.py").write_text("a = 1\n")
    term = start("a.py")
    term.wait_for("send")
    assert of("ember") in grounds(term)
    term.type("/theme nord\r")
    term.wait_for(lambda _: of("nord") in grounds(term))
    term.leave()
    assert json.loads((home / "state" / "theme.json").read_text()) == {"": ["ember", "nord"]}
    assert config.read_text() == '# my settings\n[editor]\ntheme = "ember"\n'
    again = start("a.py")
    again.wait_for("send")
    assert of("nord") in grounds(again)
    again.leave()


def test_a_file_of_ones_own_is_worn_with_its_mistakes_told_and_put_on_as_it_is_saved(
    start: Start, home: Path, tmp_path: Path
) -> None:
    file = home / "themes" / "mine.toml"
    file.parent.mkdir()
    file.write_text('base = "dusk"\n[palette]\nbackground = "#102030"\nfats = "#fff"\n')
    (home / "config.toml").write_text('[editor]\ntheme = "mine"\n')
    term = start(tmp_path)
    term.wait_for("One thing in your settings is not used")
    term.wait_for("line 4")
    term.wait_for("'fast'?")
    assert "102030" in grounds(term)
    for number in range(240):  # a watch takes a moment to begin
        file.write_text(f'base = "dusk"\n[palette]\nbackground = "#2010{number:02x}"\n')
        until_s = time.monotonic() + 0.5
        while (left_s := until_s - time.monotonic()) > 0:
            term.pump(left_s)
        if any(ground.startswith("2010") for ground in grounds(term)):
            break
    assert any(ground.startswith("2010") for ground in grounds(term))
    term.leave()
