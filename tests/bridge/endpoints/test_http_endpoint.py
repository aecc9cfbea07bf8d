"""What an answer over HTTP may look like, whatever its headers say of it."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from tests.support.bridge_client import create, prose, until
from tests.support.relayed import Relayed, answered
from tests.support.sse_upstream import (
    Answer,
    SseUpstream,
    completed,
    message,
    message_item,
    opening,
    response_body,
)
from tests.support.tables import each
from tui.bridge.endpoints import http_endpoint
from tui.bridge.endpoints.http_endpoint import left, pause_s
from tui.bridge.server import Bridge

OWES = json.dumps({"error": {"message": "No credit left.", "code": "insufficient_quota"}}).encode()
WHOLE = json.dumps(response_body("completed", output=[message_item("Hello")])).encode()
KINDS = ["text/event-stream", "application/json", "text/plain", "text/html", "x"]
Pause = Callable[[], Awaitable[None]]


def pieces(
    kind: str, *said: bytes, status: int = 200, then: Pause | None = None, encoding: str = ""
) -> Answer:
    """Answers with these pieces, each in a packet of its own."""
    headers = {"Content-Type": kind, **({"Content-Encoding": encoding} if encoding else {})}

    async def answer(request: web.Request, _upstream: SseUpstream) -> web.StreamResponse:
        response = web.StreamResponse(status=status, headers=headers)
        await response.prepare(request)
        for piece in said:
            await response.write(piece)
            await asyncio.sleep(0.01)
        if then is not None:
            await then()
        return response

    return answer


@each("kind", KINDS)
@each("before", [[], [b"\n\n", b" \r\n"], [b"\xef\xbb\xbf"]])
async def test_json_is_json_under_any_name(bridge: Bridge, kind: str, before: list[bytes]) -> None:
    refused = (await answered(bridge, pieces(kind, *before, OWES[:9], OWES[9:])))[-1]
    assert (refused["type"], refused["error"]["code"]) == ("error", "insufficient_quota")
    events = await answered(bridge, pieces(kind, *before, WHOLE))
    assert prose(events) == "Hello"


@each("kind", KINDS)
@each("before", [[], [b"\n\n"], [b": PROCESSING\n\n"], [b"\xef\xbb\xbf"]])
async def test_events_come_one_by_one_under_any_name(
    bridge: Bridge, kind: str, before: list[bytes]
) -> None:
    heard = asyncio.Event()

    async def held() -> None:
        await heard.wait()

    begun = opening() + message("Hel", "lo")[:-300]
    async with Relayed(bridge, pieces(kind, *before, begun[:1], begun[1:], then=held)) as (one, _):
        await create(one, "hi")
        await until(one, "response.output_text.delta")  # which comes while the answer goes on
        heard.set()
        assert (await until(one))[-1]["type"] == "response.failed"


async def test_an_answer_that_is_compressed_well_is_read_to_its_end(bridge: Bridge) -> None:
    words = ["word " * 1000] * 40
    whole = opening() + message(*words) + b" " * 2**24 + b"\n" + completed()
    events = await answered(
        bridge, pieces("text/event-stream", gzip.compress(whole), encoding="gzip")
    )
    assert prose(events) == "".join(words)


@each("encoding", ["br", "zstd", "gzip", "deflate"])
async def test_a_compression_that_cannot_be_read_is_named(bridge: Bridge, encoding: str) -> None:
    plain = pieces("text/event-stream", opening() + completed(), encoding=encoding)
    refused = (await answered(bridge, plain))[-1]
    assert "in a compression that duetto did not ask for" in refused["error"]["message"]


async def test_an_error_between_events_is_heard(bridge: Bridge) -> None:
    told = pieces("text/event-stream", opening(), OWES, b"\n\n")
    refused = (await answered(bridge, told))[-1]
    assert (refused["type"], refused["error"]["code"]) == ("error", "insufficient_quota")


@each("drips", [False, True])
async def test_a_refusal_is_told_though_its_body_never_ends(
    bridge: Bridge, monkeypatch: pytest.MonkeyPatch, drips: bool
) -> None:
    async def rest() -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(http_endpoint, "_REFUSAL_S", 0.2)
    drops = [b" "] * 200 if drips else []
    told = pieces("application/json", OWES, *drops, status=402, then=rest)
    async with asyncio.timeout(60):
        refused = (await answered(bridge, told))[-1]
    assert (refused["status"], refused["error"]["message"]) == (402, "No credit left.")


@each("kind", KINDS[:3])
@each(
    "said, words",
    [
        ([b"Internal Server Error: CUDA out of memory"], "CUDA out of memory"),
        ([b"no healthy", b" upstream\n"], "no healthy upstream"),
        ([b"error: the model crashed\n"], "the model crashed"),
        ([opening(), b"upstream request timeout"], "upstream request timeout"),
        ([OWES], "No credit left."),
        ([OWES[:9], OWES[9:] + b"\n"], "No credit left."),
    ],
)
async def test_an_error_behind_which_the_line_is_kept_is_told_soon(
    bridge: Bridge, monkeypatch: pytest.MonkeyPatch, kind: str, said: list[bytes], words: str
) -> None:
    monkeypatch.setattr(http_endpoint, "_REFUSAL_S", 0.1)
    monkeypatch.setattr(http_endpoint, "_NEXT_LINE_S", 0.1)
    async with asyncio.timeout(60):
        last = (await answered(bridge, pieces(kind, *said, then=asyncio.Event().wait)))[-1]
    assert last["type"] in ("error", "response.failed")
    assert words in str(last)


@each("kind", ["application/json", "text/plain", "application/x-ndjson"])
async def test_events_of_one_line_each_are_read_as_they_come(bridge: Bridge, kind: str) -> None:
    def lines(events: bytes) -> bytes:
        found = (one.removeprefix(b"data: ") for one in events.split(b"\n"))
        return b"".join(one + b"\n" for one in found if one.startswith(b"{"))

    heard = asyncio.Event()
    begun, rest = lines(opening()), lines(message("Hel", "lo") + completed())
    at = rest.index(b"\n", rest.index(b"delta")) + 1

    async def held() -> None:
        await heard.wait()

    told = pieces(kind, begun[:30], begun[30:], rest[:at], then=held)
    async with Relayed(bridge, told) as (one, _):
        await create(one, "hi")
        await until(one, "response.output_text.delta")
        heard.set()
        assert (await until(one))[-1]["type"] == "response.failed"
    events = await answered(bridge, pieces(kind, begun + rest))
    assert (prose(events), events[-1]["type"]) == ("Hello", "response.completed")


@each("sign", [b": PROCESSING\n\n", b'data: {"type": "ping"}\n\n', b"\n"])
async def test_signs_of_life_are_no_answer(
    bridge: Bridge, monkeypatch: pytest.MonkeyPatch, sign: bytes
) -> None:
    monkeypatch.setattr(http_endpoint, "MOST_WAIT_S", 0.3)
    async with asyncio.timeout(60):
        failed: dict[str, Any] = (
            await answered(bridge, pieces("text/event-stream", *[sign] * 400))
        )[-1]
    assert (failed["type"], failed["status"]) == ("error", 502)
    assert "signs of life" in failed["error"]["message"]


NOW_S = 1_795_000_000.0


@pytest.mark.parametrize(
    ("headers", "pause"),
    [
        ({"Retry-After": "7", "x-ratelimit-remaining-requests": "0"}, 7),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"}, 360),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "20ms"}, 0.02),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1h2m3.5s"}, 3723.5),
        ({"x-ratelimit-remaining-tokens": "9", "x-ratelimit-reset-tokens": "6m0s"}, None),
        (
            {
                "x-ratelimit-remaining-requests-day": "0",
                "x-ratelimit-reset-requests-day": "33011.4",
                "x-ratelimit-remaining-tokens-minute": "0",
                "x-ratelimit-reset-tokens-minute": "11.4",
            },
            33011.4,
        ),
        (
            {
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-requests-reset": "2026-11-18T11:06:50Z",
            },
            10,
        ),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1795000005000"}, 5),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1795000005"}, 5),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1"}, 1),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "soon"}, None),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" * 400}, None),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": ""}, None),
        ({"x-ratelimit-remaining": "0"}, None),
        ({}, None),
    ],
)
def test_pauses(headers: dict[str, str], pause: float | None) -> None:
    found = pause_s(headers, NOW_S)
    assert found == (None if pause is None else pytest.approx(pause))


@pytest.mark.parametrize(
    ("reset", "told"),
    [
        ("6m0s", "360"),
        ("20ms", "0.02"),
        ("11.4", "11.4"),
        ("1795000005", "5"),
        ("2026-11-18T11:06:50Z", "10"),
        ("soon", "soon"),
    ],
)
def test_when_a_limit_is_lifted_is_told_in_seconds(reset: str, told: str) -> None:
    name = "anthropic-ratelimit-tokens-reset"
    assert json.loads(left({name: reset}, NOW_S)) == {name: told}
