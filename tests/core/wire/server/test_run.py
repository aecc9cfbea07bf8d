"""One response as a server makes it."""

from __future__ import annotations

import json
from typing import Any

from tests.support.tables import each
from tui.core.wire.events import Usage, decode_server, usage_of
from tui.core.wire.json_writing import frame
from tui.core.wire.server.run import Run, Task, usage_fields


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


def test_usage_goes_out_as_it_comes_in() -> None:
    usage = Usage(10, 5, 3, 2, 1)
    assert usage_of({"usage": usage_fields(usage)}) == usage


def test_a_lone_half_of_a_character_does_not_stop_the_stream() -> None:
    text = frame({"type": "response.output_text.delta", "delta": "\ud83d"})
    event = decode_server(text)
    assert event is not None


def test_a_reasoning_has_parts_of_its_summary_and_its_own_words() -> None:
    stage = Stage()
    index = stage.run.item_added({"type": "reasoning"})
    stage.run.delta(index, "one", "summary")
    stage.run.part(index)
    stage.run.delta(index, "two")
    stage.run.delta(index, "raw", "reasoning_text")
    stage.run.item_done(index, {"encrypted_content": "secret"})
    item = stage.run.output[0]
    assert [part["text"] for part in item["summary"]] == ["one", "two"]
    assert item["content"] == [{"type": "reasoning_text", "text": "raw"}]
    assert item["encrypted_content"] == "secret"
    deltas = [e for e in stage.events if e["type"] == "response.reasoning_summary_text.delta"]
    assert [e["summary_index"] for e in deltas] == [0, 1]
    assert "content_index" in next(
        e for e in stage.events if e["type"] == "response.reasoning_text.done"
    )
