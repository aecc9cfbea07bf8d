from __future__ import annotations

import asyncio

import pytest

from tui.core.edits.workspace import FileRead, Workspace
from tui.core.turn import Block, BlockKind
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


def test_the_first_changed_block_is_told(board: Board) -> None:
    blocks = [board.add(Block(BlockKind.TEXT, 1)) for _ in range(5)]
    assert board.drain().transcript_from == 0
    board.append(blocks[4], "x")
    board.append(blocks[2], "y")
    board.close(blocks[3])
    assert board.drain().transcript_from == 2
    board.close(blocks[3], "cut")
    assert blocks[3].state == "done"
    assert board.drain().transcript_from is None


def test_texts_and_hunks_are_noticed_whoever_changed_them(board: Board) -> None:
    board.workspace.open("a.py")
    board.drain()
    board.workspace.edit("a.py", (0, 0), (0, 0), "x")
    notices = board.drain()
    assert notices.buffers == {"a.py"}
    assert notices.tabs


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


async def test_an_answer_that_is_no_choice_is_the_refusal(board: Board) -> None:
    asked = board.questions.ask("Go?", "", ("yes", "no"))
    board.questions.answer(board.status.asks[0].id, "certainly")
    assert await asked == "no"


def test_a_late_front_end_hears_of_what_waits(board: Board) -> None:
    board.metered()
    wakes: list[int] = []
    board.on_wake = lambda: wakes.append(1)
    board.wake_again()
    assert wakes == [1]
