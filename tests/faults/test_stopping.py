"""Esc, whatever the server makes of it: nothing lands after it, and the next turn is whole.

PROTOCOL.md section 8.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Sequence
from typing import Any

import pytest

from tests.support.fault_stand import CACHE, FINE, Stand, stand
from tests.support.lines import Party, party
from tests.support.nasty_server import Interrupts, Nasty
from tests.support.nasty_steps import Close, Gate, Raw, Step, Storm, Wait
from tests.support.server_words import (
    begun,
    completed,
    created,
    delta,
    error,
    incomplete,
    patch_call,
    spoken,
    turn,
)
from tests.support.tables import each
from tests.support.turns import PATCH
from tui.core.wire import events
from tui.core.wire.endpoint_facts import Capabilities
from tui.engine import intents

ONE = spoken("one", "msg_one")
STREAM = Storm(delta("x", "msg_x"), 2000, gap_s=0.002)
MANNERS: list[Interrupts] = ["accept", "late", "finish", "fail", "error", "ignore"]
KEEPS = ("accept", "late", "finish")
"""After these the socket is used on."""


async def stopped(at: Stand, seen: str) -> str:
    """Prompt, and Esc once that stands there; what stood there then."""
    at.session.submit(intents.Prompt("go"))
    await at.seat.until(lambda: seen in at.seat.said())
    at.session.submit(intents.Interrupt())
    frozen = at.seat.said()
    await at.seat.until(lambda: not at.session.status.busy)
    assert at.session.status.outcome == "interrupted"
    assert at.seat.said() == frozen
    return frozen


@each("manner", MANNERS)
async def test_esc_in_a_message(manner: Interrupts) -> None:
    first: list[Step] = [created("resp_1"), *ONE, STREAM, completed("resp_1")]
    server = Nasty([first], interrupt=manner, echo=True)
    async with stand(server) as at:
        frozen = await stopped(at, "xxx")
        assert at.whole == ["one"]
        await at.goes_on()
        assert at.seat.said() == f"{frozen}\nbye"
        assert (at.troubles, server.interrupts) == ([], 1)
        assert server.connections == (1 if manner in KEEPS else 2)
        again = server.requests[1]
        assert ("previous_response_id" in again) == (manner in KEEPS)
        if manner not in KEEPS:
            assert [i["id"] for i in again["input"] if "id" in i] == ["msg_one"]
        learnt = {"accept": True, "late": True, "finish": None}
        assert at.capabilities.interrupt.get("m") is learnt.get(manner, False)


@each("manner", MANNERS)
async def test_esc_in_a_patch(manner: Interrupts) -> None:
    half = begun(patch_call(PATCH), 0.7)
    first: list[Step] = [created("resp_1"), *ONE, *half, Wait(20)]
    server = Nasty([first], interrupt=manner, echo=True)
    async with stand(server) as at:
        at.session.submit(intents.Prompt("go"))
        await at.seat.until(lambda: at.session.workspace.hunks)
        at.session.submit(intents.Interrupt())
        frozen = at.text
        await at.seat.idle()
        assert at.text == frozen
        await at.goes_on()
        assert at.text == CACHE
        assert at.troubles == []


async def test_an_answer_that_comes_after_the_socket_was_given_up() -> None:
    gate = asyncio.Event()
    late: list[Step] = [
        {"type": "response.interrupt.accepted", "response_id": "resp_1"},
        *spoken("late", "msg_late"),
        incomplete("interrupted", "resp_1"),
    ]
    server = Nasty([[created("resp_1"), *ONE, delta("x", "m"), Gate(gate), *late]], echo=True)
    async with stand(server) as at:
        await stopped(at, "x")
        gate.set()
        await at.goes_on()
        assert (at.whole, at.troubles) == (["one", "bye"], [])


async def test_esc_before_created_waits_for_the_id() -> None:
    gate = asyncio.Event()
    server = Nasty([[Gate(gate), created("resp_1"), STREAM]], interrupt="accept", echo=True)
    async with stand(server) as at:
        at.session.submit(intents.Prompt("go"))
        async with asyncio.timeout(60):
            while not server.requests:
                await asyncio.sleep(0.005)
        at.session.submit(intents.Interrupt())
        gate.set()
        await at.seat.until(lambda: not at.session.status.busy)
        assert (at.session.status.outcome, at.seat.said()) == ("interrupted", "")
        await at.goes_on()


@each("manner", MANNERS)
async def test_a_redirect_is_one_round_trip_where_that_can_be(manner: Interrupts) -> None:
    first: list[Step] = [created("resp_1"), *ONE, STREAM, completed("resp_1")]
    server = Nasty([first, FINE], interrupt=manner, echo=True)
    async with stand(server) as at:
        at.session.submit(intents.Prompt("go"))
        await at.seat.until(lambda: "xxx" in at.seat.said())
        at.session.submit(intents.Prompt("rather this"))
        frozen = at.seat.said()
        await at.seat.until(lambda: at.whole[-1:] == ["fine"])
        await at.seat.idle()
        assert at.seat.said() == f"{frozen}\nfine"
        assert len(server.requests) == 2
        await at.goes_on()


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


ONE_LATE_ANSWERS, TWO_LATE_ANSWERS = spoken("one", "msg_one"), spoken("two", "msg_two")


def unknown(kind: str) -> dict[str, Any]:
    return error(400, "unknown_event", f"Unknown event type 'response.{kind}'.", param="type")


async def test_a_steer_is_refused_after_its_text_came_back() -> None:
    gate = asyncio.Event()
    said = Raw(json.dumps(unknown("steer")).encode())
    first: list[Step] = [
        created("resp_1"),
        *ONE_LATE_ANSWERS,
        Gate(gate),
        said,
        Wait(0.05),
        *TWO_LATE_ANSWERS,
    ]
    server = Nasty([[*first, completed("resp_1")], FINE], echo=True)
    async with stand(server) as at:
        at.session.submit(intents.Prompt("go"))
        await at.seat.until(lambda: "one" in at.seat.said())
        at.session.submit(intents.Steer("also"))
        await at.seat.until(lambda: not at.session.status.steering)
        gate.set()
        await at.seat.until(lambda: at.whole == ["one", "two", "fine"])
        assert (at.troubles, len(server.requests), server.connections) == ([], 2, 1)


def refused(**more: Any) -> dict[str, Any]:
    words = {"code": "interrupt_not_supported", "message": "no"}
    return {"type": "response.interrupt.failed", "response_id": "resp_1", "error": words, **more}


REFUSALS = {
    "error": unknown("interrupt"),
    "error with a neighbour's name": {**unknown("interrupt"), "stream_id": "helper"},
    "error with the old name": {**unknown("interrupt"), "stream_id": "main"},
    "vague error": error(400, "invalid_request_error", "Bad request."),
    "failed": refused(),
    "failed with the old name": refused(stream_id="main"),
    "accepted": {"type": "response.interrupt.accepted", "response_id": "resp_1"},
}


@each("answer", REFUSALS)
async def test_an_interrupt_is_answered_after_the_lane_was_given_up(answer: str) -> None:
    gate = asyncio.Event()
    long: list[Step] = [created("resp_1"), Storm(delta("x", "m"), 1500, gap_s=0.002)]
    other: list[Step] = [created("resp_2"), delta("y", "m"), Gate(gate)]
    said = Raw(json.dumps(REFUSALS[answer]).encode())
    helped = [*other, said, Wait(0.05), delta("z", "m"), completed("resp_2")]
    begun, *rest = turn(3, *spoken("next", "msg_next"))
    after: list[Step] = [begun, Gate(gate), Wait(0.05), *rest]
    server = Nasty([long, helped, after], echo=True)
    async with party(server, ("main", "helper"), Capabilities(lanes=True)) as these:
        main, helper = these.lines
        await main.ask("go")
        await helper.ask("go")
        await main.until(lambda: len(main.text) > 5 and helper.text == "y")
        main.wire.interrupt()
        frozen = main.text
        await main.until(lambda: not main.wire.busy)
        await main.ask("again")
        await main.until(lambda: main.count(events.Created) == 2)
        gate.set()
        await helper.ended()
        assert (helper.text, helper.count(events.ErrorEvent)) == ("yz", 0)
        await main.until(lambda: main.count(events.Completed))
        assert (main.text, main.count(events.ErrorEvent)) == (frozen + "next", 0)


@each("loud", [False, True])
async def test_an_accepted_interrupt_may_take_a_while(
    loud: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tui.core.wire.client.lane.ACCEPTED_S", 60.0
    )  # a busy machine is no slow server
    monkeypatch.setattr("tui.engine.turn.STOP_LIMIT_S", 60.0)
    gate = asyncio.Event()
    accepted = {"type": "response.interrupt.accepted", "response_id": "resp_1"}
    rest: list[Step] = [Storm(delta("y", "m"), 150, gap_s=0.01)] if loud else [Wait(1.5)]
    cut = incomplete("interrupted", "resp_1")
    first: list[Step] = [
        created("resp_1"),
        *ONE_LATE_ANSWERS,
        delta("x", "m"),
        Gate(gate),
        accepted,
        *rest,
        cut,
    ]
    server = Nasty([first, FINE], echo=True)
    async with stand(server) as at:
        at.session.submit(intents.Prompt("go"))
        await at.seat.until(lambda: "x" in at.seat.said())
        at.session.submit(intents.Interrupt())
        frozen = at.seat.said()
        gate.set()
        await at.seat.until(lambda: not at.session.status.busy)
        assert (at.seat.said(), at.session.status.outcome) == (frozen, "interrupted")
        await at.seat.ask("next")
        assert server.connections == 1
        assert server.requests[1]["previous_response_id"] == "resp_1"
