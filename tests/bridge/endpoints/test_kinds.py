"""Kinds of endpoints that other packages bring: found by entry point, and harmless when broken."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from websockets.asyncio.client import ClientConnection

from tests.support.bridge_client import create, prose, until
from tests.support.endpoint_kinds import Stand, failure, standing
from tests.support.endpoint_servers import Say, Script
from tests.support.endpoint_servers_plain import installed
from tests.support.sse_upstream import completed, message
from tests.support.tables import each
from tui.bridge.endpoints.base import EndpointSpec, Refused
from tui.bridge.endpoints.kinds import load, make
from tui.bridge.server import Bridge
from tui.bridge.targets import target

BROKEN = """
import asyncio

def raises(target, upstream):
    raise RuntimeError("with sk-very-secret-0123456789 in it")

class Lacking:
    async def answer(self, asked, telling):
        pass

def lacking(target, upstream):
    return Lacking()

class Failing:
    async def answer(self, asked, telling):
        if asked.model == "begun":
            telling.item_added({"type": "message"})
        raise ValueError("with sk-very-secret-0123456789 in it")
    async def warm(self):
        raise ValueError("cold")
    async def models(self):
        raise ValueError("none")
    async def close(self):
        raise ValueError("open")

def failing(target, upstream):
    return Failing()
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A package with plug-ins that do not work."""
    folder = tmp_path / "broken"
    names = {name: f"broken_plug_in:{name}" for name in ("raises", "lacking", "failing")}
    names["gone"] = "no_such_module_anywhere:make"
    with installed(folder, monkeypatch, names, "broken-kinds"):
        (folder / "broken_plug_in.py").write_text(BROKEN)
        yield folder
    sys.modules.pop("broken_plug_in", None)


async def asked(stand: Stand, **fields: Any) -> tuple[str, str, int]:
    stand.answers(Script([Say("never")]))
    await stand.ask(**fields)
    return failure(await stand.until())


@each("kind", ["raises", "lacking", "gone"])
async def test_what_makes_no_endpoint_says_so(site: Path, kind: str) -> None:
    async with standing("plain-words") as stand:
        stand.kind = kind
        stand.knows()
        code, words, status = await asked(stand)
    assert (code, status) == ("endpoint_kind_broken", 501)
    assert words.startswith(f"The plug-in for the kind '{kind}' (broken-kinds) ")


def test_only_our_own_kinds_are_loaded_ahead() -> None:
    load(target("x", EndpointSpec(kind, "http://h/v1"), "") for kind in ("anthropic", "plugged"))


async def test_two_packages_with_one_kind_are_told_apart_by_the_user(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = {"failing": "another:make"}
    with installed(tmp_path / "other", monkeypatch, other, "other-kinds"):
        spec = EndpointSpec("failing", "http://127.0.0.1:9/v1")
        with pytest.raises(Refused, match=r"\(broken-kinds and other-kinds\): remove one"):
            make(target("x", spec, ""), None)


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
        app.router.add_get("/v1/models", self._models)
        self.server = TestServer(app)

    async def _models(self, request: web.Request) -> web.StreamResponse:
        return web.json_response({"data": [{"id": "m"}]})

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
        assert list(await (await bridge.endpoints.endpoint("x")).models()) == ["m"]
        return told
    finally:
        await server.server.close()


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
