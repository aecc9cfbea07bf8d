"""The list behind the leader key and behind the first key of several."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from textual import events
from textual.pilot import Pilot

from tests.support.keyboard import is_plain
from tests.support.scripted_app import exercise, running, settled
from tests.support.scripted_session import ScriptedSession
from tui.engine.intents import Accept, Interrupt, Prompt, Steer, Switch, Verify
from tui.ui import keymap
from tui.ui.app import DuettoApp
from tui.ui.keymap import KEYMAP, behind, key_name, rows
from tui.ui.keys.key import SCOPES, Scope
from tui.ui.screens.which_key import WhichKey, list_content


@pytest.fixture(autouse=True)
def as_shipped() -> Iterator[None]:
    """Every test begins and ends with duetto's own keys."""
    yield
    keymap.use({})


async def press(pilot: Pilot[int], *keys: str) -> None:
    await pilot.press(*keys)
    await pilot.pause()


def is_open(app: DuettoApp) -> bool:
    return isinstance(app.screen, WhichKey)


def shown_list(app: DuettoApp) -> str:
    assert isinstance(app.screen, WhichKey)
    return str(app.screen.query_one("#which-key-list").render())


def test_every_action_is_reached_without_function_keys_alt_mouse_and_kitty() -> None:
    for scope in SCOPES:
        nearby: tuple[Scope, ...] = ("global",) if scope == "global" else (scope, "global")
        led = {key.action for key in behind(("leader",), nearby).values() if key.scope == scope}
        for row in rows(scope):
            plain = [key for key in row.keys if is_plain(key)]
            assert plain or row.action in led, f"{scope}: {row.action} has {row.keys}"


def test_behind_the_leader_is_what_alt_does() -> None:
    for row in KEYMAP:
        nearby: tuple[Scope, ...] = (row.scope, "global")
        for key in row.keys:
            if key.startswith("alt+") and row.scope not in ("turn", "diff"):
                press = key.removeprefix("alt+")
                assert behind(("leader",), nearby)[(press,)].name in (row.name, row.like), key


async def test_it_lists_what_can_be_done_here_and_does_it() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await press(pilot, "ctrl+n")
        text = shown_list(app)
        for words in ("In the prompt", "steer with the draft", "run the tests", "Hunks", "Go to"):
            assert words in text
        assert "go to a line" not in text, "that is the editor's"
        await press(pilot, "m")
        assert app.screen is app.bench
        await press(pilot, "ctrl+n", "v")
        assert session.intents == [Switch("deep"), Verify()]


async def test_keys_typed_at_once_come_in_their_order() -> None:
    session = ScriptedSession()
    async with running(session) as (_, pilot):
        await press(pilot, *"ab", "ctrl+n", "m", *"cd", "enter")
        assert session.intents == [Switch("deep"), Prompt("abcd")]


async def test_a_key_that_comes_while_the_list_closes_is_not_lost() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await press(pilot, "ctrl+n")
        listed = app.screen
        assert isinstance(listed, WhichKey)

        def both() -> None:  # as when the loop was held up and the order of keys lost its patience
            for key in "mx":
                listed.on_key(events.Key(key, key))

        app.call_later(both)
        await pilot.pause(0.1)
        assert session.intents == [Switch("deep")]
        assert app.bench.prompt_box.prompt.text == "x"


async def test_alt_may_still_be_held_and_caps_lock_be_on() -> None:
    session = ScriptedSession()
    async with running(session) as (_, pilot):
        await press(pilot, "ctrl+n", "alt+m", "ctrl+n", "M")
        assert session.intents == [Switch("deep"), Switch("fast")]


async def test_what_does_nothing_is_said_and_typed_nowhere() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await press(pilot, "ctrl+n", "ß")
        assert is_open(app)
        box = app.screen.query_one("#which-key-box")
        assert "ß does nothing here" in str(box.border_subtitle)
        await press(pilot, "escape")
        assert app.screen is app.bench
        assert app.bench.prompt_box.prompt.text == ""
        assert session.intents == []


@pytest.mark.parametrize("key", ["escape", "ctrl+c", "ctrl+n", "backspace"])
async def test_ways_out(key: str) -> None:
    async with running(ScriptedSession()) as (app, pilot):
        await press(pilot, *"draft", "ctrl+n", key)
        assert app.screen is app.bench
        assert app.bench.prompt_box.prompt.text == "draft"
        assert app.focused is app.bench.prompt_box.prompt


async def test_esc_stops_the_answer_first() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        session.status.busy = True
        await settled(session, pilot)
        await press(pilot, "ctrl+n", "escape")
        assert session.intents == [Interrupt()]
        assert is_open(app)
        session.status.busy = False
        await settled(session, pilot)
        await press(pilot, "escape")
        assert app.screen is app.bench


async def test_the_prompts_own_actions() -> None:
    session = ScriptedSession()
    async with running(session) as (_, pilot):
        session.status.busy = True
        await settled(session, pilot)
        await press(pilot, *"and tests", "ctrl+n", "enter")
        assert session.intents == [Steer("and tests")]


async def test_in_the_editor_it_has_the_editors() -> None:
    session = ScriptedSession()
    session.open("ledger/cache.py")
    async with running(session) as (app, pilot):
        app.bench.enter_editor()
        await press(pilot, "ctrl+n")
        assert "go to a line" in shown_list(app)
        await press(pilot, "g")
        assert app.focused is not None
        assert app.focused.id == "find-needle"


async def test_over_the_review_it_has_the_reviews() -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        await press(pilot, "f7")
        review = app.screen
        assert review is not app.bench
        await press(pilot, "ctrl+n")
        assert "run the tests" not in shown_list(app)
        await press(pilot, "a")
        assert app.screen is review
        assert any(isinstance(intent, Accept) for intent in session.intents)


async def test_where_another_list_takes_the_keys_there_is_none() -> None:
    async with running(ScriptedSession()) as (app, pilot):
        await press(pilot, "ctrl+o")
        finder = app.screen
        await press(pilot, "ctrl+n")
        assert app.screen is finder


async def test_keys_one_after_the_other() -> None:
    keymap.use({"global": {"verify": "Ctrl+K v", "switch": "Ctrl+K x y"}})
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await press(pilot, "ctrl+k", "v")
        assert session.intents == [Verify()]
        await press(pilot, "ctrl+k")
        assert "run the tests" in shown_list(app)
        assert "… 1 key behind it" in shown_list(app)
        await press(pilot, "x")
        assert "fast ↔ deep" in shown_list(app)
        await press(pilot, "backspace")
        assert "run the tests" in shown_list(app)
        await press(pilot, "x", "y")
        assert session.intents == [Verify(), Switch("deep")]


async def test_a_letter_begins_a_chord_only_where_it_is_no_text() -> None:
    keymap.use({"conversation": {"scroll_home": "z z"}})
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        await press(pilot, "z")
        assert app.bench.prompt_box.prompt.text == "z"
        app.bench.set_focus(app.bench.transcript)
        await press(pilot, "z")
        assert is_open(app)
        await press(pilot, "z")
        assert app.bench.transcript.top == 0


async def test_the_users_keys_work_and_the_old_ones_do_not() -> None:
    keymap.use(
        {
            "global": {"verify": "Ctrl+B", "palette": "F9", "help": "F10", "leader": "F12"},
            "prompt": {"newline": "Enter", "send": "Ctrl+J"},
            "editor": {"find": "Ctrl+K"},
        }
    )
    session = ScriptedSession()
    session.open("ledger/cache.py")
    async with running(session) as (app, pilot):
        await press(pilot, "f5", "ctrl+p", "ctrl+n", "f1")
        assert app.screen is app.bench
        assert session.intents == []
        await press(pilot, "a", "enter", "b", "ctrl+j", "ctrl+b")
        assert session.intents == [Prompt("a\nb"), Verify()]
        for key in ("f9", "f10", "f12"):
            await press(pilot, key)
            assert app.screen is not app.bench, key
            await press(pilot, "escape")
            assert app.screen is app.bench, key
        app.bench.enter_editor()
        await press(pilot, "ctrl+k")
        assert app.focused is not None
        assert app.focused.id == "find-needle", "before the editor's own Ctrl+K"


@pytest.mark.parametrize("width", [20, 38, 78, 118, 198])
def test_it_fits_any_width(width: int) -> None:
    scopes: tuple[Scope, ...] = ("prompt", "global")
    found = behind(("leader",), scopes)
    text = list_content(found, scopes, width).plain
    assert max(map(len, text.splitlines())) <= width
    for presses in found:
        assert key_name(presses[0]) in text


async def test_while_an_answer_streams_esc_is_said_to_stop_it() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):

        def way() -> str:
            return str(app.screen.query("#which-key-box, #help-box").first().border_subtitle)

        for key in ("ctrl+n", "f1"):
            session.status.busy = True
            await settled(session, pilot)
            await press(pilot, key)
            assert "Esc stops the answer" in way()
            session.status.busy = False
            await settled(session, pilot)
            assert "Esc closes" in way()
            await press(pilot, "escape")
            assert app.screen is app.bench
