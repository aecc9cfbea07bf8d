"""Tools for providers that know functions only, and the way back."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest

from tui.bridge.endpoints.base import Refused
from tui.bridge.endpoints.tools import ANY_NAME, Choice, Toolbox

GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": 'start: "x"+'}
PATCH = {"type": "custom", "name": "apply_patch", "description": "Edits.", "format": GRAMMAR}
READ = {"type": "function", "name": "read", "parameters": {"type": "object", "properties": {}}}


def box(*tools: dict[str, Any], items: list[dict[str, Any]] | None = None, **more: Any) -> Toolbox:
    return Toolbox({"tools": list(tools)}, items or [], **more)


def test_a_custom_tool_is_a_function_with_one_string() -> None:
    (function,) = box(PATCH).functions
    assert function.name == "apply_patch"
    assert function.parameters["required"] == ["input"]
    assert function.parameters["properties"]["input"]["type"] == "string"
    assert 'start: "x"+' in function.description
    assert function.description.startswith("Edits.")


def test_a_call_of_it_comes_back_as_a_custom_call() -> None:
    call = box(PATCH).call("apply_patch", "call_7")
    assert call.item == {"type": "custom_tool_call", "name": "apply_patch", "call_id": "call_7"}
    assert call.feed('{"input": "a\\n') + call.feed('b"}') + call.end() == "a\nb"
    assert call.sound


def test_a_call_of_a_function_stays_what_it_is() -> None:
    call = box(READ).call("read", "c1")
    assert call.item == {"type": "function_call", "name": "read", "call_id": "c1"}
    assert call.feed('{"a":') == '{"a":'
    assert not call.complete
    assert call.feed("1}") == "1}"
    assert call.complete
    assert call.end() == ""
    assert call.sound


def test_a_call_without_arguments_has_an_empty_object() -> None:
    call = box(READ).call("read")
    assert call.end() == "{}"
    assert call.sound
    assert "call_id" not in call.item


@pytest.mark.parametrize("arguments", ['{"a": 1', "[1]", "no json", '{"a": 1}{"b": 2}'])
def test_arguments_that_are_no_object(arguments: str) -> None:
    call = box(READ).call("read")
    call.feed(arguments)
    call.end()
    assert not call.sound


def test_an_unknown_tool_is_a_function() -> None:
    assert box(READ).call("made_up").item["type"] == "function_call"
    assert box(PATCH).call("functions.apply_patch").item["name"] == "apply_patch"


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("read<|channel|>commentary", "read"),
        ("functions.read<|constrain|>json", "read"),
        ("functions.read:0", "read"),
        ("default_api:read", "read"),
        ("files.list", "list"),
        ("files__list", "list"),
        ("unknown:read_all", "unknown:read_all"),
        ("x<|channel|>y", "x<|channel|>y"),
    ],
)
def test_names_as_models_write_them(said: str, name: str) -> None:
    read = {"type": "function", "name": "read"}
    files = {"type": "namespace", "name": "files", "tools": [{"type": "function", "name": "list"}]}
    item = box(read, files).call(said).item
    assert item["name"] == name
    assert item.get("namespace") == ("files" if name == "list" else None)


def test_names_that_are_refused_go_and_come_back() -> None:
    names = ["a.b", "a b", "a_b", "ä", "x" * 100, "x" * 101]
    tools = box(*({"type": "function", "name": name} for name in names))
    sent = [function.name for function in tools.functions]
    assert all(ANY_NAME.fullmatch(name) for name in sent)
    assert len(set(sent)) == len(names)
    assert "a_b" in sent
    assert [tools.call(name).item["name"] for name in sent] == names
    item = {"type": "function_call", "name": "a.b", "arguments": "{}", "call_id": "c"}
    told = tools.sent_call(item)
    assert told is not None
    assert told.name == sent[0]


def test_namespaces() -> None:
    clock = {"type": "namespace", "name": "clock", "tools": [READ]}
    plain = {"type": "namespace", "name": "functions", "tools": [PATCH]}
    tools = box(clock, plain, READ)
    assert [one.name for one in tools.functions] == ["clock__read", "apply_patch", "read"]
    item = tools.call("clock__read", "c").item
    assert item == {
        "type": "function_call", "name": "read", "namespace": "clock", "call_id": "c",
    }  # fmt: skip
    told = tools.sent_call({**item, "arguments": "{}"})
    assert told is not None
    assert told.name == "clock__read"
    assert "namespace" not in tools.call("apply_patch").item
    told = tools.sent_call({"type": "custom_tool_call", "name": "apply_patch", "input": "x"})
    assert told is not None
    assert (told.name, json.loads(told.arguments)) == ("apply_patch", {"input": "x"})


def test_tools_that_came_as_items_count() -> None:
    later = {"type": "additional_tools", "role": "developer", "tools": [PATCH]}
    tools = box(READ, items=[later])
    assert [one.name for one in tools.functions] == ["read", "apply_patch"]


def test_a_tool_that_is_said_twice_is_there_once() -> None:
    tools = box(READ, {**READ, "description": "newer"})
    assert [one.description for one in tools.functions] == ["newer"]


def test_hosted_tools_are_left_out_and_named() -> None:
    tools = box({"type": "web_search"}, READ, {"type": "mcp", "server_label": "x"}, {"name": 1})
    assert [one.name for one in tools.functions] == ["read"]
    assert list(tools.left_out) == ["web_search", "mcp", "?"]
    with pytest.raises(Refused, match="'web_search'") as refused:
        tools.choice({"type": "web_search"})
    assert refused.value.param == "tool_choice"


def test_choices() -> None:
    tools = box(READ, PATCH)
    assert tools.choice(None) == tools.choice("auto") == Choice()
    assert tools.choice("none").mode == "none"
    assert tools.choice("required") == Choice("required")
    forced = tools.choice({"type": "custom", "name": "apply_patch"})
    assert forced == Choice("required", ("apply_patch",))
    assert [one.name for one in tools.offered(forced)] == ["apply_patch"]
    nested = tools.choice({"type": "function", "function": {"name": "read"}})
    assert nested.names == ("read",)
    allowed = {
        "type": "allowed_tools",
        "mode": "auto",
        "tools": [{"type": "function", "name": "read"}],
    }
    assert tools.choice(allowed) == Choice("auto", ("read",))
    with pytest.raises(Refused, match="'write'"):
        tools.choice({"type": "function", "name": "write"})


def test_history_is_always_an_object() -> None:
    tools = box(READ)

    def arguments(**item: Any) -> str:
        told = tools.sent_call({"call_id": "c", "name": "read", **item})
        assert told is not None
        return told.arguments

    assert arguments(type="function_call", arguments='{"a": 1}') == '{"a": 1}'
    assert arguments(type="function_call", arguments="") == "{}"
    assert json.loads(arguments(type="function_call", arguments='{"a"')) == {"input": '{"a"'}
    action = {"command": ["ls"]}
    assert json.loads(arguments(type="local_shell_call", action=action)) == action
    assert tools.sent_call({"type": "message"}) is None


def test_call_ids_that_are_refused_are_mapped_and_stay_the_same() -> None:
    nine = re.compile(r"[A-Za-z0-9]{9}")
    tools, mistral = box(READ), box(READ, call_ids=nine)
    long = {"call_id": "functions.read:0 " * 9}
    assert tools.sent_id({"call_id": "call_1"}) == "call_1"
    assert tools.sent_id(long) == box().sent_id(long) != long["call_id"]
    assert len(tools.sent_id(long)) <= 40
    assert nine.fullmatch(mistral.sent_id({"call_id": "call_1"}))
    assert mistral.sent_id({"call_id": "abcDEF123"}) == "abcDEF123"


def test_an_id_that_the_conversation_had_is_not_taken_again() -> None:
    before = [{"type": "function_call", "name": "read", "call_id": "0", "arguments": "{}"}]
    tools = box(READ, items=before)
    assert "call_id" not in tools.call("read", "0").item
    assert tools.call("read", "1").item["call_id"] == "1"
    assert "call_id" not in tools.call("read", "1").item


def test_arguments_of_another_form_cost_what_they_are() -> None:
    call = box({"type": "function", "name": "read"}).call("read")
    begun_s = time.process_time()
    assert "".join(call.feed(piece) for piece in ('  "', *["x" * 8] * 100_000, '"')) == ""
    call.end()
    assert not call.sound
    assert time.process_time() - begun_s < 2
