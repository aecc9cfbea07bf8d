"""What a provider is asked, field by field."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.chat_answers import asked, body, language, target
from tests.support.rehearsed import user
from tui.bridge.endpoints.base import ModelFacts, Refused
from tui.bridge.endpoints.openai_chat.language import chat_address
from tui.core.wire.address import Address

READ = {"type": "function", "name": "read", "description": "Reads.", "strict": True,
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}  # fmt: skip
PATCH = {"type": "custom", "name": "apply_patch", "description": "Edits."}
SCHEMA = {"type": "object", "properties": {"title": {"type": "string"}}}
HIGH = {"effort": "high"}


def of(request: dict[str, Any], facts: ModelFacts | None = None, **options: Any) -> dict[str, Any]:
    return body(asked(user("hi"), facts=facts, **request), **options)


def test_the_least_that_every_server_understands() -> None:
    assert of({}) == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [{"role": "user", "content": "hi"}],
    }


def test_what_both_languages_have() -> None:
    request = {"temperature": 0.5, "top_p": 0.9, "seed": 7, "stop": ["x"], "user": "u"}
    sent = of({**request, "store": True, "include": ["x"], "truncation": "auto", "metadata": {}})
    assert {key: sent[key] for key in request} == request
    assert not {"store", "include", "truncation", "metadata"} & set(sent)


def test_tools() -> None:
    sent = of({"tools": [READ, PATCH], "parallel_tool_calls": False})
    first, second = sent["tools"]
    assert first["type"] == second["type"] == "function"
    assert first["function"] == {
        "name": "read", "description": "Reads.", "parameters": READ["parameters"], "strict": True,
    }  # fmt: skip
    assert second["function"]["parameters"]["required"] == ["input"]
    assert sent["parallel_tool_calls"] is False
    assert "tool_choice" not in sent
    plain = of(
        {"tools": [READ], "parallel_tool_calls": True}, strict_tools=False, parallel_calls=False
    )
    assert "strict" not in plain["tools"][0]["function"]
    assert "parallel_tool_calls" not in plain


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("none", "none"),
        ("required", "required"),
        ({"type": "function", "name": "read"}, {"type": "function", "function": {"name": "read"}}),
        (
            {"type": "custom", "name": "apply_patch"},
            {"type": "function", "function": {"name": "apply_patch"}},
        ),
    ],
)
def test_tool_choice(choice: object, sent: object) -> None:
    assert of({"tools": [READ, PATCH], "tool_choice": choice})["tool_choice"] == sent


def test_no_choice_without_tools() -> None:
    assert "tool_choice" not in of({"tool_choice": "required", "tools": [{"type": "web_search"}]})


@pytest.mark.parametrize(
    ("effort", "facts", "options", "sent"),
    [
        ("high", None, {}, "high"),
        ("xhigh", None, {}, "high"),
        ("xhigh", None, {"efforts": {}}, "xhigh"),
        ("none", None, {}, None),
        ("none", ("none", "high"), {}, "none"),
        ("xhigh", ("low", "medium"), {}, "medium"),
        ("low", ("medium", "high"), {}, "medium"),
        ("high", (), {}, None),
        ("high", ("default",), {"efforts": {"high": "default"}}, "default"),
        ("high", None, {"effort": ""}, None),
        ("high", ("none", "default"), {}, "default"),
        ("none", ("none", "default"), {}, "none"),
        ("high", ("none",), {}, None),
    ],
)
def test_effort(
    effort: str, facts: tuple[str, ...] | None, options: dict[str, Any], sent: str | None
) -> None:
    request = {"reasoning": {"effort": effort, "summary": "auto"}}
    known = ModelFacts(efforts=facts)
    assert of(request, known, **options).get("reasoning_effort") == sent


def test_effort_elsewhere() -> None:
    assert of({"reasoning": HIGH}, effort="reasoning.effort")["reasoning"] == {"effort": "high"}
    off = {"thinking": {"type": "disabled"}}
    assert of({"reasoning": {"effort": "none"}}, effort_off=off)["thinking"] == off["thinking"]


@pytest.mark.parametrize(
    ("wanted", "facts", "sent"),
    [
        (100, {}, 100),
        (None, {"max_output_tokens": 50}, None),
        (100, {"max_output_tokens": 50}, 50),
        (None, {"max_output_tokens": 50, "ask_output_tokens": 40}, 40),
        (None, {}, None),
        ("many", {}, None),
    ],
)
def test_the_most_output_tokens(wanted: object, facts: dict[str, int], sent: int | None) -> None:
    request, known = {"max_output_tokens": wanted}, ModelFacts(**facts)
    assert of(request, known).get("max_tokens") == sent
    newer = of(request, known, max_tokens="max_completion_tokens")
    assert newer.get("max_completion_tokens") == sent
    assert "max_tokens" not in newer


@pytest.mark.parametrize(
    ("tier", "options", "sent"),
    [
        ("fast", {}, "priority"), ("flex", {}, "flex"), ("auto", {}, None), ("default", {}, None),
        ("fast", {"tiers": {"fast": "performance"}}, "performance"),
        ("fast", {"tier": False}, None),
    ],
)  # fmt: skip
def test_service_tiers(tier: str, options: dict[str, Any], sent: str | None) -> None:
    assert of({"service_tier": tier}, **options).get("service_tier") == sent


def test_structured_output() -> None:
    format_ = {"type": "json_schema", "name": "t", "schema": SCHEMA, "strict": True}
    request = {"text": {"format": format_}}
    assert of(request)["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "t", "schema": SCHEMA, "strict": True},
    }
    object_only = of(request, response_format="json_object")
    assert object_only["response_format"] == {"type": "json_object"}
    assert '"title"' in object_only["messages"][0]["content"]
    words = of(request, response_format="")
    assert "response_format" not in words
    assert '"title"' in words["messages"][0]["content"]
    assert of({"text": {"format": {"type": "json_object"}}})["response_format"] == {
        "type": "json_object"
    }
    assert "response_format" not in of({"text": {"format": {"type": "text"}}})


def test_the_cache_key_and_verbosity() -> None:
    request = {"prompt_cache_key": "thread", "text": {"verbosity": "low"}}
    assert not {"prompt_cache_key", "verbosity"} & set(of(request))
    sent = of(request, cache_key="prompt_cache_key", verbosity=True)
    assert (sent["prompt_cache_key"], sent["verbosity"]) == ("thread", "low")
    wanted, habits = asked(user("hi"), **request), {"cache_key_header": "x-grok-conv-id"}
    address, _ = language(**habits).request(wanted, target(**habits))
    assert address.headers["x-grok-conv-id"] == "thread"
    assert "thread" not in str(address)


def test_fields_of_the_providers_own() -> None:
    sent = of({"seed": 1}, omit=["seed", "stream_options"], body={"usage": {"include": True}})
    assert sent["usage"] == {"include": True}
    assert not {"seed", "stream_options"} & set(sent)


def test_an_option_that_is_none() -> None:
    with pytest.raises(Refused, match="option of this endpoint") as refused:
        of({}, system_role="boss")
    assert refused.value.code == "invalid_endpoint"


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://h.test/v1", "https://h.test/v1/chat/completions"),
        ("https://h.test/v1/", "https://h.test/v1/chat/completions"),
        ("https://h.test", "https://h.test/v1/chat/completions"),
        ("https://h.test/openai/v1?a=1", "https://h.test/openai/v1/chat/completions?a=1"),
        ("https://h.test/v1/chat/completions", "https://h.test/v1/chat/completions"),
        ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1/chat/completions"),
        ("https://h.test/v1beta/openai", "https://h.test/v1beta/openai/chat/completions"),
    ],
)
def test_addresses(base: str, url: str) -> None:
    assert chat_address(Address(base), "/chat/completions").url == url


def test_a_key_does_not_travel_in_clear_text() -> None:
    address = Address("http://h.test/v1", {"Authorization": "Bearer sk-very-secret-1"})
    with pytest.raises(Refused, match="clear text") as refused:
        chat_address(address, "/chat/completions")
    assert "sk-very" not in str(refused.value)
