"""Servers that say the lane's name on some events only, or another name."""

from __future__ import annotations

from tests.support.client_side import ClientSide, kinds
from tui.core.wire.capabilities import Capabilities
from tui.core.wire.client.lane import LaneState


def proven() -> ClientSide:
    """Names are known to be echoed."""
    return ClientSide(Capabilities(lanes=True))


def test_a_name_on_the_beginning_only() -> None:
    for side in (ClientSide(), proven()):
        for turn in ("resp_1", "resp_2"):
            side.ask("main")
            side.created(turn, "main")
            assert [event.stream_id for event in side.delta()] == ["main"]
            assert kinds(side.item(type="message", id=turn)) == ["ItemDone"]
            (end,) = side.completed(turn)
            assert end.stream_id == "main"
            assert side.state("main") is LaneState.IDLE


def test_an_end_without_a_name_is_whose_id_it_bears() -> None:
    side = proven().streaming("a").streaming("b", "resp_2")
    (end,) = side.completed("resp_2")
    assert end.stream_id == "b"
    assert kinds(side.completed("resp_1")) == ["Completed"]
    assert side.known.lanes is True


def test_text_that_may_be_of_either_lane_ends_the_sharing() -> None:
    side = proven().streaming("a").streaming("b", "resp_2")
    assert side.delta() == []
    assert side.client.should_drop
    assert side.known.lanes is False


def test_an_end_that_may_be_of_either_lane_ends_the_sharing() -> None:
    side = proven().streaming("a").streaming("b", "resp_2")
    assert side.completed("rewritten") == []
    assert side.client.should_drop


def test_a_late_end_without_a_name_ends_nothing() -> None:
    side = proven().streaming("a").streaming("b", "resp_2").streaming("c", "resp_3")
    side.completed("resp_1", "a")
    assert side.completed("resp_1") == []
    assert not side.client.should_drop


def test_another_name_than_ours_is_no_name() -> None:
    side = ClientSide()
    for turn in ("resp_1", "resp_2"):
        side.ask("main")
        (begun,) = side.created(turn, "Main")
        assert begun.stream_id == "main"
        assert [event.stream_id for event in side.delta("x", "Main")] == ["main"]
        (end,) = side.completed(turn, "Main")
        assert end.stream_id == "main"
    assert side.known.lanes is False


def test_a_failure_under_another_name_is_told() -> None:
    side = ClientSide()
    side.ask("main")
    (error,) = side.error(500, "Main", code="server_error", message="oops")
    assert error.stream_id == "main"


def test_a_failure_of_a_lane_that_is_none_of_ours_ends_nothing_before_names_are_proven() -> None:
    side = ClientSide()
    side.ask("main")
    assert [event.stream_id for event in side.error(500, "helper", code="x")] == [None]
    assert side.client.lane("main").busy
    side.created("resp_1", "main")
    assert kinds(side.completed("resp_1", "main")) == ["Completed"]


def test_a_beginning_without_a_name_where_names_were_echoed() -> None:
    side = proven().streaming("a")
    side.ask("b")
    (begun,) = side.created("resp_2")
    assert begun.stream_id == "b"
    assert kinds(side.completed("resp_2", "b")) == ["Completed"]
