"""A create on its way to another socket, and a user who does not wait for it."""

from __future__ import annotations

import asyncio

from tests.effects.wire.host import Desk, Host, hosting, states, words
from tests.support.sockets import Heard
from tests.support.tables import each
from tui.core.wire import events
from tui.core.wire.address import Address
from tui.effects.wire.endpoint import EndpointLane


class SlowMove:
    """Two lanes at a host without names; the dial for the second's create waits to be let go."""

    def __init__(self, host: Host) -> None:
        self.desk = Desk(host)
        self.go = asyncio.Event()
        self.dials = 0
        self.failing = False
        self._url = host.url
        self.desk.endpoint.address = self._address

    async def _address(self) -> Address:
        self.dials += 1
        if self.dials == 2:
            await self.go.wait()
            return Address("ws://127.0.0.1:9/" if self.failing else self._url)
        return Address(self._url)

    async def begun(self) -> tuple[EndpointLane, Heard]:
        (one, first), (two, second) = self.desk.lane("main"), self.desk.lane("deep")
        await asyncio.gather(one.open(), two.open())
        one.create({"model": "slow"})
        two.create({"model": "slow"})
        await first.has(events.Created)
        async with asyncio.timeout(30):
            while self.dials < 2:
                await asyncio.sleep(0.01)
        assert two.busy
        assert two.link is None
        return two, second

    async def over(self) -> None:
        """The dial of the move is over, and what it led to."""
        self.go.set()
        async with asyncio.timeout(30):
            while self.desk.endpoint._tasks:
                await asyncio.sleep(0.01)

    def riding(self, lane: EndpointLane) -> int:
        return sum(link.riders.count(lane) for link in self.desk.endpoint._links)


@each("failing", [False, True])
async def test_a_lane_that_moved_on_rides_on_one_link(failing: bool) -> None:
    async with hosting(echo=False) as host:
        move = SlowMove(host)
        move.failing = failing
        lane, heard = await move.begun()
        lane.interrupt()
        assert not lane.busy
        await lane.open()
        lane.create({"model": "slow", "n": 2})
        await heard.has(events.TextDelta)
        link = lane.link
        await move.over()
        assert lane.link is link
        assert lane.busy
        assert move.riding(lane) == 1
        host.go.set()
        await heard.has(events.Completed)
        assert len(words(heard)) == 2
        assert "closed" not in states(heard)
        asked = [event.get("n") for _, event in host.asked if event["model"] == "slow"]
        assert asked == [None, 2], "the create that was stopped never went out"


async def test_a_lane_that_was_stopped_and_asks_for_nothing_gets_no_link() -> None:
    async with hosting(echo=False) as host:
        move = SlowMove(host)
        lane, heard = await move.begun()
        lane.interrupt()
        await move.over()
        assert lane.link is None
        assert len(move.desk.endpoint._links) == 1
        await move.desk.ask(lane, heard)
        assert move.riding(lane) == 1
