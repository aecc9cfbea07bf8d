"""A server whose answers a test writes down, and who asks it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import ClientSession, web

from tui.bridge.endpoints.base import EndpointSpec, Target
from tui.bridge.providers.discovery import Fetched
from tui.core.wire.address import Address

Answer = Any
"""A JSON value, a pair of status and text, or what makes one of the request."""


@dataclass
class ModelServer:
    """Answers each path as `answers` says, 404 to all others."""

    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    """``METHOD PATH?QUERY`` in order."""
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    url: str = ""

    def target(self, spec: EndpointSpec | None = None, **headers: str) -> Target:
        spec = spec or EndpointSpec("openai-chat", f"{self.url}/v1")
        return Target("here", spec, Address(spec.url, headers))

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append(f"{request.method} {request.path_qs}")
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        body = await request.read()
        self.bodies.append(json.loads(body) if body else None)
        answer = self.answers.get(request.path)
        if callable(answer):
            answer = answer(request)
        if answer is None:
            return web.Response(status=404, text="404 page not found")
        if isinstance(answer, tuple):
            return web.Response(status=answer[0], text=answer[1], headers=dict(answer[2:]))
        return web.json_response(answer)


class PlainFetcher:
    """Asks with a client of its own."""

    async def fetch(self, address: Address, body: bytes | None, most_bytes: int) -> Fetched:
        async with (
            ClientSession() as session,
            session.request(
                "GET" if body is None else "POST",
                address.url,
                data=body,
                headers=dict(address.headers),
                allow_redirects=False,
            ) as response,
        ):
            return Fetched(response.status, await response.content.read(most_bytes))


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    made = ModelServer()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", made.answer)
    runner = web.AppRunner(app, shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield made
    await runner.cleanup()


@pytest.fixture
def fetcher() -> PlainFetcher:
    return PlainFetcher()
