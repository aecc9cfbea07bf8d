"""A prompt that did not reach the model is in the prompt box again."""

from __future__ import annotations

from tests.support.scripted_app import running, settled
from tests.support.scripted_session import ScriptedSession
from tui.engine.notices import Trouble


async def test_a_prompt_that_was_not_sent_comes_back_each_time() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        prompt = app.bench.prompt_box.prompt
        for _ in range(2):
            await pilot.press("h", "i", "enter")
            session.status.unsent = "hi"
            await settled(session, pilot)
            assert prompt.text == "hi"
            await settled(session, pilot)
            assert prompt.clear_draft()
            await settled(session, pilot)
            assert prompt.text == ""


async def test_a_draft_stays_under_the_prompt_that_comes_back() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await pilot.press("h", "i", "enter", "n", "o")
        session.status.unsent = "hi"
        await settled(session, pilot)
        assert app.bench.prompt_box.prompt.text == "hi\nno"


async def test_trouble_of_later_turns_brings_no_old_prompt_back() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await pilot.press("h", "i", "enter")
        session.board.trouble(Trouble("The failure was not sent", retryable=True))
        await settled(session, pilot)
        assert app.bench.prompt_box.prompt.text == ""
