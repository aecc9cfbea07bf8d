from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any
from unittest.mock import Mock

import pytest
from aiohttp import web
from websockets.asyncio.client import ClientConnection, connect

from tests.bridge.providers.conftest import ModelServer
from tests.support.tables import each
from tui.bridge.endpoints.base import Asked, EndpointSpec, ModelFacts, Target
from tui.bridge.providers.catalogue import EndpointModels, known_models, listing, near
from tui.bridge.providers.discovery import Fetched
from tui.bridge.routing import Endpoints
from tui.bridge.server import Bridge
from tui.core.wire.address import Address

GROQ = {
    "id": "groq/llama-3.3-70b",
    "object": "model",
    "created": 0,
    "owned_by": "groq",
    "context_window": 131072,
}
HOUSE = {
    "id": "house/known",
    "object": "model",
    "created": 0,
    "owned_by": "house",
    "input_modalities": ["text"],
}


@pytest.fixture
async def endpoints(server: ModelServer) -> AsyncIterator[Endpoints]:
    server.answers["/v1/models"] = {"data": [{"id": "llama-3.3-70b", "context_window": 131072}]}
    models = {"known": ModelFacts(images=False)}
    patterns = {"known*": ModelFacts(), "*": ModelFacts()}
    broken = EndpointSpec(
        "openai-chat", f"{server.url}/broken/v1", models=models, known_models=patterns
    )
    made = Endpoints()
    made.targets |= {
        "groq": server.target(),
        "house": Target("house", broken, Address(broken.url)),
        "odd": Target("odd", EndpointSpec("no such kind", "x"), Address("x")),
    }
    yield made
    await made.close()


async def test_all_models_in_one_list_whatever_fails(endpoints: Endpoints) -> None:
    assert known_models(endpoints) == ["house/known"]
    assert await listing(endpoints) == [GROQ, HOUSE]
    assert known_models(endpoints) == ["groq/llama-3.3-70b", "house/known"]


KNOWN = ["groq/llama-3.3-70b", "groq/openai/gpt-oss-120b", "anthropic/claude-opus-5", "a/b"]


@each(
    "wrong, meant",
    [
        ("groq/llama-3.3-7b", "; did you mean groq/llama-3.3-70b?"),
        ("llama", "; did you mean groq/llama-3.3-70b?"),
        ("gpt-oss-120", "; did you mean groq/openai/gpt-oss-120b?"),
        ("claude-opus-4", "; did you mean anthropic/claude-opus-5?"),
        ("CLAUDE-OPUS-5", "; did you mean anthropic/claude-opus-5?"),
        ("zzzz", ""),
        ("", ""),
    ],
)
def test_a_name_that_is_not_known_is_answered_with_those_near_it(wrong: str, meant: str) -> None:
    assert near(wrong, KNOWN) == meant


def test_of_many_near_ones_three_are_named() -> None:
    assert near("model-", [f"model-{number}" for number in range(9)]).count("model-") == 3


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
    async with asyncio.timeout(60):
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
        async with asyncio.timeout(60):
            while not target.discovered:
                await asyncio.sleep(0.01)
        event = await answered(client, "m")
    assert event["response"]["metadata"]["duetto_context_window"] == "131072"
    assert server.asked.count("GET /v1/models") == 1


async def test_closing_waits_for_no_server_that_is_being_asked() -> None:
    asked = asyncio.Event()

    class Silent:
        async def fetch(self, address: Address, body: bytes | None, most_bytes: int) -> Fetched:
            asked.set()
            await asyncio.Event().wait()
            raise AssertionError

    spec = EndpointSpec("openai-chat", "http://here/v1", provider="groq")
    models = EndpointModels(Target("here", spec, Address(spec.url)), Silent())
    await models.prepared(Asked("m", {}, []), Mock())
    async with asyncio.timeout(60):
        await asked.wait()
        await models.close()


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
