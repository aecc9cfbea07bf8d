"""Alt+Enter and its twins, the label that says what they do, and the prewarm of the first key."""

from __future__ import annotations

import pytest

from tests.support.scripted_app import running, settled
from tests.support.scripted_session import ScriptedSession
from tui.engine.intents import Interrupt, Prompt, Queue, Steer
from tui.engine.notices import Connection
from tui.ui.app import DuettoApp
from tui.ui.widgets.bar import Bar

NARROWEST_OF_TWO = (100, 30)


def row(app: DuettoApp, name: str = "hint") -> str:
    return app.bench.query_one(f"#{name}", Bar).render_line(0).text.rstrip()


@pytest.mark.parametrize("key", ["alt+enter", "ctrl+t"])
async def test_it_steers_and_clears_the_draft(key: str) -> None:
    session = ScriptedSession()
    session.status.busy = True
    async with running(session) as (app, pilot):
        await pilot.press("n", "o", key)
        assert session.intents == [Steer("no")]
        assert app.bench.prompt_box.prompt.text == ""
        await pilot.press(key)
        assert session.intents == [Steer("no")]


async def test_a_command_steers_where_no_key_does() -> None:
    session = ScriptedSession()
    session.status.busy = True
    async with running(session) as (app, pilot):
        app.bench.prompt_box.restore("/steer use a plain Lock")
        await pilot.pause()
        assert row(app).startswith("  ⏎ steer")
        await pilot.press("enter")
        assert session.intents == [Steer("use a plain Lock")]
        app.bench.prompt_box.restore("/steer ")
        await pilot.press("enter")
        assert session.intents == [Steer("use a plain Lock")]
        assert app.bench.prompt_box.prompt.text == "/steer"


@pytest.mark.parametrize("size", [NARROWEST_OF_TWO, (80, 24), (120, 36)])
async def test_the_label_says_what_each_key_does_now(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    async with running(session, size) as (app, pilot):
        assert row(app).startswith("  ⏎ send")
        await pilot.press("x")
        assert row(app).startswith("  ⏎ Alt+⏎ send")
        session.status.busy = True
        await settled(session, pilot)
        assert row(app) == "  ⏎ redirect  Alt+⏎ steer  Tab queue"
        session.status.can_steer = False
        await settled(session, pilot)
        assert row(app).startswith("  ⏎ redirect  Alt+⏎ Tab queue")
        assert row(app).endswith(("this model cannot be steered", "no steering"))
        session.status.busy = False
        await settled(session, pilot)
        assert row(app).startswith("  ⏎ Alt+⏎ send")


async def test_the_three_keys_do_what_the_label_says() -> None:
    session = ScriptedSession()
    session.status.busy = True
    async with running(session) as (_, pilot):
        await pilot.press("a", "enter", "b", "alt+enter", "c", "tab")
        assert session.intents == [Prompt("a"), Steer("b"), Queue("c")]


async def test_tab_takes_no_suggestion_while_an_answer_streams() -> None:
    session = ScriptedSession()
    session.status.prompts = ["do it"]
    session.status.busy = True
    async with running(session) as (app, pilot):
        await pilot.press("tab")
        assert app.bench.prompt_box.prompt.text == ""


async def test_the_first_key_of_a_draft_prewarms_and_the_others_do_not() -> None:
    session = ScriptedSession()
    async with running(session) as (_, pilot):
        assert session.prewarms == 0
        await pilot.press("h", "i")
        assert session.prewarms == 1
        await pilot.press("backspace", "backspace", "h")
        assert session.prewarms == 2
        assert session.intents == []


async def test_commands_and_busy_times_do_not_prewarm() -> None:
    session = ScriptedSession()
    async with running(session) as (_, pilot):
        await pilot.press("/", "h", "ctrl+c", "!", "l", "ctrl+c")
        assert session.prewarms == 0
        session.status.busy = True
        await settled(session, pilot)
        await pilot.press("h", "i")
        assert session.prewarms == 0


async def test_the_countdown_says_what_ends_it_and_esc_does() -> None:
    session = ScriptedSession()
    async with running(session, (80, 24)) as (app, pilot):
        session.status.connection, session.status.retry_s = "lost", 10.2
        await settled(session, pilot)
        assert "◌ again in 11 s · Esc cancels" in row(app, "status")
        assert row(app, "keys").startswith(" Esc stop")
        await pilot.press("escape")
        assert session.intents == [Interrupt()]


async def test_the_countdown_is_ended_through_a_screen_that_lies_over_it() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        session.status.retry_s = 3.0
        await settled(session, pilot)
        await pilot.press("f1", "escape")
        assert session.intents == [Interrupt()]
        assert app.screen is not app.bench


async def test_the_transport_stands_beside_the_dot() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        assert row(app, "status").endswith("● 3 ms")
        session.status.transport = "http"
        await settled(session, pilot)
        assert row(app, "status").endswith("● http 3 ms")


async def test_a_connection_that_stood_before_is_said_to_come_back() -> None:
    session = ScriptedSession()
    session.status.connection = "connecting"
    async with running(session) as (app, pilot):
        assert row(app, "status").endswith("◌ connecting")
        steps: list[tuple[Connection, str]] = [
            ("ready", "● 3 ms"),
            ("connecting", "◌ reconnecting"),
            ("lost", "○ connection lost"),
        ]
        for connection, words in steps:
            session.status.connection = connection
            await settled(session, pilot)
            assert row(app, "status").endswith(words)
        session.status.busy = True
        await settled(session, pilot)
        assert row(app, "status").endswith("◌ reconnecting")


async def test_a_connection_at_rest_that_stood_before_is_opened_when_it_is_needed() -> None:
    session = ScriptedSession()
    session.status.connection = "offline"
    async with running(session) as (app, pilot):
        assert row(app, "status").endswith("○ offline")
        steps: list[tuple[Connection, str]] = [("ready", "● 3 ms"), ("offline", "○ idle")]
        for connection, words in steps:
            session.status.connection = connection
            await settled(session, pilot)
            assert row(app, "status").endswith(words)
