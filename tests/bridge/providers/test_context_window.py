from __future__ import annotations

import json
from typing import Any

import pytest

from tests.bridge.providers.conftest import ModelServer, PlainFetcher
from tests.support.rehearsed import READ, user
from tests.support.tables import each
from tui.bridge.endpoints.base import Asked, EndpointSpec, ModelFacts, Refused, Target
from tui.bridge.endpoints.openai_chat.endpoint import ChatLanguage
from tui.bridge.providers.context_window import (
    CHARS_PER_TOKEN,
    UNASKED,
    prepared,
    texts_of,
)
from tui.bridge.providers.discovery import Discovery, nearby
from tui.bridge.providers.provider_files import provider
from tui.core.wire.address import Address

SHOW = {
    "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960},
    "capabilities": ["completion", "tools"],
}


def said(chars: int, **request: Any) -> Asked:
    item = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "x" * chars}],
    }
    return Asked("qwen3", {"model": "qwen3", **request}, [item])


def ollama(server: ModelServer, **more: Any) -> EndpointSpec:
    return EndpointSpec(
        "openai-chat",
        f"{server.url}/v1",
        provider="ollama",
        options={"discovery": "ollama"},
        **more,
    )


@pytest.fixture
def discovery(server: ModelServer, fetcher: PlainFetcher) -> Discovery:
    return Discovery(server.target(ollama(server)), fetcher)


def show(server: ModelServer, parameters: str = "") -> None:
    server.answers["/api/show"] = {**SHOW, "parameters": parameters}


async def test_a_model_that_only_its_loading_tells_of_is_loaded(
    server: ModelServer, discovery: Discovery
) -> None:
    show(server)
    running: list[Any] = []
    server.answers["/api/ps"] = lambda request: {"models": running}

    def generate(request: Any) -> Any:
        running.append({"model": "qwen3:latest", "context_length": 16384})
        return {"done": True, "done_reason": "load"}

    server.answers["/api/generate"] = generate
    assert (await prepared(said(20_000), discovery)).facts.context_window == 16384
    assert server.asked.count("POST /api/generate") == 1
    # and then it is believed for a while
    before = len(server.asked)
    await prepared(said(20_000), discovery)
    assert len(server.asked) == before


async def test_a_window_is_never_larger_than_the_models(
    server: ModelServer, discovery: Discovery
) -> None:
    show(server, "num_ctx 131072")
    with pytest.raises(Refused) as caught:
        await prepared(said(200_000), discovery)
    assert "40,960" in str(caught.value)
    assert "that is all the model has" in str(caught.value)


async def test_a_server_that_says_nothing_gives_the_least(
    server: ModelServer, discovery: Discovery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OLLAMA_CONTEXT_LENGTH", raising=False)
    with pytest.raises(Refused, match="window of 4,096"):
        await prepared(said(40_000), discovery)
    assert (await prepared(said(12_000), discovery)).facts.context_window == 4096
    monkeypatch.setenv("OLLAMA_CONTEXT_LENGTH", "65536")
    assert (await prepared(said(40_000), discovery)).facts.context_window == 65536


def chars_of(tokens: int) -> int:
    """So many characters make a request of so many tokens."""
    return (tokens - texts_of(said(0)).likely) * CHARS_PER_TOKEN


async def test_a_server_that_is_gone_does_not_keep_the_request_from_saying_so(
    fetcher: PlainFetcher,
) -> None:
    class Gone:
        async def fetch(self, *_: Any) -> Any:
            from tui.bridge.endpoints.base import Broken

            raise Broken("127.0.0.1 cannot be reached: Connection refused.", unreached=True)

    spec = EndpointSpec(
        "openai-chat",
        "http://127.0.0.1:1/v1",
        models={"qwen3": ModelFacts(context_window=50_000)},
        options={"discovery": "ollama"},
    )
    discovery = Discovery(Target("x", spec, Address(spec.url)), Gone())
    assert (await prepared(said(20_000), discovery)).model == "qwen3"


@each("form", ["lmstudio", "llamacpp"])
async def test_other_local_servers_are_asked_for_what_is_loaded(
    server: ModelServer, fetcher: PlainFetcher, form: str
) -> None:
    server.answers["/v1/models"] = {"data": [{"id": "qwen3"}]}
    loaded = {"key": "qwen3", "loaded_instances": [{"config": {"context_length": 4096}}]}
    server.answers["/api/v1/models"] = {"models": [loaded]}
    server.answers["/props"] = {"default_generation_settings": {"n_ctx": 4096}}
    spec = EndpointSpec("openai-chat", f"{server.url}/v1", options={"discovery": form})
    discovery = Discovery(server.target(spec), fetcher)
    assert (await prepared(said(12_000), discovery)).facts.context_window == 4096
    with pytest.raises(Refused, match="has a context window of 4,096"):
        await prepared(said(40_000), discovery)


def hosted(**facts: Any) -> Discovery:
    spec = EndpointSpec(
        "openai-chat", "https://h.example/v1", models={"qwen3": ModelFacts(**facts)}
    )

    class Nobody:
        async def fetch(self, *_: Any) -> Any:
            raise AssertionError("nobody is asked")

    return Discovery(Target("h", spec, Address(spec.url)), Nobody())


async def test_of_others_only_what_surely_is_too_long_is_refused() -> None:
    close = await prepared(said(44_000), hosted(context_window=10_000))
    assert close.facts.context_window == 10_000
    with pytest.raises(
        Refused, match="about 25,000 tokens, but qwen3 has a context window of 10,000"
    ):
        await prepared(said(100_000), hosted(context_window=10_000))
    assert (await prepared(said(100_000), hosted())).request["model"] == "qwen3"


@each("listed", [True, False])
async def test_an_ollama_that_nobody_called_so_is_recognised(
    server: ModelServer, fetcher: PlainFetcher, listed: bool
) -> None:
    server.asked.clear()
    server.answers.clear()
    if listed:
        server.answers["/v1/models"] = {"data": [{"id": "qwen3:latest", "owned_by": "library"}]}
    server.answers["/api/ps"] = {"models": [{"name": "qwen3:latest", "context_length": 4096}]}
    discovery = Discovery(server.target(), fetcher)
    await prepared(said(chars_of(UNASKED)), discovery)
    assert server.asked == []
    with pytest.raises(Refused, match="Ollama gives qwen3 a window of 4,096"):
        await prepared(said(20_000), discovery)


async def test_a_server_that_is_none_is_asked_who_it_is_only_once(
    server: ModelServer, fetcher: PlainFetcher
) -> None:
    discovery = Discovery(server.target(), fetcher)
    for _ in range(3):
        await prepared(said(20_000), discovery)
    assert server.asked == ["GET /v1/models", "GET /api/ps"]


@each(
    "host, near",
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("10.1.2.3", True),
        ("192.168.1.9", True),
        ("gpu-box", True),
        ("gpu.local", True),
        ("api.example.com", False),
        ("8.8.8.8", False),
        ("2606:4700::1111", False),
    ],
)
def test_which_servers_are_nearby(host: str, near: bool) -> None:
    assert nearby(host) is near


def test_what_is_counted() -> None:
    assert texts_of(said(4000)).likely == 1000  # its role and kind are no text
    wide = Asked("m", {}, [{"role": "user", "content": "漢" * 1000}])
    assert texts_of(wide).likely == 1000
    image = {"type": "input_image", "image_url": "data:image/png;base64," + "A" * 1_000_000}
    assert texts_of(Asked("m", {}, [{"role": "user", "content": [image]}])).likely < 200
    sealed = {"type": "reasoning", "encrypted_content": "A" * 100_000, "summary": []}
    assert texts_of(Asked("m", {}, [sealed])).likely == 0
    tools = [{"type": "function", "name": "f", "description": "d" * 4000, "parameters": {}}]
    whole = Asked("m", {"instructions": "i" * 4000, "tools": tools}, [])
    assert 2000 <= texts_of(whole).likely < 2100


def asked_of(name: str, model: str, **request: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """Body and headers of a request."""
    spec = provider(name, None).spec({})
    target = Target(name, spec, Address(spec.url))
    asked = Asked(target.route(model), request, [user("hi")], target.facts(model))
    address, body = ChatLanguage(spec.options).request(asked, target)
    return json.loads(body), dict(address.headers)


@each(
    "name, model, field, header",
    [
        ("mistral", "codestral-latest", "prompt_cache_key", ""),
        ("fireworks", "gpt-oss-120b", "", "x-session-affinity"),
        ("openrouter", "openai/gpt-oss-120b", "session_id", ""),
        ("cerebras", "gpt-oss-120b", "", ""),
        ("groq", "openai/gpt-oss-120b", "", ""),
        ("gemini", "gemini-3.8-flash", "", ""),
        ("deepseek", "deepseek-flash", "", ""),
    ],
)
def test_the_name_of_the_conversation_goes_where_the_cache_looks_for_it(
    name: str, model: str, field: str, header: str
) -> None:
    body, headers = asked_of(name, model, prompt_cache_key="thread-7")
    assert [key for key, value in body.items() if value == "thread-7"] == [field] * bool(field)
    assert [key for key, value in headers.items() if value == "thread-7"] == [header] * bool(header)


def test_a_model_that_cannot_be_forced_to_call_is_not() -> None:
    told = {"tools": [READ], "tool_choice": "required"}
    assert "tool_choice" not in asked_of("openrouter", "anthropic/claude-opus-5.5", **told)[0]
    assert asked_of("openrouter", "openai/x", **told)[0]["tool_choice"] == "required"
    none = {"tools": [READ], "tool_choice": "none"}
    assert asked_of("openrouter", "anthropic/claude-opus-5.5", **none)[0]["tool_choice"] == "none"
