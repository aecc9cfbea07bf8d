"""One long message of an upstream keeps no other client waiting, whatever it holds."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import socketserver
import threading
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.bridge_client import create, event
from tests.support.loop_turns import short_turns
from tests.support.relayed import Relayed
from tests.support.sse_upstream import (
    completed,
    message,
    message_item,
    opening,
    response_body,
    saying,
    serving,
    sse,
)
from tests.support.tables import each
from tui.bridge.endpoints.base import EndpointSpec
from tui.bridge.endpoints.openai_responses.stream import text_of
from tui.bridge.server import Bridge
from tui.bridge.targets import target

pytestmark = pytest.mark.slow

TEXT = "a line\n" * 1_500_000
"""10 MB, and 12 as JSON; what is made of it is made by the test that sends it."""
ERROR = {"code": "x", "message": TEXT}
AT = {"item_id": "msg_up", "output_index": 0, "content_index": 0}
ADDED = sse("response.output_item.added", output_index=0, item=message_item("") | {"content": []})


def call() -> str:
    return json.dumps({"path": TEXT})


def called() -> dict[str, Any]:
    return {"type": "function_call", "name": "f", "call_id": "c", "id": "i", "arguments": call()}


def keys() -> dict[str, list[int]]:
    return {f"k{number}": [] for number in range(24_000)}


def done(item: dict[str, Any]) -> bytes:
    return sse("response.output_item.done", output_index=0, item=item)


def delta(text: str) -> bytes:
    return ADDED + sse("response.output_text.delta", delta=text, **AT)


def chunk(**said: Any) -> bytes:
    choice = {"index": 0, "delta": said, "finish_reason": None}
    told = {"object": "chat.completion.chunk", "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(told).encode() + b"\n\n"


def block(kind: str, field: str, text: str, **begun: Any) -> bytes:
    named = {"text": "text_delta", "thinking": "thinking_delta", "partial_json": "input_json_delta"}
    return (
        sse("message_start", message={"model": "m", "content": []})
        + sse("content_block_start", index=0, content_block={"type": kind, **begun})
        + sse("content_block_delta", index=0, delta={"type": named[field], field: text})
        + sse("content_block_stop", index=0)
        + sse("message_delta", delta={"stop_reason": "end_turn"})
        + sse("message_stop")
    )


Answers = dict[str, Callable[[], bytes]]
REST = done(message_item("it")) + completed()
RESPONSES: Answers = {
    "text": lambda: delta(TEXT) + done(message_item(TEXT)) + completed(),
    "a text of line ends": lambda: delta("\n" * 7_000_000) + REST,
    "half a character": lambda: delta("\n" * 2_000_000 + "\ud800") + REST,
    "an item that came at once": lambda: done(message_item(TEXT)) + completed(),
    "a response that came at once": lambda: completed(output=[message_item(TEXT)]),
    "arguments of a call": lambda: done(called()) + completed(),
    "an unknown event": lambda: sse("x", said=TEXT) + completed(),
    "very many keys": lambda: sse("x", said=keys()) + completed(),
    "very many texts and half a character": lambda: sse("x", said=["x"] * 45_000 + ["\ud800"]),
    "an error": lambda: sse("error", error=ERROR),
    "a failure": lambda: sse("response.failed", response=response_body("failed", error=ERROR)),
    "no JSON": lambda: opening() + b"data: " + b"x" * 10_000_000 + b"\n\n" + completed(),
}
CHAT: Answers = {
    "text": lambda: chunk(content=TEXT),
    "thoughts": lambda: chunk(reasoning_content=TEXT),
    "thoughts between tags": lambda: chunk(content=f"<think>{TEXT}</think>{TEXT[:100]}"),
    "arguments of a call": lambda: chunk(
        tool_calls=[{"index": 0, "id": "a", "function": called()}]
    ),
    "what says nothing": lambda: b"data: " + json.dumps({"said": TEXT}).encode() + b"\n\n",
}
MESSAGES: Answers = {
    "text": lambda: block("text", "text", TEXT),
    "thoughts": lambda: block("thinking", "thinking", TEXT, thinking="", signature="s"),
    "arguments of a call": lambda: block("tool_use", "partial_json", call(), id="t", name="f"),
    "what says nothing": lambda: sse("x", said=TEXT),
}
KINDS = {"openai-responses": RESPONSES, "openai-chat": CHAT, "anthropic": MESSAGES}
ROWS = [(kind, name) for kind, answers in KINDS.items() for name in answers]


class Upstream(socketserver.StreamRequestHandler):
    """One connection, which gets one answer; the first answer of all says nothing."""

    answers: list[bytes]

    def handle(self) -> None:
        said, length = b"HTTP/1.1 404 Not Found\r\n", 0
        for line in iter(self.rfile.readline, b"\r\n"):
            if line.startswith(b"POST "):
                said = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        body = b""
        if self.rfile.read(length):
            body = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        with contextlib.suppress(OSError):
            self.wfile.write(said + b"Connection: close\r\n\r\n" + body)


@contextlib.contextmanager
def upstream(answer: bytes) -> Iterator[int]:
    """A server in threads of its own; its port."""
    kind = type("Given", (Upstream,), {"answers": [b"data: {}\n\n", answer]})
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), kind) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def calls() -> list[dict[str, str]]:
    return [
        item
        for number in range(6_000)
        for item in (
            {"type": "function_call", "name": "f", "call_id": f"c{number}", "arguments": "{}"},
            {"type": "function_call_output", "call_id": f"c{number}", "output": "x"},
        )
    ]


ASKED: dict[str, Callable[[], dict[str, Any]]] = {
    "text": lambda: {"input": TEXT},
    "very many items": lambda: {"input": [{"role": "user", "content": "x"}] * 19_000},
    "very many calls": lambda: {"input": calls()},
    "very many tools": lambda: {
        "tools": [{"type": "function", "name": f"f{number}"} for number in range(15_000)]
    },
}
SHORT = {
    "openai-responses": opening() + message("it") + completed(),
    "openai-chat": chunk(content="it") + b"data: [DONE]\n\n",
    "anthropic": block("text", "text", "it"),
}
"""Answers that count no tokens."""


def asked(port: int, path: str, stream: bool = True, **more: Any) -> bytes:
    """The answer to a request, in whatever thread this is called."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    body = json.dumps({"model": "m", "input": "hi", "stream": stream, **more})
    headers = {"Authorization": "Bearer the-token", "Content-Type": "application/json"}
    connection.request("POST", path, body, headers)
    return connection.getresponse().read()


@each("kind, name", ROWS)
async def test_no_turn_takes_long(bridge: Bridge, kind: str, name: str) -> None:
    await relay_in_short_turns(bridge, kind, KINDS[kind][name]())


@each("kind, name", [(kind, name) for kind in KINDS for name in ASKED])
async def test_no_turn_takes_long_that_asks(bridge: Bridge, kind: str, name: str) -> None:
    await relay_in_short_turns(bridge, kind, SHORT[kind], **ASKED[name]())


async def relay_in_short_turns(bridge: Bridge, kind: str, answer: bytes, **request: Any) -> None:
    with upstream(answer) as port:
        url = f"http://127.0.0.1:{port}/v1"
        bridge.endpoints.targets["up"] = target("up", EndpointSpec(kind, url), "k")
        path = urlsplit(bridge.url_of("up")).path
        await asyncio.to_thread(asked, bridge.port, path)  # what is done once is done
        async with short_turns() as again:
            while again():
                said = await asyncio.to_thread(asked, bridge.port, path, **request)
                assert b"response.completed" in said or not request


@each("stream", [True, False])
async def test_a_long_answer_comes_whole(bridge: Bridge, stream: bool) -> None:
    said = opening() + message(TEXT) + completed()
    async with serving(saying(said, 2**18)) as upstream:
        bridge.endpoints.targets["up"] = upstream.target
        path = urlsplit(bridge.url_of("up")).path
        answer = await asyncio.to_thread(asked, bridge.port, path, stream)
    events = [json.loads(line[6:]) for line in answer.splitlines() if line.startswith(b"data: ")]
    numbers = [event["sequence_number"] for event in events]
    assert numbers == sorted(numbers)
    response = events[-1]["response"] if stream else json.loads(answer)
    assert text_of(response["output"][0]) == TEXT
    assert response["status"] == "completed"


async def test_another_stream_of_the_socket_is_between_the_events_of_a_long_answer(
    bridge: Bridge,
) -> None:
    said = opening() + message(TEXT) + completed()
    async with Relayed(bridge, saying(said, 2**18)) as (socket, _):
        await create(socket, "one", stream_id="a")
        await create(socket, "two", stream_id="b")
        ended: dict[str, Any] = {}
        while len(ended) < 2:
            told = await event(socket)
            if told["type"] == "response.completed":
                ended[told["stream_id"]] = text_of(told["response"]["output"][0])
    assert ended == {"a": TEXT, "b": TEXT}
