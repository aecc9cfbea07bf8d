"""What one user's connections share: stored responses, in memory, by their ids.

A request with `store` (the API's default) leaves its response here, so that any connection of the
same user continues it by `previous_response_id`, or names its items, over either transport.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from tui.core.wire.server.chain import Link

MOST_BYTES = 64 * 1024 * 1024
"""What one user's stored conversations may take; those that were used least lately go first."""
_POINTER_BYTES = 8


@dataclass(eq=False, slots=True)
class _Conversation:
    """A response and all that continue it: they share their items, and go together."""

    links: dict[str, Link] = field(default_factory=dict)
    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By the id of the item."""
    size_bytes: int = 0


class Shelf:
    """The stored responses of one user."""

    def __init__(self) -> None:
        self._conversations: OrderedDict[_Conversation, None] = OrderedDict()
        """The one used least lately first."""
        self._by_response: dict[str, _Conversation] = {}
        self._by_item: dict[str, _Conversation] = {}
        self.held_bytes = 0

    def link(self, response_id: str) -> Link | None:
        """That response with what led to it; None: not stored."""
        found = self._used(self._by_response.get(response_id))
        return found.links[response_id] if found is not None else None

    def item(self, item_id: str) -> dict[str, Any] | None:
        """An item of a stored conversation, by its id."""
        found = self._used(self._by_item.get(item_id))
        return found.items[item_id] if found is not None else None

    def put(self, link: Link, parent_id: str = "") -> None:
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
