"""An address alone: what a server speaks is found out, once."""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer
from websockets.asyncio.client import ClientConnection

from tests.support.bridge_client import create, prose, until
from tests.support.sse_upstream import completed, message
from tests.support.tables import each
from tui.bridge.endpoints.base import EndpointSpec
from tui.bridge.server import Bridge
from tui.bridge.targets import target


def chunk(**fields: Any) -> bytes:
    told = {"object": "chat.completion.chunk", "choices": [{"index": 0, **fields}]}
    return b"data: " + json.dumps(told).encode() + b"\n\n"


CHAT = chunk(delta={"content": "by chat"}) + chunk(delta={}, finish_reason="stop")
BODIES = {
    "/v1/chat/completions": CHAT + b"data: [DONE]\n\n",
    "/v1/responses": message("by responses") + completed(),
}


class Server:
    """Speaks what it is told to; everything else is refused with a status."""

    def __init__(self, spoken: str, status: int = 404, page: object = None) -> None:
        self.spoken, self.status = spoken, status
        self.page = page or {"detail": "Not Found"}
        self.asked: list[str] = []
        app = web.Application()
        app.router.add_post("/{path:.*}", self._answer)
        self.server = TestServer(app)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path)
        if request.path != self.spoken:
            if isinstance(self.page, str):
                return web.Response(text=self.page, status=self.status, content_type="text/html")
            return web.json_response(self.page, status=self.status)
        return web.Response(body=BODIES[self.spoken], content_type="text/event-stream")


async def turns(bridge: Bridge, client: ClientConnection, server: Server, tail: str) -> list[Any]:
    await server.server.start_server()
    try:
        url = str(server.server.make_url(tail))
        bridge.endpoints.targets["x"] = target("x", EndpointSpec("auto", url), "")
        told = []
        for _ in range(2):
            await create(client, "hi", model="x/m")
            told.append(await until(client))
        return told
    finally:
        await server.server.close()


@each("status", [404, 405, 501])
async def test_what_answers_is_asked_from_then_on(
    bridge: Bridge, client: ClientConnection, status: int
) -> None:
    server = Server("/v1/responses", status)
    assert [prose(t) for t in await turns(bridge, client, server, "/v1")] == ["by responses"] * 2
    assert server.asked == ["/v1/chat/completions", "/v1/responses", "/v1/responses"]


async def test_a_web_page_is_no_answer(bridge: Bridge, client: ClientConnection) -> None:
    server = Server("/v1/responses", 200, "<html>welcome</html>")
    assert [prose(t) for t in await turns(bridge, client, server, "/v1")] == ["by responses"] * 2


async def test_a_wrong_model_is_an_answer(bridge: Bridge, client: ClientConnection) -> None:
    wrong = {"error": {"message": "The model `m` does not exist", "code": "model_not_found"}}
    server = Server("nothing", 404, wrong)
    for events in await turns(bridge, client, server, "/v1"):
        assert "does not exist" in events[-1]["error"]["message"]
    assert set(server.asked) == {"/v1/chat/completions"}


async def test_where_nothing_is_the_first_words_count(
    bridge: Bridge, client: ClientConnection
) -> None:
    server = Server("nothing")
    for events in await turns(bridge, client, server, "/v1"):
        assert events[-1]["type"] == "error"
        assert events[-1]["status"] in (400, 404)
    assert server.asked == ["/v1/chat/completions", "/v1/responses"] * 2


async def test_an_address_that_says_it_is_believed(
    bridge: Bridge, client: ClientConnection
) -> None:
    server = Server("/v1/responses")
    told = await turns(bridge, client, server, "/v1/responses")
    assert [prose(t) for t in told] == ["by responses"] * 2
    assert server.asked == ["/v1/responses"] * 2
