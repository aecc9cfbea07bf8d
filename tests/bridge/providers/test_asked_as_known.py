"""What a request to each provider has because of what its file says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.rehearsed import READ, user
from tui.bridge.endpoints.base import Asked, Target
from tui.bridge.endpoints.openai_chat.counting import usage_in
from tui.bridge.endpoints.openai_chat.language import ChatLanguage
from tui.bridge.providers.facts import provider
from tui.core.wire.address import Address


def asked_of(name: str, model: str, **request: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """Body and headers of a request."""
    spec = provider(name, None).spec({})
    target = Target(name, spec, Address(spec.url))
    asked = Asked(target.route(model), request, [user("hi")], target.facts(model))
    address, body = ChatLanguage(spec.options).request(asked, target)
    return json.loads(body), dict(address.headers)


@pytest.mark.parametrize(
    ("name", "model", "field", "header"),
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


@pytest.mark.parametrize(
    ("name", "model", "asks"),
    [
        ("openrouter", "anthropic/claude-opus-5.5", True),
        ("openrouter", "anthropic/claude-haiku-5.5", True),
        ("openrouter", "openai/gpt-oss-120b", False),
        ("litellm", "bedrock/claude-opus-5-5", True),
        ("litellm", "gpt-6-luna", False),
    ],
)
def test_a_claude_behind_a_router_is_asked_to_keep_the_prompt(
    name: str, model: str, asks: bool
) -> None:
    body, _ = asked_of(name, model)
    assert body.get("cache_control") == ({"type": "ephemeral"} if asks else None)


@pytest.mark.parametrize(
    ("name", "model", "said"),
    [
        ("ollama", "qwen3:8b", {"reasoning_effort": "none"}),
        ("cerebras", "qwen-3.8-27b", {"reasoning_effort": "none"}),
        ("cerebras", "a-model-of-tomorrow", {"reasoning_effort": "none"}),
        ("cerebras", "gpt-oss-120b", {"reasoning_effort": "low"}),
        ("groq", "qwen/qwen3-32b", {"reasoning_effort": "none"}),
        ("groq", "openai/gpt-oss-120b", {"reasoning_effort": "low"}),
        ("mistral", "mistral-medium-3-5", {"reasoning_effort": "none"}),
        ("mistral", "magistral-medium-latest", {}),
        ("fireworks", "glm-5", {"reasoning_effort": "none"}),
        ("deepseek", "deepseek-flash", {"thinking": {"type": "disabled"}}),
        ("openrouter", "x/y", {"reasoning": {"enabled": False}}),
        ("gemini", "gemini-3.8-flash", {"reasoning_effort": "low"}),
        ("openrouter", "anthropic/claude-opus-5.5", {"reasoning": {"effort": "low"}}),
        ("vllm", "served", {"chat_template_kwargs": {"enable_thinking": False}}),
        ("llamacpp", "m", {"chat_template_kwargs": {"enable_thinking": False}}),
        ("sambanova", "m", {}),
    ],
)
def test_no_thinking_is_said_where_silence_means_thinking(
    name: str, model: str, said: dict[str, Any]
) -> None:
    body, _ = asked_of(name, model, reasoning={"effort": "none"})
    words = ("reasoning_effort", "reasoning", "thinking", "chat_template_kwargs")
    assert {key: body[key] for key in words if key in body} == said


def test_a_model_that_cannot_be_forced_to_call_is_not() -> None:
    told = {"tools": [READ], "tool_choice": "required"}
    assert "tool_choice" not in asked_of("openrouter", "anthropic/claude-opus-5.5", **told)[0]
    assert asked_of("openrouter", "openai/x", **told)[0]["tool_choice"] == "required"
    none = {"tools": [READ], "tool_choice": "none"}
    assert asked_of("openrouter", "anthropic/claude-opus-5.5", **none)[0]["tool_choice"] == "none"


@pytest.mark.parametrize(
    "told",
    [
        {"prompt_tokens_details": {"cached_tokens": 70}},
        {"input_tokens_details": {"cached_tokens": 70}},
        {"prompt_cache_hit_tokens": 70, "prompt_cache_miss_tokens": 30},
        {"num_cached_tokens": 70},
        {"cached_tokens": 70},
        {"cache_read_input_tokens": 70},
        {"prompt_tokens_details": None, "num_cached_tokens": 70},
    ],
)
def test_what_was_found_in_a_cache_is_seen_in_every_dialect(told: dict[str, Any]) -> None:
    usage = usage_in({"usage": {"prompt_tokens": 100, "completion_tokens": 5, **told}})
    assert usage is not None
    assert (usage.input_tokens, usage.cached_tokens) == (100, 70)
