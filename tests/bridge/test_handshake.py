"""Who may use the bridge, over real sockets."""

from __future__ import annotations

import asyncio

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests.support.bridge_client import dial
from tests.support.tables import each
from tui.bridge.server import Bridge


@each("token", ["", "wrong", "the-token2", "the-tokén".encode().hex()])
async def test_a_wrong_token_is_refused_before_the_upgrade(bridge: Bridge, token: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await dial(bridge, token)
    assert refused.value.response.status_code == 401


async def test_no_token_and_two_tokens_are_refused(bridge: Bridge) -> None:
    for headers in ([], [("Authorization", "Bearer the-token"), ("Authorization", "Bearer x")]):
        with pytest.raises(InvalidStatus) as refused:
            await connect(bridge.url, additional_headers=headers, proxy=None)
        assert refused.value.response.status_code == 401


@each("origin", ["https://evil.example", "null", "http://127.0.0.1"])
async def test_any_origin_is_refused_even_with_the_token(bridge: Bridge, origin: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await dial(bridge, Origin=origin)
    assert refused.value.response.status_code == 403


@each("path", ["/v1/models", "/v1/realtime"])
async def test_head_is_answered_as_get_without_a_body(bridge: Bridge, path: str) -> None:
    got = {}
    for method in ("GET", "HEAD"):
        reader, writer = await asyncio.open_connection("127.0.0.1", bridge.port)
        head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer the-token\r\n\r\n"
        writer.write(head.encode())
        async with asyncio.timeout(60):
            got[method] = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
    assert got["HEAD"][0] == got["GET"][0]
    assert got["GET"][2]
    assert got["HEAD"][2] == b""


async def test_it_listens_on_loopback_only(bridge: Bridge) -> None:
    assert bridge.url.startswith("ws://127.0.0.1:")
    assert bridge._server is not None
    assert {s.getsockname()[0] for s in bridge._server.sockets} == {"127.0.0.1"}
