"""`e` on a hunk: its text is edited in the editor, then one key accepts it."""

from __future__ import annotations

from tests.support.scripted_app import exercise, running, settled
from tests.support.scripted_session import ScriptedSession
from tui.core.edits.hunk import Decision
from tui.engine.intents import Accept, OpenFile
from tui.ui.app import DuettoApp
from tui.ui.widgets.bar import Bar


def footer(app: DuettoApp) -> str:
    return app.bench.query_one("#keys", Bar).render_line(0).text


async def test_it_is_edited_in_the_editor_and_accepted_with_one_key() -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        await pilot.press("alt+j")
        assert "accept hunk" not in footer(app)
        await pilot.press("e")
        await settled(session, pilot)
        assert session.intents == [OpenFile("ledger/cache.py", 7)]
        assert app.bench.in_editor(app.focused)
        assert "Alt+Y accept hunk" in footer(app)
        await pilot.press("x", "alt+y")
        await settled(session, pilot)
        assert session.intents[-1] == Accept((2,))
        assert app.focused is app.bench.transcript
        selected = app.bench.transcript.selected_hunk()
        assert selected is not None
        assert selected.id == 3
        assert "accept hunk" not in footer(app)


async def test_after_the_last_one_the_prompt_has_the_keys() -> None:
    session = ScriptedSession()
    exercise(session)
    session.workspace.hunks[2].decision = Decision.REJECTED
    async with running(session) as (app, pilot):
        await pilot.press("alt+j", "e", "alt+y")
        await settled(session, pilot)
        assert session.intents[-1] == Accept((2,))
        assert app.focused is app.bench.prompt_box.prompt


async def test_a_hunk_that_was_decided_on_meanwhile_is_not_accepted() -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        await pilot.press("alt+j", "e")
        session.workspace.hunks[1].decision = Decision.REJECTED
        await settled(session, pilot)
        assert "accept hunk" not in footer(app)
        await pilot.press("alt+y")
        assert not any(isinstance(intent, Accept) for intent in session.intents)


async def test_without_one_the_key_says_how_to_get_there() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await pilot.press("alt+y")
        assert session.intents == []
        assert "e on a hunk" in next(iter(app._notifications)).message
