"""What a lane remembers of responses that are over: whatever comes of them late is known by it."""

from __future__ import annotations

from collections import deque

ENDED_IDS = 16
"""So many ids of ended responses are known."""
MAX_ITEMS = 1000
"""So many items of one response are known."""


class Bygones:
    """Ids of ended responses, and of the items of the last one."""

    def __init__(self) -> None:
        self.used = False
        """A response has ended here."""
        self.announced = False
        """The server has begun one with `response.created`: it is expected to do so again."""
        self._stopped = False
        """The last one did not end by itself: more of it may come."""
        self._ids: deque[str] = deque(maxlen=ENDED_IDS)
        self._items: set[str] = set()
        """Of the response in flight."""
        self._over: set[str] = set()
        """Of the response before."""

    def knows(self, response_id: str) -> bool:
        """A response of this id has ended not long ago."""
        return response_id in self._ids

    def ended(self, *response_ids: str) -> None:
        """A response is over; relays may have known it by several ids."""
        self._ids.extend(name for name in response_ids if name and name not in self._ids)

    def revive(self, response_id: str) -> None:
        """Some servers use one id twice (LiteLLM, where its upstream does)."""
        if response_id in self._ids:
            self._ids.remove(response_id)

    def note(self, item_id: str) -> None:
        """An item of the response in flight."""
        if item_id and len(self._items) < MAX_ITEMS:
            self._items.add(item_id)

    def close(self, *, stopped: bool) -> None:
        """The response in flight is over, or nobody waits for it any more."""
        self.used, self._stopped = True, stopped
        if self._items:
            self._over, self._items = self._items, set()

    def late(self, item_id: str, *, begins: bool) -> bool:
        """Whether output that comes before its `response.created` is of the response before.

        ``begins``: it is an item as such, with which a response may begin; a piece of one may not,
        unless the server never says `response.created`; what ends by itself there is over.
        """
        if not self.used or not (self.announced or self._stopped):
            return False
        fresh = bool(item_id) and item_id not in self._over
        return not fresh if begins else self.announced or item_id in self._over
