"""A prewarm that fails in any way costs the turn nothing and is never shown (section 2.2)."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.fault_stand import FINE, Stand, stand
from tests.support.nasty_server import Nasty, Prewarms
from tests.support.tables import each
from tui.core.wire.endpoint_facts import Capabilities
from tui.engine import connections, intents
from tui.engine.notices import Trouble


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing comes of it, and that is soon clear."""
    monkeypatch.setattr(connections, "PREWARM_S", 0.3)


async def warmed(at: Stand) -> None:
    """The user begins to type, and the server hears of it."""
    await at.session.run()
    at.session.submit(intents.Prewarm())
    async with asyncio.timeout(60):
        while not at.server.prewarms:
            await asyncio.sleep(0.005)


def told(at: Stand) -> tuple[list[Trouble], list[str]]:
    return at.seat.troubles, at.notes


@each("echo", [True, False])
async def test_the_turn_goes_on_from_it(echo: bool) -> None:
    server = Nasty([FINE], echo=echo)
    async with stand(server) as at:
        await warmed(at)
        await at.seat.ask("go")
        assert (at.whole, told(at)) == (["fine"], ([], []))
        assert server.requests[0]["previous_response_id"] == "resp_warm_1"
        assert (server.connections, server.prewarms) == (1, 1)
        assert at.capabilities.prewarm is True
        await at.goes_on()


@pytest.mark.usefixtures("quick")
@each("manner", ["refuse", "ignore", "generate", "close"])
async def test_where_it_fails_the_turn_says_all(manner: Prewarms) -> None:
    server = Nasty([FINE], echo=True, prewarm=manner, interrupt="accept")
    async with stand(server) as at:
        await warmed(at)
        await at.seat.ask("go")
        assert (at.whole, at.broken, told(at)) == (["fine"], [], ([], []))
        assert len(server.requests) == 1
        assert "previous_response_id" not in server.requests[0]
        assert at.capabilities.prewarm is False
        await at.goes_on()


@pytest.mark.usefixtures("quick")
@each("manner", ["refuse", "ignore", "generate", "close"])
async def test_it_fails_once_and_that_is_remembered(manner: Prewarms) -> None:
    server = Nasty([FINE], echo=True, prewarm=manner, interrupt="accept")
    remembered: list[bool | None] = []
    async with stand(server) as at:
        at.endpoint.on_learnt = lambda known: remembered.append(known.prewarm)
        await warmed(at)
        await at.seat.ask("go")
        assert remembered[-1] is False
    async with stand(server, capabilities=Capabilities(prewarm=remembered[-1])) as at:
        await at.session.run()
        at.session.submit(intents.Prewarm())
        await at.seat.ask("go")
        assert server.prewarms == 1


async def test_a_second_draft_does_not_prewarm_again() -> None:
    server = Nasty([FINE], echo=True)
    async with stand(server) as at:
        await warmed(at)
        at.session.submit(intents.Prewarm())
        await at.seat.ask("go")
        at.session.submit(intents.Prewarm())
        await at.goes_on()
        assert server.prewarms == 1
