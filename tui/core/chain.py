"""What a server remembers of its conversations: the newest response of each lane, in memory.

`previous_response_id` is resolved over all lanes of the connection (a fork names a parent on
another lane); a response that is no longer the newest of its lane is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

_OUTPUTS = {"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}


@dataclass(frozen=True, slots=True)
class _Link:
    response_id: str
    items: tuple[dict[str, Any], ...]


class Chains:
    """Lane -> its newest response with everything that led to it."""

    def __init__(self) -> None:
        self._newest: dict[str | None, _Link] = {}

    def items_before(self, response_id: str) -> list[dict[str, Any]] | None:
        """Input and output items up to and with that response; None: not remembered."""
        for link in self._newest.values():
            if link.response_id == response_id:
                return list(link.items)
        return None

    def remember(self, lane: str | None, response_id: str, items: Iterable[dict[str, Any]]) -> None:
        """A response of this lane ended well: it is the newest now."""
        self._newest[lane] = _Link(response_id, tuple(items))

    def forget(self, lane: str | None, response_id: str) -> None:
        """A continuation on the parent's own lane failed: the parent is evicted."""
        link = self._newest.get(lane)
        if link is not None and link.response_id == response_id:
            del self._newest[lane]


def unanswered_call(items: Sequence[dict[str, Any]]) -> str:
    """The call id of the first client tool call without an output; empty if there is none."""
    answered = {
        (item.get("type"), item.get("call_id"))
        for item in items
        if isinstance(item.get("call_id"), str)
    }
    for item in items:
        wanted, call_id = _OUTPUTS.get(str(item.get("type"))), item.get("call_id")
        if wanted and isinstance(call_id, str) and (wanted, call_id) not in answered:
            return call_id
    return ""
