"""Prewarm from the client's side (PROTOCOL section 2.2): no output, whatever the endpoint does."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.client_side import ClientSide, kinds
from tui.core.wire import events
from tui.core.wire.capabilities import Capabilities
from tui.core.wire.client.lane import GRACE_S, LaneState


def prewarming(capabilities: Capabilities | None = None) -> ClientSide:
    """A prewarm is on its way."""
    side = ClientSide(capabilities)
    assert side.ask(input=[], generate=False) == [
        {"type": "response.create", "model": "m", "input": [], "generate": False}
    ]
    return side


def test_an_answered_prewarm_is_a_parent_and_is_remembered() -> None:
    side = prewarming()
    assert kinds(side.created("resp_w")) == ["Created"]
    (end,) = side.completed("resp_w")
    assert isinstance(end, events.Completed)
    assert end.response_id == "resp_w"
    assert side.known.prewarm is True
    assert side.state() is LaneState.IDLE


@pytest.mark.parametrize(
    "fields",
    [
        {"status": 400, "error": {"message": "generate is not supported", "param": "generate"}},
        {"error": {"type": "invalid_request_error", "message": "unknown field"}},
        {"status": 422, "error": {"message": "no input"}},
    ],
)
def test_a_refused_prewarm_is_told_and_remembered(fields: dict[str, Any]) -> None:
    side = prewarming()
    assert kinds(side.say("error", **fields)) == ["ErrorEvent"]
    assert side.known.prewarm is False
    assert side.state() is LaneState.IDLE


def test_a_failed_prewarm_is_told_and_remembered() -> None:
    side = prewarming()
    side.created()
    assert kinds(side.failed()) == ["Failed"]
    assert side.known.prewarm is False


@pytest.mark.parametrize("status", [401, 403, 429, 500, 503])
def test_trouble_that_passes_says_nothing_about_prewarms(status: int) -> None:
    side = prewarming()
    assert kinds(side.error(status, message="later")) == ["ErrorEvent"]
    assert side.known.prewarm is None


def test_one_that_generates_is_stopped_unseen_and_is_no_parent() -> None:
    side = prewarming()
    side.created("resp_w")
    assert side.say("response.output_item.added", item={"type": "message"}, output_index=0) == []
    assert side.known.prewarm is False
    assert [frame["type"] for frame in side.sent()] == ["response.interrupt"]
    assert side.delta("Hello!") == []
    assert side.item(type="message") == []
    side.say("response.interrupt.accepted", response_id="resp_w")
    (end,) = side.incomplete("interrupted", "resp_w")
    assert isinstance(end, events.Failed)
    assert end.code == "prewarm_generated"
    assert side.state() is LaneState.IDLE


@pytest.mark.parametrize("output", ["delta", "item"])
def test_any_output_gives_it_away_and_a_silent_server_is_left(output: str) -> None:
    side = prewarming()
    side.created("resp_w")
    if output == "delta":
        assert side.delta("Hello!") == []
    else:
        assert side.item(type="message") == []
    assert side.client.needs_care
    assert side.known.prewarm is False
    side.wait(GRACE_S)
    assert side.client.should_drop


def test_a_summary_of_thoughts_is_output_too() -> None:
    side = prewarming()
    side.created("resp_w")
    kind = "response.reasoning_summary_text.delta"
    assert side.say(kind, item_id="r", delta="Well") == []
    assert side.known.prewarm is False


def test_one_that_lists_output_at_its_end_only_is_no_parent_either() -> None:
    side = prewarming()
    side.created("resp_w")
    response = {"id": "resp_w", "output": [{"type": "message"}]}
    assert kinds(side.say("response.completed", response=response)) == ["Failed"]
    assert side.known.prewarm is False


def test_a_prewarm_that_is_stopped_proves_nothing() -> None:
    side = prewarming()
    side.created("resp_w")
    side.client.interrupt(None, 0.0)
    side.say("response.interrupt.accepted", response_id="resp_w")
    side.incomplete("interrupted", "resp_w")
    assert side.known.prewarm is None


def test_the_turn_after_a_prewarm_streams() -> None:
    side = prewarming()
    side.created("resp_w")
    side.completed("resp_w")
    side.ask(previous_response_id="resp_w")
    side.created("resp_1")
    assert kinds(side.delta()) == ["TextDelta"]


def test_a_prewarm_on_a_named_lane_proves_the_echo() -> None:
    side = ClientSide()
    side.ask("main", generate=False)
    side.created("resp_w", "main")
    assert (side.known.lanes, side.known.prewarm) == (True, None)
    side.completed("resp_w", "main")
    assert side.known.prewarm is True
