"""How a dial of an upstream's WebSocket fails, in words for a client."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from websockets.exceptions import InvalidHandshake, ProxyError

from tests.support.endpoint_servers import KEY
from tests.support.tables import each
from tui.bridge.endpoints.base import Broken, Refused
from tui.bridge.endpoints.responses_ws import connection_pool
from tui.bridge.endpoints.responses_ws.connection_pool import dial
from tui.core.wire.address import Address


@asynccontextmanager
async def answering(*lines: str, body: str = "") -> AsyncIterator[tuple[Address, list[bytes]]]:
    """A server that answers everything with these lines; what it was sent."""
    heard: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        told = [*lines, f"Content-Length: {len(body)}"] if lines[0].startswith("HTTP") else lines
        writer.write(("\r\n".join(told) + "\r\n\r\n" + body).encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        headers = {"Authorization": f"Bearer {KEY}"}
        yield Address(f"http://127.0.0.1:{port}/v1", headers), heard


async def test_a_redirect_is_refused_and_the_key_stays() -> None:
    async with answering("HTTP/1.1 200 OK") as (_, heard):
        moved = "HTTP/1.1 307 Moved", "Location: ws://127.0.0.1:9/v1/responses"
        async with answering(*moved) as (address, _):
            with pytest.raises(Refused, match="redirects to ws://127") as refused:
                await dial(address)
        assert refused.value.code == "endpoint_redirects"
        assert heard == []


async def test_addresses_that_cannot_be_dialled() -> None:
    with pytest.raises(Broken, match="its name is not known") as broken:
        await dial(Address("wss://no-such-host.invalid/v1"))
    assert broken.value.unreached
    with pytest.raises(Refused, match="would travel in clear text"):
        await dial(Address("ws://far.example/v1", {"Authorization": f"Bearer {KEY}"}))
    with pytest.raises(Refused, match="is not a server's address"):
        await dial(Address("ftp://far.example/v1"))


@each(
    "error, words",
    [
        (ProxyError("proxy with a password"), "the proxy on the way failed"),
        (InvalidHandshake("x"), "does not answer as a WebSocket server does"),
        (EOFError(), "does not answer as a WebSocket server does"),
        (TimeoutError(), "it did not answer within 15 s"),
        (socket.gaierror(-2, "x"), "its name is not known"),
        (ssl.SSLError(1, "x"), "the TLS connection failed"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "x"), "reached: Connection refused"),
        (OSError(1, "x"), "reached: Operation not permitted"),
        (OSError(0, "x"), "check the url and the network"),
        (OSError("x"), "check the url and the network"),
        (ValueError("x"), "check the url and the network"),
    ],
)
async def test_each_failure_has_its_words_and_none_of_its_own(
    monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    async def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(connection_pool, "_dialled", fails)
    with pytest.raises(Broken, match=words) as broken:
        await dial(Address("https://far.example/v1"))
    assert broken.value.unreached
    assert "password" not in str(broken.value)


async def test_where_there_is_no_proxy_for_a_port_there_is_for_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with answering("HTTP/1.1 403 No") as (address, heard):
        monkeypatch.setenv("https_proxy", address.url.removesuffix("/v1"))
        monkeypatch.setenv("no_proxy", "far.invalid:8443")
        for port, asked in ((8443, 0), (8444, 1)):
            with pytest.raises(Broken):
                await dial(Address(f"https://far.invalid:{port}/v1"))
            assert len(heard) == asked


async def test_a_certificate_of_nobody() -> None:
    import trustme

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0, ssl=context)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(Broken, match="its certificate is of no known authority"):
            await dial(Address(f"https://127.0.0.1:{port}/v1"))
