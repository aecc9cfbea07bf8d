"""Many lanes over few sockets: sharing, parting, retiring, and what is learnt on the way."""

from __future__ import annotations

import asyncio

import pytest

from tests.effects.wire.host import LANES, Desk, hosting, states, words
from tui.core.wire import events
from tui.errors import EndpointError, WireError


async def test_lanes_share_a_socket_and_each_hears_its_own() -> None:
    async with hosting() as host:
        desk = Desk(host)
        (one, first), (two, second) = desk.lane("main"), desk.lane("deep")
        await desk.ask(one, first, "slow")
        await desk.ask(two, second, "slow")
        view = desk.endpoint.views()[0]
        assert view.lanes == ("main*", "deep*")
        host.go.set()
        await first.has(events.Completed)
        await second.has(events.Completed)
        assert words(first) == ["main"] * 2
        assert words(second) == ["deep"] * 2
        assert len(host.sockets) == 1
        assert desk.known.lanes is True
        assert [known.lanes for known in desk.learnt][-1] is True
        view = desk.endpoint.views()[0]
        assert (view.requests, view.lanes, view.state) == (2, ("main", "deep"), "open")
        assert view.frames_in == 10
        await desk.endpoint.close()


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
        await desk.endpoint.close()


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
        await desk.endpoint.close()


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
        await desk.endpoint.close()


async def test_the_33rd_name_goes_to_another_socket() -> None:
    async with hosting() as host:
        desk = Desk(host, known=LANES)
        lanes = [desk.lane(f"lane-{number}") for number in range(33)]
        for lane, heard in lanes:
            await desk.ask(lane, heard)
        assert [len([c for c, _ in host.asked if c == number]) for number in (1, 2)] == [32, 1]
        await desk.endpoint.close()


async def test_an_old_socket_drains_while_new_requests_go_to_a_new_one() -> None:
    async with hosting() as host:
        desk = Desk(host, known=LANES, max_age_s=100.0)
        (one, first), (two, second) = desk.lane("main"), desk.lane("deep")
        await desk.ask(one, first, "slow")
        await desk.ask(two, second)
        desk.clock.ahead_s = 9.0
        await two.open()
        assert len(host.sockets) == 1
        desk.clock.ahead_s = 18.0  # short of what counts as a pause
        one.link.opened_at -= 100.0
        await desk.ask(two, second)
        assert states(second) == ["open", "closed", "connecting", "open"]
        assert [view.state for view in desk.endpoint.views()] == ["retiring", "open"]
        assert [c for c, _ in host.asked] == [1, 1, 2]
        host.go.set()
        await first.has(events.Completed)
        assert "time limit" in await first.closed()
        assert len(desk.endpoint.views()) == 1
        await desk.ask(one, first)
        assert [c for c, _ in host.asked] == [1, 1, 2, 2]
        await desk.endpoint.close()


@pytest.mark.parametrize("by_event", [False, True])
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
        await desk.endpoint.close()


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
        await desk.endpoint.close()


@pytest.mark.parametrize(
    ("code", "reason"),
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
        await desk.endpoint.close()


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
        await desk.endpoint.close()


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
        await desk.endpoint.close()


async def test_after_a_pause_an_idle_socket_is_not_trusted() -> None:
    async with hosting() as host:
        desk = Desk(host)
        lane, heard = desk.lane("main")
        await desk.ask(lane, heard)
        desk.clock.ahead_s = 3600.0
        await desk.ask(lane, heard)
        assert [connection for connection, _ in host.asked] == [1, 2]
        assert ("closed", "renewed after a pause") in heard.states
        await desk.endpoint.close()


async def test_after_a_pause_a_busy_socket_is_asked_and_stays_if_it_answers() -> None:
    async with hosting() as host:
        desk = Desk(host, known=LANES, resume_s=0.05, ping_interval_s=0.02, silence_s=2.0)
        lane, heard = desk.lane("main")
        await desk.ask(lane, heard, "slow")
        desk.clock.ahead_s = 400.0  # longer than any response may be without an event
        trips = set()
        for _ in range(10):
            await asyncio.sleep(0.02)
            trips.add(lane.round_trip_s)
        assert len(trips) > 1
        host.go.set()
        await heard.has(events.Completed)
        assert states(heard) == ["connecting", "open"]
        await desk.endpoint.close()


async def test_after_a_pause_a_busy_socket_that_does_not_answer_is_dropped() -> None:
    async with hosting() as host:
        desk = Desk(host, resume_s=0.05, ping_interval_s=0.02, silence_s=5.0)
        lane, heard = desk.lane("main")
        await desk.ask(lane, heard, "slow")
        host.sockets[0].transport.pause_reading()
        await asyncio.sleep(0.05)  # pongs under way
        desk.clock.ahead_s = 400.0
        assert "after a pause" in await heard.closed()
        await desk.endpoint.close()


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
        await desk.endpoint.close()


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
        await desk.endpoint.close()


async def test_a_lane_that_waits_for_minutes_alone_is_left_and_the_others_go_on() -> None:
    async with hosting() as host:
        desk = Desk(host, known=LANES, event_s=0.3, ping_interval_s=0.02)
        (one, first), (two, second) = desk.lane("main"), desk.lane("deep")
        await desk.ask(one, first, "slow")

        async def chatter() -> None:
            while True:
                await desk.ask(two, second)

        talk = asyncio.create_task(chatter())
        assert "no sign of life from the server for 0 s" in await first.closed()
        talk.cancel()
        assert two.state == "open"
        assert len(host.sockets) == 1
        await desk.endpoint.close()


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
        await desk.endpoint.close()


async def test_a_dial_that_nobody_waits_for_any_more_still_serves() -> None:
    async with hosting() as host:
        desk = Desk(host)
        lane, heard = desk.lane("main")
        impatient = asyncio.create_task(lane.open())
        await heard.until(lambda: lane.state == "connecting")
        impatient.cancel()
        await heard.until(lambda: lane.state == "open")
        await desk.ask(lane, heard)
        assert len(host.sockets) == 1
        await desk.endpoint.close()


async def test_a_failed_dial_is_told_to_every_lane_that_waits() -> None:
    async with hosting() as host:
        host.refusal = 429
        desk = Desk(host)
        (one, first), (two, second) = desk.lane("main"), desk.lane("deep")
        results = await asyncio.gather(one.open(), two.open(), return_exceptions=True)
        assert all(isinstance(result, EndpointError) and result.transient for result in results)
        assert await first.closed() == await second.closed() == str(results[0])
        await desk.endpoint.close()
