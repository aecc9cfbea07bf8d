"""Where messages are asked for, and which key and version travel there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.rehearsed import user
from tests.support.tables import each
from tui.bridge.endpoints.anthropic.endpoint import AnthropicLanguage
from tui.bridge.endpoints.base import Asked, EndpointSpec, Refused, Target
from tui.bridge.targets import target
from tui.core.wire.address import Address

KEY = "sk-ant-very-secret-0123456789"


def sent(url: str, **spec: Any) -> tuple[str, dict[str, str]]:
    there: Target = target("a", EndpointSpec("anthropic", url, **spec), KEY)
    address, body = AnthropicLanguage().request(Asked("claude-x", {}, [user("hi")]), there)
    assert KEY not in body.decode()
    assert KEY not in repr(address) + repr(there)
    assert json.loads(body)["stream"] is True
    return address.url, {name.lower(): value for name, value in address.headers.items()}


@each(
    "url, asked",
    [
        ("https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/v1", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/v1/messages/", "https://api.anthropic.com/v1/messages"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/messages"),
        ("https://api.deepseek.com/anthropic", "https://api.deepseek.com/anthropic/v1/messages"),
        ("http://127.0.0.1:8080/v1?x=1", "http://127.0.0.1:8080/v1/messages?x=1"),
    ],
)
def test_the_base_may_end_anywhere(url: str, asked: str) -> None:
    assert sent(url)[0] == asked


def test_version_and_betas_are_the_endpoints() -> None:
    url = "https://api.anthropic.com/v1"
    assert sent(url, options={"version": "2026-10-21"})[1]["anthropic-version"] == "2026-10-21"
    headers = {"Anthropic-Version": "2026-10-21", "anthropic-beta": "one, two"}
    _, told = sent(url, headers=headers, options={"betas": ["two", "three"]})
    assert told["anthropic-version"] == "2026-10-21"
    assert told["anthropic-beta"] == "one,two,three"


def test_a_key_does_not_travel_in_clear_text() -> None:
    plain = Address("http://example.org/v1", {"x-api-key": KEY})
    there = Target("a", EndpointSpec("anthropic", plain.url), plain)
    with pytest.raises(Refused, match="clear text") as caught:
        AnthropicLanguage().request(Asked("claude-x", {}, [user("hi")]), there)
    assert KEY not in str(caught.value)


@each(
    "options, words",
    [
        ({"thinking": "much"}, "thinking"),
        ({"betas": "one"}, "betas"),
        ({"budgets": {"low": "few"}}, "budgets"),
        ({"cache": "yes"}, "cache"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(Refused, match=words) as caught:
        sent("https://api.anthropic.com", options=options)
    assert caught.value.code == "invalid_option"
    assert "'a'" in str(caught.value)
