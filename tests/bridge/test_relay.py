"""An endpoint that speaks HTTP+SSE, seen over a Responses WebSocket of the bridge."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from tests.support.bridge_client import create, prose, until
from tests.support.rehearsed import user
from tests.support.sse_upstream import (
    KEY,
    USAGE,
    Answer,
    SseUpstream,
    completed,
    message,
    message_item,
    opening,
    refusing,
    response_body,
    saying,
    serving,
    sse,
    stream,
)
from tui.bridge.server import Bridge
from tui.core.address import Address


class Relayed:
    """A client of an upstream behind the bridge."""

    def __init__(self, bridge: Bridge, answer: Answer) -> None:
        self._bridge = bridge
        self._answer = answer

    async def __aenter__(self) -> tuple[ClientConnection, SseUpstream]:
        self._serving = serving(self._answer)
        upstream = await self._serving.__aenter__()
        self._bridge.endpoints["my server"] = upstream.address
        headers = {"Authorization": f"Bearer {self._bridge.token}"}
        url = self._bridge.url_of("my server")
        self.socket = await connect(url, additional_headers=headers, proxy=None, max_size=None)
        return self.socket, upstream

    async def __aexit__(self, *why: Any) -> None:
        await self.socket.close()
        await self._serving.__aexit__(*why)


async def answered(bridge: Bridge, answer: Answer, **fields: Any) -> list[dict[str, Any]]:
    """The events of one create."""
    async with Relayed(bridge, answer) as (socket, _):
        await create(socket, "hi", **fields)
        return await until(socket)


async def test_a_turn_is_the_upstreams_with_our_envelope(bridge: Bridge) -> None:
    answer = saying(opening() + message("Hel", "lo") + completed())
    async with Relayed(bridge, answer) as (socket, upstream):
        await create(
            socket, "hi", model="up", stream_id="a", store=True, include=["x"], stream=True
        )
        events = await until(socket)
        kinds = [e["type"] for e in events]
        assert kinds == [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.output_text.delta",
            "response.output_text.delta",
            "response.output_item.done",
            "response.completed",
        ]
        assert [e["sequence_number"] for e in events] == list(range(len(events)))
        assert {e["stream_id"] for e in events} == {"a"}
        assert prose(events) == "Hello"
        last, first = events[-1]["response"], events[0]["response"]
        assert last["id"] == first["id"] != "resp_up"
        assert (last["usage"], last["model"], last["service_tier"]) == (USAGE, "up-1", "flex")
        assert last["output"] == [message_item("Hello")]
        (body,), (headers,) = upstream.bodies, upstream.headers
        assert body == {
            "model": "up",
            "input": [user("hi")],
            "include": ["x"],
            "stream": True,
            "store": False,
        }
        assert headers["authorization"] == f"Bearer {KEY}"
        assert "the-token" not in json.dumps(headers)


async def test_the_chain_is_kept_here_and_sent_in_full(bridge: Bridge) -> None:
    answer = saying(opening() + message("one") + completed())
    async with Relayed(bridge, answer) as (socket, upstream):
        await create(socket, "base", generate=False)
        prewarm = (await until(socket))[-1]["response"]["id"]
        assert upstream.bodies == []
        await create(socket, "hi", previous_response_id=prewarm)
        first = (await until(socket))[-1]["response"]["id"]
        await create(socket, "more", previous_response_id=first)
        await until(socket)
        items = [user("base"), user("hi"), message_item("one"), user("more")]
        assert upstream.bodies[1]["input"] == items
        assert "previous_response_id" not in upstream.bodies[1]
        assert len(upstream.peers) == 1, "an idle connection is used again"
        await create(socket, "lost", previous_response_id="resp_nowhere")
        refused = (await until(socket))[-1]
        assert refused["error"]["code"] == "previous_response_not_found"
        assert len(upstream.bodies) == 2


@pytest.mark.parametrize("piece_bytes", [1, 7, 1000])
async def test_bytes_may_be_cut_anywhere(bridge: Bridge, piece_bytes: int) -> None:
    told = opening() + message("Häl", "lö 🎻") + completed()
    told = b": hello\r\n\r\n" + told.replace(b"\n", b"\r\n")
    events = await answered(bridge, saying(told, piece_bytes))
    assert prose(events) == "Hällö 🎻"
    assert events[-1]["type"] == "response.completed"


async def test_what_servers_leave_out(bridge: Bridge) -> None:
    told = b'data: {"type":"response.output_text.delta","delta":"a","item_id":"m"}\n\n'
    told += b'event: response.output_text.delta\ndata: {"delta":"b","item_id":"m"}\n\n'
    told += b'data: no json\n\ndata: [1]\n\ndata: {}\n\ndata: {"type":"codex.keepalive"}\n\n'
    told += b'data: {"type":"response.output_text.delta","delta":"\\ud83d","item_id":"m"}\n\n'
    told += b'data: {"type":"response.completed","response":{"output":[]}}\n\ndata: [DONE]\n\n'
    events = await answered(bridge, saying(told))
    assert prose(events) == "ab\ud83d"
    assert [e["type"] for e in events].count("codex.keepalive") == 1
    assert [e["sequence_number"] for e in events] == list(range(len(events)))
    assert events[-1]["type"] == "response.completed"
    assert events[-1]["response"]["usage"] is None


@pytest.mark.parametrize("whole", [False, True])
async def test_items_of_the_terminal_alone_are_said_too(bridge: Bridge, whole: bool) -> None:
    call = {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": "{}"}
    call["status"] = "completed"
    output = [message_item("hello"), call, {"type": "reasoning", "id": "rs", "summary": []}]
    body = response_body("completed", output=output, usage=USAGE)
    answer = refusing(200, body) if whole else saying(completed(output=output))
    events = await answered(bridge, answer)
    assert prose(events) == "hello"
    done = [e["item"] for e in events if e["type"] == "response.output_item.done"]
    assert done == output
    assert events[-1]["response"]["output"] == output
    assert events[-1]["response"]["usage"] == USAGE
    deltas = [e for e in events if e["type"] == "response.function_call_arguments.delta"]
    assert [e["delta"] for e in deltas] == ["{}"]


async def test_an_empty_terminal_has_the_items_that_came(bridge: Bridge) -> None:
    events = await answered(bridge, saying(message("x") + completed(output=[])))
    assert events[-1]["response"]["output"] == [message_item("x")]
    other = [message_item("other")]
    events = await answered(bridge, saying(message("x") + completed(output=other)))
    assert events[-1]["response"]["output"] == [message_item("x")]


async def test_endings_of_the_upstream(bridge: Bridge) -> None:
    details = {"reason": "max_output_tokens"}
    body = response_body("incomplete", incomplete_details=details)
    told = opening() + message("x") + sse("response.incomplete", response=body)
    events = await answered(bridge, saying(told))
    assert events[-1]["type"] == "response.incomplete"
    assert events[-1]["response"]["incomplete_details"] == details
    error = {"code": "rate_limit_exceeded", "message": f"slow down, {KEY}"}
    told = opening() + sse("response.failed", response=response_body("failed", error=error))
    failed = (await answered(bridge, saying(told)))[-1]
    assert failed["type"] == "response.failed"
    assert failed["response"]["error"] == {
        "code": "rate_limit_exceeded",
        "message": "slow down, •••",
    }
    told = opening() + sse("response.failed", response={})
    failed = (await answered(bridge, saying(told)))[-1]
    assert failed["response"]["error"]["code"] == "server_error"


@pytest.mark.parametrize(
    ("event", "status", "code"),
    [
        ({"code": "server_error", "message": "m"}, 500, "server_error"),
        ({"code": "rate_limit_exceeded", "message": "m"}, 429, "rate_limit_exceeded"),
        ({"code": "context_length_exceeded", "message": "m"}, 400, "context_length_exceeded"),
        ({"error": {"code": "bad", "message": "m"}, "status": 422}, 422, "bad"),
        ({"error": {"message": "m", "headers": {"Retry-After": 3}}}, 500, "server_error"),
        ({}, 500, "server_error"),
    ],
)
async def test_an_error_event_flat_and_nested(
    bridge: Bridge, event: dict[str, Any], status: int, code: str
) -> None:
    refused = (await answered(bridge, saying(opening() + sse("error", **event))))[-1]
    assert (refused["type"], refused["status"], refused["error"]["code"]) == ("error", status, code)
    assert refused["error"]["message"]
    if "headers" in event.get("error", {}):
        assert refused["headers"] == refused["error"]["headers"] == {"retry-after": "3"}


@pytest.mark.parametrize("told", [b"", opening(), opening() + message("x"), b"data: [DONE]\n\n"])
async def test_a_stream_without_an_end_is_a_failure(bridge: Bridge, told: bytes) -> None:
    failed = (await answered(bridge, saying(told)))[-1]
    assert failed["type"] == "response.failed"
    assert failed["response"]["error"]["code"] == "server_error"
    assert "127.0.0.1" in failed["response"]["error"]["message"]


async def test_a_connection_that_breaks_is_a_failure_and_the_next_turn_works(
    bridge: Bridge,
) -> None:
    async def answer(request: web.Request, upstream: SseUpstream) -> web.StreamResponse:
        response = await stream(request)
        if len(upstream.bodies) == 1:
            await response.write(opening() + message("half")[:-20])
            assert request.transport is not None
            request.transport.abort()
        else:
            await response.write(opening() + message("whole") + completed())
        return response

    async with Relayed(bridge, answer) as (socket, _):
        await create(socket, "hi")
        failed = (await until(socket))[-1]
        assert failed["type"] == "response.failed"
        await create(socket, "hi")
        assert prose(await until(socket, "response.completed")) == "whole"


@pytest.mark.parametrize(
    ("status", "body", "code", "words"),
    [
        (401, {"error": {"message": f"Wrong key {KEY}!", "code": "bad_key"}}, "bad_key", "Wrong"),
        (403, {}, "http_403", "refused the key"),
        (404, "no such thing", "http_404", "HTTP status 404"),
        (429, {"error": {"message": "slow down", "type": "rate"}}, "rate", "slow down"),
        (500, {"error": "broken"}, "http_500", "broken"),
        (503, [], "http_503", "HTTP status 503"),
    ],
)
async def test_a_refusal_by_status(
    bridge: Bridge, status: int, body: object, code: str, words: str
) -> None:
    refused = (await answered(bridge, refusing(status, body, **{"Retry-After": "7"})))[-1]
    assert (refused["type"], refused["status"]) == ("error", status)
    assert refused["error"]["code"] == code
    assert words in refused["error"]["message"]
    assert KEY not in json.dumps(refused)
    assert refused["headers"] == {"retry-after": "7"}


async def test_an_endpoint_that_is_not_there_is_one_sentence(bridge: Bridge) -> None:
    async with Relayed(bridge, saying(b"")) as (socket, upstream):
        await upstream.server.close()
        await create(socket, "hi", stream_id="b")
        events = await until(socket)
        refused = events[-1]
        assert (refused["status"], refused["error"]["code"]) == (502, "server_error")
        assert refused["stream_id"] == "b"
        message_text = refused["error"]["message"]
        assert message_text.startswith("127.0.0.1 cannot be reached")
        assert message_text.endswith(".")


async def test_a_web_page_is_no_endpoint(bridge: Bridge) -> None:
    async def answer(_request: web.Request, _upstream: SseUpstream) -> web.StreamResponse:
        return web.Response(text="<html>", content_type="text/html")

    refused = (await answered(bridge, answer))[-1]
    assert "web page" in refused["error"]["message"]
    assert refused["status"] == 400


async def test_a_redirect_is_not_followed_with_the_key(bridge: Bridge) -> None:
    async with serving(saying(completed())) as elsewhere:
        target = elsewhere.address.url
        refused = (await answered(bridge, refusing(307, {}, Location=target)))[-1]
        assert refused["status"] == 400
        assert refused["error"]["code"] == "endpoint_redirects"
        assert elsewhere.bodies == []


async def test_an_interrupt_closes_the_request(bridge: Bridge) -> None:
    async def answer(request: web.Request, upstream: SseUpstream) -> web.StreamResponse:
        response = await stream(request)
        if len(upstream.bodies) == 1:
            await response.write(opening() + message("whole") + message("x", "y", index=1)[:-150])
            await asyncio.Event().wait()
        await response.write(opening() + message("next") + completed())
        return response

    async with Relayed(bridge, answer) as (socket, upstream):
        await create(socket, "hi", stream_id="a")
        began = await until(socket, "response.output_text.delta")
        response_id = began[0]["response"]["id"]
        interrupt = {"type": "response.interrupt", "response_id": response_id}
        await socket.send(json.dumps(interrupt))
        events = await until(socket)
        kinds = [e["type"] for e in events if "delta" not in e["type"]]
        assert kinds[-3:] == [
            "response.interrupt.accepted",
            "response.output_item.interrupted",
            "response.incomplete",
        ]
        last = events[-1]["response"]
        assert last["incomplete_details"] == {"reason": "interrupted"}
        assert last["output"] == [message_item("whole")]
        async with asyncio.timeout(5):
            await upstream.gone.wait()
        await create(socket, "go on", stream_id="a", previous_response_id=response_id)
        assert prose(await until(socket)) == "next"
        assert upstream.bodies[1]["input"] == [user("hi"), message_item("whole"), user("go on")]


async def test_an_interrupt_before_the_upstream_answers(bridge: Bridge) -> None:
    async def answer(_request: web.Request, _upstream: SseUpstream) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError

    async with Relayed(bridge, answer) as (socket, upstream):
        await create(socket, "hi")
        began = await until(socket, "response.in_progress")
        async with asyncio.timeout(5):
            while not upstream.bodies:
                await asyncio.sleep(0.01)
        interrupt = {"type": "response.interrupt", "response_id": began[0]["response"]["id"]}
        await socket.send(json.dumps(interrupt))
        assert (await until(socket))[-1]["response"]["output"] == []
        async with asyncio.timeout(5):
            await upstream.gone.wait()


@pytest.mark.parametrize("abrupt", [False, True])
async def test_the_upstream_is_stopped_when_the_socket_goes(bridge: Bridge, abrupt: bool) -> None:
    async def answer(request: web.Request, _upstream: SseUpstream) -> web.StreamResponse:
        response = await stream(request)
        await response.write(opening() + message("x"))
        await asyncio.Event().wait()
        return response

    async with Relayed(bridge, answer) as (socket, upstream):
        await create(socket, "hi")
        await until(socket, "response.output_item.done")
        if abrupt:
            socket.transport.abort()
        else:
            await socket.close()
        async with asyncio.timeout(5):
            await upstream.gone.wait()


async def test_lanes_are_asked_side_by_side(bridge: Bridge) -> None:
    both = asyncio.Event()

    async def answer(request: web.Request, upstream: SseUpstream) -> web.StreamResponse:
        response = await stream(request)
        text = upstream.bodies[-1]["input"][0]["content"][0]["text"]
        await response.write(opening())
        if upstream.most_running == 3:
            both.set()
        await both.wait()
        for number in range(20):
            await response.write(message(f"{text}{number} "))
        await response.write(completed())
        return response

    async with Relayed(bridge, answer) as (socket, upstream):
        for lane in "abc":
            await create(socket, lane, stream_id=lane)
        ended: list[dict[str, Any]] = []
        heard: dict[str, list[dict[str, Any]]] = {"a": [], "b": [], "c": []}
        while len(ended) < 3:
            events = await until(socket)
            for got in events:
                heard[got["stream_id"]].append(got)
            ended.append(events[-1])
        assert upstream.most_running == 3
        for lane, events in heard.items():
            assert prose(events) == "".join(f"{lane}{number} " for number in range(20))
            assert [e["sequence_number"] for e in events] == list(range(len(events)))


async def test_a_steer_is_refused_and_the_text_given_back(bridge: Bridge) -> None:
    wait = asyncio.Event()

    async def answer(request: web.Request, _upstream: SseUpstream) -> web.StreamResponse:
        response = await stream(request)
        await response.write(opening())
        await wait.wait()
        await response.write(completed())
        return response

    async with Relayed(bridge, answer) as (socket, _):
        await create(socket, "hi")
        began = await until(socket, "response.created")
        steer = {"type": "response.steer", "previous_response_id": began[0]["response"]["id"]}
        await socket.send(json.dumps({**steer, "input": "small"}))
        failed = (await until(socket, "response.steer.failed"))[-1]
        assert failed["error"]["code"] == "steering_not_supported"
        wait.set()
        assert (await until(socket))[-1]["type"] == "response.completed"


async def test_an_event_of_many_mebibytes(bridge: Bridge) -> None:
    text = "x" * (60 * 1024 * 1024)
    events = await answered(bridge, saying(opening() + message(text) + completed(), 2**20))
    assert len(prose(events)) == len(text)
    assert events[-1]["type"] == "response.completed"
    endless = opening() + b"data: " + b"y" * (65 * 1024 * 1024)
    failed = (await answered(bridge, saying(endless, 2**20)))[-1]
    assert "64 MiB" in failed["response"]["error"]["message"]


async def test_a_client_that_does_not_read_makes_the_upstream_wait(bridge: Bridge) -> None:
    written = 0

    async def answer(request: web.Request, _upstream: SseUpstream) -> web.StreamResponse:
        nonlocal written
        response = await stream(request)
        for _ in range(4000):
            await response.write(message("z" * 8000))
            written += 1
        await response.write(completed())
        return response

    async with serving(answer) as upstream:
        bridge.endpoints["slow"] = upstream.address
        headers = {"Authorization": "Bearer the-token"}
        async with connect(
            bridge.url_of("slow"),
            additional_headers=headers,
            proxy=None,
            max_queue=1,
            max_size=None,
        ) as socket:
            await create(socket, "hi")
            await until(socket, "response.output_text.delta")
            before = -1
            async with asyncio.timeout(20):
                while written != before:
                    before = written
                    await asyncio.sleep(0.3)
            assert written < 3000
            events = await until(socket, "response.completed")
            assert len(prose(events)) == 8000 * 3999
            assert written == 4000


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
async def test_no_proxy_for_this_machine(
    bridge: Bridge, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    events = await answered(bridge, saying(message("direct") + completed()))
    assert prose(events) == "direct"


async def test_nothing_secret_is_logged(bridge: Bridge, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    body = {"error": {"message": KEY}}
    await answered(bridge, refusing(401, body))
    await answered(bridge, saying(opening()))
    told = "\n".join(r.getMessage() for r in caplog.records if r.name.startswith("tui"))
    assert KEY not in told
    assert KEY not in repr(bridge.endpoints)


async def test_an_endpoint_that_nobody_named_is_not_found(bridge: Bridge) -> None:
    headers = {"Authorization": "Bearer the-token"}
    for url in (bridge.url_of("x"), bridge.url_of("") + "/more"):
        with pytest.raises(InvalidStatus) as refused:
            await connect(url, additional_headers=headers, proxy=None)
        assert refused.value.response.status_code == 404
    bridge.endpoints["x"] = Address("http://127.0.0.1:9/v1/responses")
    with pytest.raises(InvalidStatus) as refused:
        await connect(bridge.url_of("x"), proxy=None)
    assert refused.value.response.status_code == 401
