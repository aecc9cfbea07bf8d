"""A client's connection, whatever it speaks: what comes in, what goes out, and its patience.

`ClientSocket` is the WebSockets library's connection; what speaks plain HTTP on it is handed on.
`WebSocketTransport` here and `http_server.HttpTransport` are what `client_connection` writes to.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable
from typing import Any, NamedTuple, cast

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosedOK
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import Event, State

from tui.bridge.time_slices import FairSocket, Share
from tui.core.wire.client_events import Create, Invalid
from tui.core.wire.json_writing import LongFrame, Told

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

quiet = logging.getLogger("tui.bridge.client_transport.library")
"""The library's own words: tracebacks of other people's broken handshakes. Nobody wants them."""
quiet.setLevel(logging.CRITICAL + 1)


class ClientSocket(FairSocket, ServerConnection):
    """One client's connection, until its first bytes tell what it speaks."""

    opening: set[ClientSocket]
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


def client_sockets(
    opening: set[ClientSocket], plain: Callable[[], Awaitable[asyncio.Protocol]]
) -> type[ClientSocket]:
    """What the library makes of connections; in ``opening`` are those not let in (yet).

    ``plain`` makes what answers plain HTTP.
    """

    class Ours(ClientSocket):
        pass

    Ours.opening, Ours.plain = opening, staticmethod(plain)
    return Ours


STALLED_S = 300.0
"""A client that takes nothing for so long is cut off: what runs for it holds an upstream."""


class Posted(NamedTuple):
    """The body of a POST: the one message of its connection."""

    event: Create | Invalid
    size_bytes: int
    """What it takes, read."""


class ClientTransport(ABC):
    """One connection. Awaited, it waits until its client has read what was written."""

    request: Request
    """What it began with."""
    peer: str
    """The address that it comes from; empty: it is gone."""

    def __init__(self) -> None:
        self._waiting: deque[Told] = deque()
        """Frames behind a long one."""
        self._writing: asyncio.Task[None] | None = None
        """While there are any."""

    @abstractmethod
    def messages(self) -> AsyncIterator[str | bytes | Posted | None]:
        """What the client says, until it says no more. Raises ConnectionClosed: it broke.

        A long text comes as bytes; None: a binary message.
        """

    @abstractmethod
    def write(self, frames: Iterable[Told]) -> None:
        """Hand events to the client, in order; one that is going takes none."""

    @property
    @abstractmethod
    def unread_bytes(self) -> int:
        """What the system has not taken yet."""

    @property
    def needed(self) -> bool:
        """The client does not read: who makes more for it is to `await` this connection."""
        return self._writing is not None or self._full

    @abstractmethod
    async def close(self, code: int = 1000, reason: str = "") -> None:
        """End it in good order; ``code`` and ``reason`` as of a WebSocket."""

    @abstractmethod
    def abort(self) -> None:
        """End it now."""

    @property
    @abstractmethod
    def _going(self) -> bool:
        """It takes nothing any more."""

    @property
    @abstractmethod
    def _full(self) -> bool:
        """The system takes no more for now."""

    @abstractmethod
    def _put(self, frames: list[str]) -> None:
        """Write whole frames."""

    @abstractmethod
    def _put_piece(self, frame: LongFrame, piece: bytes, *, first: bool, last: bool) -> None:
        """Write a piece of a long frame."""

    @abstractmethod
    async def _drain(self) -> None:
        """Wait until the client has read. Raises OSError: it is gone."""

    def __await__(self) -> Generator[Any, None, None]:
        return self.drained().__await__()

    async def drained(self) -> None:
        """Wait while the client does not read; it returns when the client is gone, too."""
        while self._writing is not None:
            await asyncio.wait({self._writing})
        if self._full:
            await self._have_read()

    def _send(self, frames: Iterable[Told]) -> None:
        """Write frames in their order; a long one piece by piece, between turns of others."""
        short: list[str] = []
        for frame in frames:
            if self._writing is not None or isinstance(frame, LongFrame):
                self._waiting.append(frame)
                self._writing = self._writing or asyncio.create_task(self._write_waiting())
            else:
                short.append(frame)
        if short and not self._going:
            self._put(short)

    async def _write_waiting(self) -> None:
        share = Share()
        try:
            while self._waiting and not self._going:
                frame = self._waiting.popleft()
                if isinstance(frame, LongFrame):
                    await self._write_long(frame, share)
                else:
                    self._put([frame])
                await share.pause()
        finally:
            self._waiting.clear()
            self._writing = None

    async def _write_long(self, frame: LongFrame, share: Share) -> None:
        pieces = frame.pieces()
        piece, first = next(pieces), True
        for following in pieces:
            self._put_piece(frame, piece, first=first, last=False)
            piece, first = following, False
            await share.pause()
            if self._full:
                await self._have_read()
            if self._going:
                return
        self._put_piece(frame, piece, first=first, last=True)

    async def _have_read(self) -> None:
        try:
            async with asyncio.timeout(STALLED_S):
                await self._drain()
        except TimeoutError:
            self.abort()
        except OSError:
            return  # it is gone: the reader ends everything


class WebSocketTransport(ClientTransport):
    """A WebSocket.

    All frames of one moment go to it in one write: `ServerConnection.send` makes one system call
    each, and costs 20 us of coroutines. As `websockets.broadcast` it writes without waiting; call
    `drained` before more is made. A long frame goes as a fragmented message, between whose
    fragments pings and pongs may come.
    """

    def __init__(self, socket: ClientSocket) -> None:
        """``socket`` has been let in."""
        super().__init__()
        assert socket.request is not None
        self._socket = socket
        self.request = socket.request
        self.peer = peer_of(socket)

    async def messages(self) -> AsyncIterator[str | bytes | Posted | None]:
        """See `ClientTransport`."""
        with contextlib.suppress(ConnectionClosedOK):
            while True:
                yield await self._socket.heard()

    @property
    def unread_bytes(self) -> int:
        """See `ClientTransport`."""
        return self._socket.transport.get_write_buffer_size()

    def write(self, frames: Iterable[Told]) -> None:
        """See `ClientTransport`."""
        self._send(frames)

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """See `ClientTransport`."""
        if self._writing is not None:
            await self.drained()
        await self._socket.close(code, reason)

    def abort(self) -> None:
        """See `ClientTransport`."""
        self._socket.transport.abort()

    @property
    def _going(self) -> bool:
        return self._socket.protocol.state is not State.OPEN

    @property
    def _full(self) -> bool:
        return self._socket.paused

    def _put(self, frames: list[str]) -> None:
        for text in frames:
            self._socket.protocol.send_text(text.encode())
        self._flush()

    def _put_piece(self, frame: LongFrame, piece: bytes, *, first: bool, last: bool) -> None:
        protocol = self._socket.protocol
        (protocol.send_text if first else protocol.send_continuation)(piece, last)
        self._flush()

    def _flush(self) -> None:
        data = self._socket.protocol.data_to_send()
        if data:
            self._socket.transport.write(data[0] if len(data) == 1 else b"".join(data))

    async def _drain(self) -> None:
        await self._socket.drain()


def peer_of(socket: ServerConnection) -> str:
    """The address that a connection comes from; empty: it is gone."""
    peer = socket.remote_address
    return str(peer[0]) if isinstance(peer, tuple) and peer else ""
