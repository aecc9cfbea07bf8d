"""What a provider is asked, field by field."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.chat_answers import asked, body, language, target
from tests.support.rehearsed import user
from tests.support.tables import each
from tui.bridge.endpoints.base import ModelFacts, Refused
from tui.bridge.endpoints.openai_chat.endpoint import chat_address
from tui.core.wire.address import Address

SCHEMA = {"type": "object", "properties": {"title": {"type": "string"}}}
HIGH = {"effort": "high"}


def of(request: dict[str, Any], facts: ModelFacts | None = None, **options: Any) -> dict[str, Any]:
    return body(asked(user("hi"), facts=facts, **request), **options)


@each(
    "effort, facts, options, sent",
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
        ("max", ("low", "high", "xhigh"), {}, "xhigh"),
        ("medium", ("none", "high"), {"efforts": {"medium": "high"}}, "high"),
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


def test_an_option_that_is_none() -> None:
    with pytest.raises(Refused, match="system_role") as refused:
        of({}, system_role="boss")
    assert str(refused.value).startswith("The option 'system_role' of this endpoint: ")
    assert refused.value.code == "invalid_endpoint"


@each(
    "base, url",
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
