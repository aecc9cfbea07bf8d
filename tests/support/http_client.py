"""A client of the bridge's plain HTTP: aiohttp's, and one that writes its bytes itself."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from tests.support.rehearsed import user

TOKEN = {"Authorization": "Bearer the-token"}


def asking(prompt: str = "hello", **fields: Any) -> dict[str, Any]:
    """The body of a request for the fast rehearsal model."""
    return {"model": "rehearsal-fast", "input": [user(prompt)], **fields}


@asynccontextmanager
async def posted(
    port: int,
    body: Any,
    path: str = "/v1/responses",
    tls: ssl.SSLContext | None = None,
    **headers: str,
) -> AsyncIterator[aiohttp.ClientResponse]:
    """An answer that is read as it comes."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    told = {"Content-Type": "application/json", **TOKEN, **headers}
    url = f"{'https' if tls else 'http'}://localhost:{port}{path}"
    async with (
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(20)) as session,
        session.post(url, data=data, headers=told, ssl=tls or True) as answer,
    ):
        yield answer


async def whole(port: int, body: Any, path: str = "/v1/responses", **headers: str) -> Any:
    """The status of a POST, and its body as JSON."""
    async with posted(port, body, path, **headers) as answer:
        return answer.status, await answer.json()


async def server_sent(answer: aiohttp.ClientResponse) -> AsyncIterator[dict[str, Any]]:
    """The events of a stream; each is framed as such."""
    kind = ""
    async for line in answer.content:
        text = line.decode().rstrip("\n")
        if text.startswith("event: "):
            kind = text.removeprefix("event: ")
        elif text.startswith("data: "):
            event = json.loads(text.removeprefix("data: "))
            assert event["type"] == kind
            yield event
        else:
            assert not text


async def streamed(port: int, body: dict[str, Any], path: str = "/v1/responses") -> list[Any]:
    """All events of a request."""
    async with posted(port, {**body, "stream": True}, path) as answer:
        assert answer.status == 200
        return [event async for event in server_sent(answer)]


async def by_hand(port: int, data: bytes, wait_s: float = 10) -> bytes:
    """What comes back on bytes, until the connection ends."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    try:
        async with asyncio.timeout(wait_s):
            return await reader.read()
    finally:
        writer.close()


def head(
    length: int | None, *lines: str, method: str = "POST", path: str = "/v1/responses"
) -> bytes:
    """A request's head."""
    told = [f"{method} {path} HTTP/1.1", "Host: x", "Authorization: Bearer the-token", *lines]
    if length is not None:
        told.append(f"Content-Length: {length}")
    return "\r\n".join([*told, "", ""]).encode()
