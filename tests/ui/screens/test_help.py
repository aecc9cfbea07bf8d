"""The list behind the leader key and behind the first key of several."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from textual import events
from textual.pilot import Pilot

from tests.support.keyboard import is_plain
from tests.support.scripted_app import running, settled, until
from tests.support.scripted_session import ScriptedSession
from tui.engine.intents import Interrupt, Prompt, Switch, Verify
from tui.ui import keymap
from tui.ui.app import DuettoApp
from tui.ui.keymap import behind, rows
from tui.ui.keys.table import SCOPES, Scope
from tui.ui.screens.help import WhichKey


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


async def test_a_key_that_comes_while_the_list_closes_is_not_lost(session: ScriptedSession) -> None:
    async with running(session) as (app, pilot):
        await press(pilot, "ctrl+n")
        listed = app.screen
        assert isinstance(listed, WhichKey)

        def both() -> None:  # as when a widget never told that it took the first
            for key in "mx":
                listed.on_key(events.Key(key, key))

        app.call_later(both)
        await until(pilot, lambda: app.bench.prompt_box.prompt.text == "x")
        assert session.intents == [Switch("deep")]


@pytest.mark.slow
async def test_ways_out() -> None:
    async with running(ScriptedSession()) as (app, pilot):
        await press(pilot, *"draft")
        for key in ("escape", "ctrl+c", "ctrl+n", "backspace"):
            await press(pilot, "ctrl+n", key)
            assert app.screen is app.bench
            assert app.bench.prompt_box.prompt.text == "draft"
            assert app.focused is app.bench.prompt_box.prompt


async def test_esc_stops_the_answer_first(session: ScriptedSession) -> None:
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


@pytest.mark.slow
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
        app.bench.pane_actions.enter_editor()
        await press(pilot, "ctrl+k")
        assert app.focused.id == "find-needle", "before the editor's own Ctrl+K"
