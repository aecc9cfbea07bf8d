"""The bridge is killed in the middle: one of the drops, mended like all of them."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator

import pytest

from tests.support.fault_stand import Stand, seated, unhurried
from tests.support.nasty_server import Nasty
from tui.core.turn import BlockKind
from tui.effects.bridge_process import BridgeProcess
from tui.effects.clock import MonotonicClock
from tui.effects.wire import Endpoint
from tui.engine import intents

LONG = "rehearse 1500 tokens of prose"
MODEL = "rehearsal-fast@3000"


@pytest.fixture
async def bridge() -> AsyncIterator[BridgeProcess]:
    process = BridgeProcess()
    yield process
    await process.close()


@pytest.fixture
async def at(bridge: BridgeProcess) -> AsyncIterator[Stand]:
    patient = unhurried(silence_s=5.0, event_s=10.0)
    endpoint = Endpoint("rehearsal", bridge.address, MonotonicClock(), options=patient)
    async with seated(endpoint, Nasty([]), MODEL) as made:
        yield made


def kill(bridge: BridgeProcess) -> int:
    pid = bridge.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    return pid


async def test_in_the_middle_of_an_answer(at: Stand, bridge: BridgeProcess) -> None:
    at.session.submit(intents.Prompt(LONG))
    await at.seat.until(lambda: len(at.seat.said()) > 400)
    first = kill(bridge)
    await at.seat.idle()
    assert (at.session.status.outcome, at.troubles) == ("completed", [])
    (whole,), (broken,) = at.whole, at.broken
    assert (len(whole), whole[: len(broken)]) == (6000, broken)
    assert bridge.pid not in (None, first)
    await at.seat.ask("rehearse 20 tokens of prose")
    assert (at.session.status.outcome, len(at.whole[-1])) == ("completed", 80)


async def test_before_anything_came(at: Stand, bridge: BridgeProcess) -> None:
    at.session.submit(intents.Prompt(LONG))
    await at.seat.until(lambda: at.session.status.connection == "ready")
    kill(bridge)
    await at.seat.idle()
    assert (at.session.status.outcome, at.troubles, at.broken) == ("completed", [], [])
    assert [len(text) for text in at.whole] == [6000]


async def test_between_two_turns(at: Stand, bridge: BridgeProcess) -> None:
    await at.seat.ask("rehearse 20 tokens of prose")
    kill(bridge)
    await at.seat.until(lambda: at.session.status.connection != "ready")
    await at.seat.ask("rehearse 30 tokens of prose")
    assert (at.session.status.outcome, at.troubles) == ("completed", [])
    assert [len(text) for text in at.whole] == [80, 120]
    assert at.seat.texts(BlockKind.NOTE) == []
