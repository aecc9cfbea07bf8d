"""Responses that come although nobody waits for them any more: they run unseen, ours do not."""

from __future__ import annotations

from tests.support.client_side import UNKNOWN_EVENT, ClientSide, fates, kinds
from tui.core.wire.capabilities import Capabilities
from tui.core.wire.client.lane import LaneState
from tui.core.wire.client.steers import STEER_S


def with_silence(text: str = "smaller") -> ClientSide:
    """A text came back for want of an answer, while its response streams on."""
    side = ClientSide(Capabilities(steer={"m": True})).streaming()
    side.client.steer(text, None, side.now)
    assert fates(side.wait(STEER_S)) == [(1, "returned")]
    return side


def undecided() -> ClientSide:
    """A response streams and one text was sent to it."""
    side = ClientSide().streaming()
    side.client.steer("smaller", None, side.now)
    side.sent()
    return side


def test_the_successor_of_an_abandoned_response_belongs_to_the_abandoned_lane() -> None:
    side = ClientSide().streaming()
    side.client.steer("smaller", None, 0.0)
    side.accepted("steer_a")
    side.client.abandon()
    assert fates(side.got()) == [(1, "returned")]
    assert side.incomplete("steered") == []
    assert side.state() is LaneState.ABANDONED
    assert side.created("resp_2") == []
    assert side.delta() == []
    assert side.completed("resp_2") == []
    assert side.state() is LaneState.IDLE


def test_a_late_acceptance_during_the_answer_loses_the_lane_at_its_end() -> None:
    side = with_silence()
    assert side.accepted("steer_a") == []
    assert side.delta()
    assert kinds(side.completed()) == ["Completed"]
    assert not side.busy()
    assert side.state() is LaneState.ABANDONED
    assert side.created("resp_2") == []
    assert side.completed("resp_2") == []
    assert side.state() is LaneState.IDLE


def test_no_successor_follows_an_answer_that_fails_or_calls_tools() -> None:
    side = with_silence()
    side.accepted("steer_a")
    side.failed()
    assert side.state() is LaneState.IDLE
    side = with_silence()
    side.accepted("steer_a")
    side.call()
    side.completed()
    assert side.state() is LaneState.IDLE


def test_answers_come_in_order_so_a_late_one_is_not_the_next_text_s() -> None:
    side = ClientSide(Capabilities(steer={"m": True})).streaming()
    side.client.steer("smaller", None, side.now)
    side.wait(STEER_S / 2)
    assert side.client.steer("and red", None, side.now) == 2
    assert fates(side.wait(STEER_S / 2)) == [(1, "returned")]
    assert fates(side.accepted("steer_a")) == []
    assert fates(side.accepted("steer_b")) == [(2, "accepted")]


def test_a_server_that_left_an_answer_out_has_the_next_text_given_back() -> None:
    side = with_silence()
    assert side.client.steer("and red", None, side.now) == 2
    side.wait(0.1)
    assert fates(side.accepted("steer_b")) == []
    assert fates(side.completed()) == [(2, "returned")]
    assert side.created("resp_2") == []
    assert side.delta() == []


def test_a_late_answer_is_not_the_next_text_s_however_late_it_comes() -> None:
    side = with_silence()
    side.client.steer("and red", None, side.now)
    assert fates(side.accepted("steer_a")) == []
    assert fates(side.steer_failed("too_many_pending_steers", text="and red")) == [(2, "returned")]
    side.completed()
    assert side.created("resp_2") == []


def test_a_refused_text_is_answered_and_the_next_one_s_answer_its_own() -> None:
    side = ClientSide(Capabilities(steer={"m": True})).streaming()
    side.client.steer("smaller", None, side.now)
    assert fates(side.steer_failed("too_many_pending_steers", text="smaller")) == [(1, "returned")]
    side.client.steer("and red", None, side.now)
    assert fates(side.accepted("steer_b")) == [(2, "accepted")]


def test_all_texts_of_one_response_share_their_successor() -> None:
    side = with_silence()
    side.client.steer("and red", None, side.now)
    side.accepted("steer_a")
    side.accepted("steer_b")
    side.incomplete("steered")
    assert fates(side.created("resp_2")) == [(2, "used")]
    side.completed("resp_2")
    assert side.state() is LaneState.IDLE


def test_a_lane_abandoned_before_its_own_response_began_waits_for_both() -> None:
    side = with_silence()
    side.completed()
    side.ask()
    side.accepted("steer_a")
    side.client.abandon()
    for name in ("resp_ghost", "resp_2"):
        assert side.state() is LaneState.ABANDONED
        assert side.created(name) == []
        assert side.completed(name) == []
    assert side.state() is LaneState.IDLE


def test_a_beginning_said_twice_is_told_once() -> None:
    side = ClientSide().streaming()
    assert side.created() == []
    assert side.state() is LaneState.STREAMING
    assert side.delta()


def test_a_new_beginning_after_a_lost_end_is_followed() -> None:
    side = ClientSide().streaming()
    assert kinds(side.created("resp_2")) == ["Created"]
    assert side.completed("resp_1") == []
    assert kinds(side.completed("resp_2")) == ["Completed"]


def test_a_stop_is_carried_over_to_a_new_beginning() -> None:
    side = ClientSide().streaming()
    side.client.interrupt(None, 0.0)
    side.say("response.interrupt.accepted", response_id="resp_1")
    side.sent()
    side.created("resp_2")
    assert side.sent()[0]["response_id"] == "resp_2"
    assert side.delta() == []
    side.wait(1.0)
    assert side.client.should_drop
    assert side.known.interrupt == {"m": True}


def test_a_late_acceptance_after_the_text_came_back_is_answered_unseen() -> None:
    side = undecided()
    side.completed()
    side.wait(STEER_S)
    side.ask(previous_response_id="resp_1", input="smaller")
    assert side.accepted("steer_a") == []
    assert side.known.steer == {"m": True}
    assert side.created("resp_ghost") == []
    assert side.delta() == []
    assert side.item(type="message") == []
    assert side.completed("resp_ghost") == []
    assert side.state() is LaneState.SENT
    assert kinds(side.created("resp_2")) == ["Created"]
    assert side.delta()
    assert kinds(side.completed("resp_2")) == ["Completed"]


def test_a_late_acceptance_at_rest_loses_the_lane_to_the_unseen_answer() -> None:
    side = undecided()
    side.completed()
    side.wait(STEER_S)
    side.accepted("steer_a")
    assert side.state() is LaneState.ABANDONED
    assert side.steer_failed("successor_creation_failed", name="steer_a") == []
    assert side.state() is LaneState.IDLE


def test_a_late_refusal_does_not_hit_the_next_turn() -> None:
    side = undecided()
    side.completed()
    side.wait(STEER_S)
    side.ask()
    assert side.say("error", **UNKNOWN_EVENT) == []
    assert side.state() is LaneState.SENT
    assert kinds(side.say("error", **UNKNOWN_EVENT)) == ["ErrorEvent"]


def test_a_cut_for_a_text_that_came_back_late_uses_no_later_text() -> None:
    side = with_silence()
    assert side.accepted("steer_a") == []
    side.client.steer("and shorter", None, side.now)
    side.sent()
    assert fates(side.incomplete("steered")) == [(2, "returned")]
    assert side.created("resp_2") == []
    assert side.delta() == []
    assert side.steer_failed("response_already_completed") == []
    assert side.completed("resp_2") == []
    assert side.state() is LaneState.IDLE
