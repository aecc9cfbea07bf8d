"""One response as a server makes it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tui.core.wire.events import decode_server, usage_of
from tui.core.wire.frames import frame
from tui.core.wire.server.run import Run, Task, usage_fields
from tui.core.wire.usage import Usage


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


@pytest.mark.parametrize(
    ("end", "kind", "kept"),
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


def test_an_abandoned_run_is_silent() -> None:
    stage = Stage()
    stage.run.abandon()
    stage.run.finish()
    assert stage.frames == []
    assert stage.run.interrupted


def test_reasoning_streams_as_a_summary() -> None:
    stage = Stage()
    index = stage.run.item_added({"type": "reasoning"})
    stage.run.delta(index, "think")
    stage.run.item_done(index)
    deltas = [e for e in stage.events if e["type"] == "response.reasoning_summary_text.delta"]
    assert deltas[0]["summary_index"] == 0
    item = stage.events[-1]["item"]
    assert item["summary"] == [{"type": "summary_text", "text": "think"}]
    assert "status" not in item


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


def test_ids_that_the_producer_gives_are_kept() -> None:
    stage = Stage()
    given = {"type": "custom_tool_call", "id": "ctc_9", "call_id": "call_9", "name": "apply_patch"}
    index = stage.run.item_added(given)
    stage.run.item_done(index)
    assert stage.run.output[0]["id"] == "ctc_9"
    assert stage.run.output[0]["call_id"] == "call_9"


def test_usage_goes_out_as_it_comes_in() -> None:
    usage = Usage(10, 5, 3, 2, 1)
    assert usage_of({"usage": usage_fields(usage)}) == usage


def test_a_lone_half_of_a_character_does_not_stop_the_stream() -> None:
    text = frame({"type": "response.output_text.delta", "delta": "\ud83d"})
    event = decode_server(text)
    assert event is not None


def test_a_refusal_is_a_part_of_its_own_behind_the_text() -> None:
    stage = Stage()
    index = stage.run.item_added({"type": "message"})
    stage.run.delta(index, "Well. ")
    stage.run.delta(index, "I can", "refusal")
    stage.run.delta(index, "not.", "refusal")
    stage.run.item_done(index)
    kinds = [e["type"].removeprefix("response.") for e in stage.events]
    assert kinds == [
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "content_part.added",
        "refusal.delta",
        "refusal.delta",
        "refusal.done",
        "content_part.done",
        "output_item.done",
    ]
    refusal = [e for e in stage.events if e["type"].startswith("response.refusal")]
    assert {e["content_index"] for e in refusal} == {1}
    assert refusal[-1]["refusal"] == "I cannot."
    content = stage.run.output[0]["content"]
    assert content[1] == {"type": "refusal", "refusal": "I cannot."}
    assert content[0]["text"] == "Well. "


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


def test_an_item_without_text_is_whole_all_the_same() -> None:
    stage = Stage()
    for kind in ("message", "reasoning", "function_call"):
        stage.run.item_done(stage.run.item_added({"type": kind, "name": "f"}))
    said, thought, call = stage.run.output
    assert [part["text"] for part in said["content"]] == [""]
    assert thought["summary"] == []
    assert call["arguments"] == ""
    done = [e for e in stage.events if e["type"].endswith("arguments.done")]
    assert done[0]["name"] == "f"


def test_what_was_served_is_in_the_end_and_not_what_was_asked() -> None:
    stage = Stage()
    stage.run.served.update(model="m-2026", service_tier="fast", metadata={"duetto_model": "x"})
    stage.run.finish()
    response = stage.events[-1]["response"]
    assert response["model"] == "m-2026"
    assert response["service_tier"] == "fast"
    assert response["metadata"] == {"duetto_model": "x"}


def test_a_failure_says_what_it_took() -> None:
    stage = Stage()
    stage.run.fail("server_error", "it broke", Usage(5, 2))
    assert stage.events[-1]["response"]["usage"]["total_tokens"] == 7
