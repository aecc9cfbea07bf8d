"""Ends and beginnings with another id than expected, without one, twice, or not at all."""

from __future__ import annotations

from tests.support.client_side import ClientSide, fates, kinds
from tests.support.tables import each
from tui.core.wire.client.lane import LaneState
from tui.core.wire.client.steers import STEER_S
from tui.core.wire.endpoint_facts import Capabilities


@each("heard", [False, True])
def test_an_end_under_an_id_never_seen_is_the_end_of_what_runs(heard: bool) -> None:
    side = ClientSide()
    side.ask()
    side.created()
    if heard:
        side.delta()
    assert kinds(side.completed("rewritten")) == ["Completed"]
    assert side.state() is LaneState.IDLE


def test_an_end_under_an_unknown_id_ends_nothing_while_an_unwanted_answer_is_expected() -> None:
    side = ClientSide(Capabilities(steer={"m": True})).streaming()
    side.client.steer("smaller", None, side.now)
    side.wait(2.0)
    side.accepted("steer_a")
    assert side.completed("resp_orphan") == []
    assert side.state() is LaneState.STREAMING


def test_an_unwanted_answer_that_is_over_is_known_by_its_id() -> None:
    side = ClientSide(Capabilities(steer={"m": True})).streaming()
    side.client.steer("smaller", None, side.now)
    side.completed()
    side.wait(2.0)
    side.ask(previous_response_id="resp_1", input="smaller")
    side.accepted("steer_a")
    for _ in range(2):
        assert side.created("resp_orphan") == []
    side.completed("resp_orphan")
    assert kinds(side.created("resp_2")) == ["Created"]
    assert side.completed("resp_orphan") == []
    assert kinds(side.completed("resp_2")) == ["Completed"]


def test_a_text_is_not_lost_when_its_response_ends_under_another_id() -> None:
    side = ClientSide().streaming()
    side.client.steer("smaller", None, side.now)
    side.accepted("steer_a")
    side.incomplete("steered", "rewritten")
    assert side.state() is LaneState.STEERING
    assert fates(side.created("resp_2")) == [(1, "used")]
    side = ClientSide().streaming()
    side.client.steer("smaller", None, side.now)
    side.accepted("steer_a")
    side.completed("rewritten")
    assert fates(side.wait(10.0)) == [(1, "returned")]


@each("announced", [False, True])
def test_an_end_alone_is_one_if_it_brings_something(announced: bool) -> None:
    side = ClientSide()
    if announced:
        side.streaming()
        side.completed()
    for turn in range(3):
        side.ask()
        response = {"output": [{"type": "message", "id": f"i{turn}"}]}
        assert kinds(side.say("response.completed", response=response)) == ["Completed"]


def test_a_server_that_never_says_created() -> None:
    side = ClientSide()
    for turn in range(3):
        side.ask()
        added = side.say("response.output_item.added", item={"type": "message", "id": f"i{turn}"})
        assert kinds(added) == ["ItemAdded"]
        delta = side.say("response.output_text.delta", item_id=f"i{turn}", delta="x")
        assert kinds(delta) == ["TextDelta"]
        assert kinds(side.item(type="message", id=f"i{turn}")) == ["ItemDone"]
        assert kinds(side.completed(f"resp_{turn}")) == ["Completed"]


def test_what_comes_late_after_a_stop_is_known_even_if_created_is_never_said() -> None:
    side = ClientSide()
    for turn in range(3):
        side.ask()
        assert side.say("response.output_text.delta", item_id=f"i{turn}", delta="x")
        side.client.interrupt(None, side.now)
        side.incomplete("interrupted", f"resp_{turn}")
        side.ask()
        late = side.say("response.output_text.delta", item_id=f"i{turn}", delta="late")
        assert late == side.item(type="message", id=f"i{turn}") == []
        assert side.say("response.output_text.delta", item_id=f"j{turn}", delta="x")
        assert kinds(side.completed(f"resp_{turn}_b")) == ["Completed"]


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
