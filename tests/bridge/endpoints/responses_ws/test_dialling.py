"""How a dial of an upstream's WebSocket fails, in words for a client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.support.endpoint_servers import KEY
from tui.bridge.endpoints.base import Broken, Refused
from tui.bridge.endpoints.responses_ws import dialling
from tui.bridge.endpoints.responses_ws.dialling import UpgradeRefused, dial
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
            with pytest.raises(Refused, match="redirects to another address") as refused:
                await dial(address)
        assert refused.value.code == "endpoint_redirects"
        assert heard == []


@pytest.mark.parametrize("status", [404, 405, 426, 501, 200])
async def test_there_is_no_websocket(status: int) -> None:
    async with answering(f"HTTP/1.1 {status} Words") as (address, _):
        with pytest.raises(Refused, match="has no Responses WebSocket there") as refused:
            await dial(address)
    assert refused.value.code == "not_an_endpoint"


async def test_a_status_is_the_providers_answer() -> None:
    lines = "HTTP/1.1 429 Words", "Retry-After: 7", "Retry-After: 9"
    async with answering(*lines, body="{}") as (address, heard):
        with pytest.raises(UpgradeRefused) as refused:
            await dial(address)
    assert (refused.value.status, refused.value.body) == (429, b"{}")
    assert refused.value.headers["retry-after"] == "7"
    assert KEY.encode() in heard[0]
    assert b"GET /v1/responses HTTP/1.1" in heard[0]
    assert b"responses_websockets=2026-02-06" in heard[0]


@pytest.mark.parametrize("line", ["SSH-2.0-OpenSSH_9.9", "", "HTTP/1.1 101 Switching"])
async def test_what_is_no_websocket_server(line: str) -> None:
    async with answering(line) as (address, _):
        with pytest.raises((Broken, Refused)) as broken:
            await dial(address)
    assert str(broken.value).startswith("127.0.0.1 ")
    assert KEY not in str(broken.value)


async def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    async def silent(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(5)
        writer.close()

    monkeypatch.setattr(dialling, "CONNECT_S", 0.2)
    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    with pytest.raises(Broken, match="it did not answer within") as broken:
        await dial(Address(f"http://127.0.0.1:{port}/v1"))
    assert broken.value.unreached
    server.close()


async def test_addresses_that_cannot_be_dialled() -> None:
    with pytest.raises(Broken, match="its name is not known") as broken:
        await dial(Address("wss://no-such-host.invalid/v1"))
    assert broken.value.unreached
    with pytest.raises(Refused, match="would travel in clear text"):
        await dial(Address("ws://far.example/v1", {"Authorization": f"Bearer {KEY}"}))
    with pytest.raises(Refused, match="is not a server's address"):
        await dial(Address("ftp://far.example/v1"))


async def test_a_certificate_of_nobody() -> None:
    import ssl

    import trustme

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0, ssl=context)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(Broken, match="its certificate is of no known authority"):
            await dial(Address(f"https://127.0.0.1:{port}/v1"))
