"""Which items are calls that the client answers: one table for both sides of the wire.

Hosted tools (search, a shell in the server's own container) answer themselves: their output is
among the items already.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

CALL_OUTPUTS = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "apply_patch_call": "apply_patch_call_output",
    "shell_call": "shell_call_output",
    "local_shell_call": "local_shell_call_output",
    "computer_call": "computer_call_output",
}
"""The type of a call -> the type of its answer."""
OUTPUTS = frozenset(CALL_OUTPUTS.values())


def unanswered(items: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The calls without an answer among the same items, in their order."""
    told = list(items)
    answered = {(item.get("type"), name) for item in told for name in _names(item)}
    for item in told:
        wanted = CALL_OUTPUTS.get(str(item.get("type")))
        if wanted and not any((wanted, name) in answered for name in _names(item)):
            yield item


def _names(item: Mapping[str, Any]) -> tuple[str, ...]:
    """What a call and its answer share: the call id; of a local shell's answer, the item's id."""
    values = (item.get("call_id"), item.get("id"))
    return tuple(value for value in values if isinstance(value, str) and value)
