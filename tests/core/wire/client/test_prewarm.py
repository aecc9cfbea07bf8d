"""Prewarm from the client's side (PROTOCOL section 2.2): no output, whatever the endpoint does."""

from __future__ import annotations

from typing import Any

from tests.support.client_side import ClientSide, kinds
from tests.support.tables import each
from tui.core.wire.client.lane import LaneState
from tui.core.wire.endpoint_facts import Capabilities


def prewarming(capabilities: Capabilities | None = None) -> ClientSide:
    """A prewarm is on its way."""
    side = ClientSide(capabilities)
    assert side.ask(input=[], generate=False) == [
        {"type": "response.create", "model": "m", "input": [], "generate": False}
    ]
    return side


@each(
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


def test_a_summary_of_thoughts_is_output_too() -> None:
    side = prewarming()
    side.created("resp_w")
    kind = "response.reasoning_summary_text.delta"
    assert side.say(kind, item_id="r", delta="Well") == []
    assert side.known.prewarm is False
