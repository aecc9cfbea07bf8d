"""What a server remembers of its conversations, in memory: of each lane, and stored ones.

`previous_response_id` is resolved over all lanes of the connection (a fork names a parent on
another lane); a response that is no longer the newest of its lane is forgotten there, and found
among the stored ones unless its request said `"store": false`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct, field

from tui.core.wire.events import REFERENCE, unanswered
from tui.core.wire.json_writing import frame

MOST_BYTES = 64 * 1024 * 1024
"""What one user's stored conversations may take; those that were used least lately go first."""
_POINTER_BYTES = 8


class KnownResponse(Struct, frozen=True):
    """A response with everything that led to it."""

    response_id: str
    items: tuple[dict[str, Any], ...]
    size_bytes: int = 0
    """Of all the frames that its items came and went in."""
    asked: int = 0
    """So many of the items it was asked with: no call among these is without its answer."""


class _Conversation(Struct, eq=False):
    """A response and all that continue it: they share their items, and go together."""

    links: dict[str, KnownResponse] = field(default_factory=dict)
    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By the id of the item."""
    size_bytes: int = 0


class StoredResponses:
    """What one user's connections share: stored responses, in memory, by their ids.

    A request with `store` (the API's default) leaves its response here, so that any connection of
    the same user continues it by `previous_response_id`, or names its items, over either transport.
    """

    def __init__(self) -> None:
        self._conversations: OrderedDict[_Conversation, None] = OrderedDict()
        """The one used least lately first."""
        self._by_response: dict[str, _Conversation] = {}
        self._by_item: dict[str, _Conversation] = {}
        self.held_bytes = 0

    def link(self, response_id: str) -> KnownResponse | None:
        """That response with what led to it; None: not stored."""
        found = self._used(self._by_response.get(response_id))
        return found.links[response_id] if found is not None else None

    def item(self, item_id: str) -> dict[str, Any] | None:
        """An item of a stored conversation, by its id."""
        found = self._used(self._by_item.get(item_id))
        return found.items[item_id] if found is not None else None

    def put(self, link: KnownResponse, parent_id: str = "") -> None:
        """Store a response; ``parent_id`` names the one that it continues, if it does."""
        known = self._used(self._by_response.get(parent_id))
        conversation = known or _Conversation()
        parent = conversation.links.get(parent_id)
        before = len(parent.items) if parent is not None else 0
        own_bytes = link.size_bytes - (parent.size_bytes if parent is not None else 0)
        own_bytes += _POINTER_BYTES * len(link.items)
        conversation.links[link.response_id] = link
        self._by_response[link.response_id] = conversation
        new = link.items[before:]
        named = {name: item for item in new if type(name := item.get("id")) is str}
        conversation.items.update(named)
        self._by_item.update(dict.fromkeys(named, conversation))
        conversation.size_bytes += own_bytes
        self.held_bytes += own_bytes
        self._conversations[conversation] = None
        if conversation.size_bytes > MOST_BYTES:  # all others would go for nothing
            self._drop(conversation)
        while self.held_bytes > MOST_BYTES:
            self._drop(next(iter(self._conversations)))

    def _used(self, conversation: _Conversation | None) -> _Conversation | None:
        if conversation is not None:
            self._conversations.move_to_end(conversation)
        return conversation

    def _drop(self, conversation: _Conversation) -> None:
        del self._conversations[conversation]
        self.held_bytes -= conversation.size_bytes
        for name in conversation.links:
            del self._by_response[name]
        for name in conversation.items:
            if self._by_item.get(name) is conversation:
                del self._by_item[name]


class LaneResponses:
    """Lane -> its newest response with everything that led to it."""

    def __init__(self, stored: StoredResponses | None = None) -> None:
        self._stored = stored
        self._newest: dict[str | None, KnownResponse] = {}
        """The least lately used lane first."""
        self.held_bytes = 0

    def link(self, response_id: str) -> KnownResponse | None:
        """That response with what led to it; None: not remembered."""
        links = self._newest.values()
        found = next((link for link in links if link.response_id == response_id), None)
        if found is None and self._stored is not None:
            found = self._stored.link(response_id)
        return found

    def item(self, item_id: str) -> dict[str, Any] | None:
        """An item of any remembered conversation, by its id."""
        for link in self._newest.values():
            for item in link.items:
                if item.get("id") == item_id:
                    return item
        return self._stored.item(item_id) if self._stored is not None else None

    def remember(self, lane: str | None, link: KnownResponse) -> str:
        """A response of this lane ended well: it is the newest now.

        Returns the id of the one that it takes the place of; empty if there was none.
        """
        before = self._drop(lane)
        self._newest[lane] = link
        self.held_bytes += link.size_bytes
        return before.response_id if before is not None else ""

    def forget(self, lane: str | None, response_id: str) -> bool:
        """A continuation on the parent's own lane failed: the parent is evicted.

        Returns whether it was there: a fork that fails leaves its parent to the other lane.
        """
        link = self._newest.get(lane)
        if link is None or link.response_id != response_id:
            return False
        self._drop(lane)
        return True

    def shrink(self, most_bytes: int) -> list[tuple[str | None, str]]:
        """Forget the conversations that were continued least lately until the rest is small.

        Returns their lanes and newest responses.
        """
        gone: list[tuple[str | None, str]] = []
        while self.held_bytes > most_bytes and self._newest:
            lane = next(iter(self._newest))
            link = self._drop(lane)
            gone.append((lane, link.response_id if link is not None else ""))
        return gone

    def _drop(self, lane: str | None) -> KnownResponse | None:
        link = self._newest.pop(lane, None)
        if link is not None:
            self.held_bytes -= link.size_bytes
        return link


class UnknownItemError(Exception):
    """An `item_reference` to an item that is not remembered; the text is its id."""


def resolved(
    items: list[dict[str, Any]], parent_items: Iterable[dict[str, Any]], chains: LaneResponses
) -> list[dict[str, Any]]:
    """A request's items with references replaced by what they name.

    Without references it is the same list. What the parent holds already is not said twice, nor is
    anything within one request: references are short, and what they name may be large.

    Raises:
        UnknownItemError: a reference to nothing that is remembered.
    """
    if not any(item.get("type") == REFERENCE for item in items):
        return items
    full: list[dict[str, Any]] = []
    held = {name for item in parent_items if isinstance(name := item.get("id"), str)}
    for item in items:
        if item.get("type") != REFERENCE:
            full.append(item)
            continue
        wanted = str(item.get("id"))
        if wanted in held:
            continue
        found = chains.item(wanted)
        if found is None:
            raise UnknownItemError(wanted)
        held.add(wanted)
        full.append(found)
    return full


def referred_bytes(given: Iterable[dict[str, Any]], full: Iterable[dict[str, Any]]) -> int:
    """Size of what a request holds besides its own frame: the items that it refers to."""
    return 0 if full is given else sum(len(frame(item)) for item in full)


def unanswered_call(items: Sequence[dict[str, Any]]) -> str:
    """The call id of the first client tool call without an output; empty if there is none."""
    names = (item.get("call_id") for item in unanswered(items))
    return next((name for name in names if isinstance(name, str) and name), "")
