"""Ends and beginnings with another id than expected, without one, twice, or not at all."""

from __future__ import annotations

from tests.support.client_side import ClientSide, kinds
from tests.support.tables import each
from tui.core.wire.client.lane import LaneState


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


SEEN = {"type": "message", "id": "i"}


@each("output", [None, [], [SEEN]])
def test_another_id_at_the_end_of_a_whole_answer_is_a_relay_s(output: list[object] | None) -> None:
    side = ClientSide().streaming()
    side.item(**SEEN)
    response = {"id": "other"} if output is None else {"id": "other", "output": output}
    assert kinds(side.say("response.completed", response=response)) == ["Completed"]


@each("whole", [False, True])
@each("end", ["completed", "incomplete", "failed"])
def test_the_end_of_an_answer_that_is_not_ours_ends_nothing(whole: bool, end: str) -> None:
    side = ClientSide().streaming()
    response: dict[str, object] = {"id": "other"}
    if whole:  # what that answer held is not what came here
        side.item(**SEEN)
        response["output"] = [{"type": "message", "id": "theirs"}]
    assert side.say(f"response.{end}", response=response) == []
    assert kinds(side.delta()) == ["TextDelta"]
    assert side.wait(60) == []
    assert side.state() is LaneState.STREAMING
    assert kinds(side.completed()) == ["Completed"]


def test_an_end_with_another_id_behind_which_nothing_comes_was_ours() -> None:
    side = ClientSide().streaming()
    assert side.completed("other") == []
    assert kinds(side.wait(60)) == ["Completed"]
    assert not side.busy()
    assert side.client.should_drop


def test_an_end_before_an_answer_begins_is_not_its_end() -> None:
    side = ClientSide().streaming()
    side.completed()
    side.ask()
    assert side.completed("other") == []
    assert kinds(side.created("resp_2")) == ["Created"]
    assert kinds(side.delta()) == ["TextDelta"]
    assert kinds(side.completed("resp_2")) == ["Completed"]
