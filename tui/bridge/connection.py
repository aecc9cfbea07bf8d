"""One client's connection, whatever it speaks: what comes in, what goes out, and its patience."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Generator, Iterable
from typing import Any, NamedTuple

from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request
from websockets.protocol import State

from tui.core.wire.client_events import Create, Invalid

STALLED_S = 300.0
"""A client that takes nothing for so long is cut off: what runs for it holds an upstream."""


class Posted(NamedTuple):
    """The body of a POST: the one message of its connection."""

    event: Create | Invalid
    text: str


class Connection(ABC):
    """One connection. Awaited, it waits until its client has read what was written."""

    request: Request
    """What it began with."""
    peer: str
    """The address that it comes from; empty: it is gone."""

    @abstractmethod
    def messages(self) -> AsyncIterator[str | bytes | Posted]:
        """What the client says, until it says no more. Raises ConnectionClosed: it broke."""

    @abstractmethod
    def write(self, frames: Iterable[str]) -> None:
        """Hand events to the client, in order; one that is going takes none."""

    @property
    @abstractmethod
    def unread_bytes(self) -> int:
        """What the system has not taken yet."""

    @property
    @abstractmethod
    def needed(self) -> bool:
        """The client does not read: who makes more for it is to `await` this connection."""

    @abstractmethod
    async def close(self, code: int = 1000, reason: str = "") -> None:
        """End it in good order; ``code`` and ``reason`` as of a WebSocket."""

    @abstractmethod
    def abort(self) -> None:
        """End it now."""

    @abstractmethod
    async def _drain(self) -> None:
        """Wait until the client has read. Raises OSError: it is gone."""

    def __await__(self) -> Generator[Any, None, None]:
        return self.drained().__await__()

    async def drained(self) -> None:
        """Wait while the client does not read; it returns when the client is gone, too."""
        if not self.needed:
            return
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
    each, and costs 20 us of coroutines. As `websockets.broadcast` it writes without waiting;
    whoever makes more of it waits in `drained`.
    """

    def __init__(self, socket: ServerConnection) -> None:
        """``socket`` has been let in."""
        assert socket.request is not None
        self._socket = socket
        self.request = socket.request
        self.peer = peer_of(socket)

    async def messages(self) -> AsyncIterator[str | bytes | Posted]:
        """See `Connection`."""
        async for message in self._socket:
            yield message

    @property
    def unread_bytes(self) -> int:
        """See `Connection`."""
        return self._socket.transport.get_write_buffer_size()

    def write(self, frames: Iterable[str]) -> None:
        """See `Connection`."""
        socket = self._socket
        if socket.protocol.state is not State.OPEN:
            return
        for text in frames:
            socket.protocol.send_text(text.encode())
        data = socket.protocol.data_to_send()
        if data:
            socket.transport.write(data[0] if len(data) == 1 else b"".join(data))

    @property
    def needed(self) -> bool:
        """See `Connection`."""
        return self._socket.paused

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """See `Connection`."""
        await self._socket.close(code, reason)

    def abort(self) -> None:
        """See `Connection`."""
        self._socket.transport.abort()

    async def _drain(self) -> None:
        await self._socket.drain()


def peer_of(socket: ServerConnection) -> str:
    """The address that a connection comes from; empty: it is gone."""
    peer = socket.remote_address
    return str(peer[0]) if isinstance(peer, tuple) and peer else ""
