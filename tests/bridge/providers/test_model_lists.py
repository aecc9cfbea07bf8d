from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each
from tui.bridge.endpoints.base import ModelFacts
from tui.bridge.providers.model_lists import clue_in, models_in

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
