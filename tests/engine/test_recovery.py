from __future__ import annotations

import pytest

from tui.core.events import ErrorEvent, Failed
from tui.engine.recovery import MAX_TRIES, backoff_s, remedy_for


def test_the_wait_doubles() -> None:
    assert [backoff_s(n) for n in (1, 2, 3, 4, 5)] == pytest.approx([0.2, 0.4, 0.8, 1.6, 3.2])


@pytest.mark.parametrize(
    ("event", "action", "silent"),
    [
        (ErrorEvent(400, "previous_response_not_found"), "resend", True),
        (ErrorEvent(400, "websocket_connection_limit_reached"), "redial", True),
        (ErrorEvent(429, "rate_limit_exceeded"), "resend", False),
        (ErrorEvent(None, "websocket_queue_full"), "resend", False),
        (ErrorEvent(503, ""), "redial", False),
        (Failed({"error": {"code": "server_error", "message": "x"}}), "redial", False),
        (Failed({"error": {"code": "invalid_prompt", "message": "x"}}), "give up", False),
        (ErrorEvent(400, "invalid_stream_id"), "give up", False),
        (ErrorEvent(None, "", "just words"), "give up", False),
    ],
)
def test_remedies(event: ErrorEvent | Failed, action: str, silent: bool) -> None:
    remedy = remedy_for(event, 1)
    assert (remedy.action, remedy.silent) == (action, silent)


def test_retry_after_is_honoured_within_reason() -> None:
    assert remedy_for(ErrorEvent(429, headers={"retry-after": "7"}), 1).wait_s == 7
    asked = remedy_for(ErrorEvent(429, headers={"retry-after": "9000"}), 1)
    assert asked.action == "give up"
    assert "9000 s" in asked.next_step


def test_a_key_is_not_tried_again() -> None:
    trouble = remedy_for(ErrorEvent(401, "invalid_api_key", "bad key"), 1).trouble()
    assert trouble.unreachable
    assert not trouble.retryable
    assert "key" in trouble.what


def test_it_gives_up_in_the_end() -> None:
    event = ErrorEvent(500, "server_error", "oops")
    assert remedy_for(event, MAX_TRIES).action == "redial"
    assert remedy_for(event, MAX_TRIES + 1).action == "give up"
