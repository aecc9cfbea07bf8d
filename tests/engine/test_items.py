"""The text of items in the shapes that servers give them."""

from __future__ import annotations

import json

import pytest

from tui.core.history import Item
from tui.engine.items import call_text, closed_json, hosted_header, message_text, with_text


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        ([{"type": "output_text", "text": "a"}, {"type": "refusal", "refusal": "b"}], "ab"),
        ([None, 5, {"text": 5}, {"text": None}], ""),
        (None, ""),
    ],
)
def test_messages(content: object, text: str) -> None:
    assert message_text({"type": "message", "content": content}) == text


def test_calls() -> None:
    assert call_text({"type": "custom_tool_call", "input": "patch"}) == "patch"
    assert call_text({"type": "function_call", "arguments": '{"a":1}'}) == '{"a":1}'
    assert json.loads(call_text({"type": "function_call", "arguments": {"a": 1}})) == {"a": 1}
    assert call_text({"type": "apply_patch_call", "operation": {"diff": "+x"}}) == "+x"
    assert call_text({"type": "function_call"}) == ""


@pytest.mark.parametrize(
    "item",
    [
        {"type": "custom_tool_call"},
        {"type": "function_call", "arguments": ""},
        {"type": "apply_patch_call", "operation": {"type": "update_file", "path": "a"}},
    ],
)
def test_a_call_takes_the_text_that_came(item: Item) -> None:
    assert call_text(with_text(item, "what came")) == "what came"


def test_the_envelope_of_a_hosted_call() -> None:
    call: Item = {"operation": {"type": "create_file", "path": "a.py"}}
    assert hosted_header(call) == "*** Begin Patch\n*** Add File: a.py\n"
    assert "*** Update File: " in hosted_header({})


def test_json_is_closed_where_it_can_be() -> None:
    assert closed_json('{"input":"a') == '{"input":"a"}'
    assert closed_json('{"input":"a\\') == ""
    assert closed_json("[" * 200_000) == ""
