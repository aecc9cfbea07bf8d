"""No state is told by a sign alone: the help says each of them in words."""

from __future__ import annotations

from typing import get_args

from tui.core.folder_entry import GitState
from tui.ui.editor import tabs
from tui.ui.editor.paint import BARS, SLOW_PEN
from tui.ui.screens.help import help_content
from tui.ui.signs import SIGNS

LEFT = {sign[0] for sign, _ in SIGNS if sign.endswith("left of a line")}


def test_the_gutters_signs_have_words() -> None:
    assert {*BARS.values(), SLOW_PEN} == LEFT


def test_no_two_states_of_a_line_share_a_sign() -> None:
    assert len(set(BARS.values())) == len(BARS)


def test_tabs_and_git_have_words() -> None:
    said = " ".join(sign for sign, _ in SIGNS)
    for sign in (tabs.UNSAVED, tabs.WRITING, tabs.FOLLOWS, tabs.TORN, *get_args(GitState)):
        assert sign in said


def test_the_help_has_them_and_finds_them_by_their_words() -> None:
    assert "● behind a name" in help_content(100).plain
    found = help_content(100, wanted="pending").plain
    assert "┃ left of a line" in found
