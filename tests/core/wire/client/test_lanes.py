"""Lanes of one socket: held and unroutable creates, echo, forks, names (PROTOCOL section 6)."""

from __future__ import annotations

import pytest

from tests.support.client_side import ClientSide, kinds
from tests.support.tables import each
from tui.core.wire import events
from tui.core.wire.client.lane import LaneState
from tui.core.wire.client.lanes import FORK_S, MAX_IN_FLIGHT, MAX_NAMES
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


def test_a_missing_echo_with_two_requests_out_cannot_be_told_apart() -> None:
    side = lanes_known()
    side.ask("a")
    side.ask("b")
    assert side.created() == []
    assert side.client.should_drop
    assert side.known.lanes is False


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
    with pytest.raises(WireError, match="no lane"):
        ClientSide().ask(name)


def test_the_source_of_a_fork_waits_until_the_fork_works() -> None:
    side = lanes_known()
    side.streaming("main").completed("resp_1", "main")
    assert side.ask("fork", previous_response_id="resp_1")
    assert side.ask("main", previous_response_id="resp_1") == []
    side.created("resp_2", "fork")
    assert side.sent() == []
    side.in_progress("resp_2", "fork")
    assert [frame["stream_id"] for frame in side.sent()] == ["main"]


@each("said", ["nothing", "created", "queued"])
def test_the_source_of_a_fork_waits_for_a_few_seconds_only(said: str) -> None:
    side = lanes_known()
    side.streaming("main").completed("resp_1", "main")
    side.ask("fork", previous_response_id="resp_1")
    side.wait(60)
    assert side.ask("main", previous_response_id="resp_1") == []
    if said != "nothing":
        side.created("resp_2", "fork")
    if said == "queued":
        side.say("response.queued", "fork", response={"id": "resp_2"})
    side.wait(FORK_S - 0.01)
    assert side.sent() == []
    assert side.busy()
    side.wait(0.01)
    assert [frame["previous_response_id"] for frame in side.sent()] == ["resp_1"]
    assert side.client.deadline() is None


def test_a_fork_that_is_abandoned_frees_its_source() -> None:
    side = lanes_known()
    side.streaming("main").completed("resp_1", "main")
    side.ask("fork", previous_response_id="resp_1")
    assert side.ask("main") == []
    side.client.abandon("fork")
    assert [frame["stream_id"] for frame in side.sent()] == ["main"]


def test_a_late_word_about_the_response_before_does_not_free_the_source_of_a_fork() -> None:
    side = lanes_known()
    side.streaming("main").completed("resp_1", "main")
    side.streaming("fork", "resp_0").completed("resp_0", "fork")
    side.ask("fork", previous_response_id="resp_1")
    side.ask("main")
    side.in_progress("resp_0", "fork")
    assert side.sent() == []


def test_a_held_create_is_abandoned_without_a_trace() -> None:
    side = ClientSide()
    side.ask("a")
    side.ask("b")
    side.client.abandon("b")
    side.created("resp_1", "a")
    assert side.sent() == []
    assert side.ask("b")


def test_creates_held_behind_a_lane_that_is_abandoned_unproven_go_elsewhere() -> None:
    side = ClientSide()
    side.ask("a")
    side.ask("b")
    side.client.abandon("a")
    assert side.client.unroutable() == [("b", {"model": "m"})]


def test_an_event_of_a_lane_that_was_never_used_is_nobody_s() -> None:
    side = lanes_known()
    side.streaming("a")
    assert side.delta("x", "b") == []
    assert side.created("resp_9", "b") == []
    assert side.completed("resp_9", "b") == []
    assert side.delta("x", "a")


def test_what_bears_no_name_is_the_nameless_lane_s_while_that_works() -> None:
    side = lanes_known()
    side.streaming().streaming("a", "resp_2")
    assert [event.stream_id for event in side.item()] == [None]
    assert [event.stream_id for event in side.item("a")] == ["a"]
    assert kinds(side.completed()) == ["Completed"]
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
