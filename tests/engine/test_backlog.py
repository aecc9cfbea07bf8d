"""The queue: numbered, editable, removable, and never out of order."""

from __future__ import annotations

from tests.support.fakes import World, settle
from tests.support.turns import begun, texts
from tui.core.document.workspace import Workspace
from tui.core.files import FileRead
from tui.engine import intents
from tui.engine.services import Backlog
from tui.engine.session_state import SessionState


def backlog() -> tuple[Backlog, list[str]]:
    state = SessionState(Workspace(lambda path: FileRead(None)))
    return Backlog(state), state.status.queued


async def test_what_waits_is_what_would_be_lost() -> None:
    world = World()
    model = await begun(world)
    world.session.submit(intents.Steer("steered"))
    world.session.submit(intents.Queue("later"))
    assert world.session.unsaved("draft").queued == ("steered", "later")
    world.wire.news("used")
    assert world.session.unsaved("").queued == ("later",)
    model.text("ok")


async def test_a_message_is_not_sent_while_it_is_edited_and_goes_when_it_is_not() -> None:
    world = World()
    model = await begun(world)
    for text in ("one", "two"):
        world.session.submit(intents.Queue(text))
    world.session.submit(intents.HoldQueued(0))
    model.finishes("ok")
    await settle()
    assert not world.session.status.busy
    assert world.session.status.queued == ["one", "two"]
    world.session.submit(intents.EditQueued(0, "eins"))
    world.session.submit(intents.HoldQueued(None))
    assert texts(await world.wire.request(2))[-1] == "eins"
    assert world.session.status.queued == ["two"]
