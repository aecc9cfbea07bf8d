"""Ctrl+R: earlier prompts by their words."""

from __future__ import annotations

from tests.support.prompt_rows import hint, keys, shown
from tests.support.scripted_app import running
from tests.support.scripted_session import ScriptedSession


async def test_earlier_prompts_are_found_by_their_words() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        prompt = app.bench.prompt_box.prompt
        for text in ("make the cache safe", "write a test\nfor the cache", "rename it"):
            prompt.past.add(text)
        await pilot.press(*keys("a draft"), "ctrl+u", *keys("cac"), "ctrl+r")
        assert shown(app)[0].split()[-3:] == ["1", "of", "2"]
        assert shown(app)[1:] == [" ▸ write a test for the cache", "   make the cache safe"]
        assert "take" in hint(app)
        await pilot.press(*keys(" ma"), "enter")
        assert prompt.text == "make the cache safe"
        assert shown(app) == []
        assert session.intents == []


async def test_again_it_goes_on_and_esc_brings_the_draft_back() -> None:
    async with running(ScriptedSession()) as (app, pilot):
        box = app.bench.prompt_box
        for text in ("one", "two"):
            box.prompt.past.add(text)
        box.prompt.restore("a draft\nof two lines")
        await pilot.press("ctrl+r", "ctrl+r")
        assert shown(app)[1:] == ["   two", " ▸ one"]
        assert box.draft == "a draft\nof two lines", "it outlives a crash"
        await pilot.press("z", "z", "enter")
        assert "none has these words" in hint(app)
        await pilot.press("escape")
        assert box.prompt.text == "a draft\nof two lines"
        await pilot.press("ctrl+r", "z", "ctrl+c")
        assert box.prompt.text == "a draft\nof two lines", "as in a shell"


async def test_a_prompt_that_comes_back_ends_the_search() -> None:
    async with running(ScriptedSession()) as (app, pilot):
        prompt = app.bench.prompt_box.prompt
        prompt.past.add("one")
        await pilot.press(*keys("dr"), "ctrl+r", "x")
        app.bench.prompt_box.restore("not sent")
        assert prompt.text == "not sent\ndr"
        assert shown(app) == []


async def test_what_is_looked_for_is_never_sent_and_the_draft_never_lost() -> None:
    session = ScriptedSession()
    session.status.queued = ["later"]
    async with running(session) as (app, pilot):
        box = app.bench.prompt_box
        box.prompt.past.add("one")
        for key in ("alt+enter", "tab", "ctrl+c", "alt+q"):
            box.prompt.write("a draft of mine, long enough to be put aside " * 3)
            await pilot.press("ctrl+r", "z", key)
            if key == "alt+q":
                await pilot.press("e")
            await pilot.pause()
            kept = [box.draft, *box.prompt.past.entries]
            assert any("a draft of mine" in text for text in kept), key
            assert session.intents == []
            await pilot.press("escape", "escape")
