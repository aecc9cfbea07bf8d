"""Keys: each does one thing, works where the table says, and is in the help and the palette."""

from __future__ import annotations

import re
from itertools import combinations
from typing import get_args

import pytest
from textual import events

from tests.support.keyboard import sent_for
from tests.support.scripted_app import running
from tests.support.scripted_session import ScriptedSession
from tests.support.tables import each
from tui.core.files import GitState
from tui.ui.command_palette import ActionPalette, rank
from tui.ui.editor import sides
from tui.ui.editor.paint import BARS, GUTTER_GHOST
from tui.ui.key_decoder import KeyDecoder
from tui.ui.keymap import KEYMAP, actions
from tui.ui.keys.table import SCOPES, Scope, When
from tui.ui.screens.help import SIGNS, help_content
from tui.ui.terminal.input_stream import InputStream


def test_conversation_commands_and_review_share_a_widget_and_no_key() -> None:
    scopes: tuple[Scope, ...] = ("conversation", "command", "review")
    for one, other in combinations(scopes, 2):
        assert not set(actions(one)) & set(actions(other))


def test_rows_stand_in_scopes_and_states_that_there_are() -> None:
    assert {row.scope for row in KEYMAP} == set(SCOPES)
    assert {row.when for row in KEYMAP} <= set(get_args(When))


def test_what_has_a_function_key_has_another_way_too() -> None:
    for row in KEYMAP:
        if any(re.fullmatch(r"f\d+", key) for key in row.keys):
            assert any(not re.fullmatch(r"f\d+", key) for key in row.keys), row.action


LEFT = {sign[0] for sign, _ in SIGNS if sign.endswith("left of a line")}


def test_the_gutters_signs_have_words() -> None:
    assert {*BARS.values(), GUTTER_GHOST} == LEFT


def test_tabs_and_git_have_words() -> None:
    said = " ".join(sign for sign, _ in SIGNS)
    for sign in (sides.UNSAVED, sides.WRITING, sides.FOLLOWS, sides.TORN, *get_args(GitState)):
        assert sign in said


def test_the_help_has_them_and_finds_them_by_their_words() -> None:
    assert "● behind a name" in help_content(100).plain
    found = help_content(100, wanted="pending").plain
    assert "┃ left of a line" in found


@each("key", sorted({key for row in KEYMAP for key in row.keys}))
def test_terminals_can_send_every_key(key: str) -> None:
    stream = InputStream()
    tokens = [*stream.feed(sent_for(key), 0.0), *stream.expire(1.0)]
    found = KeyDecoder().messages(tokens)
    assert [item.key for item in found if isinstance(item, events.Key)] == [key]


@pytest.mark.slow
async def test_a_second_palette_over_the_help_or_right_after_the_first_one_breaks_nothing() -> None:
    async with running(ScriptedSession()) as (app, pilot):
        await pilot.press("ctrl+p", "f1", "ctrl+p", "f1")
        assert isinstance(app.screen, ActionPalette)
        app.screen.dismiss()
        app.action_command_palette()
        await pilot.press("escape", "ctrl+p")
        assert [type(screen) for screen in app.screen_stack[1:]] == [ActionPalette]


def test_in_the_palette_names_come_before_sentences() -> None:
    titles = ["Accept edited: Accept the hunk that was opened", "Themes", "/theme", "Theme: Dusk"]
    the = sorted(titles, key=lambda title: -rank(["the"], title))
    assert the[-1].startswith("Accept")
    assert rank(["dusk", "theme"], "Theme: Dusk")
    assert not rank(["zq"], "Theme: Dusk")
