"""A SOCKS5 proxy on a free port: whatever host is asked for, it leads to one place."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

_OK = b"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()


@contextlib.asynccontextmanager
async def socks_proxy(port: int) -> AsyncIterator[tuple[str, list[str]]]:
    """Its URL, and the names of the hosts that were asked for; it leads to ``port`` here."""
    asked: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            methods = (await reader.readexactly(2))[1]
            await reader.readexactly(methods)
            writer.write(b"\x05\x00")
            head = await reader.readexactly(5)
            assert head[3] == 3, "a name is expected: the proxy looks it up"
            asked.append((await reader.readexactly(head[4])).decode())
            await reader.readexactly(2)
            back, forth = await asyncio.open_connection("127.0.0.1", port)
            writer.write(_OK)
            await asyncio.gather(_copy(reader, forth), _copy(back, writer))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"socks5h://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked
