"""The queue above the prompt, and steering over it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from tests.support.prompt_rows import hint
from tests.support.scripted_app import running, settled
from tests.support.scripted_session import ScriptedSession
from tui.engine.intents import EditQueued, Intent, Interrupt, Prompt, Queue, Steer, Unqueue
from tui.ui.app import DuettoApp
from tui.ui.prompt.queue_list import QueueList, place_of

TEXTS = ["a test for it", "the README", "commit it"]


class QueueingSession(ScriptedSession):
    """One that does with its queue what the engine does."""

    def submit(self, intent: Intent) -> None:
        queued = self.status.queued
        if isinstance(intent, Queue):
            queued.append(intent.text)
        elif isinstance(intent, Unqueue):
            del queued[intent.index]
        elif isinstance(intent, EditQueued) and intent.text:
            queued[intent.index] = intent.text
        elif isinstance(intent, EditQueued):
            del queued[intent.index]
        super().submit(intent)


@asynccontextmanager
async def queueing(
    *, busy: bool = True, size: tuple[int, int] = (120, 36)
) -> AsyncIterator[tuple[QueueingSession, DuettoApp, Pilot[int]]]:
    """The app with three queued messages."""
    session = QueueingSession()
    session.status.busy = busy
    session.status.queued[:] = TEXTS
    async with running(session, size) as (app, pilot):
        yield session, app, pilot


def shown(app: DuettoApp) -> list[str]:
    """The rows above the prompt."""
    box = app.bench.query_one(QueueList)
    return [box.render_line(y).text.rstrip() for y in range(box.size.height)]


def draft(app: DuettoApp) -> str:
    return app.bench.prompt_box.prompt.text


def test_a_message_is_found_again_where_it_moved_to() -> None:
    assert place_of(["a", "b", "c"], 2, "c") == 2
    assert place_of(["b", "c"], 2, "c") == 1
    assert place_of(["x", "a", "b"], 0, "a") == 1
    assert place_of(["a", "b", "a"], 2, "a") == 2
    assert place_of(["a", "b"], 1, "c") is None
    assert place_of([], 0, "a") is None


async def test_a_message_is_edited_in_its_place_and_the_draft_comes_back() -> None:
    async with queueing() as (session, app, pilot):
        await pilot.press("n", "o", "alt+q", "up", "enter")
        assert draft(app) == "the README"
        assert shown(app)[1].endswith("in the prompt")
        assert "⏎ Tab put back as 2" in hint(app)
        await pilot.press("s", "tab")
        assert session.intents == [EditQueued(1, "the READMEs")]
        await settled(session, pilot)
        assert session.status.queued == ["a test for it", "the READMEs", "commit it"]
        assert draft(app) == "no"
        assert app.focused is app.bench.prompt_box.prompt
        assert "⏎ redirect" in hint(app)


async def test_a_removed_message_is_in_the_history() -> None:
    async with queueing() as (session, app, pilot):
        await pilot.press("alt+q", "k", "d")
        assert session.intents == [Unqueue(1)]
        await settled(session, pilot)
        assert app.bench.prompt_box.in_queue
        await pilot.press("delete")
        await settled(session, pilot)
        assert session.status.queued == ["a test for it"]
        await pilot.press("delete")
        await settled(session, pilot)
        assert app.focused is app.bench.prompt_box.prompt
        assert not app.bench.query_one(QueueList).display
        await pilot.press("up")
        assert draft(app) == "a test for it"
        await pilot.press("up", "up")
        assert draft(app) == "the README"


async def test_esc_stops_the_answer_first_and_leaves_the_edit_then() -> None:
    async with queueing() as (session, app, pilot):
        await pilot.press("n", "alt+q", "e", "x", "escape")
        assert session.intents == [Interrupt()]
        await settled(session, pilot)
        assert draft(app) == "commit itx"
        assert hint(app).startswith("  ⏎ Tab put back as 3  Alt+⏎ queue  Esc leave it")
        await pilot.press("escape")
        assert session.intents == [Interrupt()]
        assert draft(app) == "n"
        assert session.status.queued == TEXTS


async def test_a_message_that_was_sent_while_it_was_edited_loses_nothing() -> None:
    async with queueing() as (session, app, pilot):
        await pilot.press("m", "y", "alt+q", "k", "k", "e", "s")
        del session.status.queued[0]
        await settled(session, pilot)
        assert draft(app) == "a test for its\nmy"
        assert "⏎ redirect" in hint(app)
        await pilot.press("enter")
        assert session.intents == [Prompt("a test for its\nmy")]


async def test_the_edit_follows_its_message_when_the_queue_moves_up() -> None:
    async with queueing() as (session, app, pilot):
        await pilot.press("alt+q", "e", "!")
        del session.status.queued[0]
        await settled(session, pilot)
        assert "put back as 2" in hint(app)
        await pilot.press("tab")
        assert session.intents == [EditQueued(1, "commit it!")]


async def test_nothing_typed_is_left_out_when_duetto_is_left_during_an_edit() -> None:
    async with queueing() as (_, app, pilot):
        await pilot.press("n", "o", "alt+q", "e", "x")
        assert app.bench.prompt_box.draft == "commit itx\nno"


async def test_the_queue_stops_in_front_of_the_message_that_is_edited() -> None:
    async with queueing() as (session, _, pilot):
        await pilot.press("alt+q", "e")
        assert session.holds == [2]
        await pilot.press("x", "tab")
        assert session.holds == [2, None]
        await pilot.press("alt+q", "up", "e", "!", "alt+enter")
        assert session.holds == [2, None, 1, None]
        await pilot.click("#queue", offset=(8, 0))
        await pilot.click("#queue", offset=(8, 1))
        assert session.holds[4:] == [0, 1]
        await pilot.press("ctrl+c", "ctrl+c")
        assert session.holds[6:] == [None]


@pytest.mark.parametrize("size", [(40, 12), (80, 24)])
async def test_draft_and_label_are_in_sight_however_much_waits(size: tuple[int, int]) -> None:
    async with queueing(size=size) as (session, app, pilot):
        session.status.steering = ["a plain Lock", "in put"]
        session.status.queued[:] = [f"message {number}" for number in range(9)]
        for lines in (0, 12):
            app.bench.prompt_box.restore("\n".join(["words"] * lines))
            await settled(session, pilot)
            box = app.bench.prompt_box.region
            for name in ("#queue", "#prompt", "#hint"):
                part = app.bench.query_one(name).region
                assert part.height >= 1
                assert part.bottom <= box.bottom, (name, lines)
        await pilot.press("alt+q", "up", "up")
        await settled(session, pilot)
        assert len([line for line in shown(app) if "message 6" in line]) == 1


NARROWEST_OF_TWO = (100, 30)


@pytest.mark.parametrize("size", [NARROWEST_OF_TWO, (80, 24), (120, 36)])
async def test_the_label_says_what_each_key_does_now(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    async with running(session, size) as (app, pilot):
        assert hint(app).startswith("  ⏎ send")
        await pilot.press("x")
        assert hint(app).startswith("  ⏎ Alt+⏎ send")
        session.status.busy = True
        await settled(session, pilot)
        assert hint(app) == "  ⏎ redirect  Alt+⏎ steer  Tab queue"
        session.status.can_steer = False
        await settled(session, pilot)
        assert hint(app).startswith("  ⏎ redirect  Alt+⏎ Tab queue")
        assert hint(app).endswith(("this model cannot be steered", "no steering"))
        session.status.busy = False
        await settled(session, pilot)
        assert hint(app).startswith("  ⏎ Alt+⏎ send")


async def test_the_three_keys_do_what_the_label_says(session: ScriptedSession) -> None:
    session.status.busy = True
    async with running(session) as (_, pilot):
        await pilot.press("a", "enter", "b", "alt+enter", "c", "tab")
        assert session.intents == [Prompt("a"), Steer("b"), Queue("c")]


async def test_only_the_first_key_of_a_draft_prewarms_and_none_of_a_command_or_while_busy() -> None:
    session = ScriptedSession()
    async with running(session) as (_, pilot):
        assert session.prewarms == 0
        await pilot.press("h", "i")
        assert session.prewarms == 1
        await pilot.press("backspace", "backspace", "h")
        assert session.prewarms == 2
        assert session.intents == []
        await pilot.press("ctrl+c", "/", "h", "ctrl+c", "!", "l", "ctrl+c")
        session.status.busy = True
        await settled(session, pilot)
        await pilot.press("h", "i")
        assert session.prewarms == 2
