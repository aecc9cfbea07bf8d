"""Text added to an answer on its way: heard exactly once, whatever becomes of it (section 7)."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.support.fault_stand import FINE, Stand, stand
from tests.support.nasty_server import Nasty
from tests.support.nasty_steps import Close, Ending, Fin, Gate, Reset, Step
from tests.support.server_words import completed, created, error, incomplete, spoken, turn
from tests.support.tables import each
from tui.core.conversation import BlockKind
from tui.core.wire.client import errors as client_errors
from tui.core.wire.client import steers
from tui.engine import intents

ONE = spoken("one", "msg_one")
TWO = turn(2, *spoken("two", "msg_two"))
STEER = "also this"


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no slow server."""
    for module, limit in ((steers, "STEER_S"), (steers, "SUCCESSOR_S"), (client_errors, "DOUBT_S")):
        monkeypatch.setattr(module, limit, 60.0)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server says nothing, and that is soon clear."""
    for module, limit in ((steers, "STEER_S"), (client_errors, "DOUBT_S")):
        monkeypatch.setattr(module, limit, 0.5)


async def steered(at: Stand, gate: asyncio.Event) -> None:
    """Prompt, steer once the model speaks, let the server go on, wait for the end."""
    at.session.submit(intents.Prompt("go"))
    await at.seat.until(lambda: "one" in at.seat.said())
    at.session.submit(intents.Steer(STEER))
    if at.server.steer != "ignore":
        async with asyncio.timeout(60):
            while not at.server.steers:
                await asyncio.sleep(0.005)
    gate.set()
    await at.seat.idle()


def heard(at: Stand) -> int:
    """How often the model was told the text, in the conversation as the server has it now."""
    return json.dumps(at.server.inputs[-1]).count(STEER)


def asked(at: Stand) -> list[str]:
    return at.seat.texts(BlockKind.USER)


@each("manner", ["accept", "lost"])
@each("end", [completed("resp_1"), incomplete("steered", "resp_1")])
async def test_the_successor_comes_by_itself(manner: str, end: dict[str, object]) -> None:
    gate = asyncio.Event()
    server = Nasty([[created("resp_1"), *ONE, Gate(gate), end], TWO], echo=True)
    server.steer = "lost" if manner == "lost" else "accept"
    async with stand(server) as at:
        await steered(at, gate)
        assert (at.whole, at.troubles) == (["one", "two"], [])
        assert (len(server.requests), len(server.steers)) == (1, 1)
        assert (asked(at), heard(at)) == (["go", STEER], 1)
        assert at.capabilities.steer.get("m") is True
        await at.goes_on()
        assert heard(at) == 1
        assert server.requests[-1]["previous_response_id"] == "resp_2"


@pytest.mark.usefixtures("quick")
@each("manner", ["fail", "error", "ignore"])
async def test_where_it_cannot_be_it_is_the_next_prompt(manner: str) -> None:
    gate = asyncio.Event()
    server = Nasty([[created("resp_1"), *ONE, Gate(gate), completed("resp_1")], TWO], echo=True)
    server.steer = "fail" if manner == "fail" else "error" if manner == "error" else "ignore"
    async with stand(server) as at:
        await steered(at, gate)
        await at.seat.until(lambda: at.whole == ["one", "two"])
        await at.seat.idle()
        assert (len(server.requests), at.troubles) == (2, [])
        assert (asked(at), heard(at)) == (["go", STEER], 1)
        assert at.capabilities.steer.get("m") is False
        assert at.session.alt_label() == "queue"
        await at.goes_on()


@each("ending", [Reset(), Fin(), Close(1011), Close(1000)])
@each("point", ["streaming", "ended"])
async def test_with_the_socket_it_becomes_an_ordinary_message(point: str, ending: Ending) -> None:
    gate = asyncio.Event()
    tail: list[Step] = [ending] if point == "streaming" else [completed("resp_1"), ending]
    server = Nasty([[created("resp_1"), *ONE, Gate(gate), *tail], TWO], steer="accept", echo=True)
    async with stand(server) as at:
        await steered(at, gate)
        await at.seat.until(lambda: at.whole[-1] == "two")
        await at.seat.idle()
        assert (at.whole, at.troubles) == (["one", "two"], [])
        assert (len(server.requests), len(server.steers)) == (2, 1)
        assert (asked(at), heard(at)) == (["go", STEER], 1)
        assert "previous_response_id" not in server.requests[1]
        await at.goes_on()


async def test_esc_gives_the_text_back_to_the_queue() -> None:
    gate = asyncio.Event()
    server = Nasty([[created("resp_1"), *ONE, Gate(gate), completed("resp_1")]], echo=True)
    server.steer, server.interrupt = "accept", "accept"
    async with stand(server) as at:
        at.session.submit(intents.Prompt("go"))
        await at.seat.until(lambda: "one" in at.seat.said())
        at.session.submit(intents.Steer(STEER))
        await at.seat.until(lambda: at.session.status.steering)
        at.session.submit(intents.Interrupt())
        await at.seat.idle()
        assert (at.session.status.queued, asked(at)) == ([STEER], ["go"])
        server.script = [[], FINE]
        await at.seat.ask("next")
        await at.seat.until(lambda: len(server.requests) == 3)
        await at.seat.idle()
        assert heard(at) == 1


@pytest.mark.usefixtures("quick")
@each("manner", ["fail", "ignore"])
@each("code", ["invalid_prompt", "invalid_request_error"])
async def test_a_refusal_while_it_is_steered_ends_the_turn(code: str, manner: str) -> None:
    gate = asyncio.Event()
    refused: list[Step] = [created("resp_1"), *ONE, Gate(gate), error(400, code, "no such thing")]
    server = Nasty([refused, FINE, FINE, FINE], echo=True)
    server.steer = manner
    async with stand(server) as at:
        at.session.submit(intents.Prompt("go"))
        await at.seat.until(lambda: "one" in at.seat.said())
        gate.set()
        at.session.submit(intents.Queue("later"))
        at.session.submit(intents.Steer(STEER))
        await at.seat.idle()
        status = at.session.status
        assert (status.outcome, sorted(status.queued)) == ("failed", sorted([STEER, "later"]))
        assert at.troubles == ["The model could not answer: no such thing"]
        at.session.submit(intents.Prompt("next"))
        await at.seat.until(lambda: at.whole[-3:] == ["fine"] * 3)
        assert (heard(at), status.queued) == (1, [])
