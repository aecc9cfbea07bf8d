"""Answers to a steer or an interrupt that come when nobody waits for them any more.

PROTOCOL sections 7, 8 and 12: they end neither the answer that runs, nor a neighbour, nor the
next turn.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from tests.support.fault_stand import FINE, stand
from tests.support.lines import party
from tests.support.nasty_server import Nasty
from tests.support.nasty_steps import Gate, Raw, Step, Storm, Wait
from tests.support.server_words import completed, created, delta, error, incomplete, spoken, turn
from tests.support.tables import each
from tui.core.wire import events
from tui.core.wire.endpoint_facts import Capabilities
from tui.engine import intents

ONE, TWO = spoken("one", "msg_one"), spoken("two", "msg_two")


def unknown(kind: str) -> dict[str, Any]:
    return error(400, "unknown_event", f"Unknown event type 'response.{kind}'.", param="type")


async def test_a_steer_is_refused_after_its_text_came_back() -> None:
    gate = asyncio.Event()
    said = Raw(json.dumps(unknown("steer")).encode())
    first: list[Step] = [created("resp_1"), *ONE, Gate(gate), said, Wait(0.05), *TWO]
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
async def test_an_accepted_interrupt_may_take_a_while(loud: bool) -> None:
    gate = asyncio.Event()
    accepted = {"type": "response.interrupt.accepted", "response_id": "resp_1"}
    rest: list[Step] = [Storm(delta("y", "m"), 150, gap_s=0.01)] if loud else [Wait(1.5)]
    cut = incomplete("interrupted", "resp_1")
    first: list[Step] = [created("resp_1"), *ONE, delta("x", "m"), Gate(gate), accepted, *rest, cut]
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
