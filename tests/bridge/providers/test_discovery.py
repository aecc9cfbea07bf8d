from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bridge.providers.conftest import ModelServer, PlainFetcher
from tests.support.tables import each
from tui.bridge.endpoints.base import Broken, EndpointSpec, ModelFacts, Refused, Target
from tui.bridge.providers.discovery import REFUSED_S, Discovery, Fetched, clue_in, models_in
from tui.core.wire.address import Address

LIST = {"data": [{"id": "m", "context_window": 8192}]}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_anthropics_list_has_pages_and_its_own_key_header(
    server: ModelServer, fetcher: PlainFetcher
) -> None:
    def page(request: Any) -> Any:
        if request.query.get("after_id") == "claude-a":
            return {"data": [{"id": "claude-b", "max_input_tokens": 5}], "has_more": False}
        return {"data": [{"id": "claude-a"}], "has_more": True, "last_id": "claude-a"}

    server.answers["/v1/models"] = page
    spec = EndpointSpec("anthropic", server.url)
    found = await Discovery(server.target(spec, Authorization="Bearer k"), fetcher).models()
    assert list(found) == ["claude-a", "claude-b"]
    assert found["claude-b"].context_window == 5
    assert {one["x-api-key"] for one in server.headers} == {"k"}
    assert all("anthropic-version" in one for one in server.headers)


async def test_a_server_that_pages_without_end_is_left(
    server: ModelServer, fetcher: PlainFetcher
) -> None:
    server.answers["/v1/models"] = {"data": [{"id": "a"}], "has_more": True, "last_id": "a"}
    spec = EndpointSpec("anthropic", server.url)
    assert list(await Discovery(server.target(spec), fetcher).models()) == ["a"]
    assert len(server.asked) < 10


async def test_lmstudio_is_asked_for_what_is_loaded(
    server: ModelServer, fetcher: PlainFetcher
) -> None:
    server.answers["/v1/models"] = {"data": [{"id": "m", "owned_by": "organization_owner"}]}
    server.answers["/api/v0/models"] = {
        "data": [{"id": "m", "type": "llm", "loaded_context_length": 4096}]
    }
    found = await Discovery(server.target(), fetcher).models()
    assert found == {"m": ModelFacts(context_window=4096, images=False)}
    assert "GET /api/v1/models" in server.asked


async def test_litellm_knows_its_models_windows(server: ModelServer, fetcher: PlainFetcher) -> None:
    server.answers["/v1/models"] = {"data": [{"id": "team", "owned_by": "openai"}]}
    info = {"model_name": "team", "model_info": {"max_input_tokens": 128000}}
    server.answers["/model/info"] = {"data": [info]}
    spec = EndpointSpec("openai-chat", f"{server.url}/v1", options={"discovery": "litellm"})
    found = await Discovery(server.target(spec), fetcher).models()
    assert found["team"].context_window == 128000


async def test_geminis_limits_are_in_its_own_list(
    server: ModelServer, fetcher: PlainFetcher
) -> None:
    server.answers["/v1beta/openai/models"] = {"data": [{"id": "models/gemini-3"}]}
    limits = {"name": "models/gemini-3", "inputTokenLimit": 1048576, "outputTokenLimit": 65536}
    server.answers["/v1beta/models"] = {"models": [limits]}
    url = f"{server.url}/v1beta/openai"
    spec = EndpointSpec("openai-chat", url, options={"discovery": "gemini"})
    found = await Discovery(server.target(spec, Authorization="Bearer k"), fetcher).models()
    assert found == {"gemini-3": ModelFacts(1048576, 65536)}
    assert server.headers[1]["x-goog-api-key"] == "k"


async def test_what_is_asked_beside_the_list_may_fail(
    server: ModelServer, fetcher: PlainFetcher
) -> None:
    server.answers["/v1/models"] = {"data": [{"id": "x", "owned_by": "llamacpp"}]}
    server.answers["/props"] = (501, "no")
    assert await Discovery(server.target(), fetcher).models() == {"x": ModelFacts()}


WRONG: list[tuple[Any, int, str]] = [
    ((401, '{"error": "no sk-secret-key"}'), 401, "refused the key: check HOUSE_KEY."),
    ((403, '{"error": "no such key"}'), 403, "refused the key"),
    ((403, '{"error": "not here"}'), 403, "says HTTP 403: not here"),
    ((403, '{"request_id": "r1"}'), 403, "answered HTTP 403: this is not about the key"),
    ((403, "<title>Corporate Proxy</title>"), 403, 'saying "Corporate Proxy": this is not about'),
    ((404, "404 page not found"), 404, "gives no list of its models (HTTP 404)"),
    ((500, "<html>"), 500, "gives no list of its models (HTTP 500)"),
    ((302, "", ("Location", "http://evil.example/v1/models")), 400, "redirects"),
    ((200, "<!doctype html><p>Welcome"), 502, "answered with a web page"),
    ((200, "hello"), 502, "something that is not JSON"),
    ((200, "[" * 100_000), 502, "something that is not JSON"),
    ((200, '{"data": [{"id": "\xff\ud800"'.encode("utf-8", "replace").decode()), 502, "not JSON"),
]


@each("answer, status, says", WRONG)
async def test_a_list_that_is_none_is_told_in_one_sentence(
    server: ModelServer, fetcher: PlainFetcher, answer: Any, status: int, says: str
) -> None:
    server.asked.clear()
    server.answers["/v1/models"] = answer
    spec = EndpointSpec("openai-chat", f"{server.url}/v1", key_env="HOUSE_KEY")
    clock = Clock()
    discovery = Discovery(server.target(spec, Authorization="Bearer sk-x"), fetcher, clock)
    for _ in range(2):
        with pytest.raises(Refused) as caught:
            await discovery.models()
        assert caught.value.status == status
        assert says in str(caught.value)
        assert "sk-" not in str(caught.value)
    assert len(server.asked) == 1  # one that fails is left alone for a while
    clock.now = REFUSED_S + 1
    server.answers["/v1/models"] = LIST
    assert list(await discovery.models()) == ["m"]


async def test_a_server_that_does_not_answer_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Silent:
        async def fetch(self, address: Address, body: bytes | None, most_bytes: int) -> Fetched:
            await asyncio.Event().wait()
            raise AssertionError

    monkeypatch.setattr("tui.bridge.providers.discovery.DEADLINE_S", 0.01)
    target = Target("x", EndpointSpec("k", "https://x.example/v1"), Address("https://x.example/v1"))
    with pytest.raises(Broken, match=r"x\.example did not answer within"):
        await Discovery(target, Silent()).models()


async def test_a_key_does_not_travel_in_clear_text(fetcher: PlainFetcher) -> None:
    url = "http://models.example/v1"
    headers = {"Authorization": "Bearer sk-secret"}
    target = Target("x", EndpointSpec("openai-chat", url), Address(url, headers))
    with pytest.raises(Refused, match="clear text"):
        Discovery(target, fetcher)


async def test_a_provider_without_a_list_is_not_asked(
    server: ModelServer, fetcher: PlainFetcher
) -> None:
    models = {"deployment": ModelFacts(context_window=5)}
    options = {"discovery": "none"}
    spec = EndpointSpec("openai-chat", f"{server.url}/v1", models=models, options=options)
    assert await Discovery(server.target(spec), fetcher).models() == models
    assert server.asked == []


async def test_names_that_clients_make_up_are_not_kept(
    server: ModelServer, fetcher: PlainFetcher
) -> None:
    server.answers["/api/ps"] = {"models": [{"name": "real", "context_length": 4096}]}
    options = {"discovery": "ollama"}
    target = server.target(EndpointSpec("openai-chat", f"{server.url}/v1", options=options))
    discovery = Discovery(target, fetcher)
    for number in range(300):
        assert await discovery.loaded(f"made-up-{number}") == ModelFacts()
    assert (await discovery.loaded("real")).context_window == 4096
    assert list(target.discovered) == ["real"]


FORMS: list[tuple[str, Any, dict[str, ModelFacts]]] = [
    (
        "OpenAI",
        {"object": "list", "data": [{"id": "gpt-6", "object": "model", "owned_by": "openai"}]},
        {"gpt-6": ModelFacts()},
    ),
    (
        "OpenRouter",
        {
            "data": [
                {
                    "id": "z-ai/glm-5",
                    "context_length": 200000,
                    "architecture": {"input_modalities": ["text"]},
                    "top_provider": {"context_length": 131072, "max_completion_tokens": 65536},
                    "supported_parameters": ["tools", "temperature"],
                },
                {
                    "id": "x/seeing",
                    "context_length": 32768,
                    "architecture": {"input_modalities": ["text", "image"]},
                    "top_provider": {"context_length": None, "max_completion_tokens": None},
                    "supported_parameters": ["reasoning", "tools"],
                },
            ]
        },
        {
            "z-ai/glm-5": ModelFacts(131072, 65536, images=False, efforts=()),
            "x/seeing": ModelFacts(32768, images=True),
        },
    ),
    (
        "Groq",
        {"data": [{"id": "m", "context_window": 131072, "max_completion_tokens": 65536}]},
        {"m": ModelFacts(131072, 65536)},
    ),
    ("vLLM", {"data": [{"id": "q", "max_model_len": 32768}]}, {"q": ModelFacts(32768)}),
    (
        "Mistral",
        {
            "data": [
                {
                    "id": "mistral-large",
                    "max_context_length": 262144,
                    "capabilities": {"completion_chat": True, "vision": True},
                },
                {
                    "id": "mistral-embed",
                    "max_context_length": 8192,
                    "capabilities": {"completion_chat": False},
                },
            ]
        },
        {"mistral-large": ModelFacts(262144, images=True)},
    ),
    (
        "Gemini",
        {
            "models": [
                {
                    "name": "models/gemini-3",
                    "inputTokenLimit": 1048576,
                    "outputTokenLimit": 65536,
                    "supportedGenerationMethods": ["generateContent"],
                },
                {
                    "name": "models/embedding-1",
                    "inputTokenLimit": 2048,
                    "supportedGenerationMethods": ["embedContent"],
                },
            ]
        },
        {"gemini-3": ModelFacts(1048576, 65536)},
    ),
    (
        "Anthropic",
        {
            "data": [
                {
                    "id": "claude-x",
                    "type": "model",
                    "max_input_tokens": 1000000,
                    "max_tokens": 128000,
                    "lifecycle": "active",
                    "capabilities": {
                        "image_input": {"supported": True},
                        "effort": {
                            "supported": True,
                            "low": {"supported": True},
                            "medium": {"supported": True},
                            "high": {"supported": True},
                            "xhigh": None,
                            "max": {"supported": False},
                        },
                    },
                },
                {"id": "claude-1", "lifecycle": "retired"},
            ]
        },
        {"claude-x": ModelFacts(1000000, 128000, images=True, efforts=("low", "medium", "high"))},
    ),
    (
        "Together: the list itself",
        [
            {"id": "a/chat", "type": "chat", "context_length": 8192},
            {"id": "a/picture", "type": "image", "context_length": 0},
        ],
        {"a/chat": ModelFacts(8192)},
    ),
    (
        "Fireworks",
        {"data": [{"id": "f", "context_length": 65536, "supports_image_input": False}]},
        {"f": ModelFacts(65536, images=False)},
    ),
    (
        "LM Studio until 0.3: what is loaded is what counts",
        {
            "data": [
                {
                    "id": "vl",
                    "type": "vlm",
                    "state": "loaded",
                    "max_context_length": 32768,
                    "loaded_context_length": 4096,
                },
                {"id": "text", "type": "llm", "max_context_length": 131072},
                {"id": "emb", "type": "embeddings", "max_context_length": 2048},
            ]
        },
        {"vl": ModelFacts(4096, images=True), "text": ModelFacts(131072, images=False)},
    ),
    (
        "LM Studio since 0.4",
        {
            "models": [
                {
                    "key": "own/m",
                    "type": "llm",
                    "max_context_length": 131072,
                    "capabilities": {"vision": False},
                    "loaded_instances": [
                        {"id": "m", "config": {"context_length": 8192}},
                        {"id": "m:2", "config": {"context_length": 4096}},
                    ],
                }
            ]
        },
        {"own/m": ModelFacts(4096, images=False)},
    ),
    (
        "llama.cpp: both forms at once",
        {
            "models": [{"name": "x.gguf", "capabilities": ["completion"]}],
            "data": [{"id": "x.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 40960}}],
        },
        {"x.gguf": ModelFacts(40960)},
    ),
    (
        "Ollama's own list",
        {"models": [{"name": "qwen3:8b", "model": "qwen3:8b", "size": 5}]},
        {"qwen3:8b": ModelFacts()},
    ),
    (
        "LiteLLM's own list",
        {
            "data": [
                {
                    "model_name": "team",
                    "litellm_params": {},
                    "model_info": {
                        "max_input_tokens": 128000,
                        "max_output_tokens": 16384,
                        "supports_vision": False,
                    },
                }
            ]
        },
        {"team": ModelFacts(128000, 16384, images=False)},
    ),
    ("names alone", {"data": ["a", "b"]}, {"a": ModelFacts(), "b": ModelFacts()}),
]


@each("form, body, found", FORMS)
def test_lists_in_the_forms_that_servers_give(
    form: str, body: Any, found: dict[str, ModelFacts]
) -> None:
    assert models_in(body) == found


@each(
    "body",
    [
        None,
        "models",
        [],
        {},
        {"data": None},
        {"data": {"id": "x"}},
        {"data": [None, 3, [], {"id": None}, {"id": ""}, {"id": "a" * 300}, {"id": "a\nb"}]},
    ],
)
def test_what_is_no_list_names_no_models(body: object) -> None:
    assert models_in(body) == {}


@each(
    "owner, clue",
    [
        ("llamacpp", "llamacpp"),
        ("library", "ollama"),
        ("organization_owner", "lmstudio"),
        ("x", ""),
    ],
)
def test_who_gave_the_list(owner: str, clue: str) -> None:
    assert clue_in({"data": [{"id": "m", "owned_by": owner}]}) == clue


_KEYS = st.sampled_from(
    [
        "id",
        "name",
        "data",
        "models",
        "type",
        "capabilities",
        "effort",
        "supported",
        "architecture",
        "input_modalities",
        "meta",
        "context_length",
        "loaded_instances",
        "config",
        "top_provider",
        "model_info",
        "supported_parameters",
    ]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=6),
    max_leaves=20,
)


@given(json_values)
def test_no_answer_whatever_breaks_the_reader(body: object) -> None:
    for name, facts in models_in(body).items():
        assert name
        assert facts.context_window is None or facts.context_window > 0
    clue_in(body)
