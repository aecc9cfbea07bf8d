"""The queue: numbered, editable, removable, in order; and tasks, of which none breaks unheard."""

from __future__ import annotations

import logging

import pytest

from tests.support.fakes import World, settle
from tests.support.turns import begun, texts
from tui.core.document.workspace import Workspace
from tui.core.files import FileRead
from tui.engine import intents
from tui.engine.session_state import SessionState
from tui.engine.supervisor import Supervisor
from tui.errors import WireError


async def test_a_message_is_not_sent_while_it_is_edited_and_goes_when_it_is_not(
    world: World,
) -> None:
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


@pytest.fixture
def state() -> SessionState:
    return SessionState(Workspace(lambda path: FileRead(None)))


async def test_what_breaks_is_told_and_a_bug_is_logged(
    state: SessionState, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(error: Exception) -> None:
        raise error

    supervisor = Supervisor(state)
    supervisor.start(fails(WireError("the line is cut")), "calling")
    with caplog.at_level(logging.ERROR):
        supervisor.start(fails(ZeroDivisionError("a bug")), "counting")
        await settle()
    what = [(trouble.what, trouble.why) for trouble in state.drain().troubles]
    assert what[0] == ("calling failed", "the line is cut")
    assert what[1][0] == "counting broke off"
    assert "ZeroDivisionError" in caplog.text
