"""Long conversations hold up nobody else."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Generator
from unittest.mock import Mock

import pytest

from tests.support.rehearsed import user
from tests.support.tables import each
from tui.bridge import time_slices
from tui.bridge.endpoints.base import Asked
from tui.bridge.providers.context_window import prepared
from tui.bridge.time_slices import MOST_ITEMS, Sliced, aside, in_turns


def long(items: int) -> Asked:
    return Asked("m", {}, [user("x")] * items)


async def turns_beside(work: Awaitable[object]) -> int:
    """How many turns of the event loop others had meanwhile."""
    task, turns = asyncio.ensure_future(work), 0
    while not task.done():
        await asyncio.sleep(0)
        turns += 1
    await task
    return turns


async def test_others_have_their_turns_while_a_request_is_measured() -> None:
    assert await turns_beside(prepared(long(50_000), None)) > 20


async def test_short_ones_are_worked_on_at_once() -> None:
    here = threading.get_ident()
    assert await aside(long(MOST_ITEMS), threading.get_ident) == here
    assert await aside(long(MOST_ITEMS + 1), threading.get_ident) != here


class Library(asyncio.Protocol):
    """Reads at once whatever it is given."""

    def __init__(self) -> None:
        self.read: list[bytes] = []
        self.ends: list[str] = []

    def data_received(self, data: bytes) -> None:
        self.read.append(data)

    def eof_received(self) -> None:
        self.ends.append("eof")

    def connection_lost(self, exc: BaseException | None) -> None:
        self.ends.append("lost")


class Reader(Sliced, Library):
    def __init__(self) -> None:
        super().__init__()
        self.transport = Mock(spec=asyncio.Transport)
        self.transport.is_closing.return_value = False
        self.full = False

    def holds(self) -> bool:
        return self.full


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Reader:
    monkeypatch.setattr(time_slices, "BUDGET_S", 0.0)  # a slice is all that there is time for
    return Reader()


async def test_between_two_slices_others_have_their_turn(reader: Reader) -> None:
    data = bytes(range(256)) * 40
    reader.data_received(data)
    turns = 0
    while b"".join(reader.read) != data:
        assert len(reader.read) <= turns + 1
        reader.transport.resume_reading.assert_not_called()  # the network waits meanwhile
        await asyncio.sleep(0)
        turns += 1
    assert {len(piece) for piece in reader.read} == {Sliced.SLICE_BYTES}
    await asyncio.sleep(0)
    reader.transport.resume_reading.assert_called()
    reader.data_received(b"more")
    assert reader.read[-1] == b"more"


async def test_who_brings_more_in_the_same_turn_waits(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """uvloop calls up to 32 times in a turn."""
    monkeypatch.setattr(time_slices, "BUDGET_S", 1e-9)
    for _ in range(3):
        reader.data_received(b"x")
    assert len(reader.read) == 1
    reader.transport.pause_reading.assert_called()


@each("end", ["eof", "lost"])
async def test_the_end_comes_behind_what_waits(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_slices, "BUDGET_S", 0.0)
    reader = Reader()
    reader.data_received(b"x" * 5000)
    if end == "eof":
        reader.eof_received()
    else:
        reader.connection_lost(None)
    while not reader.ends:
        await asyncio.sleep(0)
    assert (sum(map(len, reader.read)), reader.ends) == (5000, [end])


async def test_nothing_is_read_while_the_reader_is_full(reader: Reader) -> None:
    reader.full = True
    reader.data_received(b"x" * 5000)
    await asyncio.sleep(0)
    assert not reader.read
    reader.full = False
    reader._regulate()
    while sum(map(len, reader.read)) < 5000:
        await asyncio.sleep(0)


async def test_of_many_who_have_much_to_do_one_has_its_turn_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(time_slices, "BUDGET_S", 0.0)
    done = [0] * 20

    def steps(number: int) -> Generator[None, None, None]:
        for _ in range(5):
            done[number] += 1
            yield

    readers = [Reader() for _ in range(20)]
    for reader in readers:
        reader.data_received(b"x" * 5 * Sliced.SLICE_BYTES)
    tasks = [asyncio.create_task(in_turns(steps(number))) for number in range(20)]
    before, most = len(readers), 0
    while not all(task.done() for task in tasks):
        await asyncio.sleep(0)
        now = sum(done) + sum(len(reader.read) for reader in readers)
        most, before = max(most, now - before), now
        assert max(done) - min(done) <= 1
    assert most <= 2  # what is read in the turn that was given, and who was woken in the one before
    assert before == 200
