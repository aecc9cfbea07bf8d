"""What is pasted into the prompt and is no text."""

from __future__ import annotations

import random

import pytest
from textual import events

from tests.support.scripted_app import running
from tests.support.scripted_session import ScriptedSession
from tui.ui.prompt.pasting import no_text

PICTURE = random.Random(7).randbytes(4_000).decode("utf-8", "replace")


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "größe 📦 مرحبا 漢字",
        "\x1b[31mred\x1b[0m\n" * 500,
        "tab\tand\r\nlines\f" * 100,
        "a \ufffd name",
        "\x00" * 16,
    ],
)
def test_text_is_taken(text: str) -> None:
    assert no_text(text) == ""


@pytest.mark.parametrize("pasted", ["", PICTURE, "\x00\x01" * 500_000])
async def test_what_is_no_text_is_refused_with_a_sentence(pasted: str) -> None:
    async with running(ScriptedSession()) as (app, pilot):
        prompt = app.bench.prompt_box.prompt
        await pilot.press("a")
        prompt.post_message(events.Paste(pasted))
        await pilot.pause()
        assert prompt.text == "a"
        assert "with @" in next(iter(app._notifications)).message


async def test_a_draft_from_a_file_does_not_act_on_the_terminal() -> None:
    """One that was kept when duetto ended, say."""
    async with running(ScriptedSession()) as (app, _):
        prompt = app.bench.prompt_box.prompt
        prompt.restore("one \x1b]0;title\x07 two")
        assert not set(prompt.text) & {"\x1b", "\x07"}
        assert prompt.text.startswith("one ")
