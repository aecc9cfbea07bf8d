"""The relay's way to an endpoint: proxies, certificates, pauses."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import trustme
from aiohttp import web
from websockets.asyncio.client import connect

from tests.support.bridge_client import create, prose, until
from tests.support.socks_proxy import socks_proxy
from tests.support.sse_upstream import (
    KEY,
    SseUpstream,
    completed,
    message,
    refusing,
    saying,
    serving,
    target_at,
)
from tui.bridge.server import Bridge
from tui.bridge.upstream.dialing import proxy_for
from tui.core.wire.address import AUTHORITY_VARIABLES, Address
from tui.core.wire.masking import Mask
from tui.errors import EndpointError


async def turn(bridge: Bridge, address: Address) -> list[dict[str, Any]]:
    """The events of one create at an endpoint."""
    bridge.endpoints.targets["one"] = target_at(address)
    headers = {"Authorization": f"Bearer {bridge.token}"}
    async with connect(
        bridge.url_of("one"), additional_headers=headers, proxy=None, max_size=None
    ) as socket:
        await create(socket, "hi")
        return await until(socket)


@contextlib.asynccontextmanager
async def proxy(answer: bytes) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A proxy that answers everything so, and the requests that it got."""
    requests: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield f"http://user:pass@127.0.0.1:{port}", requests


async def test_a_key_goes_through_a_proxy_in_a_tunnel_only(
    bridge: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with proxy(b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n") as (url, requests):
        monkeypatch.setenv("https_proxy", url)
        address = Address("https://far.example.test/v1/responses", {"api-key": KEY})
        refused = (await turn(bridge, address))[-1]
        assert "wants a user and a password (HTTP status 407)" in refused["error"]["message"]
        assert requests[0].startswith(b"CONNECT far.example.test:443 ")
        assert KEY.encode() not in requests[0]


@pytest.mark.parametrize(
    ("url", "proxied"),
    [
        ("https://far.example.test/v1", True),
        ("https://near.example.test/v1", False),
        ("https://127.0.0.1:5/v1", False),
        ("https://localhost/v1", False),
        ("https://[::1]:5/v1", False),
    ],
)
def test_who_gets_a_proxy(url: str, proxied: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "proxy.example.test:3128")
    monkeypatch.setenv("no_proxy", "near.example.test")
    assert proxy_for(url) == ("http://proxy.example.test:3128" if proxied else None)


async def test_a_socks_proxy_of_the_environment_is_used(
    bridge: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        serving(saying(message("by SOCKS") + completed())) as upstream,
        socks_proxy(upstream.server.port or 0) as (url, asked),
    ):
        monkeypatch.setenv("all_proxy", url)
        for _ in range(2):
            events = await turn(bridge, Address("http://far.example.test/v1/responses"))
            assert prose(events) == "by SOCKS"
    assert asked == ["far.example.test"]  # its connection was used again


async def test_a_proxy_that_does_not_serve_is_one_sentence(
    bridge: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", "socks5://127.0.0.1:9")
    refused = (await turn(bridge, Address("https://far.example.test/v1/responses")))[-1]
    assert "the proxy does not answer" in refused["error"]["message"]
    monkeypatch.setenv("https_proxy", "gopher://127.0.0.1:9")
    with pytest.raises(EndpointError, match="Only HTTP and SOCKS proxies"):
        proxy_for("https://far.example.test/v1")
    for wrong in ("http://[::1", "http://a:b:c:d", "http://h:0", "http://"):
        monkeypatch.setenv("https_proxy", wrong)
        refused = (await turn(bridge, Address("https://far.example.test/v1/responses")))[-1]
        assert refused["error"]["message"].startswith("The proxy's address is not one: check")
    monkeypatch.setenv("https_proxy", "gopher://127.0.0.1:9")
    refused = (await turn(bridge, Address("https://far.example.test/v1/responses")))[-1]
    assert refused["status"] == 400
    assert refused["error"]["message"].startswith("Only HTTP and SOCKS proxies")


@contextlib.asynccontextmanager
async def private(tmp_path: Path) -> AsyncIterator[tuple[SseUpstream, Path]]:
    """An endpoint whose certificate only its own authority vouches for, and that one's file."""
    authority = trustme.CA()
    bundle = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(bundle))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    upstream = SseUpstream(saying(message("over TLS") + completed()))
    await upstream.server.start_server(ssl=context)
    try:
        yield upstream, bundle
    finally:
        await upstream.server.close()


@pytest.fixture
def trusting_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in AUTHORITY_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("trusting_nobody")
async def test_a_private_authority_of_nobody_is_told_with_what_to_do(
    bridge: Bridge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with private(tmp_path) as (upstream, _bundle):
        events = await turn(bridge, upstream.address)
        assert "set SSL_CERT_FILE" in events[-1]["error"]["message"]
        gone = str(tmp_path / "gone.pem")
        monkeypatch.setenv("NODE_EXTRA_CA_CERTS", gone)
        events = await turn(bridge, upstream.address)
        wrong = f"NODE_EXTRA_CA_CERTS names {gone}, which cannot be read."
        assert events[-1]["error"]["message"].endswith(wrong)
    assert upstream.bodies == []


async def test_a_refusal_whose_body_never_ends_is_cut(bridge: Bridge) -> None:
    async def answer(request: web.Request, _upstream: SseUpstream) -> web.StreamResponse:
        response = web.StreamResponse(status=500)
        await response.prepare(request)
        with contextlib.suppress(ConnectionError):
            while True:
                await response.write(b"x" * 65536)
        return response

    async with serving(answer) as upstream:
        refused = (await turn(bridge, upstream.address))[-1]
        assert (refused["status"], refused["error"]["code"]) == (500, "http_500")
        assert len(json.dumps(refused)) < 2000


async def test_a_key_in_an_answer_is_masked_with_and_without_its_scheme(bridge: Bridge) -> None:
    for text in (KEY, f"Bearer {KEY}"):
        async with serving(refusing(401, {"error": {"message": f"<{text}>"}})) as upstream:
            refused = (await turn(bridge, upstream.address))[-1]
            assert refused["error"]["message"].endswith(Mask([KEY]).text(f"{KEY}>"))
            assert KEY not in json.dumps(refused)
