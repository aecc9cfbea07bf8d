"""Many lanes over few sockets: sharing, parting, retiring, and what is learnt on the way."""

from __future__ import annotations

import asyncio

import pytest

from tests.effects.wire.host import LANES, Desk, hosting, states, words
from tests.support.tables import each
from tui.core.wire import events
from tui.effects.wire.endpoint import FULL
from tui.errors import WireError


async def test_without_an_echo_each_lane_gets_a_socket_unseen() -> None:
    async with hosting(echo=False) as host:
        desk = Desk(host)
        (one, first), (two, second) = desk.lane("main"), desk.lane("deep")
        await asyncio.gather(one.open(), two.open())
        one.create({"model": "slow"})
        two.create({"model": "slow"})
        await first.has(events.TextDelta)
        await second.has(events.TextDelta)
        host.go.set()
        await first.has(events.Completed)
        await second.has(events.Completed)
        assert len(host.sockets) == 2
        assert states(first) == states(second) == ["connecting", "open"]
        assert [connection for connection, _ in host.asked] == [1, 2]
        assert desk.known.lanes is False
        await desk.ask(one, first)
        await desk.ask(two, second)
        assert [connection for connection, _ in host.asked] == [1, 2, 1, 2]
        assert states(second) == ["connecting", "open"]


async def test_a_create_that_moves_can_be_interrupted_or_dropped() -> None:
    async with hosting(echo=False) as host:
        desk = Desk(host)
        (one, first), (two, second) = desk.lane("main"), desk.lane("deep")
        (three, third) = desk.lane("third")
        await asyncio.gather(one.open(), two.open(), three.open())
        for lane in (one, two, three):
            lane.create({"model": "slow"})
        await first.has(events.Created)
        assert two.busy
        assert two.link is None
        two.interrupt()
        assert not two.busy
        assert isinstance(second.events[-1], events.Incomplete)
        assert second.events[-1].reason == "interrupted"
        three.drop()
        assert three.state == "closed"
        assert not three.busy
        assert "dropped" in await third.closed()
        assert states(first) == ["connecting", "open"]
        await desk.ask(two, second)
        assert [event["model"] for _, event in host.asked] == ["slow", "m"]


async def test_a_create_that_moves_is_lost_with_its_dial() -> None:
    async with hosting(echo=False) as host:
        desk = Desk(host)
        (one, first), (two, second) = desk.lane("main"), desk.lane("deep")
        await asyncio.gather(one.open(), two.open())
        one.create({"model": "m"})
        two.create({"model": "m"})
        host.refusal = 503
        assert "HTTP 503" in await second.closed()
        assert not two.busy
        assert states(first) == ["connecting", "open"]


@each("by_event", [False, True])
async def test_a_server_s_time_limit_is_learnt_and_kept_ahead_of(by_event: bool) -> None:
    async with hosting() as host:
        desk = Desk(host)
        lane, heard = desk.lane("main")
        await desk.ask(lane, heard)
        lane.link.opened_at -= 60.0
        if by_event:
            code = '{"type":"error","error":{"code":"websocket_connection_limit_reached"}}'
            await host.sockets[0].send(code)
        else:
            await host.sockets[0].close(1000, "Session duration limit reached")
        await heard.closed()
        assert desk.known.max_age_s == pytest.approx(60, abs=2)
        assert not [event for event in heard.events if isinstance(event, events.ErrorEvent)]
        await desk.ask(lane, heard)
        lane.link.opened_at -= 50.0
        await lane.open()
        assert len(host.sockets) == 2
        lane.link.opened_at -= 5.0
        await lane.open()
        await host.until(lambda: len(host.sockets) == 3)


async def test_a_normal_close_without_a_word_counts_when_it_happens_twice() -> None:
    async with hosting() as host:
        desk = Desk(host)
        lane, heard = desk.lane("main")
        for known in (None, 300):
            await desk.ask(lane, heard)
            lane.link.opened_at -= 300.0
            await host.sockets[-1].close(1000)
            await heard.closed()
            assert desk.known.max_age_s == (known and pytest.approx(known, abs=3))
            heard.states.clear()
        await desk.ask(lane, heard)
        await host.sockets[-1].close(1000)
        await heard.closed()
        assert desk.known.max_age_s > 290, "a young one tells nothing"


@each(
    "code, reason",
    [
        (1000, "idle timeout"),
        (1000, "Rate limit reached"),
        (1000, "Session closed: token limit"),
        (1000, "bye"),
        (1001, "Session duration limit reached"),
    ],
)
async def test_a_close_that_is_not_for_age_tells_no_limit(code: int, reason: str) -> None:
    async with hosting() as host:
        desk = Desk(host)
        lane, heard = desk.lane("main")
        for _ in range(2):
            await desk.ask(lane, heard)
            lane.link.opened_at -= 300.0
            await host.sockets[-1].close(code, reason)
            await heard.closed()
            heard.states.clear()
        assert desk.known.max_age_s is None


async def test_unused_for_the_same_time_is_no_age() -> None:
    async with hosting() as host:
        desk = Desk(host)
        lane, heard = desk.lane("main")
        for _ in range(3):
            await desk.ask(lane, heard)
            lane.link.opened_at -= 300.0
            lane.link.used_at -= 60.0
            await host.sockets[-1].close(1000)
            await heard.closed()
            heard.states.clear()
        assert desk.known.max_age_s is None


async def test_a_limit_that_a_connection_outlives_is_unlearnt() -> None:
    async with hosting() as host:
        desk = Desk(host, known=LANES | {"max_age_s": 60.0})
        lane, heard = desk.lane("main")
        await desk.ask(lane, heard, "slow")
        lane.link.opened_at -= 90.0
        host.go.set()
        await heard.has(events.Completed, 1)
        await heard.closed()
        assert desk.known.max_age_s is None


async def test_after_a_pause_an_idle_socket_is_not_trusted() -> None:
    async with hosting() as host:
        desk = Desk(host)
        lane, heard = desk.lane("main")
        await desk.ask(lane, heard)
        desk.clock.ahead_s = 3600.0
        await desk.ask(lane, heard)
        assert [connection for connection, _ in host.asked] == [1, 2]
        assert ("closed", "renewed after a pause") in heard.states


async def test_after_a_pause_a_busy_socket_that_does_not_answer_is_dropped() -> None:
    async with hosting() as host:
        desk = Desk(host, resume_s=0.05, ping_interval_s=0.02, silence_s=5.0)
        lane, heard = desk.lane("main")
        await desk.ask(lane, heard, "slow")
        host.sockets[0].transport.pause_reading()
        trip = None
        while trip != lane.round_trip_s:  # pongs are under way
            trip = lane.round_trip_s
            await asyncio.sleep(0.2)
        desk.clock.ahead_s = 400.0
        assert "after a pause" in await heard.closed()


async def test_esc_leaves_the_socket_to_those_who_are_busy_on_it() -> None:
    async with hosting(stops=False) as host:
        desk = Desk(host, known=LANES | {"interrupt": {"slow": False}})
        (one, first), (two, second) = desk.lane("main"), desk.lane("deep")
        await desk.ask(one, first, "slow")
        await desk.ask(two, second, "slow")
        one.interrupt()
        assert isinstance(first.events[-1], events.Incomplete)
        assert first.events[-1].reason == "abandoned"
        assert not one.busy
        await desk.ask(one, first)
        assert host.asked[-1][1]["stream_id"] == "main.2"
        host.go.set()
        await second.has(events.Completed)
        assert len(host.sockets) == 1
        assert words(first) == ["main", "main.2", "main.2"], "the old answer is not heard"
        one.interrupt()


async def test_a_lane_that_finds_no_more_names_on_its_socket_leaves_it() -> None:
    async with hosting(stops=False) as host:
        desk = Desk(host, known=LANES | {"interrupt": {"slow": False}})
        (one, first), (two, second) = desk.lane("main"), desk.lane("deep")
        await desk.ask(one, first, "slow")
        await desk.ask(two, second, "slow")
        assert one.link is not None
        one.link.protocol._lanes.full = True
        one.interrupt()
        assert await first.closed() == FULL
        assert (one.state, one.close_code) == ("closed", None)
        await desk.ask(one, first)
        assert [number for number, _ in host.asked] == [1, 1, 2]
        assert two.link is not None
        assert (two.busy, two.link.riders) == (True, [two])


async def test_drop_takes_the_socket_only_if_no_other_lane_is_busy() -> None:
    async with hosting() as host:
        desk = Desk(host, known=LANES)
        (one, first), (two, second) = desk.lane("main"), desk.lane("deep")
        await desk.ask(one, first, "slow")
        await desk.ask(two, second, "slow")
        one.drop()
        assert one.state == "closed"
        with pytest.raises(WireError, match="dropped"):
            one.create({"model": "m"})
        assert two.state == "open"
        await desk.ask(one, first)
        assert host.asked[-1] == (1, host.asked[-1][1] | {"stream_id": "main.2"})
        two.drop()
        assert (one.state, two.state) == ("closed", "closed")


async def test_a_lane_that_waits_for_minutes_alone_is_left_and_the_others_go_on() -> None:
    async with hosting() as host:
        desk = Desk(host, known=LANES, event_s=2.0, ping_interval_s=0.1)
        (one, first), (two, second) = desk.lane("main"), desk.lane("deep")
        await desk.ask(one, first, "slow")
        await desk.ask(two, second, "chatty")
        assert "no sign of life from the server for 2 s" in await first.closed()
        assert two.state == "open"
        assert len(host.sockets) == 1


async def test_a_closed_lane_leaves_the_socket_to_the_others() -> None:
    async with hosting() as host:
        desk = Desk(host, known=LANES)
        (one, first), (two, second) = desk.lane("main"), desk.lane("deep")
        await desk.ask(one, first)
        await desk.ask(two, second)
        await one.close()
        with pytest.raises(WireError, match="for good"):
            await one.open()
        await desk.ask(two, second)
        assert len(host.sockets) == 1
        again, third = desk.lane("main")
        await desk.ask(again, third)
        await two.close()
        await again.close()
        assert desk.endpoint.views()[0].state == "closed"


async def test_reconnects_are_counted_and_the_lost_socket_is_shown() -> None:
    async with hosting() as host:
        desk = Desk(host)
        lane, heard = desk.lane("main")
        assert desk.endpoint.views() == []
        await desk.ask(lane, heard)
        await host.sockets[0].close(1012)
        assert "restarts" in await heard.closed()
        assert lane.close_code == 1012
        assert [view.state for view in desk.endpoint.views()] == ["closed"]
        await lane.open()
        lane.create({"model": "m", "previous_response_id": "resp_1"})
        await heard.has(events.Completed, 2)
        view = desk.endpoint.views()[0]
        assert (view.reconnects, view.requests, view.continued) == (1, 2, 1)
        assert view.bytes_out > 0
