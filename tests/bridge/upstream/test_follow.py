"""Pieces of an answer that are handed on without a task that waits for them."""

from __future__ import annotations

import asyncio

import pytest

from tests.bridge.upstream.test_client import HEAD, Server, served
from tui.bridge.upstream import client
from tui.bridge.upstream.client import BrokenError, Upstream
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


async def slow(_server: Server, writer: asyncio.StreamWriter) -> None:
    writer.write(CHUNKED)
    for _ in range(10):
        writer.write(PIECE)
        await asyncio.sleep(0.01)
    writer.write(b"0\r\n\r\n")


async def test_all_that_comes_is_handed_on_in_its_order() -> None:
    async with served(slow) as server:
        taken, asked = await followed(server.url)
    assert asked + taken == TEXT * 10
    assert len(asked) < len(taken)


async def test_who_wants_no_more_is_asked_no_more() -> None:
    async with served(slow) as server:
        taken, asked = await followed(server.url, most=1)
    assert len(taken + asked) == len(TEXT * 10)
    assert len(asked) >= len(taken) > 0


async def test_a_flood_of_small_pieces_is_no_recursion() -> None:
    async def flood(_server: Server, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + PIECE)
        await asyncio.sleep(0.05)
        writer.write(PIECE * 100_000 + b"0\r\n\r\n")

    async with served(flood) as server:
        taken, asked = await followed(server.url)
    assert len(taken + asked) == len(TEXT) * 100_001


@pytest.mark.parametrize("cut", [True, False])
async def test_a_break_and_a_silence_are_told_behind_what_came(
    cut: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "SILENCE_S", 0.3)

    async def broken(_server: Server, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED)
        for _ in range(4):  # longer than the silence in all
            writer.write(PIECE)
            await asyncio.sleep(0.1)
        if cut:
            writer.transport.abort()

    said = "broke off its answer." if cut else "said nothing for too long."
    async with served(broken) as server:
        with pytest.raises(BrokenError, match=said):
            await followed(server.url)
