"""Lanes of one socket: held creates, echo, homeless creates, forks, names (PROTOCOL section 6)."""

from __future__ import annotations

import pytest

from tests.support.client_side import ClientSide, kinds
from tui.core.wire import events
from tui.core.wire.capabilities import Capabilities
from tui.core.wire.client.forks import FORK_S
from tui.core.wire.client.lane import LaneState
from tui.core.wire.client.lane_book import MAX_IN_FLIGHT, MAX_NAMES
from tui.errors import WireError


def test_the_limits_are_those_of_the_protocol() -> None:
    assert (MAX_IN_FLIGHT, MAX_NAMES) == (16, 32)


def lanes_known() -> ClientSide:
    """A client that knows that its endpoint echoes names."""
    return ClientSide(Capabilities(lanes=True))


def test_only_the_first_named_create_goes_out_before_its_echo() -> None:
    side = ClientSide()
    assert side.ask("a") == [{"type": "response.create", "model": "m", "stream_id": "a"}]
    assert side.ask("b") == []
    assert side.ask() == []
    assert side.state("b") is LaneState.HELD
    assert side.busy()
    assert kinds(side.created("resp_1", "a")) == ["Created"]
    assert [frame.get("stream_id") for frame in side.sent()] == ["b", None]
    assert side.known.lanes is True


def test_a_default_create_is_waited_out_before_the_first_name_is_tried() -> None:
    side = ClientSide()
    side.ask()
    assert side.ask("a") == []
    side.created()
    assert side.sent() == []
    side.completed()
    assert side.sent()[0]["stream_id"] == "a"


def test_a_missing_echo_makes_the_lane_the_only_one_and_the_others_homeless() -> None:
    side = ClientSide()
    side.ask("a")
    side.ask("b", input="x")
    side.ask("c", generate=False)
    side.client.steer("and this", "b", 0.0)
    (created,) = [one for one in side.created() if isinstance(one, events.Created)]
    assert created.stream_id == "a"
    assert side.known.lanes is False
    assert side.client.lessons.news
    assert side.client.homeless() == [
        ("b", {"model": "m", "input": "x"}),
        ("c", {"model": "m", "generate": False}),
    ]
    assert side.client.homeless() == []
    assert not side.client.lane("b").busy
    (delta,) = side.delta()
    assert delta.stream_id == "a"
    (end,) = side.completed()
    assert end.stream_id == "a"
    assert not side.busy()


def test_a_text_for_a_homeless_create_comes_back() -> None:
    side = ClientSide()
    side.ask("a")
    side.ask("b")
    number = side.client.steer("and this", "b", 0.0)
    news = [one for one in side.created() if isinstance(one, events.SteerNews)]
    assert [(one.number, one.fate, one.stream_id) for one in news] == [(number, "returned", "b")]


def test_a_socket_without_names_takes_one_lane_only() -> None:
    side = ClientSide(Capabilities(lanes=False))
    assert side.client.takes("a")
    assert "stream_id" not in side.ask("a")[0]
    assert side.client.takes("a")
    assert not side.client.takes("b")
    assert not side.client.takes(None)
    assert side.ask("b") == []
    assert side.client.homeless() == [("b", {"model": "m"})]
    assert kinds(side.created()) == ["Created"]
    assert side.delta()[0].stream_id == "a"
    assert side.completed()[0].stream_id == "a"


def test_a_server_that_minds_the_name_gets_the_same_create_without_it() -> None:
    side = ClientSide()
    side.ask("a", input="x")
    assert side.error(code="unknown_parameter", param="stream_id", message="Unknown") == []
    assert side.sent() == [{"type": "response.create", "model": "m", "input": "x"}]
    assert side.known.lanes is False
    assert side.created()[0].stream_id == "a"


def test_any_other_error_before_the_echo_ends_the_lane_and_proves_nothing() -> None:
    side = ClientSide()
    side.ask("a")
    (event,) = side.error(None, type="server_error", message="no such model")
    assert isinstance(event, events.ErrorEvent)
    assert event.stream_id == "a"
    assert side.known.lanes is None
    assert side.ask("a")[0]["stream_id"] == "a"


def test_an_error_that_bears_the_name_proves_the_echo() -> None:
    side = ClientSide()
    side.ask("a")
    side.ask("b")
    side.error(429, "a", code="rate_limit_exceeded")
    assert side.known.lanes is True
    assert side.sent()[0]["stream_id"] == "b"


def test_where_lanes_are_known_nothing_is_held() -> None:
    side = lanes_known()
    assert side.ask("a")
    assert side.ask("b")
    side.created("resp_1", "a")
    side.created("resp_2", "b")
    assert side.delta("x", "b")[0].stream_id == "b"
    assert kinds(side.completed("resp_2", "b")) == ["Completed"]
    assert side.delta("x", "a")


def test_a_known_echo_that_is_missing_now_is_believed() -> None:
    side = lanes_known()
    side.ask("a")
    assert side.created()[0].stream_id == "a"
    assert side.known.lanes is False
    assert not side.client.takes("b")


def test_a_missing_echo_with_two_requests_out_cannot_be_told_apart() -> None:
    side = lanes_known()
    side.ask("a")
    side.ask("b")
    assert side.created() == []
    assert side.client.should_drop
    assert side.known.lanes is False


def test_sixteen_in_flight_and_the_next_one_waits_for_an_end() -> None:
    side = lanes_known()
    for number in range(MAX_IN_FLIGHT):
        assert side.ask(f"lane{number}")
        side.created(f"resp_{number}", f"lane{number}")
    assert side.ask("late") == []
    side.completed("resp_3", "lane3")
    assert [frame["stream_id"] for frame in side.sent()] == ["late"]


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
    assert len(side.client.lanes_used) == MAX_NAMES
    assert side.client.takes("lane7")
    assert side.client.takes(None)
    assert not side.client.takes("late")
    assert side.ask("late") == []
    assert side.client.homeless() == [("late", {"model": "m"})]


def test_a_server_that_counts_fewer_names_makes_the_create_homeless() -> None:
    side = lanes_known()
    side.ask("a")
    side.ask("b", input="x")
    assert side.error(lane="b", code="websocket_stream_limit_reached", message="33") == []
    assert side.client.homeless() == [("b", {"model": "m", "input": "x"})]
    assert not side.client.takes("c")
    assert side.client.takes("a")


@pytest.mark.parametrize("name", ["", "two words", "ü", "x" * 257])
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


@pytest.mark.parametrize("sign", ["delta", "item", "completed", "failed", "error"])
def test_any_sign_of_work_or_the_end_frees_the_source_of_a_fork(sign: str) -> None:
    side = lanes_known()
    side.streaming("main").completed("resp_1", "main")
    side.ask("fork", previous_response_id="resp_1")
    side.ask("main")
    side.created("resp_2", "fork")
    match sign:
        case "delta":
            side.delta("x", "fork")
        case "item":
            side.item("fork", type="message")
        case "completed":
            side.completed("resp_2", "fork")
        case "failed":
            side.failed("resp_2", "fork")
        case _:
            side.error(500, "fork")
    assert [frame["stream_id"] for frame in side.sent()] == ["main"]


def test_forks_of_each_other_go_out_in_the_order_they_were_asked_for() -> None:
    side = lanes_known()
    side.streaming("a").completed("resp_1", "a")
    side.streaming("b", "resp_2").completed("resp_2", "b")
    for number in range(MAX_IN_FLIGHT):
        side.streaming(f"other{number}", f"resp_o{number}")
    assert side.ask("a", previous_response_id="resp_2") == []
    assert side.ask("b", previous_response_id="resp_1") == []
    side.completed("resp_o0", "other0")
    assert [frame["stream_id"] for frame in side.sent()] == ["a"]
    side.completed("resp_o1", "other1")
    side.created("resp_3", "a")
    assert side.sent() == []
    side.in_progress("resp_3", "a")
    assert [frame["stream_id"] for frame in side.sent()] == ["b"]


@pytest.mark.parametrize("said", ["nothing", "created", "queued"])
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


def test_a_fork_that_nobody_waits_for_has_no_timer() -> None:
    side = lanes_known()
    side.streaming("main").completed("resp_1", "main")
    side.ask("fork", previous_response_id="resp_1")
    assert side.client.deadline() is None
    side.ask("main")
    assert side.client.deadline() == FORK_S
    side.created("resp_2", "fork")
    side.in_progress("resp_2", "fork")
    assert side.client.deadline() is None


def test_a_late_word_about_the_response_before_does_not_free_the_source_of_a_fork() -> None:
    side = lanes_known()
    side.streaming("main").completed("resp_1", "main")
    side.streaming("fork", "resp_0").completed("resp_0", "fork")
    side.ask("fork", previous_response_id="resp_1")
    side.ask("main")
    side.in_progress("resp_0", "fork")
    assert side.sent() == []


def test_a_fork_that_is_stopped_while_held_frees_its_source() -> None:
    side = lanes_known()
    side.streaming("main").completed("resp_1", "main")
    for number in range(MAX_IN_FLIGHT):
        side.ask(f"lane{number}")
    side.ask("fork", previous_response_id="resp_1")
    side.ask("main")
    side.created("resp_9", "lane0")
    side.completed("resp_9", "lane0")
    assert [frame["stream_id"] for frame in side.sent()] == ["fork"]
    side.client.abandon("fork")
    side.created("resp_8", "lane1")
    side.completed("resp_8", "lane1")
    assert [frame["stream_id"] for frame in side.sent()] == ["main"]


def test_an_abandoned_lane_takes_nothing_before_its_end() -> None:
    side = lanes_known()
    side.streaming("a")
    side.client.abandon("a")
    assert side.delta("x", "a") == []
    assert side.item("a", type="message") == []
    assert not side.busy()
    assert side.client.lane("a").in_flight
    with pytest.raises(WireError, match="in flight"):
        side.ask("a")
    assert side.ask("a.2")
    assert side.completed("resp_1", "a") == []
    assert side.ask("a")


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
    assert side.client.homeless() == [("b", {"model": "m"})]


def test_dropping_the_socket_leaves_held_creates_homeless() -> None:
    side = ClientSide(Capabilities(interrupt={"m": False}))
    side.ask("a")
    side.ask("b")
    side.client.interrupt("a", 0.0)
    assert side.client.should_drop
    assert side.client.homeless() == [("b", {"model": "m"})]


def test_a_response_that_nobody_asked_for_runs_unseen() -> None:
    side = lanes_known()
    side.streaming("a").completed("resp_1", "a")
    assert side.created("resp_9", "a") == []
    assert side.delta("x", "a") == []
    assert side.state("a") is LaneState.ABANDONED
    assert side.completed("resp_9", "a") == []
    assert side.ask("a")


def test_an_event_of_a_lane_that_was_never_used_is_nobody_s() -> None:
    side = lanes_known()
    side.streaming("a")
    assert side.delta("x", "b") == []
    assert side.created("resp_9", "b") == []
    assert side.completed("resp_9", "b") == []
    assert side.delta("x", "a")


def test_a_terminal_with_another_response_s_id_ends_nothing() -> None:
    side = lanes_known()
    side.streaming("a")
    side.ask("b")
    side.created("resp_2", "b")
    assert side.completed("resp_2", "a") == []
    assert side.state("a") is LaneState.STREAMING
    assert side.completed("resp_1", "a")
    assert side.completed("resp_2", "b")


def test_interleaved_with_a_default_lane_each_keeps_its_own() -> None:
    side = lanes_known()
    side.streaming("a")
    side.ask()
    assert side.created("resp_2")[0].stream_id is None
    assert side.delta("x", "a")[0].stream_id == "a"
    assert side.delta("x")[0].stream_id is None
    assert side.completed("resp_2")[0].stream_id is None
    assert side.state("a") is LaneState.STREAMING
