"""Which failure is answered how: the table of PROTOCOL.md section 4, the tries of section 11."""

from __future__ import annotations

import pytest

from tests.support.fakes import World, settle
from tests.support.tables import each
from tests.support.turns import begun, notes
from tui.core.conversation import BlockKind
from tui.core.wire import events
from tui.core.wire.events import ErrorEvent, Failed
from tui.core.wire.refusals import BLOCKED, UNUSABLE
from tui.engine import intents
from tui.engine.recovery import KEY_REFUSED, MAX_TRIES, TOO_BIG, Tries
from tui.errors import EndpointError, KeyRefused


def tries(count: int = 0, jitter: float = 0.5) -> Tries:
    """After so many failures."""
    made = Tries(lambda: jitter)
    made.count = count
    return made


@each(
    "event, action, free",
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
        (ErrorEvent(402, "rate_limit_exceeded"), "give up", False),
        (ErrorEvent(403, "rate_limit_exceeded"), "give up", False),
        (ErrorEvent(404, "rate_limit_exceeded"), "resend", False),
        (ErrorEvent(429, "insufficient_quota"), "give up", False),
        (ErrorEvent(500, UNUSABLE), "give up", False),
        (ErrorEvent(500, ""), "redial", False),
        (ErrorEvent(408, "closed_4408"), "resend", False),
        (ErrorEvent(409, "conflict"), "resend", False),
        (ErrorEvent(499, ""), "give up", False),
        (ErrorEvent(400, "invalid_stream_id"), "give up", False),
        (ErrorEvent(404, "model_not_found"), "give up", False),
        (ErrorEvent(None, "", "just words"), "give up", False),
    ],
)
def test_remedies(event: ErrorEvent | Failed, action: str, free: bool) -> None:
    remedy = tries().failed(event)
    assert (remedy.action, remedy.free) == (action, free)
    assert not remedy.unreachable or action == "give up"


@each(
    "code, action, what",
    [
        (4401, "give up", KEY_REFUSED),
        (4403, "give up", KEY_REFUSED),
        (4404, "give up", "The connection was lost"),
        (4429, "redial", None),
        (4000, "redial", None),
        (4500, "redial", None),
    ],
)
def test_close_codes_that_repeat_http(code: int, action: str, what: str | None) -> None:
    remedy = tries().lost("closed", code, heard=False)
    assert remedy.action == action
    assert what in (None, remedy.what)


FORBIDDEN = "The server refused the request"
LIMITED = "The account has no credit left"


@each(
    "status, code, words, what",
    [
        (401, "", "No.", KEY_REFUSED),
        (403, "", "", KEY_REFUSED),
        (403, "permission_error", "Your API key may not use this.", KEY_REFUSED),
        (403, "authentication_error", "No.", KEY_REFUSED),
        (403, "", "Not authenticated", KEY_REFUSED),
        (403, BLOCKED, "No API key was seen.", "The request was not let through"),
        (403, "", "No.", FORBIDDEN),
        (403, "permission_error", "Your region is not supported.", FORBIDDEN),
        (403, "model_not_found", "Project p has no access to m.", "There is no such model"),
        (403, "insufficient_quota", "Nothing is left.", LIMITED),
    ],
)
def test_a_403_is_told_by_its_own_words(status: int, code: str, words: str, what: str) -> None:
    remedy = tries().failed(ErrorEvent(status, code, words))
    assert (remedy.action, remedy.what) == ("give up", what)
    assert words in remedy.why
    assert remedy.next_step


LIMIT = ErrorEvent(400, "websocket_connection_limit_reached", "60 minutes")
NOT_FOUND = ErrorEvent(400, "previous_response_not_found", "not found")


@each("codes", [(LIMIT, NOT_FOUND), (NOT_FOUND, LIMIT)])
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


def test_another_way_is_for_what_the_socket_is_to_blame_for() -> None:
    assert tries(MAX_TRIES).lost("gone", 1006, heard=True).other_way
    assert tries(MAX_TRIES).unreachable(EndpointError("x", transient=True), reached=True).other_way
    assert tries().unreachable(EndpointError("x", http_may_work=True), reached=False).other_way
    assert tries().lost("too big", 1009, heard=False).other_way
    assert tries(MAX_TRIES).failed(ErrorEvent(500, "server_error")).other_way
    assert not tries(MAX_TRIES).failed(ErrorEvent(429, "rate_limit_exceeded")).other_way
    assert not tries().failed(ErrorEvent(400, "invalid_prompt")).other_way
    assert not tries().unreachable(EndpointError("nothing listening"), reached=False).other_way


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


def test_an_endpoint_that_http_never_reached_is_told_at_once() -> None:
    remedy = tries().failed(ErrorEvent(502, "endpoint_unreachable", "x cannot be reached: no."))
    trouble = remedy.trouble()
    assert remedy.action == "give up"
    assert trouble.unreachable
    assert trouble.what == "The endpoint cannot be reached"
    assert trouble.why == "x: no."


@each("status", [404, 405])
def test_a_path_that_is_not_there_over_http_is_told(status: int) -> None:
    remedy = tries().failed(ErrorEvent(status, f"http_{status}", "Nothing to see here."))
    assert remedy.action == "give up"
    assert remedy.why == f"Nothing to see here (HTTP {status})"
    assert "ends in /v1" in remedy.next_step
    assert "kind" in remedy.next_step
    told = tries().failed(ErrorEvent(status, f"http_{status}", f"HTTP status {status}"))
    assert told.why == f"HTTP status {status}"


@each(
    "event, what, step",
    [
        (ErrorEvent(400, "model_not_found", "no m; did you mean n?"), "no such model", "--fast"),
        (ErrorEvent(400, "image_not_supported", "text only"), "no images", "/model"),
        (ErrorEvent(400, "context_length_exceeded", "too long"), "could not answer", "/clear"),
        (ErrorEvent(404, "not_an_endpoint", "a web page"), "settings are wrong", "doctor"),
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


@each("pause", ["0", "0.01", "Sat, 21 Nov 2026 12:00:00 GMT"])
def test_a_pause_that_is_over_is_no_leave_to_hurry(pause: str) -> None:
    date = {"Date": "Sat, 21 Nov 2026 12:05:00 GMT"}
    attempts = tries()
    event = ErrorEvent(429, "rate_limit_exceeded", headers={"Retry-After": pause, **date})
    waits = [attempts.failed(event).wait_s for _ in range(MAX_TRIES)]
    assert waits == pytest.approx([0.2, 0.4, 0.8, 1.6, 3.2])


def test_a_pause_of_days_is_told_in_days() -> None:
    event = ErrorEvent(429, "rate_limit_exceeded", headers={"Retry-After": "259200"})
    assert tries().failed(event).next_step == "the server says to wait 3 days"


async def test_esc_while_it_waits_for_the_first_contact_gives_the_prompt_back(world: World) -> None:
    world.wire.refusals = [EndpointError("busy", transient=True, retry_after_s=3.0)]
    world.session.submit(intents.Prompt("hello"))
    await settle()
    world.session.submit(intents.Interrupt())
    status = world.session.status
    assert (status.unsent, status.busy, status.retry_s) == ("hello", False, None)


async def test_five_tries_then_http_then_five_more(world: World, quick_retries: None) -> None:
    world.wire.other_way = True
    world.session.submit(intents.Prompt("hello"))
    for number in range(1, 2 * MAX_TRIES + 3):
        await world.wire.request(number)
        assert world.wire.transport == ("websocket" if number <= MAX_TRIES + 1 else "http")
        world.wire.lose()
    await settle()
    assert any("going on over HTTP" in note for note in notes(world))
    assert world.session.status.outcome == "failed"
    assert world.wire.transport == "websocket", "HTTP is no better: the next turn asks again"
    assert world.session.status.unsent == "hello"


async def test_a_key_that_is_refused_on_the_way_is_not_tried_again(
    world: World, quick_retries: None
) -> None:
    world.wire.other_way = True
    model = await begun(world)
    model.say(model.open_text(), "half")
    world.wire.refusals = [KeyRefused("the key has expired")]
    world.wire.lose()
    await settle()
    assert world.wire.dials == 2
    assert world.wire.transport == "websocket"
    assert world.session.status.outcome == "failed"
    assert any("key" in t.what and t.unreachable for t in world.session.drain().troubles)


async def test_a_socket_that_esc_had_to_drop_is_not_a_loss(world: World) -> None:
    model = await begun(world, "one")
    model.text("first")
    world.session.submit(intents.Interrupt())
    world.wire.lose("no answer to the interrupt")
    await settle()
    status = world.session.status
    assert (status.busy, status.connection) == (False, "offline")


async def test_a_key_refused_before_the_first_prompt_is_called_that(world: World) -> None:
    world.wire.refusals = [KeyRefused("h refused the key (HTTP 401): check it")]
    await world.runs()
    (trouble,) = world.session.drain().troubles
    assert (trouble.what, trouble.severity) == ("The server refused the key", "warning")
    assert "HTTP 401" in trouble.why
    assert trouble.unreachable


@each("again", ["lost", "limit", "over"])
async def test_only_a_half_answer_that_is_asked_for_again_is_void(
    quick_retries: None, again: str
) -> None:
    world = World()
    model = await begun(world, "one")
    model.text("whole")
    model.say(model.open_text(), "the first half")
    if again == "limit":
        limit = events.ErrorEvent(400, "websocket_connection_limit_reached", "60 minutes are up")
        world.wire.give(limit)
    else:
        world.wire.close_code = 1008 if again == "over" else 1006
        world.wire.lose()
    await settle()
    if again != "over":
        await world.wire.request(2)
        assert "failed" not in {block.state for block in world.session.transcript.blocks}
        model.begin()
    states = [b.state for b in world.session.transcript.blocks if b.kind is BlockKind.TEXT]
    assert states == ["done", "cut" if again == "over" else "failed"]
