"""The queue: numbered, editable, removable, and never out of order."""

from __future__ import annotations

import pytest

from tests.support.fakes import World, settle
from tests.support.turns import begun, texts
from tui.core.edits.workspace import Workspace
from tui.core.file_read import FileRead
from tui.engine import intents
from tui.engine.backlog import Backlog
from tui.engine.board import Board


def backlog() -> tuple[Backlog, list[str]]:
    board = Board(Workspace(lambda path: FileRead(None)))
    return Backlog(board), board.status.queued


def test_the_more_urgent_goes_first_and_what_is_as_urgent_in_its_order() -> None:
    waiting, shown = backlog()
    waiting.add("later 1")
    waiting.add("redirect", "redirect")
    waiting.add("later 2")
    waiting.add("steer 1", "steer")
    waiting.add("steer 2", "steer")
    assert shown == ["steer 1", "steer 2", "redirect", "later 1", "later 2"]
    assert waiting.take("steer", "redirect") == ["steer 1", "steer 2", "redirect"]
    assert waiting.first() == "later 1"
    assert shown == ["later 2"]


def test_after_esc_nothing_is_urgent_and_all_is_there() -> None:
    waiting, shown = backlog()
    waiting.add("later")
    waiting.add("redirect", "redirect")
    waiting.calm()
    assert not waiting.holds("redirect")
    assert shown == ["redirect", "later"]
    waiting.add("newer")
    assert shown == ["redirect", "later", "newer"]


def test_an_edited_message_keeps_its_place() -> None:
    waiting, shown = backlog()
    for text in ("one", "two", "three"):
        waiting.add(text)
    waiting.edit(1, "zwei")
    waiting.edit(7, "nobody")
    waiting.edit(-1, "nobody")
    assert shown == ["one", "zwei", "three"]
    waiting.edit(0, " ")
    assert shown == ["zwei", "three"]
    assert [waiting.first(), waiting.first(), waiting.first()] == ["zwei", "three", ""]


async def test_queued_messages_are_edited_and_taken_out_by_number() -> None:
    world = World()
    model = await begun(world)
    for text in ("one", "two", "three"):
        world.session.submit(intents.Queue(text))
    world.session.submit(intents.EditQueued(2, "drei"))
    world.session.submit(intents.Unqueue(0))
    assert world.session.status.queued == ["two", "drei"]
    for number, text in ((2, "two"), (3, "drei")):
        model.text("ok")
        model.complete()
        assert texts(await world.wire.request(number))[-1] == text
        model.begin()
    assert world.session.status.queued == []


async def test_taking_a_redirect_out_of_the_queue_leaves_only_the_stop() -> None:
    world = World()
    model = await begun(world)
    world.session.submit(intents.Prompt("no, this"))
    world.session.submit(intents.Unqueue(0))
    model.interrupted()
    await settle()
    assert len(world.wire.requests) == 1
    assert not world.session.status.busy


async def test_what_waits_is_what_would_be_lost() -> None:
    world = World()
    model = await begun(world)
    world.session.submit(intents.Steer("steered"))
    world.session.submit(intents.Queue("later"))
    assert world.session.unsaved("draft").queued == ("steered", "later")
    world.wire.news("used")
    assert world.session.unsaved("").queued == ("later",)
    model.text("ok")
    await world.session.close()


def test_the_queue_stops_in_front_of_a_message_that_is_held() -> None:
    waiting, shown = backlog()
    for text in ("one", "two"):
        waiting.add(text)
    waiting.hold(1)
    assert waiting.first() == "one"
    assert waiting.first() == ""
    waiting.calm()
    waiting.edit(0, "zwei")
    assert waiting.first() == ""
    assert shown == ["zwei"]
    waiting.hold(None)
    assert waiting.first() == "zwei"


def test_what_is_urgent_is_not_held() -> None:
    waiting, _ = backlog()
    waiting.add("now", "redirect")
    waiting.hold(0)
    waiting.hold(7)
    assert waiting.take("redirect") == ["now"]


async def test_a_message_is_not_sent_while_it_is_edited_and_goes_when_it_is_not() -> None:
    world = World()
    model = await begun(world)
    for text in ("one", "two"):
        world.session.submit(intents.Queue(text))
    world.session.submit(intents.HoldQueued(0))
    model.text("ok")
    model.complete()
    await settle()
    assert not world.session.status.busy
    assert world.session.status.queued == ["one", "two"]
    world.session.submit(intents.EditQueued(0, "eins"))
    world.session.submit(intents.HoldQueued(None))
    assert texts(await world.wire.request(2))[-1] == "eins"
    assert world.session.status.queued == ["two"]


@pytest.mark.parametrize("ends", [intents.Unqueue(0), intents.HoldQueued(1)])
async def test_the_queue_goes_on_however_a_message_is_let_go(
    ends: intents.Unqueue | intents.HoldQueued,
) -> None:
    world = World()
    model = await begun(world)
    for text in ("one", "two", "three"):
        world.session.submit(intents.Queue(text))
    world.session.submit(intents.HoldQueued(0))
    model.text("ok")
    model.complete()
    await settle()
    world.session.submit(ends)
    assert texts(await world.wire.request(2))[-1] == ("one" if ends.index else "two")
    assert world.session.status.queued[-1] == "three"


async def test_after_esc_the_queue_waits_however_an_edit_ends() -> None:
    world = World()
    model = await begun(world)
    world.session.submit(intents.Queue("one"))
    world.session.submit(intents.HoldQueued(0))
    world.session.submit(intents.Interrupt())
    model.interrupted()
    await settle()
    world.session.submit(intents.HoldQueued(None))
    await settle()
    assert world.session.status.queued == ["one"]
    assert len(world.wire.requests) == 1
