"""What went wrong is said once, in sight, and covers nothing that says it, too."""

from __future__ import annotations

from tests.support.scripted_app import running, settled
from tests.support.scripted_session import ScriptedSession
from tui.engine.notices import Trouble


async def test_troubles_are_shown_inert() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        session.board.trouble(Trouble("No [b]way[/b]\x1b[2J", retryable=True))
        await settled(session, pilot)
        notification = next(iter(app._notifications))
        assert notification.message == "No [b]way[/b]␛[2J"
        assert not notification.markup


async def test_what_the_conversation_says_does_not_cover_it() -> None:
    session = ScriptedSession()
    noted = Trouble("The connection was lost", "gone", "send it again", noted=True)
    async with running(session, (80, 24)) as (app, pilot):
        session.board.trouble(noted)
        await settled(session, pilot)
        assert list(app._notifications) == []
        await pilot.press("f6")
        session.board.trouble(noted)
        await settled(session, pilot)
        assert [(told.title, told.message) for told in app._notifications] == [
            ("The connection was lost", "gone\n→ send it again")
        ]


async def test_a_toast_of_before_does_not_cover_what_the_conversation_says() -> None:
    session = ScriptedSession()
    async with running(session, (80, 24)) as (app, pilot):
        session.board.trouble(Trouble("The endpoint cannot be reached"))
        await settled(session, pilot)
        assert len(app._notifications) == 1
        session.board.trouble(Trouble("The endpoint cannot be reached", noted=True))
        await settled(session, pilot)
        assert list(app._notifications) == []


async def test_a_prompt_ends_the_toasts_of_before() -> None:
    """They would cover its answer."""
    session = ScriptedSession()
    async with running(session, (80, 24)) as (app, pilot):
        session.board.trouble(Trouble("The endpoint cannot be reached"))
        await settled(session, pilot)
        await pilot.press(*"hi", "enter")
        await settled(session, pilot)
        assert list(app._notifications) == []


async def test_esc_with_nothing_else_to_close_clears_what_was_said() -> None:
    session = ScriptedSession()
    async with running(session, (80, 24)) as (app, pilot):
        session.board.trouble(Trouble("The endpoint cannot be reached"))
        await settled(session, pilot)
        await pilot.press("f1")
        await pilot.press("escape")
        assert len(app._notifications) == 1
        await pilot.press("escape")
        assert len(app._notifications) == 0
