"""What a server remembers of its conversations."""

from __future__ import annotations

from typing import Any

import pytest

from tui.core.wire.server.chain import Chains, Link, UnknownItemError, resolved, unanswered_call

CALL = {"type": "function_call", "call_id": "c1"}
CUSTOM = {"type": "custom_tool_call", "call_id": "c2"}
OUTPUT = {"type": "function_call_output", "call_id": "c1"}
CUSTOM_OUTPUT = {"type": "custom_tool_call_output", "call_id": "c2"}


def test_only_the_newest_response_of_a_lane_is_known() -> None:
    chains = Chains()
    chains.remember(None, Link("r1", ({"a": 1},)))
    chains.remember("x", Link("r2", ({"b": 1},)))
    assert chains.items_before("r1") == [{"a": 1}]
    chains.remember(None, Link("r3", ()))
    assert chains.items_before("r1") is None
    assert chains.items_before("r2") == [{"b": 1}]


def test_forgetting_is_for_the_parent_s_own_lane() -> None:
    chains = Chains()
    chains.remember("x", Link("r1", ()))
    chains.forget("y", "r1")
    chains.forget("x", "other")
    assert chains.items_before("r1") == []
    chains.forget("x", "r1")
    assert chains.items_before("r1") is None


def test_what_is_given_out_can_be_changed_without_harm() -> None:
    chains = Chains()
    chains.remember(None, Link("r1", ({"a": 1},)))
    items = chains.items_before("r1")
    assert items is not None
    items.append({"b": 1})
    assert chains.items_before("r1") == [{"a": 1}]


@pytest.mark.parametrize(
    ("items", "call_id"),
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


def test_what_a_lane_loses_is_told() -> None:
    chains = Chains()
    assert chains.remember("x", Link("r1", ())) == ""
    assert chains.remember("x", Link("r2", ())) == "r1"
    assert not chains.forget("x", "r1")
    assert not chains.forget("y", "r2")
    assert chains.forget("x", "r2")


def test_references_become_what_they_name() -> None:
    chains = Chains()
    one, two = {"type": "message", "id": "m1"}, {"type": "reasoning", "id": "r1"}
    chains.remember("x", Link("resp_1", (one,)))
    chains.remember("y", Link("resp_2", (two,)))
    references = [{"type": "item_reference", "id": "m1"}, {"type": "item_reference", "id": "r1"}]
    assert resolved(references, [], chains) == [one, two]
    assert resolved(references, [one], chains) == [two]
    assert resolved([one], [one], chains) == [one]
    with pytest.raises(UnknownItemError, match="m9"):
        resolved([{"type": "item_reference", "id": "m9"}], [], chains)
