"""Servers that say the lane's name on some events only, or another name."""

from __future__ import annotations

from tests.support.client_side import ClientSide, kinds


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


def test_a_failure_of_a_lane_that_is_none_of_ours_ends_nothing_before_names_are_proven() -> None:
    side = ClientSide()
    side.ask("main")
    assert [event.stream_id for event in side.error(500, "helper", code="x")] == [None]
    assert side.client.lane("main").busy
    side.created("resp_1", "main")
    assert kinds(side.completed("resp_1", "main")) == ["Completed"]
