"""Pastes: long ones are one thing behind a label, what is no text is refused, nothing is lost."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.pilot import Pilot

from tests.support.prompt_rows import hint
from tests.support.scripted_app import running, until
from tests.support.scripted_session import ScriptedSession
from tui.errors import EditRefused
from tui.ui.app import DuettoApp
from tui.ui.prompt import prompt
from tui.ui.prompt.prompt import Folds, is_long

LINES = "".join(f"line {number}\n" for number in range(200))


LABEL = "[pasted 200 lines]"


async def paste(app: DuettoApp, pilot: Pilot[int], text: str) -> None:
    """As the terminal does it."""
    app.bench.prompt_box.prompt.post_message(events.Paste(text))
    await pilot.pause()


@pytest.mark.parametrize(
    ("keys", "left"),
    [
        (("backspace",), "ab"),
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


@pytest.mark.slow
@pytest.mark.parametrize("lines", [9, 10, 99])
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


def test_the_same_text_has_one_label_and_another_one_its_own() -> None:
    store = Folds()
    first, again, other = store.fold(LINES), store.fold(LINES), store.fold(LINES.upper())
    assert first == again == "[pasted 200 lines]"
    assert other == "[pasted 200 lines #2]"
    assert store.whole(first + other) == LINES + LINES.upper()


def test_the_oldest_that_nothing_shows_are_given_up() -> None:
    store = Folds()
    size = prompt.KEPT_CHARS // 4
    shown = store.fold("a" * size)
    for letter in "bcdefg":
        store.fold(letter * (size + 1), shown)
    assert len(store) <= 4
    assert store.whole(shown) == "a" * size


@given(st.lists(st.sampled_from(["hi", LINES, LINES * 2, "z" * 6000, "[pasted 200 lines]", "\n"])))
def test_nothing_is_lost(pieces: list[str]) -> None:
    """But a label that was typed is read as one if it stands for something."""
    store, draft, typed = Folds(), "", ""
    for piece in pieces:
        draft += store.fold(piece, draft)
        typed += piece
    whole = store.whole(draft)
    assert whole.replace("[pasted 200 lines]", LINES) == typed.replace("[pasted 200 lines]", LINES)
    again = store.fold(whole)
    assert store.whole(again) == store.whole(whole)
    assert not is_long(again) or len(pieces) > 100


PICTURE = random.Random(7).randbytes(4_000).decode("utf-8", "replace")


@pytest.mark.parametrize("pasted", [PICTURE, "\x00\x01" * 500_000])
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


class Images:
    """Attachments that know one image."""

    def __init__(self) -> None:
        self.clipboard = "there is no image on the clipboard"

    async def named_images(self, words: str) -> list[str]:
        if not words and self.clipboard != "pasted-1.png":
            raise EditRefused(self.clipboard)
        return [words or self.clipboard]

    def shown_images(self, draft: str) -> list[str]:
        return ["pasted-1.png 1280x720 · 84.0 kB"] if "@pasted-1.png" in draft else []

    def sizes(self, paths: Iterable[str]) -> dict[str, int]:
        return {}

    def offered(self, letters: str) -> list[tuple[str, str]]:
        return []


async def taken(app: DuettoApp, pilot: Pilot[int]) -> None:
    """Wait until nothing looks for an image any more."""
    await pilot.pause()
    await until(pilot, lambda: not any(one.group == "image" for one in app.workers))
    await pilot.pause()


async def test_an_image_on_the_clipboard_is_named_at_the_cursor() -> None:
    session = ScriptedSession()
    session.attachments = images = cast(Any, Images())
    async with running(session, (120, 36)) as (app, pilot):
        prompt = app.bench.prompt_box.prompt
        await pilot.press("a", "space")
        app.copy_to_clipboard("copied")
        prompt.post_message(events.Paste(""))  # so terminals paste an image
        await taken(app, pilot)
        assert prompt.text == "a "
        assert next(iter(app._notifications)).message.startswith("No image was taken: there is no")
        await pilot.press("ctrl+v")
        await taken(app, pilot)
        assert prompt.text == "a copied", "with no image there it is what was copied"
        images.clipboard = "pasted-1.png"
        await pilot.press("space", "ctrl+v")
        await taken(app, pilot)
        assert prompt.text == "a copied @pasted-1.png "
        await pilot.pause()
        assert "pasted-1.png 1280x720 · 84.0 kB" in hint(app)
        prompt.write("/image docs/my shot.png")
        await pilot.press("enter")
        await taken(app, pilot)
        assert prompt.text == '@"docs/my shot.png" '
