"""Which failure is answered how: the table of PROTOCOL.md section 4, the tries of section 11."""

from __future__ import annotations

import pytest

from tui.core.wire.events import ErrorEvent, Failed
from tui.engine.recovery import (
    LONGEST_WAIT_S,
    MAX_TRIES,
    TOO_BIG,
    Remedy,
    Tries,
    backoff_s,
    led,
)
from tui.errors import EndpointError, KeyRefused, NoAnswer


def tries(count: int = 0, jitter: float = 0.5) -> Tries:
    """After so many failures."""
    made = Tries(lambda: jitter)
    made.count = count
    return made


def test_the_wait_doubles() -> None:
    assert [backoff_s(n) for n in (1, 2, 3, 4, 5)] == pytest.approx([0.2, 0.4, 0.8, 1.6, 3.2])


def test_the_wait_varies_by_a_tenth_either_way() -> None:
    assert backoff_s(1, 0.0) == pytest.approx(0.18)
    assert backoff_s(1, 1.0) == pytest.approx(0.22)
    remedy = tries(1, jitter=1.0).failed(ErrorEvent(503))
    assert remedy.wait_s == pytest.approx(0.44)


@pytest.mark.parametrize(
    ("event", "action", "free"),
    [
        (ErrorEvent(400, "previous_response_not_found"), "resend", True),
        (ErrorEvent(400, "websocket_connection_limit_reached"), "redial", True),
        (ErrorEvent(429, "rate_limit_exceeded"), "resend", False),
        (ErrorEvent(None, "websocket_queue_full"), "resend", False),
        (ErrorEvent(503, ""), "redial", False),
        (Failed({"error": {"code": "server_error", "message": "x"}}), "redial", False),
        (Failed({"error": {"code": "rate_limit_exceeded"}}), "resend", False),
        (Failed({"error": {"code": "server_is_overloaded", "message": "x"}}), "redial", False),
        (Failed({"error": {"code": "slow_down", "message": "x"}}), "redial", False),
        (Failed({"error": {"code": "invalid_prompt", "message": "x"}}), "give up", False),
        (ErrorEvent(400, "invalid_stream_id"), "give up", False),
        (ErrorEvent(404, "model_not_found"), "give up", False),
        (ErrorEvent(None, "", "just words"), "give up", False),
    ],
)
def test_remedies(event: ErrorEvent | Failed, action: str, free: bool) -> None:
    remedy = tries().failed(event)
    assert (remedy.action, remedy.free) == (action, free)


def test_what_is_the_protocols_own_business_costs_no_try() -> None:
    attempts = tries(MAX_TRIES)
    assert attempts.failed(ErrorEvent(400, "previous_response_not_found")).action == "resend"
    assert attempts.count == MAX_TRIES


def test_but_not_twice_in_a_row() -> None:
    attempts = tries()
    lost = ErrorEvent(400, "previous_response_not_found", "not found")
    assert attempts.failed(lost).action == "resend"
    assert attempts.failed(lost).action == "give up"
    attempts.over()
    assert attempts.failed(lost).action == "resend"


LIMIT = ErrorEvent(400, "websocket_connection_limit_reached", "60 minutes")
NOT_FOUND = ErrorEvent(400, "previous_response_not_found", "not found")


@pytest.mark.parametrize("codes", [(LIMIT, NOT_FOUND), (NOT_FOUND, LIMIT)])
def test_each_of_them_is_free_once_of_its_own(codes: tuple[ErrorEvent, ErrorEvent]) -> None:
    attempts = tries()
    assert [attempts.failed(code).free for code in codes] == [True, True]
    assert attempts.count == 0
    assert attempts.failed(NOT_FOUND).action == "give up"


def test_the_age_limit_is_never_told_and_has_an_end() -> None:
    attempts = tries()
    remedies = [attempts.failed(LIMIT) for _ in range(2 + MAX_TRIES)]
    *silent, last = remedies
    assert {(remedy.action, remedy.silent, remedy.free) for remedy in silent} == {
        ("redial", True, True)
    }
    assert [remedy.wait_s for remedy in silent] == pytest.approx([0, 0.2, 0.4, 0.8, 1.6, 3.2])
    assert (last.action, last.other_way) == ("give up", True)


def test_failures_between_them_do_not_make_it_endless() -> None:
    attempts = tries()
    turns = (LIMIT, NOT_FOUND, ErrorEvent(503), LIMIT, NOT_FOUND)
    rounds = [attempts.failed(code).action for _ in range(10) for code in turns]
    assert rounds.index("give up") < 20


def test_the_first_retry_is_silent_and_the_later_ones_are_not() -> None:
    attempts = tries()
    remedies = [attempts.lost("gone", 1006, heard=True) for _ in range(3)]
    assert [remedy.silent for remedy in remedies] == [True, False, False]
    assert not tries().failed(ErrorEvent(429, headers={"retry-after": "7"})).silent


def test_a_loss_before_anything_came_is_not_waited_for() -> None:
    assert tries().lost("gone", None, heard=False) == Remedy("redial", silent=True, why="gone")


def test_retry_after_is_honoured_within_reason() -> None:
    assert tries().failed(ErrorEvent(429, headers={"retry-after": "7"})).wait_s == 7
    asked = tries().failed(ErrorEvent(429, headers={"retry-after": "9000"}))
    assert asked.action == "give up"
    assert "9000 s" in asked.next_step


def test_retry_after_at_the_upgrade_is_honoured_within_reason() -> None:
    busy = EndpointError("503: too busy", transient=True, retry_after_s=11.0)
    remedy = tries().unreachable(busy, reached=False)
    assert (remedy.action, remedy.wait_s, remedy.silent) == ("redial", 11.0, False)
    late = EndpointError("503", transient=True, retry_after_s=LONGEST_WAIT_S + 1)
    assert tries().unreachable(late, reached=True).action == "give up"


def test_a_key_is_not_tried_again() -> None:
    for remedy in (
        tries().failed(ErrorEvent(401, "invalid_api_key", "bad key")),
        tries().failed(ErrorEvent(403, "", "no")),
        tries().unreachable(KeyRefused("bad key"), reached=True),
    ):
        trouble = remedy.trouble()
        assert remedy.action == "give up"
        assert not remedy.other_way
        assert trouble.unreachable
        assert not trouble.retryable
        assert "key" in trouble.what


def test_first_contact_that_cannot_pass_by_itself_is_told_at_once() -> None:
    nobody = EndpointError("nobody listens")
    assert tries().unreachable(nobody, reached=False).action == "give up"
    assert tries().unreachable(nobody, reached=True).action == "redial"
    busy = EndpointError("busy", transient=True)
    assert tries().unreachable(busy, reached=False).action == "redial"


def test_first_contact_with_a_silent_host_is_told_after_one_time_out() -> None:
    silent = NoAnswer("no answer within 15 s", transient=True)
    remedy = tries().unreachable(silent, reached=False)
    assert remedy.action == "give up"
    assert remedy.trouble().retryable
    assert tries().unreachable(silent, reached=True).action == "redial"


def test_it_gives_up_in_the_end() -> None:
    oops = ErrorEvent(500, "server_error", "oops")
    assert tries(MAX_TRIES - 1).failed(oops).action == "redial"
    assert tries(MAX_TRIES).failed(oops).action == "give up"
    assert "tried 6 times" in tries(MAX_TRIES).failed(oops).why


def test_another_way_is_for_what_the_socket_is_to_blame_for() -> None:
    assert tries(MAX_TRIES).lost("gone", 1006, heard=True).other_way
    assert tries(MAX_TRIES).unreachable(EndpointError("x", transient=True), reached=True).other_way
    assert tries().unreachable(EndpointError("x", http_may_work=True), reached=False).other_way
    assert tries().lost("too big", 1009, heard=False).other_way
    assert tries(MAX_TRIES).failed(ErrorEvent(500, "server_error")).other_way
    assert not tries(MAX_TRIES).failed(ErrorEvent(429, "rate_limit_exceeded")).other_way
    assert not tries().failed(ErrorEvent(400, "invalid_prompt")).other_way
    assert not tries().unreachable(EndpointError("nobody listens"), reached=False).other_way


def test_a_reason_that_is_a_sentence_does_not_end_before_the_colon() -> None:
    assert led("It closed the connection before it had answered.", "trying again") == (
        "It closed the connection before it had answered: trying again"
    )
    assert led("gone", "trying again") == "gone: trying again"
    oops = tries(MAX_TRIES).failed(ErrorEvent(500, "server_error", "Oops."))
    assert oops.why == "Oops (tried 6 times)"


def test_when_both_ways_fail_the_better_advice_is_given() -> None:
    attempts = tries()
    attempts.detour(attempts.lost("the request was too big", 1009, heard=False))
    last = attempts.last(attempts.failed(ErrorEvent(404, "http_404", "HTTP status 404.")))
    assert last.next_step == TOO_BIG
    assert last.why == "the request was too big; then over HTTP: HTTP status 404."
    attempts.over()
    again = attempts.failed(ErrorEvent(404, "http_404", "HTTP status 404."))
    assert attempts.last(again) == again, "a response was whole since"


def test_a_refused_key_is_the_better_advice() -> None:
    attempts = tries(MAX_TRIES)
    attempts.detour(attempts.lost("gone", 1006, heard=True))
    last = attempts.last(attempts.failed(ErrorEvent(401, "invalid_api_key", "no")))
    assert (last.why, last.what) == ("no", "The server refused the key")


@pytest.mark.parametrize(
    "event",
    [ErrorEvent(413), ErrorEvent(400, "context_length_exceeded", "too long")],
    ids=["413", "context"],
)
def test_what_is_too_big_is_said_to_be_by_whatever_way(event: ErrorEvent) -> None:
    remedy = tries().failed(event)
    assert (remedy.action, remedy.next_step) == ("give up", TOO_BIG)


def test_an_endpoint_that_http_never_reached_is_told_at_once() -> None:
    remedy = tries().failed(ErrorEvent(502, "endpoint_unreachable", "x cannot be reached: no."))
    trouble = remedy.trouble()
    assert remedy.action == "give up"
    assert trouble.unreachable
    assert trouble.what == "The endpoint cannot be reached"
    assert trouble.why == "x: no."


_UNUSABLE = {"code": "endpoint_answer_unusable", "message": "x does not come to an end."}


@pytest.mark.parametrize(
    "event",
    [ErrorEvent(502, **_UNUSABLE), Failed({"error": _UNUSABLE})],
    ids=["not begun", "begun"],
)
def test_an_answer_that_was_not_taken_is_not_asked_for_again(event: ErrorEvent | Failed) -> None:
    remedy = tries().failed(event)
    assert (remedy.action, remedy.other_way) == ("give up", False)
    assert remedy.why == _UNUSABLE["message"]


@pytest.mark.parametrize("code", [1002, 1003, 1007, 1008])
def test_a_close_that_blames_us_is_not_repeated(code: int) -> None:
    assert tries().lost("policy", code, heard=False).action == "give up"


@pytest.mark.parametrize("code", [None, 1000, 1001, 1005, 1006, 1011, 1012, 1013, 1015])
def test_a_close_that_blames_the_network_is_tried_again(code: int | None) -> None:
    assert tries().lost("gone", code, heard=True).action == "redial"


def test_what_is_done_anyway_is_not_advised() -> None:
    error = EndpointError("h answered 503: try again", transient=True)
    error.cause = "h answered 503"
    assert tries().unreachable(error, reached=False).why == "h answered 503"
    assert tries(MAX_TRIES).unreachable(error, reached=False).why == "h answered 503: try again"


@pytest.mark.parametrize("status", [404, 405])
def test_a_path_that_is_not_there_over_http_is_told(status: int) -> None:
    remedy = tries().failed(ErrorEvent(status, f"http_{status}", "Nothing to see here."))
    assert remedy.action == "give up"
    assert remedy.why == f"Nothing to see here (HTTP {status})"
    assert "ends in /v1" in remedy.next_step
    assert "kind" in remedy.next_step
    told = tries().failed(ErrorEvent(status, f"http_{status}", f"HTTP status {status}"))
    assert told.why == f"HTTP status {status}"


def test_a_refused_key_is_advised_once() -> None:
    error = KeyRefused("h refused the key (HTTP 401): check it, or name another with --key-env")
    assert tries().unreachable(error, reached=False).next_step == ""
    assert "--key-env" in tries().failed(ErrorEvent(401, "invalid_api_key", "no")).next_step


@pytest.mark.parametrize(
    ("event", "what", "step"),
    [
        (ErrorEvent(400, "model_not_found", "no m; did you mean n?"), "no such model", "--fast"),
        (ErrorEvent(400, "image_not_supported", "text only"), "no images", "/clear"),
        (ErrorEvent(404, "not_an_endpoint", "a web page"), "not set up right", "doctor"),
        (ErrorEvent(429, "insufficient_quota", "pay"), "no credit", "other model"),
        (ErrorEvent(402, "", "pay"), "no credit", "other model"),
        (Failed({"error": {"code": "insufficient_quota", "message": "pay"}}), "no credit", "add"),
    ],
)
def test_what_no_retry_heals_comes_with_what_to_do(
    event: ErrorEvent | Failed, what: str, step: str
) -> None:
    remedy = tries().failed(event)
    assert remedy.action == "give up"
    assert what in remedy.what
    assert step in remedy.next_step
    assert remedy.why == event.message
