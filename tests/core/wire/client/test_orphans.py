"""Responses that come although nobody waits for them any more: they run unseen, ours do not."""

from __future__ import annotations

from tests.support.client_side import ClientSide, fates
from tui.core.wire.client.lane import LaneState
from tui.core.wire.client.steers import STEER_S
from tui.core.wire.endpoint_facts import Capabilities


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


def test_a_late_answer_is_not_the_next_text_s_however_late_it_comes() -> None:
    side = with_silence()
    side.client.steer("and red", None, side.now)
    assert fates(side.accepted("steer_a")) == []
    assert fates(side.steer_failed("too_many_pending_steers", text="and red")) == [(2, "returned")]
    side.completed()
    assert side.created("resp_2") == []


def test_a_lane_abandoned_before_its_own_response_began_waits_for_both() -> None:
    side = with_silence()
    side.completed()
    side.ask()
    side.accepted("steer_a")
    side.client.abandon()
    for name in ("resp_orphan", "resp_2"):
        assert side.state() is LaneState.ABANDONED
        assert side.created(name) == []
        assert side.completed(name) == []
    assert side.state() is LaneState.IDLE


def test_a_beginning_said_twice_is_told_once() -> None:
    side = ClientSide().streaming()
    assert side.created() == []
    assert side.state() is LaneState.STREAMING
    assert side.delta()


def test_a_late_acceptance_at_rest_loses_the_lane_to_the_unseen_answer() -> None:
    side = undecided()
    side.completed()
    side.wait(STEER_S)
    side.accepted("steer_a")
    assert side.state() is LaneState.ABANDONED
    assert side.steer_failed("successor_creation_failed", name="steer_a") == []
    assert side.state() is LaneState.IDLE
