from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from aiohttp import web
from websockets.asyncio.client import ClientConnection, connect

from tests.bridge.providers.conftest import ModelServer
from tests.support.tables import each
from tui.bridge.endpoints.base import EndpointSpec, Target
from tui.bridge.server import Bridge
from tui.core.wire.address import Address

CHUNKS = [
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hello."}}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}},
]


def hello(request: web.Request) -> tuple[Any, ...]:
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in CHUNKS) + "data: [DONE]\n\n"
    return (200, body, ("Content-Type", "text/event-stream"))


@pytest.fixture
async def bridge(server: ModelServer) -> AsyncIterator[Bridge]:
    server.answers["/v1/chat/completions"] = hello
    made = Bridge()
    await made.start()
    yield made
    await made.close()


def serve(bridge: Bridge, server: ModelServer, provider: str = "", **more: Any) -> None:
    spec = EndpointSpec("openai-chat", f"{server.url}/v1", provider=provider, **more)
    bridge.endpoints.targets["here"] = Target("here", spec, Address(spec.url))


def dialled(bridge: Bridge) -> connect:
    headers = {"Authorization": f"Bearer {bridge.token}"}
    return connect(bridge.url_of("here"), additional_headers=headers)


async def answered(client: ClientConnection, model: str, text: str = "hi") -> Mapping[str, Any]:
    """The terminal event, or the error, of one request."""
    create = {"type": "response.create", "model": model, "input": text}
    await client.send(json.dumps(create))
    async with asyncio.timeout(20):
        while True:
            event: dict[str, Any] = json.loads(await client.recv())
            if event["type"] in ("response.completed", "response.failed", "error"):
                return event


async def test_the_window_that_a_server_tells_is_told_to_the_client(
    bridge: Bridge, server: ModelServer
) -> None:
    server.answers["/v1/models"] = {"data": [{"id": "m", "context_window": 131072}]}
    serve(bridge, server, "groq")
    async with dialled(bridge) as client:
        await answered(client, "m")
        target = bridge.endpoints.targets["here"]
        async with asyncio.timeout(30):
            while not target.discovered:
                await asyncio.sleep(0.01)
        event = await answered(client, "m")
    assert event["response"]["metadata"]["duetto_context_window"] == "131072"
    assert server.asked.count("GET /v1/models") == 1


async def test_a_prompt_that_ollama_would_cut_is_not_sent(
    bridge: Bridge, server: ModelServer
) -> None:
    server.answers["/api/show"] = {
        "parameters": "num_ctx 4096",
        "model_info": {"general.architecture": "llama", "llama.context_length": 131072},
    }
    serve(bridge, server, "ollama", options={"discovery": "ollama"})
    async with dialled(bridge) as client:
        event = await answered(client, "llama3", "word " * 8000)
        assert event["type"] == "error"
        assert (event["status"], event["error"]["code"]) == (400, "context_length_exceeded")
        assert "window of 4,096 (num_ctx)" in event["error"]["message"]
        assert "OLLAMA_CONTEXT_LENGTH=" in event["error"]["message"]
        assert "POST /v1/chat/completions" not in server.asked
        # the connection goes on
        event = await answered(client, "llama3", "word " * 2000)
        assert event["type"] == "response.completed"
        assert event["response"]["metadata"]["duetto_context_window"] == "4096"


@each(
    "refusal",
    [
        (404, '{"error": {"message": "The model `llama-3.3-70` does not exist.", "code": "x"}}'),
        (404, '{"error": {"message": "not found", "code": "model_not_found"}}'),
        (400, '{"error": {"message": "llama-3.3-70 is not a valid model ID", "code": 400}}'),
        (400, '{"detail": "Unknown model llama-3.3-70"}'),
        (404, '{"error": {"message": "model \'llama-3.3-70\' not found, try pulling it first"}}'),
    ],
)
async def test_a_model_that_there_is_not_is_answered_with_those_near_it(
    bridge: Bridge, server: ModelServer, refusal: tuple[int, str]
) -> None:
    server.answers["/v1/chat/completions"] = (*refusal, ("Content-Type", "application/json"))
    server.answers["/v1/models"] = {"data": [{"id": "llama-3.3-70b"}, {"id": "gpt-oss"}]}
    serve(bridge, server)
    async with dialled(bridge) as client:
        event = await answered(client, "llama-3.3-70")
        assert event["type"] == "error"
        assert event["error"]["message"].endswith("; did you mean llama-3.3-70b?")
        server.answers["/v1/chat/completions"] = hello
        assert (await answered(client, "llama-3.3-70b"))["type"] == "response.completed"
