"""What a server remembers of its conversations."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.server_side import answer, create, one_run, sent
from tests.support.tables import each
from tui.core.steps import finished
from tui.core.wire.client_events import Create, Invalid, decode_client, posted_in_steps
from tui.core.wire.server import protocol as shelves
from tui.core.wire.server.protocol import (
    KnownResponse,
    LaneResponses,
    ServerProtocol,
    StoredResponses,
    unanswered_call,
)
from tui.core.wire.server.run import Run

CALL = {"type": "function_call", "call_id": "c1"}
CUSTOM = {"type": "custom_tool_call", "call_id": "c2"}
OUTPUT = {"type": "function_call_output", "call_id": "c1"}
CUSTOM_OUTPUT = {"type": "custom_tool_call_output", "call_id": "c2"}


def test_forgetting_is_for_the_parent_s_own_lane() -> None:
    chains = LaneResponses()
    chains.remember("x", KnownResponse("r1", ()))
    chains.forget("y", "r1")
    chains.forget("x", "other")
    assert chains.link("r1") == KnownResponse("r1", ())
    chains.forget("x", "r1")
    assert chains.link("r1") is None


@each(
    "items, call_id",
    [
        ([], ""),
        ([CALL, OUTPUT], ""),
        ([CALL], "c1"),
        ([CALL, CUSTOM, OUTPUT], "c2"),
        ([CUSTOM, CUSTOM_OUTPUT, CALL, OUTPUT], ""),
        ([{"type": "function_call"}], ""),
        ([CUSTOM, {"type": "function_call_output", "call_id": "c2"}], "c2"),
    ],
)
def test_a_call_without_an_output_is_found(items: list[dict[str, Any]], call_id: str) -> None:
    assert unanswered_call(items) == call_id


def said(run: Run) -> list[str]:
    """The texts of a conversation, in order."""
    return [part["text"] for item in run.full_input for part in item["content"]]


def test_what_is_not_to_be_stored_stays_on_its_connection() -> None:
    shelf = StoredResponses()
    server = ServerProtocol("a", shelf=shelf)
    first = one_run(server, create("one", store=False))
    assert not first.task.stored
    answer(first)
    assert shelf.held_bytes == 0
    other = ServerProtocol("b", shelf=shelf)
    other.receive_text(create(previous_response_id=first.response_id))
    assert other.accept() == []
    assert sent(other)[-1]["error"]["code"] == "previous_response_not_found"
    assert said(one_run(server, create("x", previous_response_id=first.response_id)))[0] == "one"


@each("another", [ServerProtocol("b"), ServerProtocol("b", shelf=StoredResponses())])
def test_another_user_does_not_continue_it(another: ServerProtocol) -> None:
    first = one_run(ServerProtocol("a", shelf=StoredResponses()), create("one"))
    answer(first)
    another.receive_text(create(previous_response_id=first.response_id))
    assert another.accept() == []
    assert sent(another)[-1]["error"]["code"] == "previous_response_not_found"


def test_stored_items_can_be_referred_to() -> None:
    shelf = StoredResponses()
    first = one_run(ServerProtocol("a", shelf=shelf), create("one"))
    answer(first, "two")
    reference = {"type": "item_reference", "id": first.output[0]["id"]}
    run = one_run(
        ServerProtocol("b", shelf=shelf), create([{"role": "user", "content": "1"}, reference])
    )
    assert said(run) == ["1", "two"]


def test_the_conversation_used_least_lately_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelves, "MOST_BYTES", 8000)
    shelf = StoredResponses()
    server = ServerProtocol("a", shelf=shelf)
    tips = []
    for number in range(3):
        run = one_run(server, create("x" * 1000))
        answer(run)
        tips.append(run)
        if number:  # the first one is in use
            assert shelf.link(tips[0].response_id) is not None
    for _ in range(2):
        answer(one_run(server, create("y" * 1000, previous_response_id=tips[0].response_id)))
    assert shelf.link(tips[0].response_id) is not None
    assert shelf.link(tips[1].response_id) is None
    assert 0 < shelf.held_bytes <= 8000
    held_bytes = shelf.held_bytes
    answer(one_run(server, create("z" * 9000)))  # larger than all that may be held
    assert shelf.held_bytes == held_bytes
    assert shelf.item(tips[0].output[0]["id"]) is not None
    assert shelf.item(tips[1].output[0]["id"]) is None


def read(text: str) -> Create | Invalid:
    return finished(posted_in_steps(text))


def posted(**fields: Any) -> Create | Invalid:
    return read(json.dumps({"model": "m", "input": "hi", **fields}))


def test_a_body_is_a_request_without_an_envelope() -> None:
    got = posted(stream=True, type="response.interrupt", stream_id="a", background=False)
    assert isinstance(got, Create)
    assert got.stream
    assert got.stream_id is None
    assert set(got.request) == {"model", "input"}
    for stream in (False, None):
        got = posted(stream=stream)
        assert isinstance(got, Create)
        assert not got.stream


WRONG: list[dict[str, Any]] = [
    {"stream": "yes"},
    {"stream": 1},
    {"input": 5},
    {"model": 1},
    {"background": True},
    {"background_options": {"completion_window": "2h"}},
    {"conversation": "conv_1"},
    {"conversation": {"id": "conv_1"}},
    {"multi_agent": {"enabled": True}},
    {"temperature": "hot"},
    {"temperature": 2.5},
    {"top_p": -0.1},
    {"max_output_tokens": 0},
    {"max_output_tokens": True},
    {"metadata": {"a": 1}},
    {"metadata": {"a" * 65: ""}},
    {"metadata": {str(number): "" for number in range(17)}},
    {"include": "all"},
    {"tools": [5]},
    {"tool_choice": "perhaps"},
    {"truncation": "some"},
    {"instructions": ["a"]},
    {"reasoning": "high"},
    {"previous_response_id": "r" * 513},
]
NOTHING_ASKED: list[dict[str, Any]] = [
    {"background": None},
    {"background_options": {"completion_window": "soonest", "continuation_id": "a"}},
    {"conversation": None},
    {"multi_agent": {"enabled": False}},
]


@each("fields", WRONG)
def test_a_body_with_a_wrong_field_is_refused_by_its_name(fields: dict[str, Any]) -> None:
    got = posted(**fields)
    assert isinstance(got, Invalid)
    assert [got.param] == list(fields)
    assert f"'{got.param}'" in got.message
    said = decode_client(json.dumps({"type": "response.create", "stream_id": "a", **fields}))
    assert isinstance(said, Invalid)
    assert (said.message, said.param, said.stream_id) == (got.message, got.param, "a")


@each("fields", NOTHING_ASKED)
def test_a_field_that_asks_for_nothing_is_taken(fields: dict[str, Any]) -> None:
    assert isinstance(posted(**fields), Create)


@each("text", ["", "[]", "{", "null", "[" * 100_000])
def test_a_body_that_is_no_object_is_refused(text: str) -> None:
    got = read(text)
    assert isinstance(got, Invalid)
    assert got.code == "invalid_json"
