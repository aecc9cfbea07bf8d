"""Lanes of one socket: held and unroutable creates, echo, forks, names (PROTOCOL section 6)."""

from __future__ import annotations

import pytest

from tests.support.client_side import ClientSide, kinds
from tests.support.tables import each
from tui.core.wire import events
from tui.core.wire.client.lane import LaneState
from tui.core.wire.client.lanes import MAX_IN_FLIGHT, MAX_NAMES
from tui.core.wire.endpoint_facts import Capabilities
from tui.errors import WireError


def test_the_limits_are_those_of_the_protocol() -> None:
    assert (MAX_IN_FLIGHT, MAX_NAMES) == (16, 32)


def lanes_known() -> ClientSide:
    """A client that knows that its endpoint echoes names."""
    return ClientSide(Capabilities(lanes=True))


def test_a_text_for_a_unroutable_create_comes_back() -> None:
    side = ClientSide()
    side.ask("a")
    side.ask("b")
    number = side.client.steer("and this", "b", 0.0)
    news = [one for one in side.created() if isinstance(one, events.SteerNews)]
    assert [(one.number, one.fate, one.stream_id) for one in news] == [(number, "returned", "b")]


def test_a_server_that_minds_the_name_gets_the_same_create_without_it() -> None:
    side = ClientSide()
    side.ask("a", input="x")
    assert side.error(code="unknown_parameter", param="stream_id", message="Unknown") == []
    assert side.sent() == [{"type": "response.create", "model": "m", "input": "x"}]
    assert side.known.lanes is False
    assert side.created()[0].stream_id == "a"


def test_interrupting_a_held_create_answers_at_once_and_sends_nothing() -> None:
    side = ClientSide()
    side.ask("a")
    side.ask("b")
    number = side.client.steer("and this", "b", 0.0)
    assert side.client.interrupt("b", 0.0)
    news, end = side.got()
    assert isinstance(news, events.SteerNews)
    assert (news.number, news.fate) == (number, "returned")
    assert isinstance(end, events.Incomplete)
    assert (end.reason, end.response_id, end.stream_id) == ("interrupted", "", "b")
    assert side.sent() == []
    assert side.state("b") is LaneState.IDLE
    side.created("resp_1", "a")
    assert side.sent() == []


def test_thirty_two_names_and_the_next_one_is_not_taken() -> None:
    side = lanes_known()
    for number in range(MAX_NAMES):
        side.ask(f"lane{number}")
        side.created(f"resp_{number}", f"lane{number}")
        side.completed(f"resp_{number}", f"lane{number}")
    assert side.client.takes("lane7")
    assert side.client.takes(None)
    assert not side.client.takes("late")
    assert side.ask("late") == []
    assert side.client.unroutable() == [("late", {"model": "m"})]


def test_a_server_that_counts_fewer_names_makes_the_create_unroutable() -> None:
    side = lanes_known()
    side.ask("a")
    side.ask("b", input="x")
    assert side.error(lane="b", code="websocket_stream_limit_reached", message="33") == []
    assert side.client.unroutable() == [("b", {"model": "m", "input": "x"})]
    assert not side.client.takes("c")
    assert side.client.takes("a")


@each("name", ["", "two words", "ü", "x" * 257])
def test_a_bad_name_is_refused_here(name: str) -> None:
    with pytest.raises(WireError, match="not a lane"):
        ClientSide().ask(name)


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


def test_a_rate_is_asked_for_of_a_lane_that_is_there() -> None:
    side = ClientSide()
    side.streaming()
    side.client.throttle(200.0)
    assert side.sent() == [{"type": "duetto.throttle", "tokens_s": 200.0}]
    side.client.throttle(200.0, "never used")
    assert side.sent() == []
