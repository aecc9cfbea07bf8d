"""One response as a server makes it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.tables import each
from tui.core.wire.server.protocol import ServerProtocol
from tui.core.wire.server.run import MAX_PENDING, Run, Task


class Stage:
    """A run with its audience."""

    def __init__(self, lane: str | None = None) -> None:
        task = Task("resp_1", lane, {"model": "m", "input": []}, [], created_at=7)
        self.frames: list[str] = []
        self.ends: list[bool] = []
        self.run = Run(task, self.frames.append, lambda run, kept: self.ends.append(kept))

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(text) for text in self.frames]


@each(
    "end, kind, kept",
    [
        (lambda run: run.finish(), "response.completed", True),
        (
            lambda run: run.finish("incomplete", reason="max_output_tokens"),
            "response.incomplete",
            True,
        ),
        (lambda run: run.finish_interrupted(), "response.incomplete", True),
        (lambda run: run.fail("server_error", "no"), "response.failed", False),
        (lambda run: run.refuse(500, "server_error", "no"), "error", False),
    ],
)
def test_there_is_one_end_and_nothing_after_it(end: Any, kind: str, kept: bool) -> None:
    stage = Stage("a")
    end(stage.run)
    assert stage.run.done
    count = len(stage.frames)
    index = stage.run.item_added({"type": "message"})
    stage.run.delta(index, "late")
    stage.run.item_done(index)
    stage.run.keep_alive()
    for again in ("finish", "finish_interrupted"):
        getattr(stage.run, again)()
    stage.run.fail("x", "y")
    stage.run.refuse(400, "x", "y")
    assert len(stage.frames) == count
    assert stage.events[-1]["type"] == kind
    assert stage.events[-1]["stream_id"] == "a"
    assert stage.ends == [kept]
    assert stage.run.output == []


def test_an_item_of_another_kind_passes_as_it_is() -> None:
    stage = Stage()
    index = stage.run.item_added({"type": "web_search_call", "id": "ws_1"})
    stage.run.delta(index, "ignored")
    stage.run.item_done(index, {"status": "completed", "action": {"query": "q"}})
    assert [event["type"] for event in stage.events] == [
        "response.output_item.added",
        "response.output_item.done",
    ]
    assert stage.run.output[0]["action"] == {"query": "q"}


def test_a_reasoning_has_parts_of_its_summary_and_its_own_words() -> None:
    stage = Stage()
    index = stage.run.item_added({"type": "reasoning"})
    stage.run.delta(index, "one", "summary")
    stage.run.delta(index, "raw", "reasoning_text")
    stage.run.item_done(index, {"encrypted_content": "secret"})
    item = stage.run.output[0]
    assert [part["text"] for part in item["summary"]] == ["one"]
    assert item["content"] == [{"type": "reasoning_text", "text": "raw"}]
    assert item["encrypted_content"] == "secret"
    deltas = [e for e in stage.events if e["type"] == "response.reasoning_summary_text.delta"]
    assert [e["summary_index"] for e in deltas] == [0]
    assert "content_index" in next(
        e for e in stage.events if e["type"] == "response.reasoning_text.done"
    )


def started(server: ServerProtocol, **fields: Any) -> Run:
    create = {"type": "response.create", "model": "m", "input": "go", **fields}
    server.receive_text(json.dumps(create))
    (run,) = server.accept()
    server.data_to_send()
    return run


def steer(server: ServerProtocol, response_id: str, text: object = "Keep it small.") -> None:
    event = {"type": "response.steer", "previous_response_id": response_id, "input": text}
    server.receive_text(json.dumps(event))


def said(server: ServerProtocol) -> list[dict[str, Any]]:
    return [json.loads(text) for text in server.data_to_send()]


def texts(items: list[dict[str, Any]]) -> list[str]:
    return [item["content"][0]["text"] for item in items if item["type"] == "message"]


def say(run: Run, text: str) -> None:
    index = run.item_added({"type": "message"})
    run.delta(index, text)
    run.item_done(index)


@pytest.fixture
def server() -> ServerProtocol:
    return ServerProtocol(steering=True)


def test_a_cut_response_is_succeeded_by_itself(server: ServerProtocol) -> None:
    run = started(server, stream_id="a", instructions="be brief")
    steer(server, run.response_id)
    (accepted,) = said(server)
    assert accepted["type"] == "response.steer.accepted"
    assert accepted["stream_id"] == "a"
    assert accepted["steer"]["previous_response_id"] == run.response_id
    assert run.steered
    say(run, "half")
    run.finish("incomplete", reason="steered")
    (successor,) = server.accept()
    assert successor.lane == "a"
    assert successor.request["instructions"] == "be brief"
    assert successor.request["previous_response_id"] == run.response_id
    assert texts(successor.full_input) == ["go", "half", "Keep it small."]
    kinds = [event["type"] for event in said(server)]
    assert kinds[-3:] == ["response.incomplete", "response.created", "response.in_progress"]


def test_the_successor_comes_before_what_waits_on_the_lane(server: ServerProtocol) -> None:
    run = started(server)
    server.receive_text('{"type":"response.create","model":"m","input":"later"}')
    steer(server, run.response_id, "first")
    steer(server, run.response_id, "second")
    run.finish("completed")
    (successor,) = server.accept()
    assert texts(successor.full_input) == ["go", "first", "second"]
    successor.finish("completed")
    (later,) = server.accept()
    assert texts(later.full_input) == ["later"]


def test_tool_calls_are_answered_first(server: ServerProtocol) -> None:
    run = started(server)
    steer(server, run.response_id)
    index = run.item_added({"type": "function_call", "name": "read_file"})
    run.item_done(index)
    run.finish("completed")
    assert server.accept() == []
    pending = said(server)[-1]
    assert pending["type"] == "response.steer.pending"
    assert pending["reason"] == "waiting_for_required_input"
    call_id = run.output[0]["call_id"]
    assert pending["required_input"] == [{"type": "function_call_output", "call_id": call_id}]
    output = {"type": "function_call_output", "call_id": call_id, "output": "text"}
    more = {"role": "user", "content": "and more"}
    follow = started(server, previous_response_id=run.response_id, input=[output, more])
    kinds = [item["type"] for item in follow.full_input]
    assert kinds == ["message", "function_call", "function_call_output", "message", "message"]
    assert texts(follow.full_input) == ["go", "Keep it small.", "and more"]


def test_an_interrupt_gives_the_text_back(server: ServerProtocol) -> None:
    run = started(server, stream_id="a")
    steer(server, run.response_id)
    interrupt = {"type": "response.interrupt", "response_id": run.response_id}
    server.receive_text(json.dumps(interrupt))
    steer(server, run.response_id, "too late")
    assert said(server)[-1]["error"]["code"] == "response_not_active"
    run.finish_interrupted()
    failed = said(server)[-1]
    assert failed["type"] == "response.steer.failed"
    assert failed["stream_id"] == "a"
    assert failed["error"]["code"] == "successor_creation_failed"
    assert texts(failed["steer"]["input"]) == ["Keep it small."]
    assert server.accept() == []


@pytest.mark.parametrize(
    "text",
    [
        [],
        "",
        7,
        [{"role": "assistant", "content": "x"}],
        [{"role": "user", "content": [{"type": "output_text", "text": "x"}]}],
        [{"role": "user", "content": []}],
        [{"role": "user"}, "x"],
        [{"type": "function_call_output", "call_id": "c", "output": "x"}],
    ],
)
def test_what_is_no_user_message_is_refused(server: ServerProtocol, text: object) -> None:
    run = started(server)
    steer(server, run.response_id, text)
    (failed,) = said(server)
    if text == "":
        assert failed["type"] == "response.steer.accepted"
    else:
        assert failed["error"]["code"] == "invalid_input"
        assert failed["steer"]["input"] == text
        assert not run.steered


def test_unknown_ended_and_too_many(server: ServerProtocol) -> None:
    run = started(server)
    steer(server, "resp_nowhere")
    for _ in range(MAX_PENDING + 1):
        steer(server, run.response_id)
    run.fail("server_error", "broken")
    steer(server, run.response_id)
    codes = [event["error"]["code"] for event in said(server) if event["type"] == STEER_FAILED]
    assert codes[:2] == ["response_not_found", "too_many_pending_steers"]
    assert codes[2:] == ["successor_creation_failed"] * MAX_PENDING + ["response_already_completed"]
    assert server.accept() == []


STEER_FAILED = "response.steer.failed"


def test_what_cannot_be_steered_says_so(server: ServerProtocol) -> None:
    run = started(server, context_management=[{"type": "compaction"}])
    steer(server, run.response_id)
    (failed,) = said(server)
    assert failed["error"]["code"] == "steering_not_supported"


@pytest.mark.parametrize("given", [{"ticket": "7"}, None])
def test_a_response_repeats_its_metadata(server: ServerProtocol, given: Any) -> None:
    run = started(server, metadata=given, parallel_tool_calls=False)
    run.served["metadata"] = {"duetto_endpoint": "e"}
    run.finish("completed")
    last = said(server)[-1]["response"]
    assert last["metadata"] == {**(given or {}), "duetto_endpoint": "e"}
    assert last["parallel_tool_calls"] is False


def called(server: ServerProtocol, **fields: Any) -> Run:
    """A response that ended with a tool call while a text waits."""
    run = started(server, **fields)
    steer(server, run.response_id)
    run.item_done(run.item_added({"type": "function_call", "name": "f", "call_id": "c"}))
    run.finish("completed")
    assert server.accept() == []
    assert said(server)[-1]["type"] == "response.steer.pending"
    return run


def test_a_text_is_given_back_when_its_parent_is_left_behind(server: ServerProtocol) -> None:
    parent = called(server, stream_id="a")
    other = started(server, stream_id="a", input="something else")
    other.finish("completed")
    failed = next(event for event in said(server) if event["type"] == STEER_FAILED)
    assert failed["steer"]["previous_response_id"] == parent.response_id
    assert texts(failed["steer"]["input"]) == ["Keep it small."]
    assert failed["stream_id"] == "a"


def test_a_text_is_given_back_when_its_parent_is_evicted(server: ServerProtocol) -> None:
    parent = called(server)
    create = {"type": "response.create", "input": "no output", "model": "m"}
    server.receive_text(json.dumps({**create, "previous_response_id": parent.response_id}))
    assert server.accept() == []
    kinds = [event["type"] for event in said(server)]
    assert kinds == [STEER_FAILED, "error"]


def test_a_prewarm_is_no_successor(server: ServerProtocol) -> None:
    parent = called(server, stream_id="a")
    output = {"type": "function_call_output", "call_id": "c", "output": "x"}
    prewarm = {"type": "response.create", "input": [output], "model": "m", "generate": False}
    fork = {"previous_response_id": parent.response_id, "stream_id": "b"}
    server.receive_text(json.dumps({**prewarm, **fork}))
    assert server.accept() == []
    run = started(server, stream_id="a", input=[output], previous_response_id=parent.response_id)
    assert texts(run.full_input) == ["go", "Keep it small."]


def test_a_steer_names_a_lane_in_any_state(server: ServerProtocol) -> None:
    run = started(server, stream_id="a")
    run.finish("completed")
    started(server, stream_id="a")
    said(server)
    steer(server, run.response_id)
    steer(server, "resp_nowhere")
    over, unknown = said(server)
    assert over["error"]["code"] == "response_already_completed"
    assert over["stream_id"] == "a"
    assert unknown["error"]["code"] == "response_not_found"
    assert "stream_id" not in unknown


@pytest.mark.parametrize("lane", [None, "a"])
@pytest.mark.parametrize("steered", ["before", "behind"])
@pytest.mark.parametrize("how", ["refuse", "fail"])
def test_a_refused_response_ends_its_lane_alone_and_its_steer_is_answered(
    server: ServerProtocol, how: str, steered: str, lane: str | None
) -> None:
    named = {"stream_id": lane} if lane else {}
    neighbour = started(server, stream_id="b")
    run = started(server, **named)
    if steered == "before":
        steer(server, run.response_id)
        assert [event["type"] for event in said(server)] == ["response.steer.accepted"]
    if how == "refuse":
        run.refuse(400, "invalid_prompt", "no")
    else:
        run.fail("invalid_prompt", "no")
    if steered == "behind":
        steer(server, run.response_id)
    end, failed = said(server)
    assert end["type"] == ("error" if how == "refuse" else "response.failed")
    assert (failed["type"], end.get("stream_id")) == (STEER_FAILED, lane)
    assert failed.get("stream_id") == lane
    assert server.running() == [neighbour]
    assert server.accept() == []
