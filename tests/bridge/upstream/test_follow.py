"""Pieces of an answer that are handed on without a task that waits for them."""

from __future__ import annotations

import asyncio

from tests.bridge.upstream.test_client import HEAD, Server, served
from tui.bridge.upstream.client import Upstream
from tui.core.wire.address import Address

CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
PIECE = b"9\r\ndata: 1\n\n\r\n"
TEXT = b"data: 1\n\n"


async def followed(url: str, most: int = 1_000_000) -> tuple[bytes, bytes]:
    """What was handed on, of at most so many pieces, and what came of `chunk`."""
    upstream, taken, asked = Upstream(), [], b""

    def take(piece: bytes) -> bool:
        taken.append(piece)
        return len(taken) < most

    try:
        async with asyncio.timeout(10), upstream.post(Address(url), b"{}") as answer:
            while piece := await answer.chunk():
                asked += piece
                await answer.follow(take)
    finally:
        await upstream.close()
    return b"".join(taken), asked


async def test_a_flood_of_small_pieces_is_no_recursion() -> None:
    async def flood(_server: Server, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + PIECE)
        await asyncio.sleep(0.05)
        writer.write(PIECE * 100_000 + b"0\r\n\r\n")

    async with served(flood) as server:
        taken, asked = await followed(server.url)
    assert len(taken + asked) == len(TEXT) * 100_001
