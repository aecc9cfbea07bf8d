"""Esc, whatever the server makes of it: nothing lands after it, and the next turn is whole.

PROTOCOL.md section 8.
"""

from __future__ import annotations

import asyncio

from tests.support.fault_stand import CACHE, FINE, Stand, stand
from tests.support.nasty_server import Interrupts, Nasty
from tests.support.nasty_steps import Gate, Step, Storm, Wait
from tests.support.server_words import (
    begun,
    completed,
    created,
    delta,
    incomplete,
    patch_call,
    spoken,
)
from tests.support.tables import each
from tests.support.turns import PATCH
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
        async with asyncio.timeout(30):
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
