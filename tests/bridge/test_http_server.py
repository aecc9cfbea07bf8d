"""POST: the same responses as on the socket, as events or as one body, for clients of any make."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from tests.bridge.test_client_connection import WORDS, endpoints
from tests.support.bridge_client import QUICK, prose
from tests.support.http_client import (
    TOKEN,
    asking,
    by_hand,
    head,
    posted,
    server_sent,
    streamed,
    whole,
)
from tests.support.sse_upstream import completed, message, opening, refusing, saying
from tui.bridge import client_transport, http_server
from tui.bridge.endpoints.base import EndpointSpec, ModelFacts
from tui.bridge.server import Bridge
from tui.bridge.targets import target


async def test_an_old_client_gets_the_stream_until_the_connection_ends(bridge: Bridge) -> None:
    body = json.dumps(asking(stream=True)).encode()
    request = head(len(body)).replace(b"HTTP/1.1", b"HTTP/1.0") + body
    answer, _, events = (await by_hand(bridge.port, request)).partition(b"\r\n\r\n")
    assert b"chunked" not in answer
    assert events.startswith(b"event: response.created\n")
    assert events.endswith(b"}\n\n")


JSON_BODY = json.dumps(asking()).encode()
WRONG: dict[str, tuple[bytes, dict[str, str], int, str | None]] = {
    "no JSON": (b"{", {}, 400, "invalid_json"),
    "nothing": (b"", {}, 400, "invalid_json"),
    "a list": (b"[]", {}, 400, "invalid_json"),
    "deep": (b"[" * 100_000, {}, 400, "invalid_json"),
    "no text": (b"\xff\xfe{}", {}, 400, "invalid_json"),
    "a wrong stream": (b'{"model":"rehearsal-fast","stream":1}', {}, 400, "invalid_request"),
    "no such model": (b'{"model":"gpt-9","input":"hi"}', {}, 400, "model_not_found"),
    "no such parent": (
        b'{"model":"rehearsal-fast","previous_response_id":"resp_x","stream":true}',
        {}, 400, "previous_response_not_found",
    ),
    "a background": (
        b'{"model":"rehearsal-fast","background":true}', {}, 400, "unsupported_parameter",
    ),
    "a template": (
        b'{"model":"rehearsal-fast","prompt":{"id":"p"}}', {}, 400, "unsupported_parameter",
    ),
    "a form": (JSON_BODY, {"Content-Type": "application/x-www-form-urlencoded"}, 415, None),
    "another charset": (JSON_BODY, {"Content-Type": "application/json; charset=utf-16"}, 415, None),
    "packed": (JSON_BODY, {"Content-Encoding": "gzip"}, 415, None),
    "another expectation": (JSON_BODY, {"Expect": "202-accepted"}, 417, None),
    "a web page": (JSON_BODY, {"Origin": "https://evil.example"}, 403, None),
    "a stranger": (JSON_BODY, {"Authorization": "Bearer wrong"}, 401, "invalid_api_key"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("body", "headers", "status", "code"), WRONG.values(), ids=WRONG)
async def test_what_is_wrong_is_one_error_as_openai_says_it(
    bridge: Bridge, body: bytes, headers: dict[str, str], status: int, code: str | None
) -> None:
    got, told = await whole(bridge.port, body, **headers)
    assert got == status
    assert list(told) == ["error"]
    assert {"message", "type", "param", "code"} == set(told["error"])
    assert told["error"]["message"].endswith((".", "?")) or code == "invalid_json"
    assert told["error"]["code"] == code
    assert (await whole(bridge.port, asking()))[0] == 200


async def test_the_rehearsal_says_that_it_plays_in_its_own_format(bridge: Bridge) -> None:
    """Codex asks for titles as JSON: that is answered, if not as asked."""
    schema = {"type": "json_schema", "name": "title", "schema": {"type": "object"}}
    status, told = await whole(bridge.port, asking(text={"format": schema}))
    assert status == 200
    assert told["metadata"]["duetto_left_out"] == "text.format"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "path", "status", "words"),
    [
        ("POST", "/v1/chat/completions", 404, "The Chat Completions API is not served here"),
        ("POST", "/v1/messages", 404, "The Messages API is not served here"),
        ("POST", "/v1/endpoints/own/chat/completions", 404, "POST a request to /v1/endpoints/own/"),
        ("POST", "/responses", 404, "POST a request to /v1/responses"),
        ("POST", "/v1/responses/resp_1/cancel", 404, "by closing its connection"),
        ("GET", "/v1/responses/resp_1", 404, "previous_response_id"),
        ("DELETE", "/v1/responses/resp_1", 404, "previous_response_id"),
        ("GET", "/v1/responses", 405, "open a WebSocket"),
        ("PUT", "/v1/responses", 405, "open a WebSocket"),
        ("DELETE", "/v1/models/rehearsal-fast", 405, "lists the models"),
        ("OPTIONS", "/v1/responses", 200, ""),
        ("OPTIONS", "/v1/models", 200, ""),
        ("GET", "/v1/models/nothing", 404, "There is no model 'nothing' here"),
    ],
)
async def test_what_there_is_not_is_said_with_what_there_is(
    bridge: Bridge, method: str, path: str, status: int, words: str
) -> None:
    bridge.endpoints.targets["own"] = target(
        "own", EndpointSpec("rehearsal", "http://127.0.0.1:9/v1"), ""
    )
    url = f"http://127.0.0.1:{bridge.port}{path}"
    async with aiohttp.ClientSession() as session:
        async with session.request(method, url) as stranger:
            assert stranger.status == 401
        async with session.request(method, url, headers=TOKEN) as answer:
            assert answer.status == status
            told = await answer.json()
            assert ("Allow" in answer.headers) == (status in (405, 200))
    if status != 200:
        assert words in told["error"]["message"]


@pytest.mark.parametrize(
    ("path", "model"),
    [
        ("/v1/models/rehearsal-fast", "rehearsal-fast"),
        ("http://127.0.0.1/v1/models/rehearsal-fast", "rehearsal-fast"),
        ("/v1/models/own/maker/large", "own/maker/large"),
        ("/v1/models/own%2Fmaker%2Flarge", "own/maker/large"),
        ("/v1/models/maker/large", "maker/large"),
        ("/v1/endpoints/own/models/maker/large", "maker/large"),
    ],
)
async def test_one_model_is_told_by_its_name(bridge: Bridge, path: str, model: str) -> None:
    models = {"maker/large": ModelFacts()}
    spec = EndpointSpec("openai-chat", "http://127.0.0.1:9/v1", models=models)
    bridge.endpoints.targets["own"] = target("own", spec, "")
    answer = await by_hand(bridge.port, head(None, method="GET", path=path))
    top, _, body = answer.partition(b"\r\n\r\n")
    assert b" 200 " in top
    assert json.loads(body)["id"] == model


async def test_the_end_of_the_bridge_ends_its_requests() -> None:
    served = Bridge(QUICK, token="the-token")
    await served.start()
    body = asking("rehearse 9000 tokens", model="rehearsal-fast@20", stream=True)
    async with posted(served.port, body) as answer:
        await anext(server_sent(answer))
        await served.close()
        with pytest.raises(aiohttp.ClientError):
            await answer.read()
    assert served._front is not None
    assert not served._front._attended


TYPE = "Content-Type: application/json"
SLOW = {"model": "rehearsal-fast@20"}


@pytest.fixture(autouse=True)
async def served_on(bridge: Bridge, bystander: None) -> AsyncIterator[None]:
    """Another client's stream ends, and the next request is answered, whatever a test did."""
    yield
    assert (await whole(bridge.port, asking()))[0] == 200


def at_work(bridge: Bridge) -> int:
    """Requests over HTTP that are worked on."""
    return len(bridge._front._attended) if bridge._front is not None else 0


async def idle(bridge: Bridge) -> None:
    async with asyncio.timeout(60):
        while at_work(bridge):
            await asyncio.sleep(0.005)


def error(answer: bytes) -> tuple[int, dict[str, Any]]:
    """The status and the error of an answer."""
    top, _, body = answer.partition(b"\r\n\r\n")
    return int(top.split()[1]), json.loads(body)["error"]


@pytest.mark.parametrize("stream", [True, False])
async def test_closing_the_connection_stops_the_work(bridge: Bridge, stream: bool) -> None:
    body = json.dumps(asking("rehearse 9000 tokens", stream=stream, **SLOW)).encode()
    _, writer = await asyncio.open_connection("127.0.0.1", bridge.port)
    writer.write(head(len(body), TYPE) + body)
    async with asyncio.timeout(60):
        while not at_work(bridge):
            await asyncio.sleep(0.005)
        writer.transport.abort()
        while at_work(bridge):
            await asyncio.sleep(0.005)


async def test_an_answer_that_breaks_off_says_so(bridge: Bridge) -> None:
    broken = saying(opening() + WORDS[: WORDS.index(b"response.completed") - 20])
    async with endpoints(bridge, [], one=broken):
        body = {"model": "one/m", "input": "hi"}
        events = await streamed(bridge.port, body)
        assert prose(events)
        assert events[-1]["type"] == "response.failed"
        assert events[-1]["response"]["error"]["code"] == "server_error"
        status, told = await whole(bridge.port, body)
        assert (status, told["error"]["code"]) == (500, "server_error")


async def test_an_answer_that_is_silent_begins_and_its_error_is_an_event(
    bridge: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "SILENT_S", 0.0)
    failing = refusing(429, {"error": {"message": "slow", "code": "rate_limit_exceeded"}})
    held = asyncio.Event()

    async def late(*given: Any) -> web.StreamResponse:
        await held.wait()
        return await failing(*given)

    async with (
        endpoints(bridge, [], one=late),
        posted(bridge.port, {"model": "one/m", "input": "hi", "stream": True}) as answer,
    ):
        assert answer.status == 200
        events = server_sent(answer)
        assert (await anext(events))["type"] == "response.created"
        held.set()
        last = [event async for event in events][-1]
        assert last["type"] == "error"
        assert last["message"] == last["error"]["message"] == "slow"
        assert last["code"] == last["error"]["code"] == "rate_limit_exceeded"


@pytest.mark.slow
async def test_a_large_body_is_taken_up_to_what_a_socket_takes(
    bridge: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_transport, "MAX_MESSAGE_BYTES", 1_000_000)
    fitting, large = "x" * 990_000, b"x" * 1_100_000
    assert (await whole(bridge.port, asking(fitting)))[0] == 200
    status, told = await whole(bridge.port, large)
    assert (status, told["error"]["code"]) == (413, "request_too_large")
    chunk = b"%x\r\n%b\r\n" % (50_000, b"x" * 50_000)
    told_so = await by_hand(
        bridge.port, head(None, TYPE, "Transfer-Encoding: chunked") + chunk * 30
    )
    assert error(told_so)[0] == 413


async def test_who_waits_to_be_told_to_go_on_is_told(bridge: Bridge) -> None:
    body = json.dumps(asking()).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", bridge.port)
    async with asyncio.timeout(60):
        writer.write(head(len(body), TYPE, "Expect: 100-continue", "Connection: close"))
        assert b" 100 " in await reader.readuntil(b"\r\n\r\n")
        writer.write(body)
        assert (await reader.read()).startswith(b"HTTP/1.1 200 ")
        writer.close()
    # and who may not come in is told so before the body
    stranger = head(10**9, TYPE, "Expect: 100-continue").replace(b"the-token", b"wrong")
    assert error(await by_hand(bridge.port, stranger))[0] == 401


BY_BYTES = {
    "a POST": head(2, TYPE, "Connection: close") + b"{}",
    "an upgrade": head(None, "Upgrade: websocket", method="GET"),
    "a page": head(None, method="GET", path="/v1/models"),
}


@pytest.mark.parametrize("sent", BY_BYTES.values(), ids=BY_BYTES)
async def test_a_request_may_come_byte_by_byte(bridge: Bridge, sent: bytes) -> None:
    whole_answer = await by_hand(bridge.port, sent)
    reader, writer = await asyncio.open_connection("127.0.0.1", bridge.port)
    async with asyncio.timeout(60):
        for at in range(len(sent)):
            writer.write(sent[at : at + 1])
            await writer.drain()
            await asyncio.sleep(0)
        assert (await reader.read()).splitlines()[0] == whole_answer.splitlines()[0]
    writer.close()


async def test_a_connection_of_plain_http_does_not_become_a_socket(bridge: Bridge) -> None:
    body = json.dumps(asking(store=False)).encode()
    upgrade = head(None, "Upgrade: websocket", "Connection: Upgrade", method="GET")
    answers = await by_hand(bridge.port, head(len(body), TYPE) + body + upgrade)
    assert answers.startswith(b"HTTP/1.1 200 ")
    status, told = error(answers[answers.index(b"HTTP/1.1 503") :])
    assert "open the WebSocket on another one" in told["message"]
    assert status == 503


async def test_who_reads_no_body_is_cut_off(
    bridge: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_transport, "STALLED_S", 0.3)
    body = json.dumps({"model": "one/m", "input": "hi"}).encode()
    async with endpoints(bridge, [], one=saying(message(*["x" * 40_000] * 400) + completed())):
        reader, writer = await asyncio.open_connection("127.0.0.1", bridge.port, limit=1024)
        writer.write(head(len(body), TYPE) + body)
        assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
        assert bridge._front is not None
        async with asyncio.timeout(60):
            while bridge._front._server.connections:
                await asyncio.sleep(0.01)
        writer.transport.abort()


@pytest.mark.slow
@pytest.mark.parametrize(
    "sent",
    [
        head(100, TYPE) + b"{",
        head(None, TYPE, "Transfer-Encoding: chunked") + b"5\r\n{",
    ],
)
async def test_a_body_that_does_not_come_is_not_waited_for(
    bridge: Bridge, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(http_server, "PIECE_S", 0.1)
    status, told = error(await by_hand(bridge.port, sent))
    assert (status, told["code"]) == (408, "request_timeout")


@pytest.mark.parametrize("sent", [b"", b"P", b"POST /v1/responses HTTP/1.1\r\nHost:"])
async def test_a_request_that_does_not_come_is_not_waited_for(
    bridge: Bridge, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(http_server, "IDLE_S", 0.1)
    monkeypatch.setattr(client_transport, "OPEN_S", 0.1)
    assert await by_hand(bridge.port, sent) == b""


@pytest.mark.parametrize(
    "sent",
    [
        b"POST\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"POST /v1/responses HTTP/1.1\r\nHost: x\r\na: " + b"b" * 100_000 + b"\r\n\r\n",
        b"POST /v1/responses HTTP/1.1\r\n" + b"a: b\r\n" * 1000 + b"\r\n",
        head(2, "a: \x01") + b"{}",
        b"POST /v1/responses HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        b"POST /v1/responses HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        head(5, "Transfer-Encoding: chunked") + b"0\r\n\r\n",
        head(None, TYPE, "Transfer-Encoding: chunked") + b"zz\r\n{}\r\n",
    ],
    ids=["verb", "tls", "h2", "line", "lines", "control", "length", "minus", "both", "chunk"],
)
async def test_what_is_no_http_is_an_error_and_the_end_of_its_connection(
    bridge: Bridge, sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    status, told = error(await by_hand(bridge.port, sent))
    assert 400 <= status < 500
    assert told["message"]
    assert "Traceback" not in caplog.text


async def test_who_reads_nothing_has_the_model_wait_and_is_cut_off(
    bridge: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_transport, "STALLED_S", 0.3)
    body = json.dumps({"model": "one/m", "input": "hi", "stream": True}).encode()
    endless = saying(message(*["x" * 40_000] * 400))
    async with endpoints(bridge, [], one=endless):
        reader, writer = await asyncio.open_connection("127.0.0.1", bridge.port, limit=1024)
        writer.write(head(len(body), TYPE) + body)
        assert await reader.readuntil(b"\r\n\r\n")
        await idle(bridge)
        writer.transport.abort()
