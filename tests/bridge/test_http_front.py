"""POST: the same responses as on the socket, as events or as one body, for clients of any make."""

from __future__ import annotations

import json

import aiohttp
import pytest

from tests.support.bridge_client import QUICK
from tests.support.http_client import (
    TOKEN,
    asking,
    by_hand,
    head,
    posted,
    server_sent,
    whole,
)
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
    "a form": (JSON_BODY, {"Content-Type": "application/x-www-form-urlencoded"}, 415, None),
    "another charset": (JSON_BODY, {"Content-Type": "application/json; charset=utf-16"}, 415, None),
    "packed": (JSON_BODY, {"Content-Encoding": "gzip"}, 415, None),
    "another expectation": (JSON_BODY, {"Expect": "202-accepted"}, 417, None),
    "a web page": (JSON_BODY, {"Origin": "https://evil.example"}, 403, None),
    "a stranger": (JSON_BODY, {"Authorization": "Bearer wrong"}, 401, "invalid_api_key"),
}  # fmt: skip


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
