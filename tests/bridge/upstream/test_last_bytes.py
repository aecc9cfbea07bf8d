"""What a server has said is heard, however it leaves behind its last bytes."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from collections.abc import Callable

import pytest

from tests.bridge.upstream.test_client import HEAD, Server, served
from tui.bridge.upstream.client import Upstream
from tui.bridge.upstream.errors import BrokenError
from tui.core.wire.address import Address

BODY = b"".join(b"data: %d\n\n" % number for number in range(2000)) + b"data: [DONE]\n\n"
Leave = Callable[[asyncio.StreamWriter], None]


def with_fin(writer: asyncio.StreamWriter) -> None:
    writer.close()


def with_rst(writer: asyncio.StreamWriter) -> None:
    raw = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


LEAVING = {"fin": with_fin, "rst": with_rst}
FRAMED = {
    "length": HEAD + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY,
    "close": HEAD + b"Connection: close\r\n\r\n" + BODY,
    "chunked": HEAD
    + b"Transfer-Encoding: chunked\r\n\r\n"
    + b"%x;name=value\r\n%b\r\n0\r\nX-Trailer: one\r\n\r\n" % (len(BODY), BODY),
    "chunked without its end": HEAD
    + b"Transfer-Encoding: chunked\r\n\r\n"
    + b"%x\r\n%b\r\n" % (len(BODY), BODY),
    "length too large": HEAD + b"Content-Length: 99999999\r\n\r\n" + BODY,
}
WHOLE = ("length", "close", "chunked")


async def heard(upstream: Upstream, url: str, body: bytes = b"{}") -> tuple[int, bytes, str]:
    """The status, what came of the body, and how it broke off, if it did."""
    told, status = b"", 0
    try:
        async with asyncio.timeout(20), upstream.post(Address(url), body) as answer:
            status = answer.status
            while piece := await answer.chunk():
                told += piece
                await asyncio.sleep(0)
    except BrokenError as error:
        return status, told, str(error)
    return status, told, ""


@pytest.mark.parametrize("secured", [False, True])
@pytest.mark.parametrize("leaving", LEAVING)
@pytest.mark.parametrize("framed", FRAMED)
async def test_the_last_bytes_are_heard_though_the_server_leaves_right_behind_them(
    framed: str, leaving: str, secured: bool, upstream: Upstream, tls: ssl.SSLContext
) -> None:
    async def answer(_server: Server, writer: asyncio.StreamWriter) -> None:
        writer.write(FRAMED[framed])
        LEAVING[leaving](writer)

    async with served(answer, tls if secured else None) as server:
        for _ in range(5):
            status, told, why = await heard(upstream, server.url)
            assert (status, len(told)) == (200, len(BODY)), why
            if framed in WHOLE and (framed, leaving) != ("close", "rst"):
                assert not why
            elif framed not in WHOLE:
                assert why == "127.0.0.1 broke off its answer."
