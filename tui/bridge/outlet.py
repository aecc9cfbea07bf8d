"""What goes out of one connection: frames into the socket, and patience while nobody reads."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterable
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.protocol import State

STALLED_S = 300.0
"""A client that takes nothing for so long is cut off: what runs for it holds an upstream."""


class Outlet:
    """The writing side of a connection.

    All frames of one moment go to the socket in one write: `ServerConnection.send` makes one
    system call each, and costs 20 us of coroutines. As `websockets.broadcast` it writes without
    waiting; whoever makes more of it waits in `drained`.
    """

    def __init__(self, socket: ServerConnection) -> None:
        self._socket = socket

    @property
    def unread_bytes(self) -> int:
        """What the system has not taken yet."""
        return self._socket.transport.get_write_buffer_size()

    def write(self, frames: Iterable[str]) -> None:
        """Hand frames to the socket, in order; one that is closing takes none."""
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
        """The client does not read: who makes more of it is to `await` this outlet."""
        return self._socket.paused

    def __await__(self) -> Generator[Any, None, None]:
        return self.drained().__await__()

    async def drained(self) -> None:
        """Wait while the client does not read; it returns when the client is gone, too."""
        if not self._socket.paused:
            return
        try:
            async with asyncio.timeout(STALLED_S):
                await self._socket.drain()
        except TimeoutError:
            self._socket.transport.abort()
        except OSError:
            return  # it is gone: the reader ends everything
