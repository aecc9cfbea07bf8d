"""Decoding what a server says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tui.core.wire import events
from tui.core.wire.events import decode_client, decode_server


def decoded(**fields: Any) -> events.Event | None:
    return decode_server(json.dumps(fields))


@pytest.mark.parametrize(
    ("kind", "cls"),
    [
        ("response.output_text.delta", events.TextDelta),
        ("response.refusal.delta", events.RefusalDelta),
        ("response.function_call_arguments.delta", events.ArgumentsDelta),
        ("response.custom_tool_call_input.delta", events.InputDelta),
        ("response.apply_patch_call_operation_diff.delta", events.PatchDelta),
        ("response.reasoning_text.delta", events.ReasoningDelta),
        ("response.reasoning_summary_text.delta", events.ReasoningDelta),
    ],
)
def test_every_delta_has_its_type(kind: str, cls: type[events.Delta]) -> None:
    fields = {"item_id": "i", "delta": "abc", "output_index": 2, "stream_id": "a"}
    event = decoded(type=kind, sequence_number=4, content_index=0, logprobs=[], **fields)
    assert isinstance(event, cls)
    assert (event.item_id, event.delta, event.output_index, event.stream_id) == ("i", "abc", 2, "a")
    if isinstance(event, events.ReasoningDelta):
        assert event.summary == ("summary" in kind)


@pytest.mark.parametrize(
    "kind",
    [
        "response.code_interpreter_call_code.delta",
        "response.mcp_call_arguments.delta",
        "response.mcp_call.arguments_delta",
        "response.shell_call_command.delta",
        "response.shell_call_output_content.delta",
        "response.audio.delta",
        "response.audio.transcript.delta",
        "response.image_generation_call.partial_image",
    ],
)
@pytest.mark.parametrize("more", [{}, {"delta": 7, "output_index": None}, {"item_id": None}])
def test_what_the_server_s_own_tools_stream_is_progress(kind: str, more: dict[str, Any]) -> None:
    event = decoded(**{"type": kind, "item_id": "i", "delta": "x", "stream_id": "a"} | more)
    assert event == events.Progress(kind, "" if "item_id" in more else "i", "a")


def test_the_response_events_show_what_matters() -> None:
    created = decoded(type="response.created", response={"id": "r1", "status": "in_progress"})
    assert isinstance(created, events.Created)
    assert created.response_id == "r1"
    cut = {"id": "r1", "incomplete_details": {"reason": "interrupted"}}
    incomplete = decoded(type="response.incomplete", response=cut)
    assert isinstance(incomplete, events.Incomplete)
    assert incomplete.reason == "interrupted"
    failed = decoded(type="response.failed", response={"error": {"code": "c", "message": "m"}})
    assert isinstance(failed, events.Failed)
    assert (failed.code, failed.message, failed.response_id) == ("c", "m", "")


@pytest.mark.parametrize("response", [None, [], "x", 5])
def test_a_broken_end_is_an_end_all_the_same(response: object) -> None:
    assert isinstance(decoded(type="response.completed", response=response), events.Completed)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            {"status": 400, "error": {"type": "t", "code": "c", "message": "m", "param": "p"}},
            (400, "c", "m", "p"),
        ),
        ({"status_code": 429, "error": {"message": "m"}}, (429, "", "m", "")),
        ({"code": "c", "message": "m", "param": None}, (None, "c", "m", "")),
        ({"error": {"type": "server_error", "message": "m"}}, (None, "server_error", "m", "")),
        ({"error": "words"}, (None, "", "words", "")),
        ({}, (None, "", "", "")),
    ],
)
def test_every_shape_of_error_is_read(fields: dict[str, Any], expected: tuple[Any, ...]) -> None:
    event = decoded(type="error", **fields)
    assert isinstance(event, events.ErrorEvent)
    assert (event.status, event.code, event.message, event.param) == expected


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({"Retry-After": "1.5"}, 1.5), ({"retry-after": "soon"}, None), ({}, None), (None, None)],
)
def test_retry_after_is_read_from_either_place(headers: Any, seconds: float | None) -> None:
    outer = decoded(type="error", headers=headers)
    inner = decoded(type="error", error={"headers": headers})
    assert isinstance(outer, events.ErrorEvent)
    assert isinstance(inner, events.ErrorEvent)
    assert outer.retry_after_s == inner.retry_after_s == seconds


def test_known_decorations_are_progress_and_the_rest_is_kept_whole() -> None:
    progress = decoded(type="response.content_part.added", item_id="i", part={})
    assert progress == events.Progress("response.content_part.added", "i")
    unknown = decoded(type="codex.rate_limits", plan="x", stream_id="a")
    assert isinstance(unknown, events.Unknown)
    assert unknown.raw["plan"] == "x"
    assert unknown.stream_id == "a"


@pytest.mark.parametrize("text", ["", "this is not json", "[1]", '"x"', "3", "{", "[" * 90_000])
def test_what_is_no_object_is_none(text: str) -> None:
    assert decode_server(text) is None


def test_a_deep_object_is_survived() -> None:
    text = '{"type":"response.created","response":' + '{"a":' * 900 + "1" + "}" * 900 + "}"
    decode_server(text)
    decode_server('{"x":' * 50_000)


def test_nulls_and_halves_of_characters_do_no_harm() -> None:
    event = decode_server(
        '{"type":"response.output_text.delta","delta":"\\ud83d","item_id":null,"output_index":null}'
    )
    assert isinstance(event, events.TextDelta)
    assert event.item_id == ""
    done = decode_server('{"type":"response.output_item.done","item":{"text":"a\\ud83d"}}')
    assert isinstance(done, events.ItemDone)
    assert done.item["text"] == "a\N{REPLACEMENT CHARACTER}"


def test_a_prewarm_by_cache_option_is_a_prewarm() -> None:
    text = json.dumps({"type": "response.create", "prompt_cache_options": {"prewarm": True}})
    event = decode_client(text)
    assert isinstance(event, events.Create)
    assert not event.generate


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, None),
        ({}, None),
        ({"input_tokens": 3, "output_tokens": 4}, events.Usage(3, 4)),
        ({"input_tokens": "x", "output_tokens": 4}, events.Usage(0, 4)),
        (
            {
                "input_tokens": 3,
                "input_tokens_details": {"cached_tokens": 1},
                "output_tokens": 4.0,
                "output_tokens_details": {"reasoning_tokens": 0},
            },
            events.Usage(3, 4, 1, 0),
        ),
        ({"input_tokens": -3, "output_tokens": True}, None),
    ],
)
def test_usage_is_read_leniently(usage: object, expected: events.Usage | None) -> None:
    assert events.usage_of({"usage": usage}) == expected


@pytest.mark.parametrize(
    ("frame", "status", "message"),
    [
        ('{"type":"error","error":{"code":429,"message":"slow"}}', 429, "slow"),
        ('{"type":"error","status":"503","error":{}}', 503, ""),
        ('{"type":"error","status_code":500,"error":{},"message":"so"}', 500, "so"),
        ('{"type":"error","status":true,"error":{"code":"429x"}}', None, ""),
    ],
)
def test_a_status_is_found_where_servers_put_it(
    frame: str, status: int | None, message: str
) -> None:
    event = events.decode_server(frame)
    assert isinstance(event, events.ErrorEvent)
    assert (event.status, event.message) == (status, message)
