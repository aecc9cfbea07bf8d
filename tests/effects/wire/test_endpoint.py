"""Many lanes over few sockets: sharing, parting, retiring, and what is learnt on the way."""

from __future__ import annotations

import asyncio
import gc
import json
import time
import weakref
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.utils import accept_key

from tests.effects.wire.host import LANES, Desk, Host, hosting, states, words
from tests.support.sockets import (
    COMPLETED,
    CREATED,
    DELTA,
    Heard,
    connection_to,
    idle,
    say,
    serving,
)
from tests.support.tables import each
from tui.core.wire import events
from tui.core.wire.address import Address
from tui.core.wire.client.lane import Lane
from tui.core.wire.client.lanes import MAX_IN_FLIGHT, MAX_NAMES
from tui.core.wire.refusals import HOPELESS_CLOSES
from tui.effects.wire.endpoint import FULL, MAX_WITH_MAIN, EndpointLane
from tui.errors import WireError


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
        assert (two.busy, two.link.lanes) == (True, [two])


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


@pytest.mark.slow
async def test_a_lane_that_waits_for_minutes_alone_is_left_and_the_others_go_on() -> None:
    async with hosting() as host:
        desk = Desk(host, known=LANES, event_s=2.0, ping_interval_s=0.1)
        (one, first), (two, second) = desk.lane("main"), desk.lane("deep")
        await desk.ask(one, first, "slow")
        await desk.ask(two, second, "chatty")
        while "closed" not in states(first):
            desk.clock.ahead_s += 1.0
            await second.has(events.TextDelta, len(words(second)) + 1)
        assert "nothing from the server for 2 s" in await first.closed()
        assert two.state == "open"
        assert len(host.sockets) == 1


async def test_no_lane_waits_for_the_answers_of_sixteen_others() -> None:
    async with hosting() as host:
        desk = Desk(host, known=LANES)
        for number in range(MAX_IN_FLIGHT):
            await desk.ask(*desk.lane(f"attempt-{number}"), "slow")
        assert len(host.sockets) == 1
        await desk.ask(*desk.lane("main"))
        assert len(host.sockets) == 2


async def test_what_is_on_the_screen_does_not_queue_behind_many_others() -> None:
    async with hosting() as host:
        desk = Desk(host, known=LANES)
        for name in ("main", "delegate-1", "delegate-2"):
            await desk.ask(*desk.lane(name), "slow")
        assert len(host.sockets) == 1
        for number in range(MAX_WITH_MAIN):
            await desk.ask(*desk.lane(f"attempt-{number}"), "slow")
        assert len(host.sockets) == 2
        links = {lane.link for lane in desk.endpoint._lanes.values() if lane.link is not None}
        assert sorted(len(link.lanes) for link in links) == [3, MAX_WITH_MAIN]


async def test_nothing_is_left_of_a_lane_that_is_closed_but_its_name() -> None:
    async with hosting() as host:
        desk = Desk(host, known=LANES)
        await desk.ask(*desk.lane("main"))
        lane, heard = desk.lane("attempt-1")
        await desk.ask(lane, heard)
        await lane.close()
        told = weakref.ref(heard)
        del lane, heard
        await asyncio.sleep(0)
        gc.collect()
        assert told() is None
        for _ in range(MAX_NAMES):
            lane, heard = desk.lane("attempt-1")
            await desk.ask(lane, heard)
            await lane.close()
        assert len(host.sockets) == 1


async def test_a_lane_that_is_closed_while_it_opens_takes_no_place_on_the_socket() -> None:
    async with hosting() as host:
        desk = Desk(host, known=LANES)
        lane, _ = desk.lane("attempt-1")
        main, heard = desk.lane("main")
        opening = asyncio.gather(lane.open(), main.open(), return_exceptions=True)
        await asyncio.sleep(0)
        await lane.close()
        refused, _ = await opening
        assert isinstance(refused, WireError)
        await desk.ask(main, heard)
        assert main.link is not None
        assert main.link.lanes == [main]


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
        async with asyncio.timeout(60):
            while self.dials < 2:
                await asyncio.sleep(0.01)
        assert two.busy
        assert two.link is None
        return two, second

    async def over(self) -> None:
        """The dial of the move is over, and what it led to."""
        self.go.set()
        async with asyncio.timeout(60):
            while self.desk.endpoint._tasks:
                await asyncio.sleep(0.01)

    def riding(self, lane: EndpointLane) -> int:
        return sum(link.lanes.count(lane) for link in self.desk.endpoint._links)


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


async def test_a_bug_in_the_protocol_does_not_leave_a_turn_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heard: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: heard.append(context))
    async with hosting() as host:
        desk = Desk(host)
        wire, log = desk.lane("main")
        await desk.ask(wire, log, "slow")

        def broken(*args: object, **kwargs: object) -> None:
            raise TypeError("a bug")

        monkeypatch.setattr(Lane, "receive", broken)
        monkeypatch.setattr(Lane, "lost", broken)
        host.go.set()
        async with asyncio.timeout(60):
            while states(log)[-1] != "closed":
                await asyncio.sleep(0.01)
        assert wire.state == "closed"
        assert any(isinstance(context.get("exception"), TypeError) for context in heard)
        monkeypatch.undo()


async def one_answer(socket: ServerConnection) -> None:
    """Answers every create with one delta; ignores the rest."""
    async for message in socket:
        if json.loads(message)["type"] == "response.create":
            await say(socket, CREATED, DELTA, COMPLETED)


async def test_drop_frees_the_server_without_a_close_frame() -> None:
    ended = asyncio.get_running_loop().create_future()

    async def watch(socket: ServerConnection) -> None:
        try:
            async for _ in socket:
                await say(socket, CREATED)
        except ConnectionClosed as closed:
            ended.set_result(closed.rcvd)

    async with serving(watch) as url:
        connection, heard = connection_to(url)
        await connection.open()
        connection.create({"model": "m"})
        await heard.has(events.Created)
        connection.drop()
        assert connection.state == "closed"
        with pytest.raises(WireError):
            connection.create({"model": "m"})
        assert "dropped" in await heard.closed()
        async with asyncio.timeout(60):
            assert await ended is None
        await connection.close()


async def test_binary_frames_break_the_connection_and_bad_json_does_not() -> None:
    async def odd(socket: ServerConnection) -> None:
        await socket.recv()
        await socket.send("this is not json")
        await say(socket, CREATED, DELTA)
        await socket.send(b"\x00\x01")
        await idle(socket)

    async with serving(odd) as url:
        connection, heard = connection_to(url)
        await connection.open()
        connection.create({"model": "m"})
        assert "binary" in await heard.closed()
        assert len(heard.events) == 2
        await connection.close()


async def test_a_big_event_passes_and_one_over_the_limit_does_not() -> None:
    big = {**DELTA, "delta": "x" * 3_000_000}

    async def large(socket: ServerConnection) -> None:
        await socket.recv()
        await say(socket, CREATED, big)
        await idle(socket)

    async with serving(large) as url:
        connection, heard = connection_to(url)
        await connection.open()
        connection.create({"model": "m"})
        await heard.has(events.TextDelta)
        await connection.close()
        connection, heard = connection_to(url, max_message_bytes=2_000_000)
        await connection.open()
        connection.create({"model": "m"})
        assert "too big" in await heard.closed()
        await connection.close()


async def test_the_round_trip_is_measured_and_silence_is_death() -> None:
    async with serving(idle) as url:
        connection, heard = connection_to(url, ping_interval_s=0.02)
        await connection.open()
        async with asyncio.timeout(60):
            while connection.round_trip_s is None:
                await asyncio.sleep(0.005)
        assert connection.round_trip_s > 0
        await connection.close()

    async def stone(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Upgrades, then never says anything again."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        key = next(line.split(": ")[1] for line in head.split("\r\n") if "-Key:" in line)
        upgrade = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade"
        writer.write(f"{upgrade}\r\nSec-WebSocket-Accept: {accept_key(key)}\r\n\r\n".encode())
        await reader.read()
        writer.close()

    async with await asyncio.start_server(stone, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        url = f"ws://127.0.0.1:{port}/v1/responses"
        connection, heard = connection_to(url, ping_interval_s=0.05, silence_s=0.1)
        await connection.open()
        assert "nothing from the server" in await heard.closed()
        await connection.close()


async def test_a_server_that_only_pings_is_alive() -> None:
    """It answers a ping by one of its own, for three times as long as silence may last."""

    async def pinging(socket: ServerConnection) -> None:
        send, pings = socket.protocol.send_frame, 0

        def without_pongs(frame: Frame) -> None:
            nonlocal pings
            if frame.opcode is Opcode.PONG:
                pings += 1
                frame = Frame(Opcode.PING, b"and you?") if pings < 15 else Frame(Opcode.CLOSE, b"")
            send(frame)

        socket.protocol.send_frame = without_pongs
        await socket.wait_closed()

    async with serving(pinging) as url:
        connection, heard = connection_to(url, ping_interval_s=0.02, silence_s=0.1)
        await connection.open()
        assert "nothing from the server" not in await heard.closed()
        await connection.close()


async def test_a_process_that_was_not_served_itself_calls_nobody_silent() -> None:
    async with hosting() as host:
        desk = Desk(host, ping_interval_s=0.02, silence_s=0.1, event_s=0.2)
        lane, heard = desk.lane("main")
        await desk.ask(lane, heard, "slow")
        loop = asyncio.get_running_loop()
        for _ in range(3):
            loop.call_soon(time.sleep, 0.3)  # as on a machine that is busy elsewhere
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert lane.state == "open"
        host.go.set()
        await heard.has(events.Completed)


async def test_a_handler_that_breaks_is_reported_and_the_socket_let_go() -> None:
    reported: list[dict[str, Any]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda loop, context: reported.append(context))

    def broken(event: events.Event, now: float) -> None:
        raise ZeroDivisionError

    async with serving(one_answer) as url:
        connection, heard = connection_to(url)
        connection.on_event = broken
        await connection.open()
        connection.create({"model": "m"})
        assert await heard.closed() == "an internal error"
        assert isinstance(reported[0]["exception"], ZeroDivisionError)
        assert connection.close_code in HOPELESS_CLOSES, "the request is not sent again"
        await connection.close()
