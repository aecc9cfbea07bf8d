"""Ctrl+G: the draft in the user's own editor, and history of earlier runs behind Up."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest
from textual.app import SuspendNotSupported

from tests.support.scripted_app import running
from tests.support.scripted_session import ScriptedSession
from tui.core.edited import Edited
from tui.core.prompt_past import PastPrompt
from tui.ui.prompt.history import History, NothingKept
from tui.ui.prompt.outside import joined


class Editor:
    """Gives back what a test says."""

    def __init__(self, edited: Edited, why_not: str = "") -> None:
        self.edited, self.why_not = edited, why_not
        self.given: list[str] = []

    def refusal(self) -> str:
        return self.why_not

    async def edit(self, text: str) -> Edited:
        self.given.append(text)
        return self.edited

    def written(self) -> str | None:
        return None


@pytest.mark.parametrize(
    ("editor", "text", "said"),
    [
        (Editor(Edited("other\nwords")), "other\nwords", ""),
        (Editor(Edited(None, "vim ended with exit code 1.")), "draft", "exit code 1"),
        (Editor(Edited("x"), "There is no editor."), "draft", "no editor"),
        (Editor(Edited("a\x1b[2Jb")), "a\u241b[2Jb", ""),
    ],
)
async def test_what_comes_back_is_the_draft(
    editor: Editor, text: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(ScriptedSession()) as (app, pilot):
        monkeypatch.setattr(app, "suspend", nullcontext)
        app.bench.prompt_box.outside = editor
        await pilot.press(*"draft", "ctrl+g")
        await pilot.pause()
        assert app.bench.prompt_box.prompt.text == text
        told: list[Any] = list(app._notifications)
        assert all(said in note.message for note in told)
        assert bool(told) == bool(said)


async def test_a_terminal_that_cannot_be_lent_is_said() -> None:
    """Pilot's is one."""
    async with running(ScriptedSession()) as (app, pilot):
        editor = app.bench.prompt_box.outside = Editor(Edited("other"))
        await pilot.press(*"draft", "ctrl+g")
        await pilot.pause()
        assert app.bench.prompt_box.prompt.text == "draft"
        assert editor.given == []
        assert "cannot be handed" in next(iter(app._notifications)).message


class OpenEditor(Editor):
    """Has saved, and is open still."""

    async def edit(self, text: str) -> Edited:
        await super().edit(text)
        await asyncio.Event().wait()
        return self.edited

    def written(self) -> str | None:
        return "saved in the editor"


async def test_what_is_in_the_editor_is_kept_where_duetto_is_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(ScriptedSession()) as (app, pilot):
        monkeypatch.setattr(app, "suspend", nullcontext)
        app.bench.prompt_box.outside = OpenEditor(Edited(None))
        await pilot.press(*"draft", "ctrl+g")
        await pilot.pause()
        assert app.bench.prompt_box.draft == "saved in the editor"


async def test_what_came_back_is_kept_where_the_terminal_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @contextmanager
    def gone() -> Iterator[None]:
        yield
        raise SuspendNotSupported

    async with running(ScriptedSession()) as (app, pilot):
        monkeypatch.setattr(app, "suspend", gone)
        app.bench.prompt_box.outside = Editor(Edited("an hour of work"))
        await pilot.press(*"draft", "ctrl+g")
        await pilot.pause()
        assert app.bench.prompt_box.draft == "an hour of work"


async def test_an_emptied_draft_is_in_the_history(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(ScriptedSession()) as (app, pilot):
        monkeypatch.setattr(app, "suspend", nullcontext)
        app.bench.prompt_box.outside = Editor(Edited(""))
        await pilot.press(*"draft", "ctrl+g")
        await pilot.pause()
        assert app.bench.prompt_box.prompt.text == ""
        await pilot.press("up")
        assert app.bench.prompt_box.prompt.text == "draft"


def test_what_came_into_the_prompt_meanwhile_is_not_lost() -> None:
    assert joined("edited", "draft", "draft") == "edited"
    assert joined("edited", "draft", "not sent\ndraft") == "not sent\nedited"
    assert joined("edited", "", "not sent") == "not sent\nedited"


class Kept(NothingKept):
    """Earlier runs."""

    def __init__(self, *entries: PastPrompt) -> None:
        self.entries, self.now = list(entries), list[str]()

    def load(self) -> list[PastPrompt]:
        return self.entries

    def keep(self, text: str) -> None:
        self.now.append(text)


async def test_up_goes_on_with_what_was_asked_in_earlier_runs() -> None:
    async with running(ScriptedSession()) as (app, pilot):
        prompt = app.bench.prompt_box.prompt
        kept = prompt.past.kept = Kept(PastPrompt("elsewhere", here=False), PastPrompt("before"))
        await pilot.press(*"now", "enter", *"dr", "up")
        assert (prompt.text, kept.now) == ("now", ["now"])
        await pilot.press("up")
        assert prompt.text == "before"
        await pilot.press("up", "down", "down")
        assert prompt.text == "dr"


def test_where_nothing_was_asked_yet_other_workspaces_help() -> None:
    past = History(Kept(PastPrompt("one", here=False), PastPrompt("two", here=False)))
    assert past.older("draft") == "two"
    assert past.older("two") == "one"
    assert past.older("one") is None
    assert past.newer() == "two"
    assert past.newer() == "draft"


def test_what_was_asked_in_this_run_is_not_there_twice() -> None:
    kept = Kept(PastPrompt("before"), PastPrompt("now"))
    past = History(kept)
    past.add("now")
    assert past.older("") == "now"
    assert past.older("now") == "before"
