"""A client's socket: the library's, and what speaks plain HTTP on it is handed on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import cast

from websockets.asyncio.server import ServerConnection
from websockets.frames import Frame, Opcode
from websockets.protocol import Event

from tui.bridge.fair_socket import FairSocket

MAX_MESSAGE_BYTES = 32 * 1024 * 1024
"""Twice what OpenAI takes (PROTOCOL section 10); larger ones are closed with 1009 unread."""
QUEUED = 2
"""Messages that may wait in the library for us, each as large as that."""
PING_S = 20.0
"""Proxies in between drop sockets that are idle for 60 s (PROTOCOL section 10)."""
PONG_S = 300.0
"""A client that answers no ping for so long is gone, or its machine is: a suspended one is not."""
MOST_PONG_BYTES = 256 * 1024
"""So many answers to pings may wait for who does not read; then nothing of his is read either."""
OPEN_S = 10.0
"""For a TLS handshake; as long as the library gives to the upgrade."""
_UPGRADES = (b"GET ", b"HEAD ")
"""How a request may begin that the WebSockets' library answers, with an upgrade or a page."""

quiet = logging.getLogger("tui.bridge.sockets.library")
"""The library's own words: tracebacks of other people's broken handshakes. Nobody wants them."""
quiet.setLevel(logging.CRITICAL + 1)


class Guest(FairSocket, ServerConnection):
    """One client's connection, until its first bytes tell what it speaks."""

    opening: set[Guest]
    """Those who have a connection and were not let in (yet); set by whoever makes it."""
    plain: Callable[[], Awaitable[asyncio.Protocol]]
    """Makes what answers plain HTTP; set by whoever makes it."""
    _greeting: bytes | None = b""
    """What came while it is not known who answers; None: the library does."""
    _handing: asyncio.Task[None] | None = None
    _unread_pong_bytes = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`; the library begins when its client has."""
        self.transport = cast("asyncio.Transport", transport)  # uvloop's is none by its class
        self.opening.add(self)
        self._patience = self.loop.call_later(OPEN_S, self.transport.abort)

    def connection_lost(self, exc: BaseException | None) -> None:
        """See `asyncio.Protocol`."""
        self.opening.discard(self)
        self._patience.cancel()
        if self._greeting is None:
            super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """The library answers GET and HEAD only."""
        if self._greeting is None:
            super().data_received(data)
            return
        self._greeting += data
        if self._handing is not None or any(
            known.startswith(self._greeting) and known != self._greeting for known in _UPGRADES
        ):
            return  # not enough to tell, or it waits
        if self._greeting.startswith(_UPGRADES):
            self._patience.cancel()
            greeting, self._greeting = self._greeting, None
            super().connection_made(self.transport)
            super().data_received(greeting)
        else:
            self.transport.pause_reading()
            self._handing = self.loop.create_task(self._hand_on())

    async def _hand_on(self) -> None:
        """Give the connection to who answers plain HTTP."""
        protocol = await self.plain()
        self._patience.cancel()
        self.opening.discard(self)
        if not self.transport.is_closing():
            self.transport.set_protocol(protocol)
            protocol.connection_made(self.transport)
            protocol.data_received(self._greeting or b"")
            self.transport.resume_reading()

    def eof_received(self) -> None:
        """See `asyncio.Protocol`."""
        if self._greeting is None:
            super().eof_received()

    def process_event(self, event: Event) -> None:
        """The library has answered a ping before this, into our memory if nobody reads."""
        super().process_event(event)
        if self.paused and isinstance(event, Frame) and event.opcode is Opcode.PING:
            self._unread_pong_bytes += len(event.data) + 2

    def holds(self) -> bool:
        """See `FairSocket`."""
        return super().holds() or self._unread_pong_bytes > MOST_PONG_BYTES

    def resume_writing(self) -> None:
        """See `asyncio.Protocol`: what waited has been read."""
        super().resume_writing()
        deaf, self._unread_pong_bytes = self.holds(), 0
        if deaf:
            self._regulate()


def guests(opening: set[Guest], plain: Callable[[], Awaitable[asyncio.Protocol]]) -> type[Guest]:
    """What the library makes of connections; in ``opening`` are those not let in (yet).

    ``plain`` makes what answers plain HTTP.
    """

    class Ours(Guest):
        pass

    Ours.opening, Ours.plain = opening, staticmethod(plain)
    return Ours
