"""``/rewind`` on the screen: Esc twice, the list of turns, the preview, and what is asked for."""

from __future__ import annotations

from textual.widgets._toast import Toast

from tests.support.rewinds import rewindable
from tests.support.scripted_app import running, until
from tests.support.scripted_session import ScriptedSession
from tui.engine.intents import Rewind
from tui.ui.review.rewinding import RewindScreen, TurnsScreen


async def test_esc_twice_in_an_empty_prompt_leads_to_a_rewind(session: ScriptedSession) -> None:
    times = iter([10.0, 20.0, 20.4])
    rewindable(session)
    async with running(session, size=(100, 30)) as (app, pilot):
        vars(session)["now"] = lambda: next(times, 21.0)
        look = app.bench.turn_actions
        look.interrupt()  # the first of two, too early for the next
        look.interrupt()
        assert not isinstance(app.screen, TurnsScreen)
        look.interrupt()
        await until(pilot, lambda: isinstance(app.screen, TurnsScreen))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, RewindScreen))
        screen = app.screen
        assert isinstance(screen, RewindScreen)
        await until(pilot, lambda: bool(screen.view.cursor.files))
        assert [file.words for file in screen.view.cursor.files] == [
            "",
            "comes back, changed by others",
        ]
        await pilot.press("t")
        await until(pilot, lambda: not screen.view.cursor.files)
        await pilot.press("f", "r")
        await until(pilot, lambda: session.intents != [])
    assert session.intents[-1] == Rewind(2, 0, "files")


async def test_an_esc_that_did_something_is_not_the_first_of_two(session: ScriptedSession) -> None:
    times = iter([10.0, 10.3, 10.6, 10.9])
    rewindable(session)
    async with running(session, size=(100, 30)) as (app, pilot):
        vars(session)["now"] = lambda: next(times, 11.0)
        app.bench.prompt_box.prompt.text = "a draft"
        app.bench.turn_actions.interrupt()
        app.bench.prompt_box.prompt.text = ""
        for _ in range(3):
            app.bench.turn_actions.interrupt()
        await pilot.pause()
        assert not isinstance(app.screen, TurnsScreen)


async def test_a_turn_that_there_is_not_is_said(session: ScriptedSession) -> None:
    async with running(rewindable(session), size=(100, 30)) as (app, pilot):
        app.bench.slash.run("/rewind 7")
        await until(pilot, lambda: bool(app._notifications))
        assert not isinstance(app.screen, RewindScreen)


async def test_what_was_said_does_not_lie_over_the_list(session: ScriptedSession) -> None:
    async with running(rewindable(session), size=(80, 24)) as (app, pilot):
        app._disable_notifications = False
        app.bench.slash.run("/rewind 7")
        await until(pilot, lambda: bool(app._notifications))
        app.bench.slash.run("/rewind")
        await until(pilot, lambda: isinstance(app.screen, TurnsScreen))
        await until(pilot, lambda: app.screen.query(Toast))
        await pilot.pause()
        box = app.screen.query_one(".pick").region
        assert not any(box.overlaps(toast.region) for toast in app.screen.query(Toast))
