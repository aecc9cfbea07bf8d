"""An endpoint that speaks HTTP+SSE, seen over a Responses WebSocket of the bridge."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from aiohttp import web

from tests.support.bridge_client import create, prose, until
from tests.support.rehearsed import user
from tests.support.relayed import Relayed, answered
from tests.support.sse_upstream import (
    KEY,
    USAGE,
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
from tui.core.wire.masking import Mask


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
        "message": f"slow down, {Mask([KEY]).text(KEY)}",
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
    # Of an answer that never began nothing is lost: another one may be asked.
    begun = b"output_item" in told
    assert failed["type"] == ("response.failed" if begun else "error")
    assert begun or failed["status"] == 502
    error = (failed["response"] if begun else failed)["error"]
    assert error["code"] == "server_error"
    assert "127.0.0.1" in error["message"]


async def test_a_stream_under_the_name_of_json_is_a_stream(bridge: Bridge) -> None:
    async def answer(_request: web.Request, _upstream: SseUpstream) -> web.StreamResponse:
        body = opening() + message("Hel", "lo") + completed()
        return web.Response(body=body, content_type="application/json", status=201)

    events = await answered(bridge, answer)
    assert prose(events) == "Hello"
    assert events[-1]["type"] == "response.completed"


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
        assert (refused["status"], refused["error"]["code"]) == (502, "endpoint_unreachable")
        assert refused["stream_id"] == "b"
        words = refused["error"]["message"]
        assert re.fullmatch(r"127\.0\.0\.1:\d+ cannot be reached: Connection refused\.", words)


async def test_an_endpoint_that_has_answered_before_may_come_back(bridge: Bridge) -> None:
    async with Relayed(bridge, saying(opening() + completed())) as (socket, upstream):
        await create(socket, "hi", stream_id="b")
        await until(socket)
        await upstream.server.close()
        await create(socket, "more", stream_id="b")
        refused = (await until(socket))[-1]
        assert (refused["status"], refused["error"]["code"]) == (502, "server_error")


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


async def test_a_vendors_event_is_no_beginning_of_the_answer(bridge: Bridge) -> None:
    told = opening() + b'data: {"type":"codex.rate_limits","plan":"x"}\n\n'
    failed = (await answered(bridge, saying(told)))[-1]
    assert (failed["type"], failed["status"]) == ("error", 502)
