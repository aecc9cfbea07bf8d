"""The queue above the prompt: gone into, edited in place, sent, emptied; steering texts over it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from tests.support.scripted_app import running, settled
from tests.support.scripted_session import ScriptedSession
from tui.engine.intents import EditQueued, Intent, Interrupt, Prompt, Queue, Steer, Unqueue
from tui.engine.notices import SteerFate
from tui.ui.app import DuettoApp
from tui.ui.prompt.queued import QueueBox, place_of
from tui.ui.widgets.bar import Bar

NARROWEST_OF_TWO = (100, 30)
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
    box = app.bench.query_one(QueueBox)
    return [box.render_line(y).text.rstrip() for y in range(box.size.height)]


def hint(app: DuettoApp) -> str:
    return app.bench.query_one("#hint", Bar).render_line(0).text


def draft(app: DuettoApp) -> str:
    return app.bench.prompt_box.prompt.text


def test_a_message_is_found_again_where_it_moved_to() -> None:
    assert place_of(["a", "b", "c"], 2, "c") == 2
    assert place_of(["b", "c"], 2, "c") == 1
    assert place_of(["x", "a", "b"], 0, "a") == 1
    assert place_of(["a", "b", "a"], 2, "a") == 2
    assert place_of(["a", "b"], 1, "c") is None
    assert place_of([], 0, "a") is None


async def test_messages_are_numbered_and_the_way_in_is_said() -> None:
    async with queueing() as (_, app, _):
        assert [line.split()[0] for line in shown(app)] == ["1", "2", "3"]
        assert shown(app)[2].endswith("Alt+Q edits")
        assert "Alt+Q queue" in app.bench.query_one("#keys", Bar).render_line(0).text


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


async def test_up_from_an_empty_prompt_goes_into_the_queue_and_down_comes_back() -> None:
    async with queueing() as (session, app, pilot):
        await pilot.press("x", "up")
        assert app.focused is app.bench.prompt_box.prompt
        await pilot.press("backspace", "up")
        assert app.focused is app.bench.query_one(QueueBox)
        assert "⏎ edit  d remove  s send now  Tab prompt" in hint(app)
        await pilot.press("up", "up", "up", "e")
        assert draft(app) == "a test for it"
        await pilot.press("enter")
        assert session.intents == [EditQueued(0, "a test for it")]
        await pilot.press("alt+q", "down")
        assert app.focused is app.bench.prompt_box.prompt
        await pilot.press("up", "tab")
        assert app.focused is app.bench.prompt_box.prompt


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
        assert not app.bench.query_one(QueueBox).display
        await pilot.press("up")
        assert draft(app) == "a test for it"
        await pilot.press("up", "up")
        assert draft(app) == "the README"


async def test_a_message_is_sent_now() -> None:
    async with queueing() as (session, app, pilot):
        await pilot.press("alt+q", "s")
        assert session.intents == [Unqueue(2), Prompt("commit it")]
        assert app.focused is app.bench.prompt_box.prompt


async def test_an_emptied_edit_removes_and_the_label_says_so() -> None:
    async with queueing() as (session, app, pilot):
        await pilot.press("alt+q", "e", "ctrl+u")
        assert "⏎ Tab remove" in hint(app)
        await pilot.press("enter")
        assert session.intents == [EditQueued(2, "")]


async def test_the_edited_text_can_be_steered_with_instead() -> None:
    async with queueing() as (session, _, pilot):
        await pilot.press("alt+q", "e", "!", "alt+enter")
        assert session.intents == [Unqueue(2), Steer("commit it!")]


async def test_a_click_edits_and_another_one_changes_the_message() -> None:
    async with queueing() as (session, app, pilot):
        await pilot.click("#queue", offset=(8, 0))
        assert draft(app) == "a test for it"
        await pilot.press("s")
        await pilot.click("#queue", offset=(8, 2))
        assert session.intents == [EditQueued(0, "a test for its")]
        assert draft(app) == "commit it"


async def test_after_an_emptied_edit_the_clicked_message_is_the_one_that_is_edited() -> None:
    async with queueing() as (session, app, pilot):
        await pilot.click("#queue", offset=(8, 0))
        await pilot.press("ctrl+u")
        await pilot.click("#queue", offset=(8, 2))
        await settled(session, pilot)
        assert session.status.queued == ["the README", "commit it"]
        assert draft(app) == "commit it"
        await pilot.press("s", "enter")
        assert session.intents[-1] == EditQueued(1, "commit its")


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


async def test_esc_in_the_queue_goes_back_to_the_prompt_when_nothing_streams() -> None:
    async with queueing(busy=False) as (session, app, pilot):
        assert "the queue, which waits" in hint(app)
        await pilot.press("x")
        assert hint(app).startswith("  ⏎ send  Alt+⏎ queue")
        await pilot.press("backspace")
        await pilot.press("alt+q", "escape")
        assert app.focused is app.bench.prompt_box.prompt
        assert session.intents == []


async def test_a_message_that_was_sent_while_it_was_edited_loses_nothing() -> None:
    async with queueing() as (session, app, pilot):
        await pilot.press("m", "y", "alt+q", "k", "k", "e", "s")
        del session.status.queued[0]
        await settled(session, pilot)
        assert draft(app) == "a test for its\nmy"
        assert "⏎ redirect" in hint(app)
        await pilot.press("enter")
        assert session.intents == [Prompt("a test for its\nmy")]


async def test_one_that_was_only_looked_at_gives_the_draft_back() -> None:
    async with queueing() as (session, app, pilot):
        await pilot.press("m", "y", "alt+q", "k", "k", "e")
        del session.status.queued[0]
        await settled(session, pilot)
        assert draft(app) == "my"


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


async def test_an_unsent_prompt_does_not_land_in_the_message_that_is_edited() -> None:
    async with queueing() as (session, app, pilot):
        await pilot.press("alt+q", "e")
        session.status.unsent = "not sent"
        await settled(session, pilot)
        assert draft(app) == "commit it"
        await pilot.press("tab")
        assert draft(app) == "not sent"


async def test_what_is_typed_in_the_queue_belongs_into_the_prompt() -> None:
    async with queueing() as (session, app, pilot):
        await pilot.press("alt+q", "W", "h", "y")
        assert draft(app) == "Why"
        assert session.intents == []


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


async def test_of_a_long_queue_the_chosen_message_is_in_sight() -> None:
    async with queueing() as (session, app, pilot):
        session.status.queued[:] = [f"message {number}" for number in range(1, 10)]
        await settled(session, pilot)
        assert [line.split()[0] for line in shown(app)] == ["1", "2", "3", "4"]
        assert "+5 more" in shown(app)[3]
        await pilot.press("alt+q")
        assert [line.split()[0] for line in shown(app)] == ["6", "7", "8", "9"]
        await pilot.press(*["up"] * 5)
        assert any(line.split()[0] == "4" for line in shown(app))
        await pilot.press("e")
        assert draft(app) == "message 4"


async def test_alt_up_takes_the_last_one_back() -> None:
    async with queueing() as (session, app, pilot):
        await pilot.press("alt+up")
        assert session.intents == [Unqueue(2)]
        assert draft(app) == "commit it"


@pytest.mark.parametrize("size", [(120, 36), NARROWEST_OF_TWO, (80, 24)])
async def test_steering_texts_stand_over_the_queue_with_their_state(size: tuple[int, int]) -> None:
    async with queueing(size=size) as (session, app, pilot):
        fates: list[SteerFate] = ["accepted", "pending"]
        session.status.steering, session.status.steering_fates = ["a plain Lock", "in put"], fates
        await settled(session, pilot)
        first, second, *queue = shown(app)
        assert first.lstrip().startswith("↳ a plain Lock")
        assert first.endswith("server has it")
        assert second.endswith("tool's answer")
        assert [line.split()[0] for line in queue] == ["1", "2", "3"]
        await pilot.click("#queue", offset=(8, 0))
        assert draft(app) == ""
        await pilot.click("#queue", offset=(8, 2))
        assert draft(app) == "a test for it"


async def test_steering_texts_beyond_two_are_counted_and_one_without_news_is_on_its_way() -> None:
    session = ScriptedSession()
    session.status.busy = True
    session.status.steering = ["a", "b", "c"]
    async with running(session) as (app, pilot):
        rows = shown(app)
        assert len(rows) == 2
        assert rows[0].endswith("on its way")
        assert "+1 more" in rows[1]
        await pilot.press("alt+q", "up")
        assert not app.bench.prompt_box.in_queue


@pytest.mark.parametrize("size", [(40, 12), (60, 16), (80, 24), (120, 36)])
@pytest.mark.parametrize("lines", [0, 1, 12])
async def test_draft_and_label_are_in_sight_however_much_waits(
    size: tuple[int, int], lines: int
) -> None:
    async with queueing(size=size) as (session, app, pilot):
        session.status.steering = ["a plain Lock", "in put"]
        session.status.queued[:] = [f"message {number}" for number in range(9)]
        await settled(session, pilot)
        app.bench.prompt_box.restore("\n".join(["words"] * lines))
        await settled(session, pilot)
        box = app.bench.prompt_box.region
        for name in ("#queue", "#prompt", "#hint"):
            part = app.bench.query_one(name).region
            assert part.height >= 1
            assert part.bottom <= box.bottom, name
        await pilot.press("alt+q", "up", "up")
        await settled(session, pilot)
        lit = [line for line in shown(app) if "message 6" in line]
        assert len(lit) == 1
