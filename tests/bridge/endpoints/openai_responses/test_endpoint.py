"""An endpoint that speaks HTTP+SSE, seen over a Responses WebSocket of the bridge."""

from __future__ import annotations

from tests.support.relayed import answered
from tests.support.sse_upstream import (
    KEY,
    message,
    opening,
    response_body,
    saying,
    sse,
)
from tests.support.tables import each
from tui.bridge.server import Bridge
from tui.core.wire.masking import Mask


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
