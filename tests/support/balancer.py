"""A plain TCP balancer: hands each connection to the next backend, and knows nothing of bytes."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager


class Balancer:
    """Round robin; a backend that refuses is passed over."""

    def __init__(self, backends: Sequence[int]) -> None:
        """``backends``: ports of this machine."""
        self.port = 0
        self.taken: list[int] = []
        """The backend of each connection, in order."""
        self._count = len(backends)
        self._next = itertools.cycle(backends)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for port in itertools.islice(self._next, self._count):
            try:
                inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                continue
            self.taken.append(port)
            await asyncio.gather(_pump(reader, inner_writer), _pump(inner_reader, writer))
            return
        writer.close()


@asynccontextmanager
async def balancing(*backends: int) -> AsyncIterator[Balancer]:
    """A balancer before these ports."""
    balancer = Balancer(backends)
    tasks: set[asyncio.Task[None]] = set()

    def took(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(balancer.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(took, "127.0.0.1", 0)
    balancer.port = server.sockets[0].getsockname()[1]
    try:
        yield balancer
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One direction; its end ends both."""
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()
