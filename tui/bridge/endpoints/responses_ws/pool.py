"""The WebSockets of one endpoint: one for each response in flight, idle ones kept for the next.

A conversation stays on its socket: the server there knows it already, and prompt caches were
measured to follow the connection (PROTOCOL section 5).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from tui.bridge.endpoints.base import Asked
from tui.bridge.endpoints.responses_ws.dialling import ServiceConnection
from tui.bridge.endpoints.responses_ws.upstream_socket import UpstreamSocket

MAX_AGE_S = 55 * 60.0
"""Services end a connection after 60 minutes (PROTOCOL section 10)."""
IDLE_S = 10 * 60.0
MOST_IDLE = 16
MOST_KEPT = 4
"""Conversations whose sockets are kept for them; beyond, a new one takes the longest unused."""


class SocketPool:
    """Sockets that nobody uses now; one that is taken is the taker's until it comes back."""

    def __init__(
        self, dial: Callable[[], Awaitable[ServiceConnection]], max_age_s: float = MAX_AGE_S
    ) -> None:
        self._dial = dial
        self._max_age_s = max_age_s
        self._idle: dict[UpstreamSocket, asyncio.TimerHandle] = {}
        """The longest unused one first."""
        self._leaving: set[asyncio.Task[None]] = set()
        self._warming = asyncio.Lock()

    async def warm(self) -> None:
        """Have one that was never used. Raises what the dial raises."""
        async with self._warming:
            if not any(not socket.used and self._fit(socket) for socket in self._idle):
                self.give(await self.fresh())

    async def fresh(self) -> UpstreamSocket:
        """A new one. Raises what the dial raises."""
        return UpstreamSocket(await self._dial(), asyncio.get_running_loop().time())

    async def taken(self, asked: Asked) -> UpstreamSocket | None:
        """The idle one that knows the conversation best, or an unused one, made ahead.

        None: a new one is needed.
        """
        chosen = self._take(asked)
        if chosen is None and self._warming.locked():
            async with self._warming:
                chosen = self._take(asked)
        return chosen

    def give(self, socket: UpstreamSocket) -> None:
        """Bring one back whose response has ended."""
        if not self._fit(socket):
            self._leave(socket)
            return
        loop = asyncio.get_running_loop()
        self._idle[socket] = loop.call_later(IDLE_S, self._expire, socket)
        if len(self._idle) > MOST_IDLE:
            self._expire(next(iter(self._idle)))

    async def close(self) -> None:
        """End all idle ones; those in use are ended by who uses them."""
        for socket in list(self._idle):
            self._expire(socket)
        await asyncio.gather(*self._leaving, return_exceptions=True)

    def _fit(self, socket: UpstreamSocket) -> bool:
        age_s = asyncio.get_running_loop().time() - socket.born_s
        return socket.usable and age_s < self._max_age_s

    def _take(self, asked: Asked) -> UpstreamSocket | None:
        self._prune()
        idle = list(reversed(self._idle))
        key = str(asked.request.get("prompt_cache_key") or "")
        chosen = next((one for one in idle if _goes_on(one, asked)), None)
        chosen = chosen or next((one for one in idle if key and one.key == key), None)
        chosen = chosen or next((one for one in idle if not one.used), None)
        chosen = chosen or (idle[-1] if len(idle) >= MOST_KEPT else None)
        if chosen is not None:
            self._idle.pop(chosen).cancel()
            chosen.key = key
        return chosen

    def _prune(self) -> None:
        for socket in [one for one in self._idle if not (one.settled() and self._fit(one))]:
            self._expire(socket)

    def _expire(self, socket: UpstreamSocket) -> None:
        self._idle.pop(socket).cancel()
        self._leave(socket)

    def _leave(self, socket: UpstreamSocket) -> None:
        task = asyncio.create_task(socket.close())
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)


def _goes_on(socket: UpstreamSocket, asked: Asked) -> bool:
    chain = socket.chain
    return chain is not None and chain.new_items(asked.model, asked.items) is not None
