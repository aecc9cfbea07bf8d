"""Ends and beginnings with another id than expected, without one, twice, or not at all."""

from __future__ import annotations

import pytest

from tests.support.client_side import ClientSide, fates, kinds
from tui.core.wire.capabilities import Capabilities
from tui.core.wire.client.lane import LaneState


@pytest.mark.parametrize("heard", [False, True])
def test_an_end_under_an_id_never_seen_is_the_end_of_what_runs(heard: bool) -> None:
    side = ClientSide()
    side.ask()
    side.created()
    if heard:
        side.delta()
    assert kinds(side.completed("rewritten")) == ["Completed"]
    assert side.state() is LaneState.IDLE


def test_both_ids_of_an_ended_response_are_known_afterwards() -> None:
    side = ClientSide().streaming()
    side.completed("rewritten")
    side.ask()
    side.created("resp_2")
    for name in ("resp_1", "rewritten"):
        assert side.completed(name) == []
    assert kinds(side.completed("resp_2")) == ["Completed"]


def test_an_end_of_another_lane_s_response_is_not_the_end_of_this_one() -> None:
    side = ClientSide(Capabilities(lanes=True)).streaming("a").streaming("b", "resp_2")
    assert side.completed("resp_2", "a") == []
    assert side.state("a") is LaneState.STREAMING
    assert kinds(side.completed("resp_2", "b")) == ["Completed"]
    assert side.completed("resp_2", "a") == []
    assert kinds(side.completed("resp_1", "a")) == ["Completed"]


def test_an_end_under_an_unknown_id_ends_nothing_while_an_unwanted_answer_is_expected() -> None:
    side = ClientSide(Capabilities(steer={"m": True})).streaming()
    side.client.steer("smaller", None, side.now)
    side.wait(2.0)
    side.accepted("steer_a")
    assert side.completed("resp_ghost") == []
    assert side.state() is LaneState.STREAMING


def test_an_unwanted_answer_that_is_over_is_known_by_its_id() -> None:
    side = ClientSide(Capabilities(steer={"m": True})).streaming()
    side.client.steer("smaller", None, side.now)
    side.completed()
    side.wait(2.0)
    side.ask(previous_response_id="resp_1", input="smaller")
    side.accepted("steer_a")
    for _ in range(2):
        assert side.created("resp_ghost") == []
    side.completed("resp_ghost")
    assert kinds(side.created("resp_2")) == ["Created"]
    assert side.completed("resp_ghost") == []
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


def test_a_relay_that_says_the_beginning_twice_may_end_it_by_either_id() -> None:
    for name in ("resp_1", "own_1"):
        side = ClientSide()
        side.ask()
        side.created("own_1")
        side.created("resp_1")
        assert side.delta()
        assert kinds(side.completed(name)) == ["Completed"]
        side.ask()
        side.created("resp_2")
        assert side.completed("own_1") == side.completed("resp_1") == []


@pytest.mark.parametrize("begins", [False, True])
def test_without_any_ids_each_turn_has_its_own_end(begins: bool) -> None:
    side = ClientSide()
    for turn in range(3):
        side.ask()
        if turn:
            assert side.say("response.completed") == []
        if begins:
            side.say("response.created")
        assert side.say("response.output_text.delta", item_id=f"i{turn}", delta="x")
        assert kinds(side.say("response.completed")) == ["Completed"]


def test_an_end_alone_is_one_if_it_brings_something() -> None:
    side = ClientSide()
    for turn in range(3):
        side.ask()
        response = {"output": [{"type": "message", "id": f"i{turn}"}]}
        assert kinds(side.say("response.completed", response=response)) == ["Completed"]


def test_an_end_said_twice_without_an_id_does_not_end_the_next_turn() -> None:
    side = ClientSide().streaming()
    side.say("response.completed")
    side.ask()
    assert side.say("response.completed") == []
    side.created("resp_2")
    assert kinds(side.say("response.completed")) == ["Completed"]


def test_an_end_said_twice_without_an_id_does_not_end_what_is_being_stopped() -> None:
    side = ClientSide().streaming()
    side.say("response.completed")
    side.ask()
    side.client.interrupt(None, side.now)
    assert side.say("response.completed") == []
    side.sent()
    side.created("resp_2")
    assert side.sent()[0]["response_id"] == "resp_2"
    assert kinds(side.say("response.completed")) == ["Completed"]


def test_a_failure_without_beginning_or_id_is_told() -> None:
    side = ClientSide().streaming()
    side.completed()
    side.ask()
    assert kinds(side.say("response.failed")) == ["Failed"]


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


def test_a_beginning_that_got_lost_is_made_up_for_by_the_first_item() -> None:
    side = ClientSide().streaming()
    side.item(type="message", id="i")
    side.completed()
    side.ask()
    assert side.item(type="message", id="i") == []
    assert side.delta() == []
    side.say("response.output_item.added", item={"type": "message", "id": "new"})
    assert side.say("response.output_text.delta", item_id="new", delta="x")
    assert kinds(side.completed("resp_2")) == ["Completed"]


def test_late_output_is_no_output_of_a_prewarm() -> None:
    side = ClientSide().streaming()
    side.item(type="message", id="i")
    side.completed()
    side.ask(generate=False)
    side.delta()
    side.item(type="message", id="i")
    side.created("resp_2")
    side.completed("resp_2")
    assert side.known.prewarm is True


@pytest.mark.parametrize("begins", [False, True])
def test_one_id_for_all_responses_whose_beginnings_have_none(begins: bool) -> None:
    side = ClientSide()
    for turn in range(3):
        side.ask()
        assert side.completed("resp_same") == [] or not turn
        if side.state() is LaneState.IDLE:
            side.ask()
        if begins:
            side.say("response.created")
        item = {"type": "message", "id": f"i{turn}"}
        assert side.say("response.output_item.added", item=item)
        assert kinds(side.completed("resp_same")) == ["Completed"]
