"""The prompt box tells of every change, so that a draft outlives a crash."""

from __future__ import annotations

from tests.support.scripted_app import running
from tests.support.scripted_session import ScriptedSession


async def test_what_stands_in_the_prompt_is_told_and_can_be_had() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        before = session.keeping.changes
        await pilot.press("a", "b")
        await pilot.pause()
        assert session.keeping.changes > before
        assert session.keeping.draft() == "ab"
        app.bench.prompt_box.prompt.clear()
        await pilot.pause()
        assert session.keeping.draft() == ""
