"""What stands over and under the prompt: lists, questions, hints, the keys of vi."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import pytest
from textual.pilot import Pilot

from tests.support.prompt_rows import hint, keys, shown
from tests.support.scripted_app import running, scripted_app, settled
from tests.support.scripted_session import ScriptedSession
from tui.core.document.hunk import TAKEN_BACK, Decision, Stage
from tui.core.proposals import Proposal
from tui.engine.intents import (
    Answer,
    Intent,
    OpenFile,
    Prompt,
    SetEffort,
    SetTier,
    Switch,
    Throttle,
)
from tui.engine.notices import Ask, Notices
from tui.engine.proposing import Proposing
from tui.ui.app import DuettoApp
from tui.ui.prompt.box import PromptBox
from tui.ui.prompt.question_box import QuestionBox
from tui.ui.terminal.facts import TerminalFacts


async def test_messages_that_wait_come_before_a_suggestion() -> None:
    """A suggestion is sent with one key; the queue would go after it, unlooked for."""
    session = ScriptedSession()
    session.status.prompts = ["do it"]
    session.status.queued = ["and then that"]
    async with running(session, (120, 36)) as (app, _):
        assert "goes to the queue" in hint(app)


async def test_enter_is_named_where_its_sign_cannot_be_drawn() -> None:
    """Its stand-in would be the key <: Alt+<."""
    session = ScriptedSession()
    session.status.busy = True
    app = scripted_app(session)
    app.draw_on(TerminalFacts(glyphs="ascii"))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(session, pilot)
        assert hint(app).startswith("  Enter redirect  Alt+Enter steer  Tab queue")
    async with running(session, (80, 24)) as (app, _):
        assert hint(app).startswith("  ⏎ redirect  Alt+⏎ steer  Tab queue")


ANSWERS = ("run it this time", "run it always", "do not run it")


@pytest.mark.parametrize(
    ("size", "words", "queued"),
    [
        ((40, 12), 12, ["then a test", "and the docs"]),
        ((40, 12), 1, []),
        ((40, 20), 12, []),
        ((80, 24), 12, ["then a test"]),
    ],
)
async def test_every_answer_is_in_sight(
    size: tuple[int, int], words: int, queued: list[str]
) -> None:
    session = ScriptedSession()
    session.status.queued = queued
    detail = "a long command line of the workspace " * words
    session.status.asks = [Ask(1, "Run the command of this workspace?", detail, ANSWERS)]
    async with running(session, size) as (app, pilot):
        await pilot.pause()
        box = app.bench.query_one(QuestionBox)
        rows = [box.render_line(y).text.strip() for y in range(box.rows)]
        assert rows[0].startswith("? Run the command")
        assert rows[-3:] == [f"{at} {answer}" for at, answer in enumerate(ANSWERS, 1)]
        assert words == 1 or any("more rows" in row for row in rows) or size[0] == 80
        assert box.region.height == box.rows
        prompt = app.bench.prompt_box.prompt.region
        assert box.region.bottom <= prompt.y < prompt.bottom <= size[1] - 3, "and its hint"
        assert "answer" in hint(app)
        assert app.bench.transcript.region.height >= 1


@asynccontextmanager
async def vi(session: ScriptedSession) -> AsyncIterator[tuple[DuettoApp, Pilot[int]]]:
    async with running(session) as (app, pilot):
        app.bench.prompt_box.prompt.use_vi()
        yield app, pilot


async def test_the_mode_is_said_and_a_line_is_edited(session: ScriptedSession) -> None:
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


async def test_the_list_is_for_insert_mode_and_esc_closes_it_first() -> None:
    async with vi(ScriptedSession()) as (app, pilot):
        await pilot.press(*keys("@ca"), "escape")
        assert shown(app) == []
        assert hint(app).startswith("  insert")
        await pilot.press("escape", "x")
        assert hint(app).startswith("  normal")
        assert shown(app) == []


async def test_files_that_are_listed_later_are_offered_for_what_is_typed_already() -> None:
    session = ScriptedSession({})
    async with running(session) as (app, pilot):
        await pilot.press(*keys("see @ab"))
        assert "no file matches" in hint(app)
        session.files |= {"a b.py": "", "lab.py": ""}
        session.state.folders_changed(listing=True)
        await settled(session, pilot)
        assert shown(app)[1:] == [" ▸ a b.py", "   lab.py"]
        await pilot.press("down")
        session.files["ab"] = ""
        session.state.folders_changed(listing=True)
        await settled(session, pilot)
        assert shown(app)[1:] == ["   a b.py", " ▸ lab.py"], "the user has chosen"
        await pilot.press(*["backspace"] * 10, "ctrl+o", *"ab.t")
        session.files["ab.txt"] = ""
        session.state.folders_changed(listing=True)
        await settled(session, pilot)
        await pilot.press("enter")
        assert session.intents == [OpenFile("ab.txt")]


async def test_files_may_be_listed_before_the_finder_is_put_together() -> None:
    session = ScriptedSession({})
    async with running(session) as (app, pilot):
        app.bench.editor.action_open_file()
        session.files["new.py"] = ""
        app.bench.editor.sync(Notices(listing=True))
        await settled(session, pilot)
        await pilot.press("enter")
        assert session.intents == [OpenFile("new.py")]


async def test_files_are_listed_over_the_prompt_and_chosen_with_the_arrows() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        prompt = app.bench.prompt_box.prompt
        await pilot.press(*keys("see @ca"))
        assert shown(app)[0].split() == ["files", "1", "of", "2"]
        assert shown(app)[1:] == [" ▸ ledger/cache.py", "   tests/test_cache.py"]
        assert "take" in hint(app)
        await pilot.press("down", "enter")
        assert prompt.text == "see @tests/test_cache.py "
        assert shown(app) == []
        assert session.intents == []
        await pilot.press("enter")
        assert session.intents == [Prompt("see @tests/test_cache.py")]


@pytest.mark.slow
async def test_enter_runs_what_was_typed_or_the_only_thing_that_it_can_mean() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await pilot.press(*keys("/clr"), "enter")
        await pilot.pause()
        assert app.bench.prompt_box.prompt.text == "/clear ", "completed, and not run"
        app.bench.prompt_box.prompt.clear()
        for typed, ran in (
            ("/throttle 15", [Throttle(15.0)]),
            ("/throttle 5", [Throttle(5.0)]),
            ("/throttle 10", [Throttle(10.0)]),
            ("/tier x", [SetTier("x")]),
            ("/effort h", [SetEffort("high")]),
            ("/fast", [Switch("fast")]),
        ):
            session.intents.clear()
            await pilot.press(*keys(typed), "enter")
            await pilot.pause()
            assert session.intents == ran, typed


class OneMore(ScriptedSession):
    """Asks a second question as soon as the first is answered, and the screen shows it at once."""

    box: PromptBox

    def submit(self, intent: Intent) -> None:
        super().submit(intent)
        if isinstance(intent, Answer):
            more = [Ask(2, "And the next one?", "", ANSWERS)] if intent.ask_id == 1 else []
            self.status.asks = more
            self.box.sync(Notices(status=True))


@pytest.mark.parametrize("draft", ["", "a draft"])
async def test_the_next_question_has_the_keys_if_nothing_is_typed(draft: str) -> None:
    session = OneMore()
    async with running(session) as (app, pilot):
        session.box = app.bench.prompt_box
        session.box.prompt.text = draft
        session.status.asks = [Ask(1, "Run it?", "", ANSWERS)]
        session.changed()
        await pilot.pause()
        session.box.focus_question()
        await pilot.press("1")
        await pilot.pause()
        await pilot.press("2")
        await pilot.pause()
        answers = [one.ask_id for one in session.intents if isinstance(one, Answer)]
        assert (answers, session.box.prompt.text) == (([1], "2a draft") if draft else ([1, 2], ""))
        assert app.focused is session.box.prompt


async def test_what_sending_does_to_a_cut_hunk_is_said_before() -> None:
    session = ScriptedSession()
    async with running(session, (80, 24)) as (app, pilot):
        hunk = session.hunk(Stage.CUT, 11, added=2)
        await settled(session, pilot)
        assert "send  takes the cut hunk back · Alt+J decides on it" in hint(app)
        session.status.can_continue = True
        session.changed()
        await settled(session, pilot)
        assert "send  takes the cut hunk back · /continue goes on" in hint(app)
        await pilot.resize_terminal(40, 24)
        await pilot.pause()
        assert hint(app).endswith("send  takes the cut hunk back"), "no word is cut"
        await pilot.resize_terminal(80, 24)
        session.status.can_continue = False
        hunk.decision, hunk.reason = Decision.REJECTED, TAKEN_BACK
        session.changed()
        await settled(session, pilot)
        assert hint(app).endswith("Alt+1, then u: brings the cut hunk back")
        hunk.decision, hunk.reason = Decision.ACCEPTED, ""
        session.changed()
        await settled(session, pilot)
        assert "cut" not in hint(app)


class Advice:
    """Has something to say of every draft, while the fast model answers."""

    def __init__(self, session: ScriptedSession) -> None:
        self._session = session

    def of(self, draft: str) -> Proposal | None:
        words = "10 of 12 right, fast 3 of 10 · fixes · advice right 7 of 9"
        return Proposal("deep", words, "fixes") if self._session.status.role == "fast" else None


async def test_the_other_model_is_proposed_with_the_key_that_takes_it() -> None:
    session = ScriptedSession()
    session.proposing = cast(Proposing, Advice(session))
    async with running(session, (120, 30)) as (app, pilot):
        assert "deep" not in hint(app)
        await pilot.press(*keys("fix it"))
        said = "⏎ send  F2 deep  10 of 12 right, fast 3 of 10"
        assert hint(app).strip().startswith(said)
        await pilot.press("f2")
        await settled(session, pilot)
        assert session.intents[-1] == Switch("deep")
        assert "F2" not in hint(app)
        assert app.bench.prompt_box.prompt.text == "fix it"
