"""An endpoint that speaks HTTP+SSE, for the relay: aiohttp's server, told what to answer."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

from tui.bridge.endpoints.base import EndpointSpec, Target
from tui.core.wire.address import Address

KEY = "sk-very-secret-0123456789"
Answer = Callable[[web.Request, "SseUpstream"], Awaitable[web.StreamResponse]]


def target_at(address: Address) -> Target:
    """An endpoint that speaks the Responses API over HTTP, as the bridge keeps it."""
    return Target("my server", EndpointSpec("openai-responses", address.url), address)


class SseUpstream:
    """What it is asked, and what became of it."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.peers: set[object] = set()
        """Addresses that connections came from."""
        self.gone = asyncio.Event()
        """A client left before its answer was whole."""
        self.upgrades = 0
        """WebSockets that were asked for, and refused with 426."""
        self.running = 0
        self.most_running = 0
        self.server = TestServer(self._app())

    @property
    def address(self) -> Address:
        """As the bridge is told it."""
        url = str(self.server.make_url("/v1/responses"))
        return Address(url, {"Authorization": f"Bearer {KEY}"})

    @property
    def target(self) -> Target:
        """As the bridge keeps it."""
        return target_at(self.address)

    def _app(self) -> web.Application:
        app = web.Application(client_max_size=2**30)
        app.router.add_post("/v1/responses", self._handle)
        app.router.add_get("/v1/responses", self._no_websocket)
        return app

    async def _no_websocket(self, _request: web.Request) -> web.StreamResponse:
        self.upgrades += 1
        return web.Response(status=426)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.bodies.append(await request.json())
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        assert request.transport is not None
        self.peers.add(request.transport.get_extra_info("peername"))
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            return await self.answer(request, self)
        except (asyncio.CancelledError, ConnectionError):
            self.gone.set()
            raise
        finally:
            self.running -= 1


@contextlib.asynccontextmanager
async def serving(answer: Answer) -> AsyncIterator[SseUpstream]:
    """Serve on a free port of this machine."""
    upstream = SseUpstream(answer)
    # It cancels a handler whose client goes, which is what the tests ask about.
    await upstream.server.start_server()
    try:
        yield upstream
    finally:
        await upstream.server.close()


async def stream(request: web.Request) -> web.StreamResponse:
    """Begin to answer with server-sent events."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
    await response.prepare(request)
    return response


def sse(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def response_body(status: str = "in_progress", **fields: Any) -> dict[str, Any]:
    body = {"id": "resp_up", "object": "response", "status": status, "model": "up-1", "output": []}
    return {**body, **fields}


USAGE = {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}


def opening() -> bytes:
    created = sse("response.created", sequence_number=0, response=response_body())
    return created + sse("response.in_progress", sequence_number=1, response=response_body())


def message_item(text: str, item_id: str = "msg_up") -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"id": item_id, "type": "message", "role": "assistant", "status": "completed"}
    return {**item, "content": [part]}


def message(*deltas: str, index: int = 0) -> bytes:
    item = message_item("".join(deltas))
    begun = {**item, "status": "in_progress", "content": []}
    at = {"item_id": item["id"], "output_index": index, "content_index": 0}
    told = sse("response.output_item.added", output_index=index, item=begun)
    for delta in deltas:
        told += sse("response.output_text.delta", delta=delta, **at)
    return told + sse("response.output_item.done", output_index=index, item=item)


def completed(**fields: Any) -> bytes:
    body = response_body("completed", **{"usage": USAGE, "service_tier": "flex", **fields})
    return sse("response.completed", sequence_number=99, response=body)


def saying(data: bytes, piece_bytes: int = 0) -> Answer:
    """Answers with these bytes, whole or in pieces."""

    async def answer(request: web.Request, _upstream: SseUpstream) -> web.StreamResponse:
        response = await stream(request)
        size = piece_bytes or len(data) or 1
        for start in range(0, len(data), size):
            await response.write(data[start : start + size])
        return response

    return answer


def refusing(status: int, body: object, **headers: str) -> Answer:
    """Answers with a status and a JSON body."""

    async def answer(_request: web.Request, _upstream: SseUpstream) -> web.StreamResponse:
        return web.json_response(body, status=status, headers=headers)

    return answer
