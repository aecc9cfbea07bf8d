"""Steering from the client's side: every fate of a text (PROTOCOL section 7)."""

from __future__ import annotations

from tests.support.client_side import UNKNOWN_EVENT, ClientSide, fates, kinds
from tests.support.tables import each
from tui.core.wire import events
from tui.core.wire.client.lane import LaneState
from tui.core.wire.client.steers import STEER_S, SUCCESSOR_S
from tui.core.wire.endpoint_facts import Capabilities


def steered(text: str = "smaller") -> ClientSide:
    """A response streams and one text was sent to it."""
    side = ClientSide().streaming()
    assert side.client.steer(text, None, side.now) == 1
    assert side.sent() == [
        {"type": "response.steer", "previous_response_id": "resp_1", "input": text}
    ]
    return side


def test_accepted_then_cut_then_used_by_the_successor() -> None:
    side = steered()
    assert fates(side.accepted("steer_a")) == [(1, "accepted")]
    assert side.known.steer == {"m": True}
    assert side.delta()
    assert kinds(side.incomplete("steered")) == ["Incomplete"]
    assert side.busy()
    assert side.state() is LaneState.STEERING
    got = side.created("resp_2")
    assert kinds(got) == ["SteerNews", "Created"]
    assert fates(got) == [(1, "used")]
    assert side.delta()
    assert kinds(side.completed("resp_2")) == ["Completed"]
    assert not side.busy()
    assert side.sent() == []


def test_a_finished_response_has_a_successor_all_the_same() -> None:
    side = steered()
    side.accepted("steer_a")
    assert kinds(side.completed()) == ["Completed"]
    assert side.busy()
    assert fates(side.created("resp_2")) == [(1, "used")]


def test_a_text_before_the_id_is_sent_when_the_id_comes() -> None:
    side = ClientSide()
    side.ask()
    assert side.client.steer("smaller", None, 0.0) == 1
    assert side.sent() == []
    side.created("resp_7")
    assert side.sent()[0]["previous_response_id"] == "resp_7"


def test_refused_texts_come_back_with_the_reason() -> None:
    side = steered()
    (news,) = side.steer_failed("response_already_completed", text="smaller")
    assert isinstance(news, events.SteerNews)
    assert (news.number, news.fate, news.text) == (1, "returned", "smaller")
    assert news.why == "response_already_completed"
    assert side.known.steer == {}
    assert kinds(side.completed()) == ["Completed"]
    assert not side.busy()


def test_not_supported_is_remembered_and_nothing_is_sent_again() -> None:
    side = steered()
    side.steer_failed("steering_not_supported")
    assert side.known.steer == {"m": False}
    assert side.client.steer("again", None, 0.0) is None
    assert side.sent() == []


def test_an_unknown_event_error_is_about_the_text_and_not_about_the_answer() -> None:
    side = steered()
    got = side.say("error", **UNKNOWN_EVENT)
    assert fates(got) == [(1, "returned")]
    assert side.known.steer == {"m": False}
    assert side.delta()
    assert side.completed()


def test_silence_says_no_and_returns_the_text() -> None:
    side = steered()
    assert side.wait(STEER_S - 0.01) == []
    assert fates(side.wait(0.01)) == [(1, "returned")]
    assert side.known.steer == {"m": False}
    assert side.delta()


def test_one_silence_proves_nothing_where_steering_has_worked() -> None:
    side = steered()
    side.accepted("steer_a")
    side.client.steer("another", None, side.now)
    assert fates(side.wait(STEER_S)) == [(2, "returned")]
    assert side.known.steer == {"m": True}


def test_after_the_end_an_undecided_text_is_waited_for_two_seconds_at_most() -> None:
    side = steered()
    side.now = 1.5
    side.completed()
    assert side.busy()
    assert fates(side.wait(0.5)) == [(1, "returned")]
    assert not side.busy()


def test_a_successor_that_does_not_come_gives_the_text_back_and_loses_the_lane() -> None:
    side = steered()
    side.accepted("steer_a")
    side.completed()
    assert side.wait(SUCCESSOR_S - 0.01) == []
    assert fates(side.wait(0.01)) == [(1, "returned")]
    assert not side.busy()
    assert side.state() is LaneState.ABANDONED
    assert side.created("resp_2") == []
    assert side.delta() == []
    assert side.completed("resp_2") == []
    assert side.state() is LaneState.IDLE


def test_a_cut_for_steering_proves_a_lost_acknowledgement() -> None:
    side = steered()
    assert fates(side.incomplete("steered")) == [(1, "accepted")]
    assert side.known.steer == {"m": True}
    assert fates(side.created("resp_2")) == [(1, "used")]


def test_a_successor_that_comes_at_all_proves_it_too() -> None:
    side = steered()
    assert fates(side.completed()) == []
    assert fates(side.created("resp_2")) == [(1, "used")]


def test_several_texts_are_matched_in_order_and_used_together() -> None:
    side = steered()
    assert side.client.steer("and red", None, 0.0) == 2
    assert side.client.steer("and round", None, 0.0) == 3
    assert fates(side.accepted("steer_a")) == [(1, "accepted")]
    assert fates(side.accepted("steer_b")) == [(2, "accepted")]
    assert fates(side.steer_failed("too_many_pending_steers", text="and round")) == [
        (3, "returned")
    ]
    side.incomplete("steered")
    assert fates(side.created("resp_2")) == [(1, "used"), (2, "used")]


def test_a_failure_may_come_after_the_acceptance_and_is_found_by_its_id() -> None:
    side = steered()
    side.client.steer("and red", None, 0.0)
    side.accepted("steer_a")
    side.accepted("steer_b")
    failed = side.steer_failed("successor_creation_failed", text="smaller", name="steer_a")
    assert fates(failed) == [(1, "returned")]
    side.completed()
    assert side.busy()
    again = side.steer_failed("successor_creation_failed", name="steer_b")
    assert fates(again) == [(2, "returned")]
    assert not side.busy()
    assert side.state() is LaneState.IDLE


def test_one_acceptance_said_twice_counts_once() -> None:
    side = steered()
    side.client.steer("and red", None, 0.0)
    side.accepted("steer_a")
    assert fates(side.accepted("steer_a")) == []
    assert fates(side.accepted("steer_b")) == [(2, "accepted")]


def test_texts_wait_for_tool_outputs_and_go_with_the_next_create_of_that_parent() -> None:
    side = steered()
    side.accepted("steer_a")
    side.call()
    assert fates(side.completed()) == [(1, "pending")]
    assert not side.busy()
    steer = {"id": "steer_a", "previous_response_id": "resp_1"}
    assert side.say("response.steer.pending", steer=steer, reason="waiting") == []
    assert side.wait(60.0) == []
    side.ask(previous_response_id="resp_1", input=[])
    assert fates(side.created("resp_2")) == [(1, "used")]


def test_pending_said_before_the_end_is_told_once() -> None:
    side = steered()
    side.accepted("steer_a")
    side.call()
    steer = {"id": "steer_a", "previous_response_id": "resp_1"}
    assert fates(side.say("response.steer.pending", steer=steer)) == [(1, "pending")]
    assert fates(side.completed()) == []


def test_a_create_without_that_parent_gives_the_texts_back_first() -> None:
    side = steered()
    side.accepted("steer_a")
    side.call()
    side.completed()
    side.ask()
    assert fates(side.got()) == [(1, "returned")]
    assert fates(side.created("resp_2")) == []


def test_a_create_that_fails_before_it_began_gives_the_texts_back() -> None:
    side = steered()
    side.accepted("steer_a")
    side.call()
    side.completed()
    side.ask(previous_response_id="resp_1")
    got = side.error(code="previous_response_not_found")
    assert kinds(got) == ["SteerNews", "ErrorEvent"]
    assert fates(got) == [(1, "returned")]


def test_accepted_after_an_end_with_tool_calls_waits_for_the_create_too() -> None:
    side = steered()
    side.call()
    side.completed()
    assert not side.busy()
    assert fates(side.accepted("steer_a")) == [(1, "accepted"), (1, "pending")]
    side.ask(previous_response_id="resp_1")
    assert fates(side.created("resp_2")) == [(1, "used")]


def test_a_response_that_we_asked_for_proves_no_text_that_was_never_accepted() -> None:
    side = steered()
    side.call()
    side.completed()
    side.ask(previous_response_id="resp_1")
    assert fates(side.created("resp_2")) == []
    assert fates(side.wait(STEER_S)) == [(1, "returned")]
    assert side.state() is LaneState.CREATED


@each("end", ["failed", "error", "interrupted", "lost", "limit", "abandon"])
def test_every_bad_end_gives_all_texts_back(end: str) -> None:
    side = steered()
    side.accepted("steer_a")
    side.client.steer("and red", None, 0.0)
    match end:
        case "failed":
            got = side.failed()
        case "error":
            got = side.error(500, code="server_error")
        case "interrupted":
            side.client.interrupt(None, 0.0)
            got = side.incomplete("interrupted")
        case "limit":
            got = side.error(code="websocket_connection_limit_reached")
        case "abandon":
            side.client.abandon()
            got = side.got()
        case _:
            side.client.connection_lost("the connection broke")
            got = side.got()
    assert fates(got) == [(1, "returned"), (2, "returned")]
    assert not side.busy()


def test_texts_come_back_before_the_end_that_they_come_back_for() -> None:
    side = steered()
    assert kinds(side.failed()) == ["SteerNews", "Failed"]


def test_a_stop_while_a_successor_is_owed_stops_the_successor() -> None:
    side = steered()
    side.accepted("steer_a")
    side.incomplete("steered")
    assert side.client.interrupt(None, side.now)
    assert not side.client.interrupt(None, side.now)
    assert side.sent() == []
    assert kinds(side.created("resp_2")) == ["SteerNews", "Created"]
    assert side.sent() == [
        {
            "type": "response.interrupt",
            "response_id": "resp_2",
            "mode": "discard_partial_items",
        }
    ]
    assert side.delta() == []
    side.say("response.interrupt.accepted", response_id="resp_2")
    assert kinds(side.incomplete("interrupted", "resp_2")) == ["Incomplete"]
    assert not side.busy()


def test_an_interrupt_that_loses_the_race_stops_the_successor_too() -> None:
    side = steered()
    side.accepted("steer_a")
    side.client.interrupt(None, side.now)
    side.sent()
    assert kinds(side.completed()) == ["Completed"]
    assert side.state() is LaneState.STEERING
    assert fates(side.created("resp_2")) == [(1, "used")]
    assert side.sent()[0]["response_id"] == "resp_2"
    assert side.state() is LaneState.INTERRUPTING
    assert side.delta() == []


def test_a_stopped_successor_that_does_not_come_drops_the_socket() -> None:
    side = steered()
    side.accepted("steer_a")
    side.completed()
    side.client.interrupt(None, side.now)
    side.wait(1.0)
    assert side.client.should_drop
    side.client.connection_lost("dropped")
    assert fates(side.got()) == [(1, "returned")]


def test_a_stop_while_only_an_undecided_text_is_out_frees_the_lane_in_a_second() -> None:
    side = steered()
    side.completed()
    side.client.interrupt(None, side.now)
    assert fates(side.wait(1.0)) == [(1, "returned")]
    assert not side.client.should_drop
    assert side.state() is LaneState.IDLE


def test_a_text_that_was_not_sent_comes_back_at_the_stop() -> None:
    side = ClientSide()
    side.ask()
    side.client.steer("smaller", None, 0.0)
    side.client.interrupt(None, 0.0)
    assert fates(side.got()) == [(1, "returned")]
    side.created()
    assert [frame["type"] for frame in side.sent()] == ["response.interrupt"]


def test_a_text_for_an_owed_successor_goes_to_it() -> None:
    side = steered()
    side.accepted("steer_a")
    side.completed()
    assert side.client.steer("and red", None, 0.0) == 2
    assert side.sent() == []
    side.created("resp_2")
    assert side.sent()[0] == {
        "type": "response.steer",
        "previous_response_id": "resp_2",
        "input": "and red",
    }


def test_the_successor_that_cannot_be_made_gives_the_texts_back() -> None:
    side = steered()
    side.accepted("steer_a")
    side.completed()
    got = side.error(500, code="server_error", message="overloaded")
    assert kinds(got) == ["SteerNews"]
    assert fates(got) == [(1, "returned")]
    assert side.state() is LaneState.IDLE


def test_there_is_nothing_to_steer_at_rest_in_a_prewarm_or_after_a_stop() -> None:
    side = ClientSide()
    assert side.client.steer("x", None, 0.0) is None
    side.ask(generate=False)
    assert side.client.steer("x", None, 0.0) is None
    side.created()
    side.completed()
    side.streaming(name="resp_2")
    side.client.interrupt(None, 0.0)
    assert side.client.steer("x", None, 0.0) is None
    side.client.connection_lost("gone")
    assert side.client.steer("x", None, 0.0) is None


def test_what_another_model_cannot_do_does_not_matter() -> None:
    side = ClientSide(Capabilities(steer={"other": False})).streaming()
    assert side.client.steer("x", None, 0.0) == 1


def test_a_text_finds_its_lane_by_the_response_it_was_sent_to() -> None:
    side = ClientSide(Capabilities(lanes=True))
    side.streaming("a", "resp_1")
    side.streaming("b", "resp_2")
    assert side.client.steer("x", "b", 0.0) == 1
    (news,) = side.accepted("steer_a", "resp_2")
    assert isinstance(news, events.SteerNews)
    assert (news.fate, news.stream_id) == ("accepted", "b")
    side.completed("resp_1", "a")
    assert side.state("a") is LaneState.IDLE
    side.completed("resp_2", "b")
    assert side.state("b") is LaneState.STEERING


def test_a_response_cut_for_a_text_that_is_not_ours_is_over() -> None:
    side = ClientSide().streaming()
    assert kinds(side.incomplete("steered")) == ["Incomplete"]
    assert side.state() is LaneState.IDLE
    assert side.created("resp_2") == []
