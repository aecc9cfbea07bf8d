"""The keys of vi in the prompt, where they are wanted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.pilot import Pilot

from tests.support.prompt_rows import hint, keys, shown
from tests.support.scripted_app import running
from tests.support.scripted_session import ScriptedSession
from tui.engine.intents import Prompt
from tui.ui.app import DuettoApp


@asynccontextmanager
async def vi(session: ScriptedSession) -> AsyncIterator[tuple[DuettoApp, Pilot[int]]]:
    async with running(session) as (app, pilot):
        app.bench.prompt_box.prompt.use_vi()
        yield app, pilot


async def test_the_mode_is_said_and_a_line_is_edited() -> None:
    session = ScriptedSession()
    async with vi(session) as (app, pilot):
        prompt = app.bench.prompt_box.prompt
        await pilot.press(*keys("fix the old cache"))
        assert hint(app).startswith("  insert")
        await pilot.press("escape")
        assert hint(app).startswith("  normal")
        await pilot.press("2", "d")
        assert hint(app).startswith("  normal 2d")
        await pilot.press("b")
        assert prompt.text == "fix the e"
        await pilot.press("u")
        assert prompt.text == "fix the old cache"
        await pilot.press("0", "w", "c", "w", *"my")
        assert prompt.text == "fix my old cache"
        assert hint(app).startswith("  insert")
        await pilot.press("escape", "enter", *"i")
        assert session.intents == [Prompt("fix my old cache")]
        assert prompt.text == "i", "the next one begins in insert mode"


async def test_lines_and_history_are_walked_with_j_and_k() -> None:
    async with vi(ScriptedSession()) as (app, pilot):
        prompt = app.bench.prompt_box.prompt
        prompt.past.add("asked before")
        await pilot.press(*"ab", "ctrl+j", *"cd", "escape", "k", "x")
        assert prompt.text == "a\ncd"
        await pilot.press("k")
        assert prompt.text == "asked before"
        await pilot.press("j")
        assert prompt.text == "a\ncd"


async def test_a_selection_is_seen_and_a_paste_that_is_folded_goes_as_one() -> None:
    async with vi(ScriptedSession()) as (app, pilot):
        prompt = app.bench.prompt_box.prompt
        await pilot.press(*"abc", "escape", "0", "v", "l")
        assert prompt.selected_text == "a"
        await pilot.press("d")
        assert prompt.text == "c"
        prompt.take_in("line\n" * 200)
        await pilot.press("0", "x", "x")
        assert "pasted" not in prompt.text


async def test_the_list_is_for_insert_mode_and_esc_closes_it_first() -> None:
    async with vi(ScriptedSession()) as (app, pilot):
        await pilot.press(*keys("@ca"), "escape")
        assert shown(app) == []
        assert hint(app).startswith("  insert")
        await pilot.press("escape", "x")
        assert hint(app).startswith("  normal")
        assert shown(app) == []


async def test_esc_stops_an_answer_first() -> None:
    session = ScriptedSession()
    session.status.busy = True
    async with vi(session) as (app, pilot):
        await pilot.press("a", "escape")
        assert not session.status.busy
        assert hint(app).startswith("  insert")
