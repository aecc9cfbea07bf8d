from __future__ import annotations

import asyncio

import pytest

from tui.core.document.workspace import Workspace
from tui.core.files import FileRead
from tui.engine.notices import Trouble
from tui.engine.session_state import SessionState


@pytest.fixture
def state() -> SessionState:
    return SessionState(Workspace(lambda path: FileRead(b"one\n")))


def test_it_wakes_once_until_drained(state: SessionState) -> None:
    wakes: list[int] = []
    state.on_wake = lambda: wakes.append(1)
    state.metered()
    state.restated()
    state.trouble(Trouble("x"))
    assert len(wakes) == 1
    notices = state.drain()
    assert notices.meter
    assert notices.status
    assert [trouble.what for trouble in notices.troubles] == ["x"]
    assert not state.drain()
    state.metered()
    assert len(wakes) == 2


async def test_a_question_waits_for_its_answer(state: SessionState) -> None:
    first = state.questions.ask("Go?", "why", ("yes", "no"))
    second = state.questions.ask("And?", "", ("a", "b"))
    assert [ask.question for ask in state.status.asks] == ["Go?", "And?"]
    state.questions.answer(state.status.asks[0].id, "yes")
    state.questions.answer(99, "yes")
    assert await first == "yes"
    assert [ask.question for ask in state.status.asks] == ["And?"]
    second.cancel()
    await asyncio.sleep(0)
    assert state.status.asks == []
