"""How an endpoint is spoken to: by WebSocket, or by HTTP+SSE through the bridge's relay.

The way back from HTTP is asked for beside whatever runs, by the time since the WebSocket was left,
so that a user who never rests comes back, too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from tui.core.wire.endpoint_facts import Capabilities
from tui.effects.wire.link import ConnectionOptions, Transport

LONGEST_S = 3600.0


class TransportChoice:
    """The transport of one endpoint."""

    def __init__(
        self,
        options: ConnectionOptions,
        known: Capabilities,
        *,
        relay: bool,
        attempt: Callable[[], Awaitable[bool]],
    ) -> None:
        """``relay``: there is one; ``attempt`` asks for a WebSocket, unseen, and says if it works.

        The first attempt is ``options.probe_s`` after the WebSocket was left.
        """
        self._auto = options.transport == "auto"
        by_http = options.transport == "http" or (self._auto and known.websocket is False)
        self.transport: Transport = "http" if by_http and relay else "websocket"
        """What the next dial takes."""
        self.refused = False
        """The server does not take a WebSocket, it said so in this run."""
        self._known, self._relay, self._attempt = known, relay, attempt
        self._first_s = self._wait_s = options.probe_s
        self._worked_at: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def fall_back(self) -> bool:
        """Take HTTP from the next `EndpointLane.open` on; False: that cannot be, or is so."""
        if not self._relay or self.transport == "http" or not self._auto:
            return False
        self.transport = "http"
        self.used()
        return True

    def come_back(self) -> None:
        """Take the WebSocket from the next `EndpointLane.open` on, unless it was refused.

        What was remembered of it from an earlier run is no refusal of today.
        """
        if self.transport == "http" and self._auto and not self.refused:
            self.transport = "websocket"
            self.stop()

    def used(self) -> None:
        """A turn takes this transport: where the other one is better, it is asked for in a while.

        That is later where it worked, and soon broke again.
        """
        idle = self._timer is None and self._task is None
        if self.transport == "http" and self._auto and idle:
            worked_at, now = self._worked_at, asyncio.get_running_loop().time()
            again = worked_at is not None and now - worked_at < LONGEST_S
            self._wait(2 * self._wait_s if again else self._first_s)

    def stop(self) -> None:
        """Ask for nothing any more."""
        for pending in (self._timer, self._task):
            if pending is not None:
                pending.cancel()
        self._timer = self._task = None

    def why_http(self) -> str:
        """What keeps a socket from being a WebSocket, in words."""
        if not self._auto and self.transport == "http":
            return 'the settings say transport = "http"'
        if self.transport == "websocket":
            return "the next turn goes by WebSocket again"
        if self.refused:
            reason = "the server refused the WebSocket"
        elif self._known.websocket is False:
            reason = "it refused the WebSocket in an earlier run"
        else:
            reason = "the WebSocket failed"
        return f"{reason}; it is tried again now and then"

    def _wait(self, wait_s: float) -> None:
        self._wait_s = min(wait_s, LONGEST_S)
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
            self._wait(2 * self._wait_s)
