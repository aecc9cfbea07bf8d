"""An upstream that leaves out indices, ids, beginnings or ends: every item is told once."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui.bridge.endpoints.base import Unusable
from tui.bridge.endpoints.openai_responses.stream import (
    ADDED,
    MOST_OPEN,
    ItemIndex,
    ResponsesReader,
)
from tui.bridge.upstream.sse import Message
from tui.core.wire.address import Address
from tui.core.wire.client.protocol import ClientProtocol
from tui.core.wire.events import Delta, ItemDone
from tui.core.wire.server.protocol import ServerProtocol

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
