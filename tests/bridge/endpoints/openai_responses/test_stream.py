"""An upstream that leaves out indices, ids, beginnings or ends: every item is told once."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.bridge_client import prose
from tests.support.relayed import answered
from tests.support.sse_upstream import KEY, completed, message, opening, refusing, saying
from tests.support.tables import each
from tui.bridge.endpoints.base import Broken, Refused, Unusable
from tui.bridge.endpoints.openai_responses.stream import (
    ADDED,
    MOST_OPEN,
    ItemIndex,
    ResponsesReader,
)
from tui.bridge.endpoints.response_writer import ResponseWriter
from tui.bridge.server import Bridge
from tui.bridge.upstream.sse import Message
from tui.core.wire.address import Address
from tui.core.wire.client.protocol import ClientProtocol
from tui.core.wire.events import Delta, ItemDone
from tui.core.wire.server.protocol import ServerProtocol
from tui.core.wire.server.run import Run, Task

CREATE = '{"type":"response.create","model":"m","input":"hi"}'
TEXTS = {"message": "output_text", "function_call": "function_call_arguments"}


@dataclass(frozen=True)
class Habits:
    """What an upstream says of its items."""

    added: bool = True
    deltas: bool = True
    done: bool = True
    listed: bool = False
    ids: bool = True
    indices: Literal["right", "none", "null"] = "right"
    renamed: bool = False
    """The list at the end has other ids."""
    twice: bool = False
    """Each end is said twice."""


def text_at(number: int) -> str:
    """JSON, so that it may be arguments."""
    return f'["text", {number}]'


def item_of(kind: str, number: int, *, ids: bool, renamed: bool = False) -> dict[str, Any]:
    text = text_at(number)
    names = {"id": f"{'new' if renamed else 'it'}_{number}"} if ids else {}
    if kind == "message":
        part = {"type": "output_text", "text": text}
        return {**names, "type": kind, "role": "assistant", "content": [part]}
    return {**names, "type": kind, "name": "f", "call_id": f"call_{number}", "arguments": text}


def stream(kinds: list[str], habits: Habits) -> Iterator[dict[str, Any]]:
    """Its events for some items."""
    for number, kind in enumerate(kinds):
        item = item_of(kind, number, ids=habits.ids)
        index = {"right": {"output_index": number}, "none": {}, "null": {"output_index": None}}
        at = index[habits.indices]
        if habits.added:
            empty = {"content": []} if kind == "message" else {"arguments": ""}
            yield {"type": "response.output_item.added", **at, "item": {**item, **empty}}
        for piece in re.split("(?= )", text_at(number)) if habits.deltas else ():
            named = {"item_id": item["id"]} if habits.ids else {}
            yield {"type": f"response.{TEXTS[kind]}.delta", **at, **named, "delta": piece}
        for _ in range(habits.done + (habits.done and habits.twice)):
            yield {"type": "response.output_item.done", **at, "item": item}
    listed = [
        item_of(kind, number, ids=habits.ids, renamed=habits.renamed)
        for number, kind in enumerate(kinds)
    ]
    yield {"type": "response.completed", "response": {"output": listed if habits.listed else []}}


def told(kinds: list[str], habits: Habits) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What a run says of such a stream, and the output that it remembers."""
    server = ServerProtocol()
    server.receive_text(CREATE)
    (run,) = server.accept()
    retelling = ResponsesReader(run, Address("http://x/", {}))
    for event in stream(kinds, habits):
        retelling.hear(Message("", json.dumps(event).encode()))
    assert run.done
    return [json.loads(frame) for frame in server.data_to_send()], run.output


def bodies(items: list[dict[str, Any]]) -> list[str]:
    return [
        item["content"][0]["text"] if "content" in item else item["arguments"] for item in items
    ]


MESSAGE = {"type": "message", "id": "m", "content": [{"type": "output_text", "text": "a"}]}
CALL = {"type": "function_call", "id": "f", "call_id": "c", "name": "read", "arguments": "{}"}
COUNT = {"input_tokens": 5, "output_tokens": 3}


def at(kind: str, index: int = 0, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", "output_index": index, **fields}


def end(status: str = "completed", **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{status}", "response": {"status": status, "output": [], **fields}}


def done_call(**fields: Any) -> dict[str, Any]:
    return at("output_item.done", item={**CALL, **fields})


@each(
    "said, kind, tells",
    [
        ([at("output_item.added", item=None), end()], "completed", ""),
        ([at("output_text.delta", delta=None), at("output_text.delta", delta="a"), end()], "", "a"),
        ([at("output_text.delta", delta={"text": "x"}), end()], "completed", ""),
        ([done_call(arguments=None), end()], "completed", '"arguments":""'),
        ([done_call(arguments={"p": "x"}), end()], "completed", '{\\"p\\": \\"x\\"}'),
        ([end(output=[{**CALL, "arguments": {}}])], "completed", '"arguments":"{}"'),
        ([done_call(name=None), end()], "error", "a call without a tool's name"),
        ([done_call(name=" "), end()], "error", "a call without a tool's name"),
        ([at("output_item.added", item=CALL), end()], "failed", "ended within a call of a tool"),
        ([at("output_item.added", item=CALL), end(output=[CALL])], "completed", '"read"'),
        ([end(usage=COUNT)], "completed", '"input_tokens":5,"output_tokens":3'),
        ([end(usage={"input_tokens": -1, "output_tokens": "x"})], "completed", '"usage":null'),
        ([end(usage={"input_tokens": 10**40})], "completed", '"usage":null'),
        ([end(usage=[1])], "completed", '"usage":null'),
        ([end(usage={**COUNT, "output_tokens": 2.5})], "completed", '"output_tokens":2,'),
        ([done_call(), end("failed", error="boom")], "failed", "boom"),
        ([done_call(), {**end("failed"), "type": "response.completed"}], "failed", "gave up"),
        ([at("output_item.done", item=MESSAGE), end("cancelled")], "incomplete", "cancelled"),
    ],
)
def test_odd_events_are_told_so_that_clients_can_read_them(
    said: list[dict[str, Any]], kind: str, tells: str
) -> None:
    server = ServerProtocol()
    server.receive_text(CREATE)
    (run,) = server.accept()

    async def flush() -> None:
        return None

    reader, broken = ResponsesReader(ResponseWriter(run, flush), Address("http://x/", {})), ""
    try:
        for one in said:
            reader.hear(Message("", json.dumps(one).encode()))
    except (Broken, Refused) as error:
        broken = str(error)
    frames = [str(frame) for frame in server.data_to_send()]
    assert tells in (broken or "".join(frames))
    assert broken or frames[-1].startswith(f'{{"type":"response.{kind}')
    assert '"delta":null' not in "".join(frames)
    assert '"item":null' not in "".join(frames)


def check(kinds: list[str], habits: Habits) -> None:
    events, output = told(kinds, habits)
    wanted = [text_at(number) for number in range(len(kinds))]
    assert bodies(output) == wanted
    assert bodies(events[-1]["response"]["output"]) == wanted
    done = [event for event in events if event["type"] == "response.output_item.done"]
    assert bodies([event["item"] for event in done]) == wanted
    assert [event["output_index"] for event in done] == list(range(len(kinds)))
    said: Counter[int] = Counter()
    texts: dict[int, str] = {}
    for event in events:
        if event["type"] == "response.output_item.added":
            said[event["output_index"]] += 1
        elif event["type"].endswith(".delta"):
            index = event["output_index"]
            texts[index] = texts.get(index, "") + event["delta"]
    assert set(said.values()) <= {1}
    assert all(text == wanted[index] for index, text in texts.items())


def is_clear(habits: Habits) -> bool:
    """Whether anyone could tell its items apart, and gets all of them."""
    parted = habits.added or habits.done or habits.ids or habits.indices == "right"
    named = habits.ids or habits.indices == "right"
    return (habits.done or habits.listed) and parted and (named or not habits.twice)


HABITS = st.builds(
    Habits,
    added=st.booleans(),
    deltas=st.booleans(),
    done=st.booleans(),
    listed=st.booleans(),
    ids=st.booleans(),
    indices=st.sampled_from(["right", "none", "null"]),
    renamed=st.booleans(),
    twice=st.booleans(),
).filter(is_clear)


@settings(max_examples=50)
@given(st.lists(st.sampled_from(sorted(TEXTS)), min_size=1, max_size=4), HABITS)
def test_every_item_is_told_once_whatever_is_left_out(kinds: list[str], habits: Habits) -> None:
    check(kinds, habits)


@settings(max_examples=100)
@given(st.lists(st.sampled_from(sorted(TEXTS)), min_size=1, max_size=3), HABITS)
def test_the_client_hears_each_text_once(kinds: list[str], habits: Habits) -> None:
    client = ClientProtocol(None)
    client.create({"model": "m", "input": []})
    client.data_to_send()
    for event in told(kinds, habits)[0]:
        client.receive_text(json.dumps(event).encode(), 0.0)
    heard = client.events_received()
    ends = [event.item for event in heard if isinstance(event, ItemDone)]
    assert bodies(ends) == [text_at(number) for number in range(len(kinds))]
    said = "".join(event.delta for event in heard if isinstance(event, Delta))
    assert said in ("", "".join(bodies(ends)))
    assert not client.busy


def test_items_that_are_begun_without_an_end_are_too_many_at_last() -> None:
    book = ItemIndex()
    for number in range(MOST_OPEN):
        assert book.placed({"type": ADDED, "item": {"type": "message", "id": f"m{number}"}})
    with pytest.raises(Unusable, match="items open at once"):
        book.placed({"type": ADDED, "item": {"type": "message", "id": "one more"}})


SECRET = "sk-0123456789"
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
        "message": JSON | st.just(f"your key {SECRET}"),
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
            self.run, Address("https://x", {"Authorization": f"Bearer {SECRET}"})
        )

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(frame) for frame in self.frames]


def check_audience(audience: Audience) -> None:
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
        assert error is None or SECRET not in error["message"]
        if "response" in end:
            assert end["response"]["id"] == "resp_1"
            assert isinstance(end["response"]["output"], list)


@pytest.mark.slow
@given(st.lists(EVENT | JSON, max_size=6), st.booleans())
@settings(max_examples=25)
def test_whatever_is_said_there_is_one_end(told: list[Any], interrupted: bool) -> None:
    audience = Audience()
    for event in told:
        audience.retelling.hear(Message("", json.dumps(event).encode()))
    if interrupted:
        audience.run.interrupted = True
        audience.run.finish_interrupted()
    check_audience(audience)


@pytest.mark.slow
@given(EVENT | JSON)
@settings(max_examples=60)
def test_any_whole_answer_is_an_end(body: Any) -> None:
    audience = Audience()
    audience.retelling.hear_whole(Message("", json.dumps(body).encode()))
    assert audience.run.done
    check_audience(audience)


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
    check_audience(audience)
    return str(audience.events[-1]["type"])


@each(
    "numbers, said",
    [
        ([3, 4, 4, 5, 5], 3),
        ([4, 5, 6, 4, 5, 6], 6),  # who begins to count anew means what he says
        ([0, 0, 0], 3),  # so does who does not count
        ([None, None, None], 3),
        (["4", "4", True], 3),
    ],
)
def test_an_event_that_is_sent_twice_is_one(numbers: list[Any], said: int) -> None:
    audience = Audience()
    at = {"type": "response.output_text.delta", "item_id": "msg_up", "delta": "na"}
    for number in numbers:
        event = {**at, "sequence_number": number}
        audience.retelling.hear(Message("", json.dumps(event).encode()))
    told = [event for event in audience.events if event["type"] == at["type"]]
    assert len(told) == said


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


async def test_an_event_of_many_mebibytes(bridge: Bridge) -> None:
    text = "x" * (12 * 1024 * 1024)
    events = await answered(bridge, saying(opening() + message(text) + completed(), 2**20))
    assert len(prose(events)) == len(text)
    assert events[-1]["type"] == "response.completed"
    endless = opening() + b"data: " + b"y" * (33 * 1024 * 1024)
    failed = (await answered(bridge, saying(endless, 2**20)))[-1]
    assert "32 MiB" in failed["error"]["message"]


@pytest.mark.slow
@each("name", ["empty lines", "comments", "empty events", "unknown fields"])
async def test_a_stream_that_says_nothing_keeps_nobody_waiting(bridge: Bridge, name: str) -> None:
    line = {
        "empty lines": b"\n",
        "comments": b":\n",
        "empty events": b"data:\n\n",
        "unknown fields": b"x\n",
    }[name]
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    counting = asyncio.create_task(count())
    endless = opening() + line * (2**21 // len(line) ** 2) + message("after it") + completed()
    began_s, before = time.thread_time(), turns
    events = await answered(bridge, saying(endless, 2**20))
    counting.cancel()
    assert prose(events) == "after it"
    # a turn for every few milliseconds of work, however much comes at once
    assert turns - before > (time.thread_time() - began_s) / 0.02


async def test_nothing_secret_is_logged(bridge: Bridge, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    body = {"error": {"message": KEY}}
    await answered(bridge, refusing(401, body))
    await answered(bridge, saying(opening()))
    told = "\n".join(r.getMessage() for r in caplog.records if r.name.startswith("tui"))
    assert KEY not in told
    assert KEY not in repr(bridge.endpoints.targets)
