"""The tray: what is delegated, beside the model's commands."""

from __future__ import annotations

from msgspec.structs import replace
from textual.pilot import Pilot

from tests.support.scripted_app import running, settled
from tests.support.scripted_session import ScriptedSession
from tui.core.session_record import LeftDelegate
from tui.engine.intents import Delegate, TendDelegate
from tui.engine.notices import Ask, DelegateView
from tui.ui.app import DuettoApp
from tui.ui.screens.tasks import TasksScreen

WORKS = DelegateView(1, "port the parser", "slow-1", 0.0, last="I read it now", tokens=40)
STOPPED = DelegateView(2, "rename it", "slow-1", 0.0, "stopped", files=1, ended="stopped")
ASK = Ask(7, "Run this?", "make", ("Run it", "No"), "make", takes_words=True)


async def opened(
    session: ScriptedSession, app: DuettoApp, pilot: Pilot[int], *views: DelegateView
) -> TasksScreen:
    session.status.delegates = [*views]
    session.state.restated()
    await settled(session, pilot)
    app.bench.prompt_box.prompt.restore("/tasks")
    await pilot.press("enter")
    await pilot.pause()
    assert isinstance(app.screen, TasksScreen)
    return app.screen


def header(app: DuettoApp) -> str:
    return "".join(text for text, _ in app.bench.header.pieces(120))


async def test_the_tray_says_what_each_does_and_its_keys_look_after_it() -> None:
    session = ScriptedSession()
    async with running(session, size=(80, 24)) as (app, pilot):
        screen = await opened(session, app, pilot, WORKS, STOPPED)
        assert "1 delegate" in header(app)
        row = screen._list.render_line(0).text
        assert "d1 port the parser" in row
        assert "~40 tokens" in row
        assert "I read it now" in str(screen._lit.render())
        await pilot.press("p", "s", "down", "g", "s", "p")
        assert session.intents == [
            TendDelegate(1, "pause"),
            TendDelegate(1, "stop"),
            TendDelegate(2, "take"),
        ]


async def test_one_that_is_judged_is_brought_in_or_stopped_and_told_nothing() -> None:
    done = replace(WORKS, state="done", ended="done: its tests run 3/9", files=1)
    session = ScriptedSession()
    async with running(session, size=(80, 24)) as (app, pilot):
        screen = await opened(session, app, pilot, done)
        assert "done: its tests run 3/9" in screen._list.render_line(0).text
        assert "g brings it in without waiting" in str(screen._status.render())
        await pilot.press("t", "p", "g", "s")
        assert session.intents == [TendDelegate(1, "take"), TendDelegate(1, "stop")]
        assert isinstance(app.screen, TasksScreen)


async def test_one_of_an_earlier_session_leads_to_it() -> None:
    session = ScriptedSession()
    session.status.left = [LeftDelegate("7f3k2m00", 1, "port the parser", done=False)]
    async with running(session, size=(80, 24)) as (app, pilot):
        screen = await opened(session, app, pilot)
        row = screen._list.render_line(0).text
        assert "d1 port the parser" in row
        assert "of an earlier session" in row
        await pilot.pause()
        assert str(screen._lit.render()) == "/resume 7f3k2m00 goes to its session (not done)"
        await pilot.press("s", "p", "g", "t", "y", "n")
        assert session.intents == []
        await pilot.press("enter")
        assert app.bench.prompt_box.prompt.text == "/resume 7f3k2m00"


async def test_the_one_that_is_lit_stays_lit_where_others_have_its_number() -> None:
    session = ScriptedSession()
    words = ("port the parser", "rename it", "write tests")
    left = [LeftDelegate(f"7f3k2m0{at}", 1, said, done=False) for at, said in enumerate(words)]
    session.status.left = left
    async with running(session, size=(80, 24)) as (app, pilot):
        await opened(session, app, pilot)
        await pilot.press("down")
        session.status.left = left[:2]
        session.state.restated()
        await settled(session, pilot)
        await pilot.press("enter")
        assert app.bench.prompt_box.prompt.text == "/resume 7f3k2m01"


async def test_what_is_told_to_one_is_typed_in_the_prompt() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await opened(session, app, pilot, WORKS)
        await pilot.press("t", "x")
        assert app.bench.prompt_box.prompt.text == "/tasks tell d1 x"
        await pilot.press("enter")
        assert session.intents == [TendDelegate(1, "tell", "x")]


async def test_a_question_waits_in_the_header_and_takes_no_keys() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        session.status.delegates = [DelegateView(1, "port it", "slow-1", 0.0, ask=ASK)]
        session.state.restated()
        await settled(session, pilot)
        await pilot.press("y")
        assert app.bench.prompt_box.prompt.text == "y"
        assert "d1 asks" in header(app)
        await pilot.press("backspace")
        await opened(session, app, pilot, *session.status.delegates)
        await pilot.press("y")
        assert session.intents == [TendDelegate(1, "answer", "Run it", ASK.id)]
        await pilot.press("n", "w")
        assert app.bench.prompt_box.prompt.text == "/tasks no d1 w"


async def test_alt_w_delegates_what_streams_and_else_shows_the_tray() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await pilot.press("alt+w")
        assert isinstance(app.screen, TasksScreen)
        await pilot.press("q")
        session.status.busy = True
        await pilot.press("alt+w")
        assert session.intents == [Delegate()]
