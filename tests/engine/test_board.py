from __future__ import annotations

import asyncio

import pytest

from tui.core.edits.workspace import FileRead, Workspace
from tui.engine.board import Board
from tui.engine.notices import Trouble


@pytest.fixture
def board() -> Board:
    return Board(Workspace(lambda path: FileRead(b"one\n")))


def test_it_wakes_once_until_drained(board: Board) -> None:
    wakes: list[int] = []
    board.on_wake = lambda: wakes.append(1)
    board.metered()
    board.restated()
    board.trouble(Trouble("x"))
    assert len(wakes) == 1
    notices = board.drain()
    assert notices.meter
    assert notices.status
    assert [trouble.what for trouble in notices.troubles] == ["x"]
    assert not board.drain()
    board.metered()
    assert len(wakes) == 2


async def test_a_question_waits_for_its_answer(board: Board) -> None:
    first = board.questions.ask("Go?", "why", ("yes", "no"))
    second = board.questions.ask("And?", "", ("a", "b"))
    assert [ask.question for ask in board.status.asks] == ["Go?", "And?"]
    board.questions.answer(board.status.asks[0].id, "yes")
    board.questions.answer(99, "yes")
    assert await first == "yes"
    assert [ask.question for ask in board.status.asks] == ["And?"]
    second.cancel()
    await asyncio.sleep(0)
    assert board.status.asks == []
