"""However the bytes of a WebSocket are cut, the same happens: PROTOCOL.md, sections 3 to 8."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.byte_stream import FRAME, MANNERS, Deed, Framing, Noted, by_bytes, by_frames
from tests.support.mischief import FACTS, LANES, STEPS, Play, Step
from tui.core.wire.client.protocol import ClientProtocol
from tui.core.wire.endpoint_facts import Capabilities

SIZES = st.lists(
    st.integers(1, 9) | st.integers(1, 400) | st.just(100_000), min_size=1, max_size=12
)
ANY_MANNERS = st.lists(st.sampled_from(MANNERS), min_size=1, max_size=8)


def played(facts: dict[str, Any], steps: Sequence[Step]) -> tuple[Play, list[list[Deed]]]:
    """A conversation, and what was done to each of its sockets."""
    logs: list[list[Deed]] = []

    def make(capabilities: Capabilities) -> ClientProtocol:
        client = Noted(capabilities)
        logs.append(client.log)
        return client

    play = Play(facts, make)
    for step in steps:
        play.act(step)
    play.finish()
    return play, logs


def copied(facts: dict[str, Any]) -> Capabilities:
    return Capabilities(**json.loads(json.dumps(facts)))


async def compare(
    facts: dict[str, Any], logs: list[list[Deed]], manners: Iterator[str], sizes: Iterator[int]
) -> None:
    """Every socket of the conversation, whole and cut; what is learnt is kept from one on."""
    whole, cut = copied(facts), copied(facts)
    for log in logs:
        expected = by_frames(log, whole, LANES)
        got = await by_bytes(log, cut, LANES, Framing(manners), sizes)
        assert got.events == expected.events
        assert got.sent == expected.sent
        assert got.unroutable == expected.unroutable
        assert got.states == expected.states
    assert cut == whole


@given(FACTS, STEPS, ANY_MANNERS, SIZES)
@settings(max_examples=12)
def test_any_cut_of_the_bytes_gives_the_same_events_and_the_same_states(
    facts: dict[str, Any], steps: list[Step], manners: list[str], sizes: list[int]
) -> None:
    _, logs = played(facts, steps)
    asyncio.run(compare(facts, logs, itertools.cycle(manners), itertools.cycle(sizes)))


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 7, 1460])
async def test_a_long_conversation_with_all_that_there_is_in_it(size: int) -> None:
    chance = random.Random(5)
    facts = {"lanes": True, "interrupt": {"m": True}, "steer": {"m": True}}
    steps = [(chance.randrange(42), chance.randrange(6), chance.randrange(10)) for _ in range(1500)]
    play, logs = played(facts, steps)
    deeds = {name for log in logs for name, _ in log}
    assert deeds == {"create", "steer", "interrupt", "abandon", "tick", "connection_lost", FRAME}
    assert {frame["type"].removeprefix("response.") for frame in play.sent} == {
        "create",
        "steer",
        "interrupt",
    }
    fates = {fate for _, fate in play.fates}
    assert fates == {"accepted", "pending", "used", "returned"}
    await compare(facts, logs, itertools.cycle(MANNERS), itertools.repeat(size))
