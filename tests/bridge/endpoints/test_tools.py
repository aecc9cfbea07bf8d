"""Tools for providers that know functions only, and the way back."""

from __future__ import annotations

import json
from time import process_time
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each
from tui.bridge.endpoints.tools import ANY_NAME, InputReader, Toolbox, flat, without

GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": 'start: "x"+'}
PATCH = {"type": "custom", "name": "apply_patch", "description": "Edits.", "format": GRAMMAR}
READ = {"type": "function", "name": "read", "parameters": {"type": "object", "properties": {}}}


def box(*tools: dict[str, Any], items: list[dict[str, Any]] | None = None, **more: Any) -> Toolbox:
    return Toolbox({"tools": list(tools)}, items or [], **more)


@each("arguments", ['{"a": 1', "[1]", "no json", '{"a": 1}{"b": 2}'])
def test_arguments_that_are_no_object(arguments: str) -> None:
    call = box(READ).call("read")
    call.feed(arguments)
    call.end()
    assert not call.sound


def test_names_that_are_refused_go_and_come_back() -> None:
    names = ["a.b", "a b", "a_b", "ä", "x" * 100, "x" * 101]
    tools = box(*({"type": "function", "name": name} for name in names))
    sent = [function.name for function in tools.functions]
    assert all(ANY_NAME.fullmatch(name) for name in sent)
    assert len(set(sent)) == len(names)
    assert sent[0].startswith("a_b")
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


A, B = {"type": "string"}, {"type": "integer"}


@each('schema, wanted', [
        ({}, {"type": "object", "properties": {}}),
        ({"type": "object", "properties": None}, {"type": "object", "properties": {}}),
        ({"type": ["object", "null"]}, {"type": "object", "properties": {}}),
        # one of two is needed, as tools from elsewhere say it
        (
            {
                "type": "object", "properties": {"a": A, "b": B},
                "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
            },
            {"type": "object", "properties": {"a": A, "b": B}},
        ),
        # a union
        (
            {"oneOf": [{"properties": {"a": A}, "required": ["a"]}, {"properties": {"b": B}}]},
            {"type": "object", "properties": {"a": A, "b": B}},
        ),
        # all of them
        (
            {"required": ["a"], "allOf": [{"properties": {"a": A}}, {"required": ["b"]}]},
            {"type": "object", "properties": {"a": A}, "required": ["a", "b"]},
        ),
        # what is further down stays as it is
        (
            {"properties": {"a": {"anyOf": [A, B]}}, "additionalProperties": False, "$defs": {}},
            {
                "type": "object", "properties": {"a": {"anyOf": [A, B]}},
                "additionalProperties": False, "$defs": {},
            },
        ),
    ])  # fmt: skip
def test_an_object_with_properties(schema: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert flat(schema) == wanted


def test_keywords_go_and_names_stay() -> None:
    schema = {
        "$schema": "x",
        "properties": {
            "format": {"type": "string", "format": "uri"},
            "l": {"items": {"format": 1}},
        },
        "default": {"format": 1},
        "$defs": {"format": {"anyOf": [{"format": 1, "type": "string"}]}},
    }
    assert without(schema, {"$schema", "format"}) == {
        "properties": {"format": {"type": "string"}, "l": {"items": {}}},
        "default": {"format": 1},
        "$defs": {"format": {"anyOf": [{"type": "string"}]}},
    }


PATCH_TEXT = (
    "*** Begin Patch\n*** Update File: a.py\n@@\n-x = \"a\\b\"\n+x = 'ä🙂'\t\n*** End Patch\n"
)


def read(*pieces: str) -> tuple[str, bool]:
    reader = InputReader()
    text = "".join(reader.feed(piece) for piece in pieces) + reader.end()
    return text, reader.sound


def cut(text: str, places: list[int]) -> list[str]:
    at = sorted({place % (len(text) + 1) for place in places})
    return [text[start:end] for start, end in zip([0, *at], [*at, len(text)], strict=True)]


@given(
    text=st.text(alphabet=st.characters(codec="utf-8")),
    places=st.lists(st.integers(0, 10_000)),
    plain=st.booleans(),
    indent=st.sampled_from([None, 2]),
)
def test_any_text_cut_anywhere(text: str, places: list[int], plain: bool, indent: int) -> None:
    arguments = json.dumps({"input": text}, ensure_ascii=plain, indent=indent)
    assert read(*cut(arguments, places)) == (text, True)


@each("size", [1, 7, 1000])
@each(
    "arguments, text",
    [
        (PATCH_TEXT, PATCH_TEXT),
        ("{ not json", "{ not json"),
        ("const a = {b: 1}", "const a = {b: 1}"),
        ('{"patch": "abc"}', "abc"),
        ('{"note": 1, "patch": "a\\nb"}', "a\nb"),
        ('{"why": "so", "input": "abc"}', "abc"),
        ('{"input": "abc", "why": "so"}', "abc"),
        ('"abc\\n"', "abc\n"),
        ('{"input": ["a", "b"]}', '["a", "b"]'),
        ('{"input": {"a": 1}}', '{"a": 1}'),
        ('{"input": null}', ""),
        ("{}", ""),
        ("", ""),
        ('{"inputs": "abc"}', "abc"),
        ('{"in": "a", "out": "b"}', '{"in": "a", "out": "b"}'),
        ('{"input": "a\nb"}', "a\nb"),
        ('{"input": "\\d\\q"}', "\\d\\q"),
        ('{"input": "\\ud83d\\ude42"}', "🙂"),
        ('{"input": "\\ud83d x"}', "� x"),
        ('{"input": "\\ude42"}', "�"),
        ('{"input": "\\ud83d\\ud83d\\ude42"}', "�🙂"),
        ('{"input": "x\ud83d\ude42\ud83d\ude42"}', "x🙂🙂"),
        ('{"input": "' + "x\ud83d\ude42" * 500 + '"}', "x🙂" * 500),
        ('{"input": "' + "x\\ud83d\ude42" * 200 + '"}', "x🙂" * 200),
        ('{"input": "\\u00zz"}', "\\u00zz"),
    ],
)
def test_what_models_write(arguments: str, text: str, size: int) -> None:
    pieces = [arguments[at : at + size] for at in range(0, len(arguments), size)]
    assert read(*pieces) == (text, True)


@each("arguments", ['{"input": "abc', '{"input": "a\\', '{"patch": "ab'])
def test_what_breaks_off_is_not_sound(arguments: str) -> None:
    text, sound = read(arguments)
    assert not sound
    assert "\\" not in text or arguments.startswith('{"patch')


def test_the_cost_is_linear() -> None:
    """Ten megabytes in pieces of a token, and the same as a first key that never ends."""

    def seconds(arguments: str) -> float:
        began = process_time()
        read(*(arguments[at : at + 8] for at in range(0, len(arguments), 8)))
        return process_time() - began

    small = seconds(json.dumps({"input": PATCH_TEXT * 100}))
    assert seconds(json.dumps({"input": PATCH_TEXT * 1000})) < 30 * small + 0.2
    assert seconds('{"' + "i" * 50_000) < 30 * small + 0.5
    assert seconds(" " * 50_000) < 30 * small + 0.5
