"""The machine slept: what is sent after it goes over a socket that is known to live."""

from __future__ import annotations

import pytest

from tests.effects.wire.host import LANES, Desk, hosting, states
from tui.core.wire import events
from tui.errors import WireError


async def test_no_create_goes_out_on_a_socket_that_slept() -> None:
    """Not within a turn either, where nobody calls `open` first: the chain is gone with it."""
    async with hosting() as host:
        desk = Desk(host)
        lane, heard = desk.lane("main")
        await desk.ask(lane, heard)
        desk.clock.ahead_s = 600.0
        with pytest.raises(WireError, match="after a pause"):
            lane.create({"model": "m", "previous_response_id": "resp_1/main"})
        assert lane.state == "closed"
        await desk.ask(lane, heard)
        assert [connection for connection, _ in host.asked] == [1, 2]


async def test_a_lane_at_rest_leaves_a_socket_that_slept_while_another_works() -> None:
    async with hosting() as host:
        desk = Desk(host, known=LANES)
        (one, first), (two, second) = desk.lane("main"), desk.lane("deep")
        await desk.ask(one, first)
        await desk.ask(two, second, "slow")
        desk.clock.ahead_s = 600.0
        desk.endpoint._links[0].heartbeat._look()
        with pytest.raises(WireError, match="after a pause"):
            one.create({"model": "m"})
        await desk.ask(one, first)
        assert [connection for connection, _ in host.asked] == [1, 1, 2]
        host.go.set()
        await second.has(events.Completed)
        assert states(second)[:1] == ["open"]
