"""Two bridges behind a plain TCP balancer, with no state between them."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.balancer import Balancer, balancing
from tests.support.bridge_client import create, event, prose, until
from tests.support.fault_stand import PATIENT, Stand, seated
from tests.support.nasty_server import Nasty
from tests.support.rehearsed import user
from tests.support.team import Served, dial_at, listening, team
from tui.core.wire.address import Address
from tui.effects.system import MonotonicClock
from tui.effects.wire.endpoint import Endpoint
from tui.engine import intents

pytestmark = pytest.mark.slow

SLOW = "rehearsal-fast@200"


@dataclass
class Farm:
    """A balancer, its bridges, and a user's token."""

    balancer: Balancer
    bridges: list[Served]
    token: str

    def behind(self, connection: int = -1) -> Served:
        """The bridge that a connection went to."""
        port = self.balancer.taken[connection]
        return next(bridge for bridge in self.bridges if bridge.port == port)


@pytest.fixture
async def farm(tmp_path: Path) -> AsyncIterator[Farm]:
    file, (anna,) = team(tmp_path, "anna")
    async with AsyncExitStack() as stack:
        flags = ("--tokens", file)
        made = [await stack.enter_async_context(listening(tmp_path, *flags)) for _ in range(2)]
        balancer = await stack.enter_async_context(balancing(*(one.port for one in made)))
        yield Farm(balancer, made, anna)


@asynccontextmanager
async def app(farm: Farm) -> AsyncIterator[Stand]:
    """Our own session as a client."""

    async def address() -> Address:
        url = f"ws://127.0.0.1:{farm.balancer.port}/v1/responses"
        return Address(url, {"Authorization": f"Bearer {farm.token}"})

    endpoint = Endpoint("farm", address, MonotonicClock(), options=PATIENT)
    async with seated(endpoint, Nasty([]), SLOW) as stand:
        yield stand


async def begun(at: Stand) -> None:
    """An answer is in its midst, and stays there until it is throttled no more."""
    at.session.submit(intents.Throttle(10))
    said = at.seat.said()
    at.session.submit(intents.Prompt("rehearse 60 tokens"))
    await at.seat.until(lambda: len(at.seat.said().removeprefix(said).split()) > 5)
    at.session.submit(intents.Throttle(1))


async def test_a_parent_of_the_other_bridge_is_not_found_and_the_resend_is_answered(
    farm: Farm,
) -> None:
    """As SDKs do: continue, be told that the parent is lost, say everything again."""
    first_words = user("rehearse 5 tokens")
    async with dial_at(farm.balancer.port, farm.token) as socket:
        await create(socket, "", input=[first_words])
        answer = (await until(socket))[-1]["response"]
    async with dial_at(farm.balancer.port, farm.token) as socket:
        await create(socket, "rehearse 6 tokens", previous_response_id=answer["id"])
        refused = await event(socket)
        assert refused["status"] == 400
        assert refused["error"]["code"] == "previous_response_not_found"
        assert answer["id"] in refused["error"]["message"]
        items = [first_words, *answer["output"], user("rehearse 6 tokens")]
        await create(socket, "", input=items)
        again = (await until(socket))[-1]["response"]
        assert again["status"] == "completed"
        await create(socket, "rehearse 7 tokens", previous_response_id=again["id"])
        assert prose(await until(socket))
    assert len(set(farm.balancer.taken)) == 2


async def test_a_drain_in_mid_turn_costs_the_app_nothing(farm: Farm) -> None:
    async with app(farm) as at:
        assert await at.seat.ask("rehearse 5 tokens")
        used = farm.behind()
        await begun(at)
        used.signal()
        await used.until_noted("draining")
        at.session.submit(intents.Throttle(None))
        await at.seat.idle()
        assert at.session.status.outcome == "completed"
        assert await used.ended() == 0
        assert await at.seat.ask("rehearse 7 tokens")
        assert at.session.status.outcome == "completed"
        assert farm.behind() is not used
        assert at.troubles == []
        assert at.broken == []
        assert len(at.whole) == 3


async def test_a_bridge_that_is_killed_in_mid_turn_is_survived(farm: Farm) -> None:
    async with app(farm) as at:
        assert await at.seat.ask("rehearse 5 tokens")
        used = farm.behind()
        await begun(at)
        used.signal(signal.SIGKILL)
        at.session.submit(intents.Throttle(None))
        await at.seat.idle()
        assert at.session.status.outcome == "completed"
        assert farm.behind() is not used
        assert len(at.whole) == 2
