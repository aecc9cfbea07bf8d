"""What a request to each provider has because of what its file says."""

from __future__ import annotations

import json
from typing import Any

from tests.support.rehearsed import READ, user
from tests.support.tables import each
from tui.bridge.endpoints.base import Asked, Target
from tui.bridge.endpoints.openai_chat.endpoint import ChatLanguage
from tui.bridge.providers.provider_files import provider
from tui.core.wire.address import Address


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
