"""Earlier prompts, a draft that outlives a crash, and the draft in the user's own editor."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import Any

import pytest

from tests.support.prompt_rows import hint, keys, shown
from tests.support.scripted_app import running, until
from tests.support.scripted_session import ScriptedSession
from tui.core.conversation import PastPrompt
from tui.core.programs import Edited
from tui.engine.intents import EditSummary
from tui.engine.slash import NO_SUMMARY
from tui.ui.prompt.box import joined


async def test_earlier_prompts_are_found_by_their_words(session: ScriptedSession) -> None:
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
        assert "no match" in hint(app)
        await pilot.press("escape")
        assert box.prompt.text == "a draft\nof two lines"
        await pilot.press("ctrl+r", "z", "ctrl+c")
        assert box.prompt.text == "a draft\nof two lines", "as in a shell"


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


async def test_what_stands_in_the_prompt_is_told_and_can_be_had(session: ScriptedSession) -> None:
    async with running(session) as (app, pilot):
        before = session.keeping.changes
        await pilot.press("a", "b")
        await pilot.pause()
        assert session.keeping.changes > before
        assert session.keeping.draft() == "ab"
        app.bench.prompt_box.prompt.clear()
        await pilot.pause()
        assert session.keeping.draft() == ""


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


@pytest.mark.slow
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
        app.bench.prompt_box.external_editor = editor
        await pilot.press(*"draft", "ctrl+g")
        await pilot.pause()
        assert app.bench.prompt_box.prompt.text == text
        told: list[Any] = list(app._notifications)
        assert all(said in note.message for note in told)
        assert bool(told) == bool(said)


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
        app.bench.prompt_box.external_editor = OpenEditor(Edited(None))
        await pilot.press(*"draft", "ctrl+g")
        await pilot.pause()
        assert app.bench.prompt_box.draft == "saved in the editor"


async def test_an_emptied_draft_is_in_the_history(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(ScriptedSession()) as (app, pilot):
        monkeypatch.setattr(app, "suspend", nullcontext)
        app.bench.prompt_box.external_editor = Editor(Edited(""))
        await pilot.press(*"draft", "ctrl+g")
        await pilot.pause()
        assert app.bench.prompt_box.prompt.text == ""
        await pilot.press("up")
        assert app.bench.prompt_box.prompt.text == "draft"


def test_what_came_into_the_prompt_meanwhile_is_not_lost() -> None:
    assert joined("edited", "draft", "draft") == "edited"
    assert joined("edited", "draft", "not sent\ndraft") == "not sent\nedited"
    assert joined("edited", "", "not sent") == "not sent\nedited"


class Kept:
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
        kept = prompt.past.store = Kept(PastPrompt("elsewhere", here=False), PastPrompt("before"))
        await pilot.press(*"now", "enter", *"dr", "up")
        assert (prompt.text, kept.now) == ("now", ["now"])
        await pilot.press("up")
        assert prompt.text == "before"
        await pilot.press("up", "down", "down")
        assert prompt.text == "dr"


async def test_the_summary_goes_through_the_editor_and_the_draft_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session, editor = ScriptedSession(), Editor(Edited("shorter"))
    async with running(session) as (app, pilot):
        monkeypatch.setattr(app, "suspend", nullcontext)
        app.bench.prompt_box.external_editor = editor
        await pilot.press(*"/compact show", "enter")
        await until(pilot, lambda: any(note.message == NO_SUMMARY for note in app._notifications))
        session.summary.text = "What is certain."
        await pilot.press(*"/compact show", "enter", *"draft")
        await until(pilot, lambda: session.intents != [])
        assert app.bench.prompt_box.prompt.text == "draft"
    assert editor.given == ["What is certain."]
    assert session.intents == [EditSummary("shorter", "What is certain.")]


async def test_a_summary_in_the_editor_is_not_kept_as_the_draft(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = ScriptedSession()
    session.summary.text = "What is certain."
    async with running(session) as (app, pilot):
        monkeypatch.setattr(app, "suspend", nullcontext)
        box = app.bench.prompt_box
        box.external_editor = editor = OpenEditor(Edited(None))
        await pilot.press(*"/compact show", "enter", *"draft")
        await until(pilot, lambda: editor.given != [])
        assert box.draft == "draft"
