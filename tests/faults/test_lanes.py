"""Conversations that share a socket: what befalls one is nothing to the others (section 6)."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from typing import Any

from tests.support.lines import Party, party
from tests.support.nasty_server import Interrupts, Nasty
from tests.support.nasty_steps import Close, Gate, Step, Storm
from tests.support.server_words import completed, created, delta, error, spoken, turn
from tests.support.tables import each
from tui.core.wire import events
from tui.core.wire.endpoint_facts import Capabilities

TWO = ("main", "helper")


def proven(**more: Any) -> Capabilities:
    return Capabilities(lanes=True, **more)


def letters(number: int, letter: str, count: int = 30) -> list[dict[str, Any]]:
    said = [delta(letter, f"msg_{number}")] * count
    return [created(f"resp_{number}"), *said, completed(f"resp_{number}")]


async def asked(these: Party) -> None:
    for line in these.lines:
        await line.ask("go")


def shuffled(streams: Sequence[Sequence[dict[str, Any]]], seed: int) -> list[dict[str, Any]]:
    """All of them, each in its own order, in any order among each other."""
    chance, left = random.Random(seed), [list(stream) for stream in streams]
    mixed = []
    while any(left):
        mixed.append(chance.choice([stream for stream in left if stream]).pop(0))
    return mixed


@each("seed", range(3))
async def test_lanes_that_interleave_in_any_order(seed: int) -> None:
    names = ("main", "helper", "third")
    told = [
        [{**event, "stream_id": name} for event in letters(number, name[0])]
        for number, name in enumerate(names)
    ]
    both = asyncio.Event()
    server = Nasty([[Gate(both)], [Gate(both)], shuffled(told, seed)])
    async with party(server, names, proven()) as these:
        await asked(these)
        for line, name in zip(these.lines, names, strict=True):
            await line.ended()
            assert line.text == name[0] * 30
            assert (line.count(events.Created), line.count(events.Completed)) == (1, 1)
        assert (server.connections, these.sockets) == (1, 1)


@each("manner", ["accept", "ignore", "fail", "error", "late"])
async def test_esc_on_one_lane_leaves_the_other_alone(manner: Interrupts) -> None:
    stream = Storm(delta("x", "m"), 100, gap_s=0.004)
    long: list[Step] = [created("resp_1"), stream, completed("resp_1")]
    other: list[Step] = [created("resp_2"), stream, completed("resp_2")]
    next_turn = turn(3, *spoken("next", "msg_next"))
    server = Nasty([long, other, next_turn], interrupt=manner, echo=True)
    async with party(server, TWO, proven()) as these:
        main, helper = these.lines
        await asked(these)
        await main.until(lambda: len(main.text) > 5 and len(helper.text) > 5)
        main.wire.interrupt()
        frozen = main.text
        await main.until(lambda: not main.wire.busy)
        await main.ask("again")
        await main.until(lambda: main.text == frozen + "next")
        await helper.ended()
        assert helper.text == "x" * 100
        assert helper.count(events.Completed) == 1
        assert "closed" not in helper.states
        assert server.faults == []


async def test_a_socket_that_ends_ends_all_its_lanes_and_each_goes_on() -> None:
    gate = asyncio.Event()
    wait: list[Step] = [created("resp_1"), delta("a", "m"), Gate(gate), Close(1011)]
    second: list[Step] = [created("resp_2"), delta("b", "m"), Gate(asyncio.Event())]
    fine = [turn(n, *spoken("fine", f"msg_{n}")) for n in (3, 4)]
    async with party(Nasty([wait, second, *fine], echo=True), TWO, proven()) as these:
        await asked(these)
        main, helper = these.lines
        await main.until(lambda: main.text == "a")
        await helper.until(lambda: helper.text == "b")
        gate.set()
        for line in these.lines:
            await line.until(lambda line=line: line.states[-1] == "closed")
        await asked(these)
        for line in these.lines:
            await line.ended()
            assert line.text.endswith("fine")
        assert (these.server.connections, these.sockets) == (2, 1)


async def test_a_server_that_refuses_the_name_is_asked_without_it() -> None:
    refused = error(400, "unknown_parameter", "stream_id", param="stream_id")
    server = Nasty([[refused], letters(1, "x"), letters(2, "y")])
    async with party(server, TWO) as these:
        await asked(these)
        for line in these.lines:
            await line.ended()
            assert line.count(events.ErrorEvent) == 0
        assert sorted(line.text[0] for line in these.lines) == ["x", "y"]
        assert these.capabilities.lanes is False


async def test_more_conversations_than_a_socket_carries() -> None:
    names = tuple(f"attempt-{number}" for number in range(40))
    server = Nasty([letters(number, "z", 5) for number in range(40)], echo=True)
    async with party(server, names, proven()) as these:
        await asked(these)
        for line in these.lines:
            await line.ended()
            assert line.text == "z" * 5
        assert server.connections == 2
