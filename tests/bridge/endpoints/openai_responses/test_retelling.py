"""What an upstream says, however strange, told to a run."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.tables import each
from tui.bridge.endpoints.openai_responses.stream import ResponsesReader
from tui.bridge.upstream.sse import Message
from tui.core.wire.address import Address
from tui.core.wire.server.run import Run, Task

KEY = "sk-0123456789"
ENDS = ("response.completed", "response.incomplete", "response.failed", "error")
KINDS = [
    *ENDS,
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.output_item.done",
    "response.output_text.delta",
    "x",
    "",
]
_ENVELOPE = ["type", "sequence_number", "stream_id", "kind", "self", "status", "headers"]
_CONTENT = ["id", "item", "output_index", "response", "output", "error", "code", "message"]
FIELDS = st.sampled_from([*_ENVELOPE, *_CONTENT, "delta", "usage"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=4),
    max_leaves=4,
)
ITEM = st.fixed_dictionaries(
    {"type": st.sampled_from(["message", "function_call", "reasoning", "custom_tool_call", "y"])},
    optional={"id": JSON, "content": JSON, "arguments": JSON, "input": JSON, "summary": JSON},
)
EVENT = st.fixed_dictionaries(
    {"type": st.sampled_from(KINDS) | JSON},
    optional={
        "item": ITEM | JSON,
        "output_index": st.integers(0, 3) | JSON,
        "response": st.fixed_dictionaries({}, optional={"output": st.lists(ITEM | JSON)}) | JSON,
        "error": JSON,
        "code": JSON,
        "message": JSON | st.just(f"your key {KEY}"),
        "status": JSON,
        "headers": JSON,
    },
)


class Audience:
    """A run and what it said."""

    def __init__(self, lane: str | None = "a") -> None:
        self.frames: list[str] = []
        task = Task("resp_1", lane, {"model": "m", "input": []}, [])
        self.run = Run(task, self.frames.append, lambda _run, _kept: None)
        self.run.start()
        self.retelling = ResponsesReader(
            self.run, Address("https://x", {"Authorization": f"Bearer {KEY}"})
        )

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(frame) for frame in self.frames]


def check(audience: Audience) -> None:
    """Numbered without a gap, on its lane, and with at most one end, which is the last."""
    events = audience.events
    assert [e["sequence_number"] for e in events] == list(range(len(events)))
    assert {e["stream_id"] for e in events} == {"a"}
    ends = [e for e in events if e["type"] in ENDS]
    assert len(ends) == int(audience.run.done)
    if ends:
        assert events[-1] is ends[0]
    for end in ends:
        error = end.get("error") or end["response"]["error"]
        assert error is None or isinstance(error["message"], str)
        assert error is None or KEY not in error["message"]
        if "response" in end:
            assert end["response"]["id"] == "resp_1"
            assert isinstance(end["response"]["output"], list)


@given(st.lists(EVENT | JSON, max_size=6), st.booleans())
@settings(max_examples=25)
def test_whatever_is_said_there_is_one_end(told: list[Any], interrupted: bool) -> None:
    audience = Audience()
    for event in told:
        audience.retelling.hear(Message("", json.dumps(event).encode()))
    if interrupted:
        audience.run.interrupted = True
        audience.run.finish_interrupted()
    check(audience)


@given(EVENT | JSON)
@settings(max_examples=60)
def test_any_whole_answer_is_an_end(body: Any) -> None:
    audience = Audience()
    audience.retelling.hear_whole(Message("", json.dumps(body).encode()))
    assert audience.run.done
    check(audience)


@each(
    "body, status, code, words",
    [
        ({"error": "Bad thing."}, 500, "server_error", "Bad thing."),
        ({"error": {"message": "m", "type": "invalid_request_error"}}, 400, None, "m"),
        ({"error": {"message": "m", "code": 429}}, 429, "http_429", "m"),
        ({"error": {"message": "m", "code": "503"}}, 503, "503", "m"),
        ({"object": "chat.completion", "choices": []}, 400, "not_an_endpoint", "Responses API"),
    ],
)
def test_an_error_in_a_body_that_came_with_200(
    body: dict[str, Any], status: int, code: str | None, words: str
) -> None:
    audience = Audience()
    audience.retelling.hear_whole(Message("", json.dumps(body).encode()))
    last = audience.events[-1]
    assert last["status"] == status
    assert last["error"]["code"] == (code or body["error"]["type"])
    assert words in last["error"]["message"]


def test_another_api_s_stream_is_not_asked_for_again() -> None:
    audience = Audience()
    audience.retelling.hear(Message("", b'{"object": "chat.completion.chunk", "choices": []}'))
    audience.retelling.cut("the host", marked=True)
    last = audience.events[-1]
    assert (last["status"], last["error"]["code"]) == (400, "not_an_endpoint")


def _heard(*events: dict[str, Any], marked: bool) -> str:
    audience = Audience()
    for event in events:
        audience.retelling.hear(Message("", json.dumps(event).encode()))
    audience.retelling.cut("the host", marked=marked)
    check(audience)
    return str(audience.events[-1]["type"])


def test_a_stream_that_says_done_without_a_terminal_event_is_whole_if_its_items_are() -> None:
    def item(kind: str, end: str, index: int = 0) -> dict[str, Any]:
        told = {"type": kind, "id": f"i{index}"}
        return {"type": f"response.output_item.{end}", "output_index": index, "item": told}

    said = item("message", "added"), item("message", "done")
    assert _heard(*said, marked=True) == "response.completed"
    assert _heard(*said, marked=False) == "response.failed"
    assert _heard(*said, item("message", "added", 1), marked=True) == "response.failed"
    assert _heard(item("reasoning", "done"), marked=True) == "response.failed"
    assert _heard(marked=True) == "response.failed"


@each(
    "told",
    [
        Message("", b'{"error": {"message": "Out of memory.", "code": 500}}'),
        Message("", b'{"error": "Out of memory."}'),
        Message("", b'[{"error": {"message": "Out of memory.", "code": 500}}]'),
        Message("error", b'{"message": "Out of memory."}'),
        Message("error", b"Out of memory.\n"),
    ],
)
def test_errors_of_servers_that_forget_their_type(told: Message) -> None:
    audience = Audience()
    audience.retelling.hear(told)
    assert "Out of memory." in str(audience.events[-1])
    assert audience.run.done
