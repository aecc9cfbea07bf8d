"""An endpoint that speaks HTTP+SSE, seen over a Responses WebSocket of the bridge."""

from __future__ import annotations

from tests.support.bridge_client import prose
from tests.support.relayed import answered
from tests.support.sse_upstream import (
    KEY,
    USAGE,
    completed,
    message,
    message_item,
    opening,
    refusing,
    response_body,
    saying,
    sse,
)
from tests.support.tables import each
from tui.bridge.server import Bridge
from tui.core.wire.masking import Mask


@each("whole", [False, True])
async def test_items_of_the_terminal_alone_are_said_too(bridge: Bridge, whole: bool) -> None:
    call = {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": "{}"}
    call["status"] = "completed"
    output = [message_item("hello"), call, {"type": "reasoning", "id": "rs", "summary": []}]
    body = response_body("completed", output=output, usage=USAGE)
    answer = refusing(200, body) if whole else saying(completed(output=output))
    events = await answered(bridge, answer)
    assert prose(events) == "hello"
    done = [e["item"] for e in events if e["type"] == "response.output_item.done"]
    assert done == output
    assert events[-1]["response"]["output"] == output
    assert events[-1]["response"]["usage"] == USAGE
    deltas = [e for e in events if e["type"] == "response.function_call_arguments.delta"]
    assert [e["delta"] for e in deltas] == ["{}"]


async def test_endings_of_the_upstream(bridge: Bridge) -> None:
    details = {"reason": "max_output_tokens"}
    body = response_body("incomplete", incomplete_details=details)
    told = opening() + message("x") + sse("response.incomplete", response=body)
    events = await answered(bridge, saying(told))
    assert events[-1]["type"] == "response.incomplete"
    assert events[-1]["response"]["incomplete_details"] == details
    error = {"code": "rate_limit_exceeded", "message": f"slow down, {KEY}"}
    told = opening() + sse("response.failed", response=response_body("failed", error=error))
    failed = (await answered(bridge, saying(told)))[-1]
    assert failed["type"] == "response.failed"
    assert failed["response"]["error"] == {
        "code": "rate_limit_exceeded",
        "message": f"slow down, {Mask([KEY]).text(KEY)}",
    }
    told = opening() + sse("response.failed", response={})
    failed = (await answered(bridge, saying(told)))[-1]
    assert failed["response"]["error"]["code"] == "server_error"


@each("told", [b"", opening(), opening() + message("x"), b"data: [DONE]\n\n"])
async def test_a_stream_without_an_end_is_a_failure(bridge: Bridge, told: bytes) -> None:
    failed = (await answered(bridge, saying(told)))[-1]
    # Of an answer that never began nothing is lost: another one may be asked.
    begun = b"output_item" in told
    assert failed["type"] == ("response.failed" if begun else "error")
    assert begun or failed["status"] == 502
    error = (failed["response"] if begun else failed)["error"]
    assert error["code"] == "server_error"
    assert "127.0.0.1" in error["message"]


async def test_a_vendors_event_is_no_beginning_of_the_answer(bridge: Bridge) -> None:
    told = opening() + b'data: {"type":"codex.rate_limits","plan":"x"}\n\n'
    failed = (await answered(bridge, saying(told)))[-1]
    assert (failed["type"], failed["status"]) == ("error", 502)
