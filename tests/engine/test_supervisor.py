from __future__ import annotations

import logging

import pytest

from tests.support.fakes import settle
from tui.core.document.workspace import Workspace
from tui.core.files import FileRead
from tui.engine.services import Supervisor
from tui.engine.session_state import SessionState
from tui.errors import WireError


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
