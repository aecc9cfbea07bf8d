"""What a server remembers of its conversations: the newest response of each lane, in memory.

`previous_response_id` is resolved over all lanes of the connection (a fork names a parent on
another lane); a response that is no longer the newest of its lane is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tui.core.wire.calls import unanswered

_REFERENCE = "item_reference"


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

    def item(self, item_id: str) -> dict[str, Any] | None:
        """An item of any remembered conversation, by its id."""
        for link in self._newest.values():
            for item in link.items:
                if item.get("id") == item_id:
                    return item
        return None

    def remember(self, lane: str | None, response_id: str, items: Iterable[dict[str, Any]]) -> str:
        """A response of this lane ended well: it is the newest now.

        Returns the id of the one that it takes the place of; empty if there was none.
        """
        before = self._newest.get(lane)
        self._newest[lane] = _Link(response_id, tuple(items))
        return before.response_id if before is not None else ""

    def forget(self, lane: str | None, response_id: str) -> bool:
        """A continuation on the parent's own lane failed: the parent is evicted.

        Returns whether it was there: a fork that fails leaves its parent to the other lane.
        """
        link = self._newest.get(lane)
        if link is None or link.response_id != response_id:
            return False
        del self._newest[lane]
        return True


class UnknownItemError(Exception):
    """An `item_reference` to an item that is not remembered; the text is its id."""


def resolved(
    items: Iterable[dict[str, Any]], parent_items: Iterable[dict[str, Any]], chains: Chains
) -> list[dict[str, Any]]:
    """A request's items with references replaced by what they name.

    What the parent holds already is not said twice.

    Raises:
        UnknownItemError: a reference to nothing that is remembered.
    """
    items = list(items)
    if not any(item.get("type") == _REFERENCE for item in items):
        return items
    full: list[dict[str, Any]] = []
    held = {item.get("id") for item in parent_items}
    for item in items:
        if item.get("type") != _REFERENCE:
            full.append(item)
            continue
        wanted = str(item.get("id"))
        if wanted in held:
            continue
        found = chains.item(wanted)
        if found is None:
            raise UnknownItemError(wanted)
        full.append(found)
    return full


def unanswered_call(items: Sequence[dict[str, Any]]) -> str:
    """The call id of the first client tool call without an output; empty if there is none."""
    names = (item.get("call_id") for item in unanswered(items))
    return next((name for name in names if isinstance(name, str) and name), "")
