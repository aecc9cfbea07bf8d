"""Whose trouble an `error` is, and what is learnt from it (PROTOCOL sections 4 and 8)."""

from __future__ import annotations

import json

import pytest

from tests.support.client_side import UNKNOWN_EVENT, ClientSide, kinds
from tui.core.wire import events
from tui.core.wire.capabilities import Capabilities
from tui.core.wire.client.lane import GRACE_S, LaneState

LIMIT = "websocket_connection_limit_reached"


def two_lanes(capabilities: Capabilities | None = None) -> ClientSide:
    """Two named lanes stream over one socket."""
    side = ClientSide(capabilities or Capabilities(lanes=True))
    side.streaming("a", "resp_1").streaming("b", "resp_2")
    return side


def test_an_error_with_a_name_ends_its_lane_and_no_other() -> None:
    side = two_lanes()
    (event,) = side.error(500, "a", code="server_error")
    assert event.stream_id == "a"
    assert side.state("a") is LaneState.IDLE
    assert side.delta("x", "b")


def test_an_error_without_a_name_is_not_pinned_on_a_streaming_lane() -> None:
    side = two_lanes()
    (event,) = side.error(500, code="server_error")
    assert event.stream_id is None
    assert side.delta("x", "a")
    assert side.delta("x", "b")


@pytest.mark.parametrize("kind", ["steer", "interrupt"])
def test_a_complaint_about_our_control_event_that_comes_twice_ends_nothing(kind: str) -> None:
    side = two_lanes()
    if kind == "steer":
        side.client.steer("smaller", "a", side.now)
    else:
        side.client.interrupt("a", side.now)
    words = f"Unknown event type 'response.{kind}'"
    for _ in range(2):
        assert not [e for e in side.error(400, message=words) if isinstance(e, events.ErrorEvent)]
    assert side.delta("x", "b")
    assert side.state("b") is LaneState.STREAMING
    assert not side.client.should_drop


def test_an_error_without_a_name_is_that_of_the_one_request_that_has_not_begun() -> None:
    side = two_lanes()
    side.ask("c")
    (event,) = side.error(400, message="bad input")
    assert event.stream_id == "c"
    assert side.state("c") is LaneState.IDLE


def test_an_error_without_a_name_is_the_default_lane_s() -> None:
    side = two_lanes()
    side.streaming(None, "resp_3")
    (event,) = side.error(500, code="server_error")
    assert event.stream_id is None
    assert side.state() is LaneState.IDLE
    assert side.delta("x", "a")


def test_an_unknown_event_is_the_lane_s_that_sent_one() -> None:
    side = two_lanes()
    side.client.interrupt("a", 0.0)
    assert kinds(side.say("error", **UNKNOWN_EVENT)) == ["Incomplete"]
    assert side.state("a") is LaneState.ABANDONED
    assert side.delta("x", "b")
    assert side.known.interrupt == {"m": False}
    assert not side.client.should_drop


def test_steer_and_interrupt_are_told_apart_by_the_words() -> None:
    side = two_lanes()
    side.client.steer("smaller", "a", 0.0)
    side.client.interrupt("b", 0.0)
    side.error(400, code="invalid_event", message="unsupported event 'response.steer'")
    assert side.known.steer == {"m": False}
    assert side.state("b") is LaneState.INTERRUPTING
    side.error(400, code="invalid_event", message="unsupported event 'response.interrupt'")
    assert side.known.interrupt == {"m": False}
    assert side.state("a") is LaneState.STREAMING


def test_a_request_that_the_default_lane_has_just_made_is_not_an_unknown_event() -> None:
    side = two_lanes()
    side.client.interrupt("a", 0.0)
    side.ask()
    (event,) = side.error(400, code="invalid_request", message="no such model")
    assert isinstance(event, events.ErrorEvent)
    assert side.state() is LaneState.IDLE
    assert side.state("a") is LaneState.INTERRUPTING


def test_a_server_error_while_a_text_is_undecided_ends_the_answer() -> None:
    side = ClientSide().streaming()
    side.client.steer("smaller", None, 0.0)
    got = side.error(None, type="server_error", message="upstream broke")
    assert kinds(got) == ["SteerNews", "ErrorEvent"]
    assert side.state() is LaneState.IDLE


def test_the_time_limit_is_told_to_every_lane_that_waits() -> None:
    side = two_lanes()
    got = side.error(400, code=LIMIT, message="60 minutes")
    assert [event.stream_id for event in got] == ["a", "b"]
    assert all(isinstance(event, events.ErrorEvent) and event.code == LIMIT for event in got)
    assert side.client.should_drop


def test_the_time_limit_on_an_idle_socket_is_nobody_s() -> None:
    side = two_lanes()
    side.completed("resp_1", "a")
    side.completed("resp_2", "b")
    assert side.error(400, code=LIMIT) == []
    assert side.client.should_drop
    assert not side.client.takes("a")


def test_held_creates_outlive_the_time_limit() -> None:
    side = ClientSide()
    side.ask("a")
    side.ask("b")
    side.error(400, code=LIMIT)
    assert side.client.homeless() == [("b", {"model": "m"})]


def test_the_ladder_is_a_lane_s_own() -> None:
    side = two_lanes()
    side.client.interrupt("a", 0.0)
    assert side.sent()[-1]["response_id"] == "resp_1"
    (answer,) = side.say("response.interrupt.accepted", response_id="resp_1")
    assert answer.stream_id == "a"
    assert side.known.interrupt == {"m": True}
    assert side.delta("x", "a") == []
    assert side.delta("x", "b")
    assert kinds(side.incomplete("interrupted", "resp_1", "a")) == ["Incomplete"]
    assert side.delta("x", "b")


def test_silence_beside_a_busy_neighbour_abandons_the_lane() -> None:
    side = two_lanes()
    side.client.interrupt("a", 0.0)
    (end,) = side.wait(GRACE_S)
    assert isinstance(end, events.Incomplete)
    assert (end.reason, end.response_id, end.stream_id) == ("abandoned", "resp_1", "a")
    assert not side.client.should_drop
    assert side.completed("resp_1", "a") == []
    assert side.state("a") is LaneState.IDLE


def test_an_abandoned_neighbour_keeps_no_socket() -> None:
    side = two_lanes(Capabilities(lanes=True, interrupt={"m": False}))
    side.client.interrupt("a", 0.0)
    assert not side.client.should_drop
    side.client.interrupt("b", 0.0)
    assert side.client.should_drop


def test_one_that_begins_after_it_was_abandoned_is_stopped_where_that_works() -> None:
    side = two_lanes(Capabilities(lanes=True, interrupt={"m": True}))
    side.ask("c")
    side.client.interrupt("c", 0.0)
    assert kinds(side.wait(GRACE_S)) == ["Incomplete"]
    assert side.created("resp_3", "c") == []
    assert side.sent()[-1]["response_id"] == "resp_3"
    assert side.say("response.interrupt.accepted", response_id="resp_3") == []
    assert side.incomplete("interrupted", "resp_3", "c") == []
    assert side.state("c") is LaneState.IDLE


def test_an_acceptance_under_a_foreign_id_is_the_one_stopped_lane_s() -> None:
    side = two_lanes()
    side.client.interrupt("a", 0.0)
    assert kinds(side.say("response.interrupt.accepted", response_id="upstream_7")) == [
        "InterruptAccepted"
    ]


def test_a_late_answer_about_an_ended_response_stops_nobody_else() -> None:
    side = two_lanes()
    side.client.interrupt("a", 0.0)
    side.completed("resp_1", "a")
    side.ask("a")
    side.created("resp_3", "a")
    side.client.interrupt("b", 0.0)
    assert side.say("response.interrupt.failed", response_id="resp_1", error={}) == []
    assert side.state("b") is LaneState.INTERRUPTING
    assert side.known.interrupt == {}


def test_inject_events_are_known() -> None:
    side = ClientSide().streaming()
    (made,) = side.say("response.inject.created", response_id="resp_1")
    assert isinstance(made, events.InjectCreated)
    error = {"code": "response_not_found"}
    (failed,) = side.say("response.inject.failed", response_id="r", input=[1], error=error)
    assert isinstance(failed, events.InjectFailed)
    assert (failed.input, failed.error) == ([1], error)
    assert side.delta()


def test_compaction_is_progress() -> None:
    side = ClientSide().streaming()
    (event,) = side.say("response.compaction.compacting", item_id="c", output_index=1)
    assert isinstance(event, events.Progress)


@pytest.mark.parametrize("kind", [str, bytes])
def test_bytes_and_text_are_taken_alike(kind: type[str] | type[bytes]) -> None:
    side = ClientSide().streaming()
    for text in ("plain", "Käse ✓", "\N{GRINNING FACE}"):
        frame = json.dumps({"type": "response.output_text.delta", "delta": text})
        raw = json.dumps({"type": "response.output_text.delta", "delta": text}, ensure_ascii=False)
        for one in (frame, raw):
            side.client.receive_text(one if kind is str else one.encode(), 0.0)
            (event,) = side.got()
            assert isinstance(event, events.TextDelta)
            assert event.delta == text


def test_half_a_character_in_bytes_is_joined_too() -> None:
    side = ClientSide().streaming()
    for half in (b"\\ud83d", b"\\ude00"):
        side.client.receive_text(
            b'{"type":"response.output_text.delta","item_id":"i","delta":"' + half + b'"}', 0.0
        )
    (event,) = side.got()
    assert isinstance(event, events.TextDelta)
    assert event.delta == "\N{GRINNING FACE}"


def test_bytes_that_are_no_text_are_read_as_far_as_they_go() -> None:
    side = ClientSide().streaming()
    side.client.receive_text(b'{"type":"response.output_text.delta","delta":"a\xff"}', 0.0)
    (event,) = side.got()
    assert isinstance(event, events.TextDelta)
    assert event.delta == "a\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize("data", [b"", b"ping", b"[1]", b"\xff\xfe", "nonsense"])
def test_what_is_no_object_is_counted_and_skipped(data: str | bytes) -> None:
    side = ClientSide().streaming()
    side.client.receive_text(data, 0.0)
    assert side.got() == []
    assert side.client.unreadable == 1
    assert side.delta()


def test_nothing_is_taken_after_the_loss() -> None:
    side = ClientSide().streaming()
    side.client.connection_lost("gone")
    assert side.delta() == []
    assert side.created("resp_2") == []
    assert side.completed() == []
    assert side.say("vendor.news") == []
    assert not side.client.takes(None)
    assert side.client.deadline() is None
