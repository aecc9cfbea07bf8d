"""All kinds of endpoints for the contract suite: each with a server that is told what to answer,
behind one bridge, and a client of it that knows the protocol's rules."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from tests.support.bridge_client import TERMINAL
from tests.support.endpoint_servers import KEY, MODEL, Dialect, HttpServer, Script, Server
from tests.support.endpoint_servers_anthropic import Anthropic
from tests.support.endpoint_servers_chat import Chat
from tests.support.endpoint_servers_plain import Plain
from tests.support.endpoint_servers_responses import Responses
from tests.support.endpoint_servers_ws import WsServer
from tests.support.rehearsed import user
from tests.support.tables import Test, each, given_less
from tui.bridge.endpoints.base import EndpointSpec, ModelFacts
from tui.bridge.server import Bridge
from tui.bridge.targets import target

DIALECTS: dict[str, type[Dialect]] = {
    "openai-responses": Responses,
    "openai-chat": Chat,
    "anthropic": Anthropic,
    "plain-words": Plain,
}
KINDS = (*DIALECTS, "responses-ws")
NAME = "there"


def server_of(kind: str) -> HttpServer | WsServer:
    """The server of a kind; the rehearsal leaves its own alone."""
    return WsServer() if kind == "responses-ws" else HttpServer(DIALECTS.get(kind, Responses)())


@dataclass
class Stand:
    """A server, the bridge before it, and a client."""

    kind: str
    server: Server
    bridge: Bridge
    socket: ClientConnection
    spec: EndpointSpec
    unheard: dict[str | None, list[dict[str, Any]]] = field(default_factory=dict)

    def answers(self, *scripts: Script) -> None:
        """What the next requests are answered; the last one goes on."""
        self.server.scripts = list(scripts)

    def knows(self, **facts: Any) -> None:
        """What is known of the model."""
        spec = EndpointSpec(
            self.kind, self.spec.url, key_header=self.spec.key_header,
            models={MODEL: ModelFacts(**facts)}, options=self.spec.options,
        )  # fmt: skip
        self.bridge.endpoints.targets[NAME] = target(NAME, spec, KEY)

    async def ask(self, said: str | list[dict[str, Any]] = "hi", **fields: Any) -> None:
        """Send a create."""
        items = [user(said)] if isinstance(said, str) else said
        event = {"type": "response.create", "model": MODEL, "input": items, **fields}
        await self.send(event)

    async def send(self, event: dict[str, Any]) -> None:
        """Send any event."""
        await self.socket.send(json.dumps(event))

    async def event(self, lane: str | None = None) -> dict[str, Any]:
        """The next event of a lane; what came for others is kept for them."""
        waiting = self.unheard.setdefault(lane, [])
        async with asyncio.timeout(60):
            while not waiting:
                got = json.loads(await self.socket.recv())
                self.unheard.setdefault(got.get("stream_id"), []).append(got)
        return waiting.pop(0)

    async def until(self, *kinds: str, lane: str | None = None) -> list[dict[str, Any]]:
        """The events up to the first of these kinds (any terminal one, if none is named)."""
        events = [await self.event(lane)]
        while events[-1]["type"] not in (kinds or TERMINAL):
            events.append(await self.event(lane))
        return events

    async def answered(self, script: Script, **fields: Any) -> list[dict[str, Any]]:
        """The events of one answer, which are checked as `well_told` does."""
        self.answers(script)
        await self.ask(**fields)
        events = await self.until(lane=fields.get("stream_id"))
        well_told(events, fields.get("stream_id"))
        return events


@contextlib.asynccontextmanager
async def standing(kind: str, **spec: Any) -> AsyncIterator[Stand]:
    """Everything up, and down again."""
    bridge = Bridge(token="the-token")
    async with server_of(kind).serving() as server:
        await bridge.start()
        header = "x-api-key" if kind == "anthropic" else "Authorization"
        told = EndpointSpec(kind, server.url, key_header=header, **spec)
        bridge.endpoints.targets[NAME] = target(NAME, told, KEY)
        sent = {"Authorization": "Bearer the-token"}
        url = bridge.url_of(NAME)
        try:
            async with connect(url, additional_headers=sent, proxy=None, max_size=None) as socket:
                yield Stand(kind, server, bridge, socket, told)
        finally:
            await bridge.close()


def of_each_kind(test: Test) -> Test:
    """Run a test with an endpoint of each kind: ``there``, a `Stand`."""

    @functools.wraps(test)
    async def play(*, kind: str, **given: Any) -> None:
        async with standing(kind) as there:
            await test(there=there, **given)

    return each("kind", KINDS)(given_less(play, ["there"]))


_TEXTS = {
    "response.output_text": ("text", "content", "output_text"),
    "response.refusal": ("refusal", "content", "refusal"),
    "response.reasoning_summary_text": ("text", "summary", "summary_text"),
    "response.reasoning_text": ("text", "content", "reasoning_text"),
    "response.function_call_arguments": ("arguments", "", ""),
    "response.custom_tool_call_input": ("input", "", ""),
}


def well_told(events: list[dict[str, Any]], lane: str | None = None) -> None:
    """One response as PROTOCOL section 3 has it: order, numbers, lanes, texts, one end."""
    if events[0]["type"] == "error":
        assert len(events) == 1
        return
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert {event.get("stream_id") for event in events} == {lane}
    kinds = [event["type"] for event in events]
    assert kinds[0] == "response.created"
    assert [kind for kind in kinds if kind in TERMINAL] == kinds[-1:]
    begun: dict[int, dict[str, Any]] = {}
    done: dict[int, dict[str, Any]] = {}
    texts: dict[tuple[int, str, int], list[str]] = {}
    for event in events[1:-1]:
        kind, index = event["type"], event.get("output_index")
        if kind == "response.output_item.added":
            assert index not in begun
            begun[index] = event["item"]
        elif kind == "response.output_item.done":
            assert event["item"]["id"] == begun[index]["id"]
            assert event["item"]["type"] == begun[index]["type"]
            done[index] = event["item"]
        elif index is not None:
            assert index in begun
            assert index not in done
            assert event["item_id"] == begun[index]["id"]
            _take(event, texts)
    _check_texts(texts, done)
    if kinds[-1] not in ("error", "response.failed"):
        ended = events[-1]["response"]
        assert ended["id"] == events[0]["response"]["id"]
        assert ended["output"] == [item for _, item in sorted(done.items())] or len(done) > 1
        assert sorted(map(str, ended["output"])) == sorted(map(str, done.values()))


def _take(event: dict[str, Any], texts: dict[tuple[int, str, int], list[str]]) -> None:
    family, _, what = event["type"].rpartition(".")
    if family not in _TEXTS:
        return
    place = event.get("content_index", event.get("summary_index", 0))
    heard = texts.setdefault((event["output_index"], family, place), [])
    if what == "delta":
        heard.append(event["delta"])
    elif what == "done":
        assert event[_TEXTS[family][0]] == "".join(heard)


def _check_texts(
    texts: dict[tuple[int, str, int], list[str]], done: dict[int, dict[str, Any]]
) -> None:
    """What came in pieces is what the finished items hold."""
    for (index, family, place), heard in texts.items():
        if index not in done:
            continue
        key, listed, kind = _TEXTS[family]
        holder = done[index][listed][place] if listed else done[index]
        assert holder[key] == "".join(heard)
        assert not listed or holder["type"] == kind


def text_of(events: list[dict[str, Any]], family: str = "output_text") -> str:
    """The text of one family, from its deltas."""
    return "".join(e["delta"] for e in events if e["type"] == f"response.{family}.delta")


def thoughts(events: list[dict[str, Any]]) -> str:
    """The reasoning that was shown, in whichever form."""
    return text_of(events, "reasoning_summary_text") + text_of(events, "reasoning_text")


def items(events: list[dict[str, Any]], kind: str = "") -> list[dict[str, Any]]:
    """The finished items."""
    done = [e["item"] for e in events if e["type"] == "response.output_item.done"]
    return [item for item in done if not kind or item["type"] == kind]


def failure(events: list[dict[str, Any]]) -> tuple[str, str, int]:
    """Code, words and status of an answer that failed."""
    last = events[-1]
    assert last["type"] in ("error", "response.failed"), last
    error = last["error"] if last["type"] == "error" else last["response"]["error"]
    assert error["message"]
    assert KEY not in json.dumps(events)
    assert "Traceback" not in json.dumps(events)
    return error["code"], error["message"], last.get("status", 0)
