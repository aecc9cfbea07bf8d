"""One client's connection, whatever it speaks: what comes in, what goes out, and its patience."""

from __future__ import annotations

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Generator, Iterable
from typing import Any, NamedTuple

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosedOK
from websockets.http11 import Request
from websockets.protocol import State

from tui.bridge.sliced import Share
from tui.bridge.sockets import Guest
from tui.core.wire.client_events import Create, Invalid
from tui.core.wire.json_writing import LongFrame, Told

STALLED_S = 300.0
"""A client that takes nothing for so long is cut off: what runs for it holds an upstream."""


class Posted(NamedTuple):
    """The body of a POST: the one message of its connection."""

    event: Create | Invalid
    size_bytes: int
    """What it takes, read."""


class Connection(ABC):
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


class SocketConnection(Connection):
    """A WebSocket.

    All frames of one moment go to it in one write: `ServerConnection.send` makes one system call
    each, and costs 20 us of coroutines. As `websockets.broadcast` it writes without waiting; call
    `drained` before more is made. A long frame goes as a fragmented message, between whose
    fragments pings and pongs may come.
    """

    def __init__(self, socket: Guest) -> None:
        """``socket`` has been let in."""
        super().__init__()
        assert socket.request is not None
        self._socket = socket
        self.request = socket.request
        self.peer = peer_of(socket)

    async def messages(self) -> AsyncIterator[str | bytes | Posted | None]:
        """See `Connection`."""
        with contextlib.suppress(ConnectionClosedOK):
            while True:
                yield await self._socket.heard()

    @property
    def unread_bytes(self) -> int:
        """See `Connection`."""
        return self._socket.transport.get_write_buffer_size()

    def write(self, frames: Iterable[Told]) -> None:
        """See `Connection`."""
        self._send(frames)

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """See `Connection`."""
        if self._writing is not None:
            await self.drained()
        await self._socket.close(code, reason)

    def abort(self) -> None:
        """See `Connection`."""
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
