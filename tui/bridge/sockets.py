"""A client's socket: the library's, with an answer also for who does not ask for an upgrade."""

from __future__ import annotations

import asyncio
import json
import logging

from websockets.asyncio.server import ServerConnection
from websockets.frames import Frame, Opcode
from websockets.protocol import Event

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
_PLAIN = (b"POST ", b"PUT ", b"PATCH ", b"DELETE ", b"OPTIONS ", b"CONNECT ", b"TRACE ")

quiet = logging.getLogger("tui.bridge.sockets.library")
"""The library's own words: tracebacks of other people's broken handshakes. Nobody wants them."""
quiet.setLevel(logging.CRITICAL + 1)


class Guest(ServerConnection):
    """One client's connection."""

    opening: set[Guest]
    """Those who have a connection and were not let in (yet); set by whoever makes it."""
    _greeted = False
    _dismissed = False
    _unread_pong_bytes = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        self.opening.add(self)
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self.opening.discard(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """The library answers GET and HEAD only; of a POST it just drops the connection."""
        if not self._greeted:
            self._greeted = True
            self._dismissed = data.startswith(_PLAIN)
            if self._dismissed:
                self.transport.write(_upgrade_required())
                self.transport.close()
        if not self._dismissed:
            super().data_received(data)

    def process_event(self, event: Event) -> None:
        """The library has answered a ping before this, into our memory if nobody reads."""
        super().process_event(event)
        if self.paused and isinstance(event, Frame) and event.opcode is Opcode.PING:
            self._unread_pong_bytes += len(event.data) + 2
            if self._unread_pong_bytes > MOST_PONG_BYTES and not self.transport.is_closing():
                self.transport.pause_reading()

    def resume_writing(self) -> None:
        """See `asyncio.Protocol`: what waited has been read."""
        super().resume_writing()
        deaf, self._unread_pong_bytes = self._unread_pong_bytes > MOST_PONG_BYTES, 0
        if deaf and not self.recv_messages.paused and not self.transport.is_closing():
            self.transport.resume_reading()


def guests(opening: set[Guest]) -> type[Guest]:
    """What the library makes of connections; in ``opening`` are those not let in (yet)."""

    class Ours(Guest):
        pass

    Ours.opening = opening
    return Ours


def _upgrade_required() -> bytes:
    """What a plain HTTP request is told, in the form that SDKs read."""
    words = "The Responses API is served over WebSocket only here: use the ws:// or wss:// URL."
    error = {"message": words, "type": "invalid_request_error", "code": "upgrade_required"}
    body = json.dumps({"error": error}).encode() + b"\n"
    head = (
        "HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\nConnection: Upgrade, close\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
