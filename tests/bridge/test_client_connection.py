"""A connection that is to end when nothing runs on it: it ends behind the last word, not before."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from aiohttp import web
from websockets.asyncio.client import ClientConnection as Socket
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.support.bridge_client import QUICK, create, dial, event, prose, until
from tests.support.sse_upstream import (
    KEY,
    Answer,
    SseUpstream,
    completed,
    message,
    opening,
    refusing,
    saying,
    serving,
    sse,
    stream,
)
from tests.support.tables import each
from tui.bridge.access import SingleToken
from tui.bridge.client_connection import ClientConnection, Responder
from tui.bridge.client_transport import ClientTransport
from tui.bridge.endpoints import response_writer
from tui.bridge.endpoints.base import EndpointSpec, ModelFacts
from tui.bridge.server import Bridge
from tui.bridge.targets import target
from tui.core.wire.masking import Mask
from tui.core.wire.server.protocol import StoredResponses


class Watched(SingleToken):
    """Lets a test have the stage."""

    def __init__(self) -> None:
        super().__init__("the-token")
        self.client: ClientConnection | None = None
        self.stored = StoredResponses()

    def guarded(self, responder: Responder) -> Responder:
        return responder

    def attached(self, client: ClientConnection) -> None:
        self.client = client

    @contextmanager
    def admit(self, connection: ClientTransport) -> Iterator[Watched]:
        yield self

    def leave(self) -> None:
        assert self.client is not None
        self.client.leave()


async def rest(client: Socket) -> list[str]:
    """The kinds of all events till the connection ends."""
    kinds: list[str] = []
    with contextlib.suppress(ConnectionClosed):
        while True:
            kinds.append((await event(client))["type"])
    return kinds


@pytest.fixture
def access() -> Watched:
    return Watched()


@pytest.fixture
async def socket(access: Watched) -> AsyncIterator[connect]:
    served = Bridge(QUICK, access=access)
    await served.start()
    yield dial(served)
    await served.close()


async def test_a_steered_response_s_successor_is_waited_for(
    socket: connect, access: Watched
) -> None:
    async with socket as client:
        await create(client, "rehearse 400 tokens", model="rehearsal-fast@400")
        while (got := await event(client))["type"] != "response.output_text.delta":
            if got["type"] == "response.created":
                parent = got["response"]["id"]
        access.leave()
        steer = {"type": "response.steer", "previous_response_id": parent, "input": "hello"}
        await client.send(json.dumps(steer))
        said = await rest(client)
        assert said.count("response.created") == 1
        assert said[-1] == "response.completed"
        assert client.close_code == 1012


WORDS = message("Hello ", "world") + completed(model="")
OUT_OF_ORDER = {"code": "server_error", "message": "out of order"}


@contextlib.asynccontextmanager
async def endpoints(
    bridge: Bridge, fallbacks: list[str], **answers: Answer
) -> AsyncIterator[dict[str, SseUpstream]]:
    """Endpoints by name; the first one's model ``m`` falls back on others."""
    async with contextlib.AsyncExitStack() as stack:
        made = {
            name: await stack.enter_async_context(serving(answer))
            for name, answer in answers.items()
        }
        for at, (name, upstream) in enumerate(made.items()):
            facts = ModelFacts(fallbacks=tuple(fallbacks) if at == 0 else ())
            spec = EndpointSpec("openai-responses", upstream.address.url, models={"m": facts})
            bridge.endpoints.targets[name] = target(name, spec, KEY)
        yield made


async def turn(client: Socket, model: str = "one/m", **fields: Any) -> list[dict[str, Any]]:
    await create(client, "hi", model=model, **fields)
    return await until(client)


def told(events: list[dict[str, Any]]) -> dict[str, str]:
    metadata = events[-1]["response"]["metadata"]
    assert isinstance(metadata, dict)
    return metadata


async def test_pictures_go_to_a_fallback_that_sees(bridge: Bridge, client: Socket) -> None:
    async with endpoints(bridge, ["two/m"], one=saying(WORDS), two=saying(WORDS)) as made:
        blind = ModelFacts(images=False, fallbacks=("two/m",))
        spec = EndpointSpec("openai-responses", made["one"].address.url, models={"m": blind})
        bridge.endpoints.targets["one"] = target("one", spec, KEY)
        picture = {"type": "input_image", "image_url": "data:image/png;base64,AA=="}
        shown = [{"role": "user", "content": [picture]}]
        await create(client, "", model="one/m", input=shown)
        assert told(await until(client))["duetto_endpoint"] == "two"
        assert made["one"].bodies == []


async def test_a_response_that_failed_unbegun_is_told_as_it_failed(
    bridge: Bridge, client: Socket
) -> None:
    usage = {"input_tokens": 5, "output_tokens": 0, "total_tokens": 5}
    body = {"status": "failed", "error": OUT_OF_ORDER, "usage": usage}
    failed = saying(opening() + sse("response.failed", response=body))
    async with endpoints(bridge, ["two/m"], one=failed, two=refusing(500, {})):
        last = (await turn(client))[-1]
        assert last["type"] == "response.failed"
        assert last["response"]["error"]["code"] == "server_error"
        assert last["response"]["error"]["message"].startswith("out of order Nor did its fallbacks")
        assert last["response"]["usage"]["input_tokens"] == 5


@each(
    "said, code",
    [
        ({"code": "insufficient_quota"}, "insufficient_quota"),
        ({"code": "invalid_prompt"}, "invalid_prompt"),
        ({"code": "context_length_exceeded"}, "context_length_exceeded"),
        ({"code": "too_many_requests"}, "rate_limit_exceeded"),
        ({"status": 502}, "server_error"),
        ({"code": "internal_error"}, "server_error"),
        ({"code": "overloaded_error"}, "overloaded_error"),
        ({"code": f"odd {KEY}", "status": 400}, Mask([KEY]).text(f"odd {KEY}")),
    ],
)
async def test_an_error_in_mid_answer_keeps_its_cause(
    bridge: Bridge, client: Socket, said: dict[str, Any], code: str
) -> None:
    begun = opening() + message("Hel")[:-400]
    told = saying(begun.rpartition(b"event:")[0] + sse("error", message="No more.", **said))
    async with endpoints(bridge, [], one=told):
        last = (await turn(client))[-1]
        assert last["type"] == "response.failed"
        assert last["response"]["error"] == {"code": code, "message": "No more."}


async def test_when_nobody_answers_the_first_ones_words_count(
    bridge: Bridge, client: Socket
) -> None:
    busy = refusing(429, {"error": {"message": "too much"}}, **{"Retry-After": "60"})
    down = refusing(503, {"error": {"message": "down"}})
    names = ["two/m", "nowhere/m", "three"]
    async with endpoints(bridge, names, one=busy, two=down):
        last = (await turn(client))[-1]
        assert (last["type"], last["status"]) == ("error", 429)
        assert last["error"]["headers"]["retry-after"] == "60"
        words = last["error"]["message"]
        assert words.startswith("too much")
        assert "two: down" in words
        assert "'nowhere/m' is of no endpoint" in words


async def test_who_wants_a_moment_is_asked_once_more(bridge: Bridge, client: Socket) -> None:
    async def busy(request: web.Request, upstream: SseUpstream) -> web.StreamResponse:
        if len(upstream.bodies) == 1:
            return web.json_response({}, status=429, headers={"Retry-After": "0.05"})
        return await saying(WORDS)(request, upstream)

    async with endpoints(bridge, [], one=busy) as made:
        assert prose(await turn(client)) == "Hello world"
        assert len(made["one"].bodies) == 2
    always = refusing(503, {"error": {"message": "busy"}}, **{"Retry-After": "0.01"})
    async with endpoints(bridge, [], one=always) as made:
        last = (await turn(client))[-1]
        assert (last["status"], len(made["one"].bodies)) == (503, 2)


@pytest.mark.slow
@each("piece", ["many", "one"])
@each("by", ["name", "metadata"])
async def test_any_model_comes_as_slowly_as_the_client_wants(
    bridge: Bridge, client: Socket, piece: str, by: str
) -> None:
    text = "abcd" * 60
    deltas = [text[at : at + 4] for at in range(0, len(text), 4)] if piece == "many" else [text]
    async with endpoints(bridge, [], one=saying(message(*deltas) + completed())) as made:
        began_s = time.monotonic()
        if by == "name":
            await create(client, "hi", model="one/m@100")
        else:
            metadata = {"duetto_tokens_s": "100"}
            await create(client, "hi", model="one/m", client_metadata=metadata)
        events = await until(client)
        took_s = time.monotonic() - began_s
        assert prose(events) == text
        assert len(text) / 4 / took_s < 115
        assert made["one"].bodies[0]["model"] == "m"
        output = events[-1]["response"]["output"]
        assert output[0]["content"][0]["text"] == text


async def test_a_rate_may_be_given_and_taken_back_in_mid_answer(
    bridge: Bridge, client: Socket
) -> None:
    rest, begun = asyncio.Event(), "abcd"

    async def answer(request: web.Request, _upstream: SseUpstream) -> web.StreamResponse:
        response = await stream(request)
        whole = message(begun, *["efgh"] * 4000) + completed()
        first = whole.index(b"efgh")
        await response.write(whole[:first])
        await rest.wait()
        await response.write(whole[first:])
        return response

    async with endpoints(bridge, [], one=answer):
        await create(client, "hi", model="one/m")
        await until(client, "response.output_text.delta")
        await client.send(json.dumps({"type": "duetto.throttle", "tokens_s": 20}))
        await client.send('{"type": "unknown"}')
        await until(client, "error")  # what came before that is heeded by now
        rest.set()
        began_s = time.monotonic()
        heard = [await event(client) for _ in range(10)]
        assert time.monotonic() - began_s > 0.35
        await client.send(json.dumps({"type": "duetto.throttle", "tokens_s": None}))
        heard += await until(client)
        assert prose(heard) == "efgh" * 4000


async def test_a_slow_answer_stops_its_provider_and_not_an_interrupt(
    bridge: Bridge, client: Socket
) -> None:
    sent = 0

    async def flood(request: web.Request, upstream: SseUpstream) -> web.StreamResponse:
        nonlocal sent
        response = await stream(request)
        await response.write(opening() + message("x")[:-300].rsplit(b"event:", 1)[0])
        at = {"item_id": "msg_0", "output_index": 0, "content_index": 0}
        while True:
            await response.write(sse("response.output_text.delta", delta="y" * 4000, **at))
            sent += 4000

    async with endpoints(bridge, [], one=flood) as made:
        await create(client, "hi", model="one/m@50")
        events = await until(client, "response.output_text.delta")
        before = -1
        while sent > before or sent < 200_000:  # until it is taken no more
            before = sent
            await asyncio.sleep(0.2)
        name = events[0]["response"]["id"]
        stop = {"type": "response.interrupt", "response_id": name}
        await client.send(json.dumps(stop))
        events += await until(client)
        assert events[-1]["response"]["incomplete_details"]["reason"] == "interrupted"
        usage = events[-1]["response"]["usage"]
        assert usage["estimated"] is True
        # what was told, not what the provider had ready
        assert usage["output_tokens"] * 4 < sent / 10
        async with asyncio.timeout(60):
            await made["one"].gone.wait()


@each("value", ["fast", "0", -1, 10**9, True])
async def test_a_rate_that_is_none_is_refused(
    bridge: Bridge, client: Socket, value: object
) -> None:
    async with endpoints(bridge, [], one=saying(WORDS)) as made:
        last = (await turn(client, client_metadata={"duetto_tokens_s": value}))[-1]
        assert last["error"]["code"] == "invalid_rate"
        assert made["one"].bodies == []


async def test_an_answer_without_end_is_stopped(
    bridge: Bridge, client: Socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(response_writer, "MOST_CHARS", 100_000)

    async def endless(request: web.Request, _upstream: SseUpstream) -> web.StreamResponse:
        response = await stream(request)
        await response.write(opening() + message("x").rsplit(b"event:", 1)[0])
        at = {"item_id": "msg_0", "output_index": 0, "content_index": 0}
        while True:
            await response.write(sse("response.output_text.delta", delta="y" * 1000, **at))

    async with endpoints(bridge, ["two/m"], one=endless, two=saying(WORDS)) as made:
        last = (await turn(client))[-1]
        assert last["type"] == "response.failed"
        assert "it was stopped" in last["response"]["error"]["message"]
        assert last["response"]["error"]["code"] == "endpoint_answer_unusable"
        async with asyncio.timeout(60):
            await made["one"].gone.wait()
        assert made["two"].bodies == []
        assert prose(await turn(client, "two/m")) == "Hello world"


async def test_a_provider_that_is_called_like_the_key_is_masked(
    client: Socket, bridge: Bridge
) -> None:
    async with endpoints(bridge, [], one=saying(message("Hello") + completed(model=KEY))):
        events = await turn(client)
    assert prose(events) == "Hello"
    assert KEY not in json.dumps(events)
