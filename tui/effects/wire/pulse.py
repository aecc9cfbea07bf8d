"""Whether a link still lives: pings, silence, stalls, and gaps in the clock.

Any inbound byte is life (PROTOCOL section 10: some servers delay pongs while they write). A clock
that jumps between two looks says that the machine slept: what was idle then is not trusted any
more, what was busy is asked at once.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from websockets.protocol import State

from tui.effects.wire.frames import FrameSocket
from tui.effects.wire.options import ConnectionOptions, ReadsClock

if TYPE_CHECKING:
    from tui.effects.wire.link import Link, Rider

LOOK_S = 5.0
"""Between two looks, at most."""


class Pulse:
    """The watch over one link."""

    def __init__(
        self, link: Link, socket: FrameSocket, options: ConnectionOptions, clock: ReadsClock
    ) -> None:
        self.round_trip_s: float | None = None
        self.has_slept = False
        """The clock has jumped in this link's life."""
        self.doubted = False
        """The clock has jumped, and no pong has come since: nothing new is to go out."""
        self._link, self._socket, self._options, self._clock = link, socket, options, clock
        self._look_s = min(LOOK_S, options.ping_interval_s, options.silence_s / 4)
        self._looked_at = clock.now()
        self._ping = b""
        self._pings = 0
        self._pinged_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._proof: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Measure the round trip, then watch."""
        self._ask()
        self._timer = self._socket.loop.call_later(self._look_s, self._look)

    def stop(self) -> None:
        """Watch no more."""
        for timer in (self._timer, self._proof):
            if timer is not None:
                timer.cancel()

    def ponged(self, data: bytes) -> bool:
        """Take a pong; True if the round trip is known anew."""
        if data != self._ping:
            return False
        self._ping = b""
        self.doubted = False
        self.round_trip_s = self._socket.loop.time() - self._pinged_at
        return True

    def slept(self) -> bool:
        """Whether the clock has jumped since the last look; a busy link is asked for life then."""
        now = self._clock.now()
        gap_s = now - self._looked_at - self._look_s
        self._looked_at = now
        if gap_s <= self._options.gap_s:
            return False
        self.has_slept = self.doubted = True
        if self._link.busy:
            for rider in self._link.riders:
                rider.heard_at = now
            self._demand()
        return True

    def _look(self) -> None:
        self._timer = self._socket.loop.call_later(self._look_s, self._look)
        options, link = self._options, self._link
        if self.slept() and not link.busy:
            link.close("renewed after a pause")
            return
        now_s = self._socket.loop.time()
        silent_s = now_s - self._socket.heard_at
        if silent_s > options.silence_s:
            link.drop(_dead(options.silence_s))
            return
        if min(silent_s, now_s - self._pinged_at) >= options.ping_interval_s:
            self._ask()
        self._look_at_lanes()
        link.serve()

    def _look_at_lanes(self) -> None:
        """A lane that waits without any event for minutes is dead, whatever pongs say."""
        options, link = self._options, self._link
        since = self._clock.now() - options.event_s
        stalled = [r for r in link.riders if r.busy and max(r.heard_at, link.stray_at) < since]
        if not stalled:
            return
        if all(rider in stalled for rider in link.riders if rider.busy):
            link.drop(_dead(options.event_s))
            return
        for rider in stalled:
            self._unlink(rider)

    def _unlink(self, rider: Rider) -> None:
        self._link.leave(rider)
        rider.unlinked(_dead(self._options.event_s), None)

    def _ask(self) -> None:
        self._pings += 1
        self._ping = self._pings.to_bytes(4, "big")
        self._pinged_at = self._socket.loop.time()
        if self._socket.protocol.state is State.OPEN:
            self._socket.protocol.send_ping(self._ping)
            self._socket.send_data()

    def _demand(self) -> None:
        """Ask, and drop the link unless anything comes soon."""
        self._ask()
        if self._proof is not None:
            self._proof.cancel()
        self._proof = self._socket.loop.call_later(self._options.resume_s, self._judge)

    def _judge(self) -> None:
        if self._socket.heard_at < self._pinged_at:
            self._link.drop("no sign of life from the server after a pause")


def _dead(silent_s: float) -> str:
    return f"no sign of life from the server for {silent_s:.0f} s"
