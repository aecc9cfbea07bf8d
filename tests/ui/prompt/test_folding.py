"""A long paste is one thing in the prompt: shown, stepped over, removed, sent, brought back."""

from __future__ import annotations

import time

import pytest
from textual import events
from textual.pilot import Pilot

from tests.support.scripted_app import running
from tests.support.scripted_session import ScriptedSession
from tui.engine.intents import Prompt
from tui.ui.app import DuettoApp

LINES = "".join(f"line {number}\n" for number in range(200))
LABEL = "[pasted 200 lines]"


async def paste(app: DuettoApp, pilot: Pilot[int], text: str) -> None:
    """As the terminal does it."""
    app.bench.prompt_box.prompt.post_message(events.Paste(text))
    await pilot.pause()


async def test_it_is_sent_whole() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        prompt = app.bench.prompt_box.prompt
        await pilot.press("s", "e", "e", "space")
        await paste(app, pilot, LINES)
        await pilot.press("!")
        assert prompt.text == f"see {LABEL}!"
        assert app.bench.prompt_box.draft == session.keeping.draft() == f"see {LINES}!"
        await pilot.press("enter")
        await pilot.pause()
        assert Prompt(f"see {LINES}!") in session.intents
        assert prompt.text == ""
        await pilot.press("up")
        assert prompt.text == f"see {LABEL}!"
        assert prompt.whole == f"see {LINES}!"


@pytest.mark.parametrize(
    ("keys", "left"),
    [
        (("backspace",), "ab"),
        (("left", "delete"), "ab"),
        (("ctrl+w",), "ab"),
        (("left", "left", "right", "backspace"), LABEL + "b"),
        (("shift+left", "x"), "axb"),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, tuple) else None,
)
async def test_it_goes_as_one_and_undo_brings_it_back(keys: tuple[str, ...], left: str) -> None:
    async with running(ScriptedSession()) as (app, pilot):
        prompt = app.bench.prompt_box.prompt
        await pilot.press("a", "b", "left")
        await paste(app, pilot, LINES)
        assert prompt.text == f"a{LABEL}b"
        await pilot.press(*keys)
        assert prompt.text == left
        while prompt.text != f"a{LABEL}b":
            before = prompt.text
            await pilot.press("ctrl+z")
            assert prompt.text != before
        assert prompt.whole == f"a{LINES}b"


async def test_the_cursor_steps_over_it_in_every_way() -> None:
    async with running(ScriptedSession()) as (app, pilot):
        prompt = app.bench.prompt_box.prompt
        await paste(app, pilot, LINES)
        ends = {0, len(LABEL)}
        for key in ("left", "right", "ctrl+left", "ctrl+right", "home", "end", "left"):
            await pilot.press(key)
            assert prompt.cursor_location[1] in ends, key
        for column in range(len(LABEL) + 1):
            prompt.move_cursor((0, column))
            assert prompt.cursor_location[1] in ends
        assert prompt.insert("x", (0, 5)).end_location == (0, len(LABEL) + 1)
        assert prompt.text == f"{LABEL}x"


async def test_it_can_be_shown_and_is_text_then() -> None:
    async with running(ScriptedSession()) as (app, pilot):
        prompt = app.bench.prompt_box.prompt
        await paste(app, pilot, LINES)
        await pilot.press("alt+x")
        assert prompt.text == LINES
        await pilot.press("ctrl+z")
        assert prompt.text == LABEL


@pytest.mark.parametrize("lines", [2, 9, 10, 60, 99])
async def test_undo_of_a_paste_of_lines(lines: int) -> None:
    """Ten and more ended the app."""
    async with running(ScriptedSession()) as (app, pilot):
        prompt, text = app.bench.prompt_box.prompt, "line\n" * lines
        await pilot.press("a", "b")
        await paste(app, pilot, text)
        for _ in range(3):
            assert prompt.text == f"ab{text}"
            await pilot.press("ctrl+z")
            assert prompt.text == "ab"
            await pilot.press("ctrl+y")
        prompt.select_all()
        await pilot.press("x", "ctrl+z", "ctrl+z", "ctrl+z")
        assert prompt.text == ""


async def test_what_is_too_long_to_show_says_so() -> None:
    async with running(ScriptedSession()) as (app, pilot):
        prompt = app.bench.prompt_box.prompt
        await paste(app, pilot, "x" * 100_000)
        await pilot.press("alt+x")
        assert prompt.text == "[pasted 100,000 characters]"
        assert prompt.whole == "x" * 100_000
        assert "too many" in prompt.unfold()


async def test_copied_and_cut_it_is_the_text() -> None:
    async with running(ScriptedSession()) as (app, pilot):
        prompt = app.bench.prompt_box.prompt
        await paste(app, pilot, LINES)
        prompt.select_all()
        assert prompt.selected_text == LINES
        prompt.action_cut()
        assert app.clipboard == LINES
        assert prompt.text == ""
        prompt.action_paste()
        assert prompt.text == LABEL


async def test_a_queued_message_that_is_long_is_edited_behind_its_label() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        app.bench.prompt_box.restore(LINES)
        app.bench.prompt_box.restore("first")
        await pilot.pause()
        assert app.bench.prompt_box.prompt.text == f"first\n{LABEL}"
        assert app.bench.prompt_box.draft == f"first\n{LINES}"


@pytest.mark.parametrize("text", ["word = 1\n" * 116_000, "x" * 1_000_000], ids=["lines", "line"])
async def test_a_megabyte_holds_nothing_up(text: str) -> None:
    """Wrapping it took 1.3 s of CPU; to look through it once takes some milliseconds."""
    async with running(ScriptedSession()) as (app, pilot):
        await paste(app, pilot, "warm" * 10_000)
        started_s = time.process_time()
        await paste(app, pilot, text)
        await pilot.press("z")
        assert time.process_time() - started_s < 0.3
        assert app.bench.prompt_box.prompt.whole.endswith("z")
