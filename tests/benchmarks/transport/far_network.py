"""A network that is far away: a TCP proxy on loopback that adds round trips, as a process.

A connection costs one round trip before its first byte; every byte takes half a round trip each
way, and leaves only when the sender's `CongestionWindow` has room. Bandwidth is unlimited and
nothing is lost. It counts what the clients send.

Run as ``python -m tests.benchmarks.transport.far_network PORT ROUND_TRIP_MS ...``.
"""

from __future__ import annotations

import asyncio
import math
import selectors
import socket
import sys
from collections import deque
from typing import Any

from tests.benchmarks.worker import answer_questions

MSS_BYTES = 1460
INITIAL_BYTES = 10 * MSS_BYTES
LEAST_VARIANCE_S = 0.2
"""The retransmission time-out is the round trip and at least this (``TCP_RTO_MIN``)."""
UNLIMITED_BYTES = 1 << 40


class CongestionWindow:
    """One direction of one connection; times are in seconds, on any clock."""

    def __init__(self, round_trip_s: float) -> None:
        """``round_trip_s`` is how long an acknowledgement takes; 0: there is no limit."""
        self.size_bytes = INITIAL_BYTES
        self._round_trip_s = round_trip_s
        self._flight: deque[tuple[float, int]] = deque()
        self._in_flight = self._most_in_flight = 0
        self._sent_at = -math.inf

    def room(self, now: float) -> int:
        """How many bytes may leave now."""
        if not self._round_trip_s:
            return UNLIMITED_BYTES
        self._acknowledge(now)
        if not self._flight and self._sent_at > -math.inf:
            self._restart(now - self._sent_at)
        return max(0, self.size_bytes - self._in_flight)

    def sent(self, size_bytes: int, now: float) -> None:
        """So many bytes left now."""
        if not self._round_trip_s:
            return
        self._flight.append((now + self._round_trip_s, size_bytes))
        self._in_flight += size_bytes
        self._most_in_flight = max(self._most_in_flight, self._in_flight)
        self._sent_at = now

    @property
    def next_acknowledgement(self) -> float:
        """When there will be more room, if there is none."""
        return self._flight[0][0] if self._flight else -math.inf

    def _acknowledge(self, now: float) -> None:
        while self._flight and self._flight[0][0] <= now:
            _, size = self._flight.popleft()
            self._in_flight -= size
            if self.size_bytes < 2 * self._most_in_flight:
                self.size_bytes += size

    def _restart(self, idle_s: float) -> None:
        timeout_s = self._round_trip_s + LEAST_VARIANCE_S
        left_s = idle_s - timeout_s
        if left_s > 0:
            self._most_in_flight = 0
        while left_s > 0 and self.size_bytes > INITIAL_BYTES:
            self.size_bytes = max(self.size_bytes // 2, INITIAL_BYTES)
            left_s -= timeout_s


class Direction:
    """One way of one connection."""

    def __init__(self, round_trip_s: float, open_at: float) -> None:
        """Nothing leaves before ``open_at`` (loop time, seconds)."""
        self.target: asyncio.Transport | None = None
        """Where the bytes arrive; until it is known they wait."""
        self._delay_s = round_trip_s / 2
        self._window = CongestionWindow(round_trip_s)
        self._open_at = open_at
        self._waiting = bytearray()
        self._under_way: deque[tuple[float, bytes | None]] = deque()
        self._ended = False
        self._pumping = self._arriving = False
        self._loop = asyncio.get_running_loop()

    def send(self, data: bytes) -> None:
        """The sender wrote this."""
        self._waiting += data
        if not self._pumping:
            self._pump()

    def end(self) -> None:
        """The sender closed."""
        self._ended = True
        if not self._pumping:
            self._pump()

    def _pump(self) -> None:
        """Let leave what the window has room for."""
        self._pumping = False
        now = self._loop.time()
        if now < self._open_at:
            self._again(self._open_at)
            return
        while self._waiting:
            room = self._window.room(now)
            if room <= 0:
                self._again(self._window.next_acknowledgement)
                return
            piece = bytes(self._waiting[:room])
            del self._waiting[:room]
            self._window.sent(len(piece), now)
            self._launch(now, piece)
        if self._ended:
            self._launch(now, None)

    def _again(self, when: float) -> None:
        self._pumping = True
        self._loop.call_at(when, self._pump)

    def _launch(self, now: float, piece: bytes | None) -> None:
        self._under_way.append((now + self._delay_s, piece))
        if not self._arriving:
            self._arrive()

    def _arrive(self) -> None:
        """Hand over what has been under way for long enough, in order."""
        self._arriving = False
        now = self._loop.time()
        while self._under_way and self.target is not None:
            due, piece = self._under_way[0]
            if due > now:
                self._arriving = True
                self._loop.call_at(due, self._arrive)
                return
            self._under_way.popleft()
            if piece is None:
                self.target.close()
            else:
                self.target.write(piece)

    def arrive_at(self, target: asyncio.Transport) -> None:
        """The receiver is there."""
        self.target = target
        if not self._arriving:
            self._arrive()


class Traffic:
    """Bytes from all clients of one listening port."""

    def __init__(self) -> None:
        self.sent_bytes = 0


class End(asyncio.Protocol):
    """One socket: what it reads goes into ``outward``, what is written comes from ``inward``."""

    def __init__(self, outward: Direction, inward: Direction, traffic: Traffic | None) -> None:
        """``traffic`` counts what comes in here."""
        self._outward, self._inward, self._traffic = outward, inward, traffic

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to hand over what is for this end."""
        assert isinstance(transport, asyncio.Transport)
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._inward.arrive_at(transport)

    def data_received(self, data: bytes) -> None:
        """Take what this end wrote."""
        if self._traffic is not None:
            self._traffic.sent_bytes += len(data)
        self._outward.send(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the other end, as far away as it is."""
        self._outward.end()


class FarNetwork:
    """Listens with several round trips at once, in front of one server on loopback."""

    def __init__(self, server_port: int) -> None:
        self._server_port = server_port
        self._traffic: dict[int, Traffic] = {}
        self._dials: set[asyncio.Task[Any]] = set()

    async def listen(self, round_trip_s: float) -> int:
        """The port that is so far away from the server."""
        loop, traffic = asyncio.get_running_loop(), Traffic()
        server = await loop.create_server(lambda: self._accept(round_trip_s, traffic), "127.0.0.1")
        port: int = server.sockets[0].getsockname()[1]
        self._traffic[port] = traffic
        return port

    def sent_bytes(self, port: int) -> int:
        """What the clients of a port have sent so far."""
        return self._traffic[port].sent_bytes

    def _accept(self, round_trip_s: float, traffic: Traffic) -> End:
        now = asyncio.get_running_loop().time()
        there = Direction(round_trip_s, now + round_trip_s)
        back = Direction(round_trip_s, now)
        dial = asyncio.create_task(self._dial(there, back))
        self._dials.add(dial)
        dial.add_done_callback(self._dials.discard)
        return End(there, back, traffic)

    async def _dial(self, there: Direction, back: Direction) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.create_connection(
                lambda: End(back, there, None), "127.0.0.1", self._server_port
            )
        except OSError:
            back.end()


async def serve(server_port: int, round_trips_ms: list[int]) -> None:
    """Listen, say where, and answer how much was sent until stdin closes."""
    network = FarNetwork(server_port)
    ports = {str(ms): await network.listen(ms / 1000) for ms in round_trips_ms}

    async def answer(question: dict[str, Any]) -> dict[str, Any]:
        return {"sent_bytes": network.sent_bytes(question["port"])}

    await answer_questions({"ports": ports}, answer)


def main() -> None:
    """Serve as a process. The loop uses select(), whose time-outs are finer than epoll's 1 ms."""
    port, *round_trips_ms = map(int, sys.argv[1:])
    with asyncio.Runner(loop_factory=_precise_loop) as runner:
        runner.run(serve(port, round_trips_ms))


def _precise_loop() -> asyncio.AbstractEventLoop:
    return asyncio.SelectorEventLoop(selectors.SelectSelector())


if __name__ == "__main__":
    main()
