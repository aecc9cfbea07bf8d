from __future__ import annotations

import pytest

from tests.support.scripted_app import running, settled
from tests.support.scripted_session import ScriptedSession
from tui.core.edits.hunk import Stage
from tui.engine.intents import Interrupt

OPENERS = {"help": "f1", "palette": "ctrl+p", "finder": "ctrl+o", "leave": "ctrl+q"}


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
@pytest.mark.parametrize("opener", OPENERS)
async def test_whatever_lies_over_the_screen_the_answer_is_stopped_first(
    opener: str, key: str
) -> None:
    session = ScriptedSession()
    session.hunk(Stage.LANDED, 3)
    async with running(session) as (app, pilot):
        session.status.busy = True
        await settled(session, pilot)
        await pilot.press(OPENERS[opener])
        await pilot.pause()
        over = app.screen
        assert over is not app.bench
        await pilot.press(key)
        await pilot.pause()
        assert session.intents == [Interrupt()]
        assert app.screen is over
        await pilot.press("escape")
        await pilot.pause()
        assert app.screen is app.bench
        assert session.intents == [Interrupt()]


async def test_what_is_being_stopped_already_does_not_hold_the_key() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        session.status.busy = session.status.stopping = True
        await settled(session, pilot)
        await pilot.press("f1", "escape")
        assert app.screen is app.bench
        assert session.intents == []
