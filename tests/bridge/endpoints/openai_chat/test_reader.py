"""Answers as the real servers of Chat Completions give them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.chat_answers import call, chunk, counted, told
from tests.support.endpoint_kinds import items
from tui.bridge.endpoints.base import Broken

DONE = b"[DONE]"
READ = {"type": "function", "name": "read", "parameters": {"type": "object", "properties": {}}}
PATCH = {"type": "custom", "name": "apply_patch"}
TOOLS = [READ, PATCH]
TEXT = chunk(content="Hello")


def test_text_as_openai_streams_it() -> None:
    role = chunk(role="assistant", content="", refusal=None)
    details = {"prompt_tokens_details": {"cached_tokens": 4}}
    details["completion_tokens_details"] = {"reasoning_tokens": 2}
    answer = told(role, TEXT, chunk(content=" you"), chunk("stop"), counted(**details), DONE)
    assert answer.texts() == [("message", "Hello you")]
    assert answer.last["status"] == "completed"
    assert answer.last["model"] == "m-2026"
    usage = answer.last["usage"]
    assert (usage["input_tokens"], usage["output_tokens"]) == (10, 5)
    assert usage["input_tokens_details"]["cached_tokens"] == 4
    assert usage["output_tokens_details"]["reasoning_tokens"] == 2


def test_a_server_that_does_not_close_is_not_waited_for() -> None:
    answer = told(TEXT, chunk("stop"), counted(), chunk(content="never heard"))
    assert answer.texts() == [("message", "Hello")]


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("length", "max_output_tokens"),
        ("model_length", "max_output_tokens"),
        ("content_filter", "content_filter"),
    ],
)
def test_stop_reasons(finish: str, reason: str) -> None:
    answer = told(TEXT, chunk(finish), DONE)
    assert answer.events[-1]["type"] == "response.incomplete"
    assert answer.last["incomplete_details"] == {"reason": reason}
    assert answer.output[0]["status"] == "incomplete"


@pytest.mark.parametrize("finish", ["stop", "eos", "tool_calls", "function_call", "STOP"])
def test_good_ends(finish: str) -> None:
    assert told(TEXT, chunk(finish)).events[-1]["type"] == "response.completed"


def test_a_refusal_is_one() -> None:
    answer = told(chunk(refusal="I "), chunk(refusal="won't."), chunk("stop"), DONE)
    (message,) = items(answer.events)
    assert message["content"] == [{"type": "refusal", "refusal": "I won't."}]


@pytest.mark.parametrize(
    "thoughts",
    [
        [chunk(reasoning_content="so"), chunk(reasoning_content=None, content="Hello")],
        [chunk(reasoning="so"), chunk(reasoning=None, content="Hello")],
        [chunk(reasoning="so", reasoning_content="so"), TEXT],
        [chunk(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "so"}]}]), TEXT],
        [chunk(content=[{"thinking": "so", "type": "thinking"}, {"text": "Hello"}])],
        [chunk(content="<thi"), chunk(content="nk>\ns"), chunk(content="o\n</think>\n\nHello")],
        [chunk(content="<thought>so</thought>"), TEXT],
        [chunk(reasoning_details=[{"type": "reasoning.text", "text": "so", "index": 0}]), TEXT],
    ],
)  # fmt: skip
def test_thoughts_in_all_forms(thoughts: list[dict[str, Any]]) -> None:
    answer = told(*thoughts, chunk("stop"), DONE)
    assert answer.texts() == [("reasoning", "so"), ("message", "Hello")]


def test_tags_are_text_where_they_are_not_at_the_beginning() -> None:
    answer = told(TEXT, chunk(content=" <think>x</think>"), chunk("stop"))
    assert answer.texts() == [("message", "Hello <think>x</think>")]
    answer = told(chunk(content="<think>x"), chunk("stop"), options={"think_tags": False})
    assert answer.texts() == [("message", "<think>x")]


def test_thoughts_that_the_prompt_began() -> None:
    answer = told(chunk(content="so</think>Hello"), chunk("stop"), options={"think_begun": True})
    assert answer.texts() == [("reasoning", "so"), ("message", "Hello")]


def test_blank_text_before_calls_is_no_message() -> None:
    answer = told(
        chunk(content="\n\n"), call(0, "read", "{}", id="c1"), chunk("tool_calls"), tools=TOOLS
    )
    assert answer.texts() == [("function_call", "{}")]


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"x_groq": {"usage": {"prompt_tokens": 9, "completion_tokens": 4}}}, (9, 4, 0, 0)),
        ({"usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 20,
                    "completion_tokens_details": {"reasoning_tokens": 7}}}, (9, 11, 0, 7)),
        ({"usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 20}},
         (9, 11, 0, 7)),
        ({"usage": {"prompt_tokens": 9, "completion_tokens": 4, "prompt_cache_hit_tokens": 8}},
         (9, 4, 8, 0)),
        ({"timings": {"prompt_n": 3, "cache_n": 6, "predicted_n": 4}}, (9, 4, 6, 0)),
    ],
)  # fmt: skip
def test_counts(usage: dict[str, Any], expected: tuple[int, ...]) -> None:
    answer = told(TEXT, {**chunk("stop"), **usage}, DONE)
    told_usage = answer.last["usage"]
    assert "estimated" not in told_usage
    assert expected == (
        told_usage["input_tokens"],
        told_usage["output_tokens"],
        told_usage["input_tokens_details"]["cached_tokens"],
        told_usage["output_tokens_details"]["reasoning_tokens"],
    )


def test_a_running_count_is_known_when_it_breaks_off() -> None:
    answer = told({**TEXT, "usage": {"prompt_tokens": 9, "completion_tokens": 1}})
    assert isinstance(answer.error, Broken)
    usage = answer.telling.usage
    assert not isinstance(usage, dict)
    assert (usage.input_tokens, usage.output_tokens) == (9, 1)


@pytest.mark.parametrize("again", [False, True])
def test_a_count_that_stands_still_is_not_that_of_the_output(again: bool) -> None:
    stale = {"usage": {"prompt_tokens": 9, "completion_tokens": 0}}
    word = chunk(content="word " * 40)
    answer = told({**chunk(content=""), **stale}, {**word, **stale} if again else word)
    usage = answer.telling.usage
    assert isinstance(usage, dict)
    assert (usage["input_tokens"], usage["output_tokens"]) == (9, 50)
    assert usage["estimated"] is True


@pytest.mark.parametrize(
    "told_of_it",
    [
        {"prompt_tokens_details": {"cached_tokens": 1000, "cache_write_tokens": 150}},
        {"prompt_tokens_details": {"cached_tokens": 1000, "cache_creation_tokens": 150}},
        {"cache_read_input_tokens": 1000, "cache_creation_input_tokens": 150},
    ],
)
def test_what_is_written_into_a_cache_is_counted(told_of_it: dict[str, Any]) -> None:
    counts = {"prompt_tokens": 1200, "completion_tokens": 5, **told_of_it}
    answer = told(TEXT, {**chunk("stop"), "usage": counts}, DONE)
    details = answer.last["usage"]["input_tokens_details"]
    assert details == {"cached_tokens": 1000, "cache_write_tokens": 150}


def test_tier_and_provider_are_told() -> None:
    begun = {**TEXT, "service_tier": "priority", "provider": "Cerebras"}
    answer = told(begun, chunk("stop"), DONE)
    assert answer.last["service_tier"] == "priority"
    assert answer.last["metadata"] == {"duetto_provider": "Cerebras"}
