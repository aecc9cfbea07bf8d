"""Calls as the real servers of Chat Completions number, name and cut them."""

from __future__ import annotations

from typing import Any

from tests.support.chat_answers import call, chunk, told
from tests.support.endpoint_kinds import items
from tests.support.tables import each
from tui.bridge.endpoints.base import Broken

DONE = b"[DONE]"
READ = {"type": "function", "name": "read", "parameters": {"type": "object", "properties": {}}}
PATCH = {"type": "custom", "name": "apply_patch"}
TOOLS = [READ, PATCH]


def ids(answer: Any) -> list[tuple[str, str, str]]:
    return [(item["name"], item["call_id"], text) for item, (_, text) in
            zip(items(answer.events), answer.texts(), strict=True)]  # fmt: skip


@each('deltas', [
        # whole calls, one a chunk, all of them number 0 (Ollama, Gemini)
        [call(0, "read", '{"a": 1}', id="c1"), call(0, "list", '{"b": 2}', id="c2")],
        # no numbers at all
        [call(None, "read", '{"a": 1}', id="c1"), call(None, "list", '{"b": 2}', id="c2")],
        # numbers, ids only at first, and the name said again with each delta
        [
            call(0, "read", None, id="c1"), call(0, "read", '{"a"'), call(0, "read", ": 1}"),
            call(1, "list", None, id="c2"), call(1, "list", '{"b": 2}'),
        ],
        # names in pieces
        [
            call(0, "re", None, id="c1"), call(0, "ad", None), call(0, None, '{"a": 1}'),
            call(1, "li", None, id="c2"), call(1, "st", None), call(1, None, '{"b": 2}'),
        ],
        # an object in place of its text
        [call(0, "read", {"a": 1}, id="c1"), call(1, "list", {"b": 2}, id="c2")],
        # a new id with every delta
        [
            call(0, "read", '{"a"', id="c1"), call(0, None, ": 1}", id="x1"),
            call(1, "list", '{"b"', id="c2"), call(1, None, ": 2}", id="x2"),
        ],
        # numbers as words, and as they grow with each delta
        [
            call("0", "read", '{"a"', id="c1"), call("0", None, ": 1}"),
            call("1", "list", '{"b"', id="c2"), call("2", None, ": 2}", id="c2"),
        ],
        # the arguments first, the name behind them
        [
            call(0, None, '{"a"'), call(0, "read", ": 1}", id="c1"),
            call(1, None, '{"b": 2}'), call(1, "list", None, id="c2"),
        ],
        # the whole arguments once more at the end
        [
            call(0, "read", '{"a"', id="c1"), call(0, None, ": 1}"), call(0, None, '{"a": 1}'),
            call(1, "list", '{"b": 2}', id="c2"), call(None, None, '{"b": 2}'),
        ],
        # the whole call once more at the end, under the same number or another (LocalAI)
        [
            call(0, "read", '{"a"', id="c1"), call(0, None, ": 1}"),
            call(0, "read", '{"a": 1}', id="c1"),
            call(1, "list", '{"b": 2}', id="c2"), call(2, "list", '{"b": 2}', id="c2"),
        ],
        # encoded twice, and between the marks of a text
        [
            call(0, "read", '"{\\"a\\": ', id="c1"), call(0, None, '1}"'),
            call(1, "list", '```json\n{"b"', id="c2"), call(1, None, ": 2}\n```"),
        ],
        # both in one chunk
        [chunk(tool_calls=[
            {"index": 0, "id": "c1", "function": {"name": "read", "arguments": '{"a": 1}'}},
            {"index": 1, "id": "c2", "function": {"name": "list", "arguments": '{"b": 2}'}},
        ])],
    ])  # fmt: skip
def test_calls_as_servers_number_them(deltas: list[dict[str, Any]]) -> None:
    answer = told(*deltas, chunk("tool_calls"), DONE, tools=TOOLS)
    told_calls = [(name, call_id, text.replace(" ", "")) for name, call_id, text in ids(answer)]
    assert told_calls == [("read", "c1", '{"a":1}'), ("list", "c2", '{"b":2}')]


def test_calls_without_ids_have_some() -> None:
    answer = told(call(None, "read", '{"a": 1}'), call(None, "read", '{"b": 2}'), chunk("stop"))
    first, second = (item["call_id"] for item in items(answer.events))
    assert first != second


def test_two_calls_under_one_id_are_two() -> None:
    answer = told(
        call(0, "read", '{"a": 1}', id="c1"),
        call(1, "read", '{"a": 2', id="c1"), call(1, None, "3}", id="c1"),
        chunk("tool_calls"), DONE, tools=TOOLS,
    )  # fmt: skip
    (_, first, one), (_, second, two) = ids(answer)
    assert (one, two) == ('{"a": 1}', '{"a": 23}')
    assert first == "c1" != second


@each('deltas', [
        # one after the other: whole, and in pieces
        [call(0, "read", '{"a": 1}', id="read"), call(1, "read", '{"a": 2}', id="read")],
        [
            call(0, "read", None, id="read"), call(0, None, '{"a": 1}'),
            call(1, "read", None, id="read"), call(1, None, '{"a": 2}'),
        ],
        [
            call(0, "read", '{"a"', id="read"), call(0, None, ": 1}", id="read"),
            call(1, "read", '{"a"', id="read"), call(1, None, ": 2}", id="read"),
        ],
        # begun together, then in turn
        [
            call(0, "read", None, id="read"), call(1, "read", None, id="read"),
            call(0, None, '{"a"', id="read"), call(1, None, '{"a"', id="read"),
            call(0, None, ": 1}"), call(1, None, ": 2}"),
        ],
        # with an end that says the name once more
        [
            call(0, "read", '{"a": 1}', id="read"), call(1, "read", '{"a": 2}', id="read"),
            call(2, "read", None, id="read"),
        ],
    ])  # fmt: skip
def test_an_id_that_all_calls_have_tells_nothing_apart(deltas: list[dict[str, Any]]) -> None:
    answer = told(*deltas, chunk("tool_calls"), DONE, tools=TOOLS)
    (_, first, one), (_, second, two) = ids(answer)
    assert (one, two) == ('{"a": 1}', '{"a": 2}')
    assert first != second


@each("nothing", ["", " ", "null", "None", "{}"])
def test_a_call_that_needs_no_arguments(nothing: str) -> None:
    answer = told(call(0, "read", nothing, id="c1"), chunk("tool_calls"), DONE, tools=TOOLS)
    assert answer.texts() == [("function_call", "{}")]


def test_the_old_form_of_a_call() -> None:
    begun = chunk(function_call={"name": "read", "arguments": ""})
    answer = told(begun, chunk(function_call={"arguments": "{}"}), chunk("function_call"))
    assert answer.texts() == [("function_call", "{}")]


def test_a_call_without_a_name() -> None:
    answer = told(call(0, None, "{}", id="c1"), chunk("tool_calls"))
    assert isinstance(answer.error, Broken)
    assert "without a tool's name" in str(answer.error)
