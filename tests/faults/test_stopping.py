"""Esc, whatever the server makes of it: nothing lands after it, and the next turn is whole.

PROTOCOL.md section 8.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.support.fault_stand import CACHE, FINE, Stand, stand
from tests.support.lines import Party, party
from tests.support.nasty_server import Interrupts, Nasty
from tests.support.nasty_steps import Close, Gate, Step, Storm, Wait
from tests.support.server_words import (
    begun,
    completed,
    created,
    delta,
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


async def asked(these: Party) -> None:
    for line in these.lines:
        await line.ask("go")


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


@pytest.mark.slow
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
        *ONE,
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
