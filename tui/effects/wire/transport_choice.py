"""The way back from HTTP: whether an endpoint takes a WebSocket again.

It is asked for beside whatever runs, by the time since it was left, so that a user who never rests
comes back, too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from tui.core.wire.endpoint_facts import Capabilities
from tui.effects.wire.link import ConnectionOptions, Transport

LONGEST_S = 3600.0


class Probe:
    """Tries now and then, each time a while later, until told to stop or it worked."""

    def __init__(self, wait_s: float, attempt: Callable[[], Awaitable[bool]]) -> None:
        """``attempt`` says whether the way is open; the first one is after ``wait_s`` seconds."""
        self._first_s = self._wait_s = wait_s
        self._attempt = attempt
        self._worked_at: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Try from now on, unless that has begun; later, where it worked and soon broke again."""
        if self._timer is not None or self._task is not None:
            return
        worked_at, now = self._worked_at, asyncio.get_running_loop().time()
        again = worked_at is not None and now - worked_at < LONGEST_S
        self._wait_s = self._longer() if again else self._first_s
        self._wait()

    def stop(self) -> None:
        """Try no more."""
        for pending in (self._timer, self._task):
            if pending is not None:
                pending.cancel()
        self._timer = self._task = None

    def _longer(self) -> float:
        return min(2 * self._wait_s, LONGEST_S)

    def _wait(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._wait_s, self._start)

    def _start(self) -> None:
        self._timer = None
        self._task = asyncio.create_task(self._try())

    async def _try(self) -> None:
        works = await self._attempt()
        self._task = None
        if works:
            self._worked_at = asyncio.get_running_loop().time()
        else:
            self._wait_s = self._longer()
            self._wait()


class TransportChoice:
    """Of one endpoint."""

    def __init__(
        self,
        options: ConnectionOptions,
        known: Capabilities,
        *,
        relay: bool,
        attempt: Callable[[], Awaitable[bool]],
    ) -> None:
        """``relay``: there is one; ``attempt`` asks for a WebSocket, unseen."""
        chosen = options.transport
        by_http = chosen == "http" or (chosen == "auto" and known.websocket is False)
        self.transport: Transport = "http" if by_http and relay else "websocket"
        """What the next dial takes."""
        self.refused = False
        """The server does not take a WebSocket, it said so in this run."""
        self._chosen, self._known, self._relay = chosen, known, relay
        self._probe = Probe(options.probe_s, attempt)

    def fall_back(self) -> bool:
        """Take HTTP from the next `EndpointLane.open` on; False: that cannot be, or is so."""
        if not self._relay or self.transport == "http" or self._chosen != "auto":
            return False
        self.transport = "http"
        self.used()
        return True

    def come_back(self) -> None:
        """Take the WebSocket from the next `EndpointLane.open` on, unless it was refused.

        What was remembered of it from an earlier run is no refusal of today.
        """
        if self.transport == "http" and self._chosen == "auto" and not self.refused:
            self.transport = "websocket"
            self._probe.stop()

    def used(self) -> None:
        """A turn goes this way: where the other one is better, it is asked for in a while."""
        if self.transport == "http" and self._chosen == "auto":
            self._probe.begin()

    def stop(self) -> None:
        """Ask for nothing any more."""
        self._probe.stop()

    def why_http(self) -> str:
        """What keeps a socket from being a WebSocket, in words."""
        if self._chosen == "http":
            return 'the settings say transport = "http"'
        if self.transport == "websocket":
            return "the next turn goes by WebSocket again"
        if self.refused:
            reason = "the server refused the WebSocket"
        elif self._known.websocket is False:
            reason = "it refused the WebSocket in an earlier run"
        else:
            reason = "the WebSocket failed"
        return f"{reason}; it is asked for again now and then"
