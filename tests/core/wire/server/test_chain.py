"""What a server remembers of its conversations."""

from __future__ import annotations

from typing import Any

from tests.support.tables import each
from tui.core.wire.server.responses import KnownResponse, LaneResponses, unanswered_call

CALL = {"type": "function_call", "call_id": "c1"}
CUSTOM = {"type": "custom_tool_call", "call_id": "c2"}
OUTPUT = {"type": "function_call_output", "call_id": "c1"}
CUSTOM_OUTPUT = {"type": "custom_tool_call_output", "call_id": "c2"}


def test_forgetting_is_for_the_parent_s_own_lane() -> None:
    chains = LaneResponses()
    chains.remember("x", KnownResponse("r1", ()))
    chains.forget("y", "r1")
    chains.forget("x", "other")
    assert chains.items_before("r1") == []
    chains.forget("x", "r1")
    assert chains.items_before("r1") is None


def test_what_is_given_out_can_be_changed_without_harm() -> None:
    chains = LaneResponses()
    chains.remember(None, KnownResponse("r1", ({"a": 1},)))
    items = chains.items_before("r1")
    assert items is not None
    items.append({"b": 1})
    assert chains.items_before("r1") == [{"a": 1}]


@each(
    "items, call_id",
    [
        ([], ""),
        ([CALL, OUTPUT], ""),
        ([CALL], "c1"),
        ([CALL, CUSTOM, OUTPUT], "c2"),
        ([CUSTOM, CUSTOM_OUTPUT, CALL, OUTPUT], ""),
        ([{"type": "function_call"}], ""),
        ([CUSTOM, {"type": "function_call_output", "call_id": "c2"}], "c2"),
    ],
)
def test_a_call_without_an_output_is_found(items: list[dict[str, Any]], call_id: str) -> None:
    assert unanswered_call(items) == call_id
