"""A mistake in what is looks, keys and comfort is told and stops nothing; all else is strict."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.tables import case
from tui.errors import SettingsError
from tui.settings import load, parse, unused


def test_a_mistake_in_looks_keys_and_comfort_is_told_and_stops_nothing(tmp_path: Path) -> None:
    for text, says in (
        ('[screen]\ncolours = "lots"\n', "line 2: screen.colours: invalid"),
        ('[notify]\nbell = true\ndesktop = "mail"\n', "line 3: notify.desktop: invalid"),
        ("[notify]\nafter_s = 0\n", "line 2: notify.after_s: expected a number > 0"),
        ("[screen]\ncolors = 16\n", "line 2: unknown key 'screen.colors'; did you mean 'colours'"),
        ("keys = 5\n", "line 1: keys: expected a table"),
        ("[[keys]]\n", "line 1: keys: expected a table, got a list"),
        ("meter = 3\n", "line 1: meter: expected a table"),
        ("[meter]\nlien = '{rate}'\n", "line 2: unknown key 'meter.lien'; did you mean 'line'"),
        ("[meter]\ngutter_ghost = 'x'\n", "line 2: meter.gutter_ghost: invalid"),
        ("[editor]\ntheme = 3\n", "line 2: editor.theme: expected a string"),
        ("[editor]\nwrap = 'no'\n", "line 2: editor.wrap: expected true or false"),
        ("[prompt]\nvim = true\n", "line 2: unknown key 'prompt.vim'; did you mean 'vi'"),
        ("[metre]\nline = '{rate}'\n", "line 1: unknown key 'metre'; did you mean 'meter'"),
    ):
        with case(text, says):
            file = tmp_path / "config.toml"
            file.write_text(f"{text}\n[rehearsal]\nseed = 3\n")
            settings = load(file)
            assert settings.rehearsal.seed == 3
            assert settings.screen == settings.screen.__class__()
            (told,) = unused(file)
            assert told.startswith(f"{file} {says}")


def test_what_ends_the_start_is_told_by_that_only(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    for text in ("= no TOML", "schema = 9\n[screen]\ncolours = 3"):
        file.write_text(text)
        assert unused(file) == []


def test_what_is_right_beside_a_mistake_holds(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[notify]\nbell = true\nafter_s = "x"\n[editor]\nsave = "manual"\nfolow = 1\n')
    settings = load(file)
    assert (settings.notify.bell, settings.notify.after_s) == (True, 15)
    assert settings.editor.save == "manual"
    assert len(unused(file)) == 2


def test_what_writes_keeps_or_sends_is_never_guessed() -> None:
    for text in (
        '[editor]\nsave = "manul"',
        '[editor]\nsav = "manual"',
        "[editor]\nreveiw = 'ask'",
        "[prompt]\nhistory = 'no'",
        "[prompt]\nhistroy = false",
        "[screen]\nlinear = 'yes'",
        "[screen]\nlinaer = true",
        "theme = 3\n[keys]\n[verify]\ncommand = 3",
    ):
        with case(text), pytest.raises(SettingsError, match="line "):
            parse(text, "f")
