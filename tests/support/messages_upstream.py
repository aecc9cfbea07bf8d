"""A server of the Messages API that says just what a test gives it, behind the bridge."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

from websockets.asyncio.client import connect

from tests.support.endpoint_kinds import NAME, Stand
from tests.support.endpoint_servers import (
    KEY,
    MODEL,
    HttpServer,
    Mark,
    Plan,
    Script,
    Status,
)
from tests.support.endpoint_servers_anthropic import Anthropic
from tui.bridge.endpoints.base import EndpointSpec, ModelFacts
from tui.bridge.server import Bridge
from tui.bridge.targets import target

USAGE = {"input_tokens": 5, "output_tokens": 1}


class Events(Script):
    """An answer, event by event; a mark holds or cuts the stream."""

    def __init__(self, *events: bytes | Mark, instead: Status | None = None) -> None:
        super().__init__(instead=instead)
        object.__setattr__(self, "events", list(events))


class Messages(Anthropic):
    """Says the events of an `Events` as they are."""

    def plan(self, script: Script) -> Plan:
        return list(script.events) if isinstance(script, Events) else super().plan(script)

    def error(self, status: Status) -> bytes:
        """With the status 200: a body as it is."""
        return status.message.encode() if status.status == 200 else super().error(status)


def event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def start(**fields: Any) -> bytes:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": []}
    message |= {"model": "served", "stop_reason": None, "stop_sequence": None, "usage": USAGE}
    return event("message_start", message={**message, **fields})


def block(index: int, began: dict[str, Any], *deltas: dict[str, Any]) -> bytes:
    told = event("content_block_start", index=index, content_block=began)
    for delta in deltas:
        told += event("content_block_delta", index=index, delta=delta)
    return told + event("content_block_stop", index=index)


def text(words: str, index: int = 0) -> bytes:
    return block(index, {"type": "text", "text": ""}, {"type": "text_delta", "text": words})


def thinking(words: str, signature: str, index: int = 0) -> bytes:
    deltas = [{"type": "thinking_delta", "thinking": words}] if words else []
    signed = {"type": "signature_delta", "signature": signature}
    began = {"type": "thinking", "thinking": "", "signature": ""}
    return block(index, began, *deltas, signed)


def call(name: str, *pieces: str, index: int = 0, call_id: str = "toolu_1") -> bytes:
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", *pieces)]
    return block(index, {"type": "tool_use", "id": call_id, "name": name, "input": {}}, *deltas)


def stop(reason: str | None = "end_turn", output: int = 7, **details: Any) -> bytes:
    delta = {"stop_reason": reason, "stop_sequence": None, **details}
    usage = {"output_tokens": output}
    return event("message_delta", delta=delta, usage=usage) + event("message_stop")


def bodies(stand: Stand) -> Sequence[dict[str, Any]]:
    """What the server was asked."""
    return [request.body for request in stand.server.requests]


@contextlib.asynccontextmanager
async def messages(model: ModelFacts | None = None, **spec: Any) -> AsyncIterator[Stand]:
    """The server, the bridge before it, and a client."""
    bridge = Bridge(token="the-token")
    async with HttpServer(Messages()).serving() as server:
        await bridge.start()
        facts = {MODEL: model} if model else {}
        told = EndpointSpec("anthropic", server.url, models=facts, **spec)
        bridge.endpoints.targets[NAME] = target(NAME, told, KEY)
        headers = {"Authorization": "Bearer the-token"}
        try:
            url = bridge.url_of(NAME)
            async with connect(
                url, additional_headers=headers, proxy=None, max_size=None
            ) as socket:
                yield Stand("anthropic", server, bridge, socket, told)
        finally:
            await bridge.close()
