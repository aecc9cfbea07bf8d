"""Which item an event is about, whatever ids the server gives.

Servers leave ids out, use one id for several items, or name an item differently in its deltas
and at its end. Here every item has one key: deltas and ends are led to the open item that they
can only mean, and an end that was said before is known again.
"""

from __future__ import annotations

from tui.core.history import CALL_OUTPUTS, Item
from tui.engine.items import call_text, message_text

Name = tuple[str, str]
"""Kind and wire id."""


class Slots:
    """The items of one response."""

    def __init__(self) -> None:
        self.mended = False
        """A call had no id of its own and was given one: the server does not know it by that."""
        self._count = 0
        self._named: dict[Name, str] = {}
        self._at: dict[tuple[str, int], str] = {}
        self._open: dict[str, str] = {}
        """Key -> kind."""
        self._ended: list[Item] = []
        self._call_ids: set[str] = set()

    def begun(self, kind: str, index: int, *names: str) -> str:
        """An item begins that goes by these names; returns its key."""
        self._count += 1
        key = f"{self._count} {names[0]}" if names else str(self._count)
        self._open[key] = kind
        self._at[kind, index] = key
        self._named.update({(kind, name): key for name in names})
        return key

    def added(self, item: Item, index: int) -> tuple[str, Item] | None:
        """An item begins; returns its key and itself, a call with an id of its own.

        None: it had begun before.
        """
        kind = str(item.get("type"))
        if self._open_one(kind, names_of(item)):
            return None
        item = self._identified(item)
        return self.begun(kind, index, *names_of(item)), item

    def of(self, kind: str, wire_id: str, index: int) -> str:
        """The item of a delta."""
        key = self._named.get((kind, wire_id), "")
        if key in self._open:
            return key
        key = self._at.get((kind, index), "")
        if key not in self._open:
            key = "" if wire_id else self._last_open(kind)
        if not key:
            return self.begun(kind, index, *filter(None, [wire_id]))
        if wire_id:
            self._named[kind, wire_id] = key
        return key

    def ended(self, item: Item, index: int) -> tuple[str, Item] | None:
        """The item that ends here and its key; None: it has ended before, or is no item."""
        kind = str(item.get("type"))
        if not item.get("type") or self.has_ended(item):
            return None
        self._ended.append(item)
        key = self.ending(item, index)
        if not key:
            item = self._identified(item)
            key = self.begun(kind, index, *names_of(item))
        del self._open[key]
        return key, item

    def has_ended(self, item: Item) -> bool:
        """True if the end of this item has been said before."""
        names = names_of(item)
        if not names or self._open_one(str(item.get("type")), names):
            return False
        return any(_says_same(item, one) for one in self._ended)

    def ending(self, item: Item, index: int) -> str:
        """The key of the open item whose end this is; empty: there is none."""
        kind, names = str(item.get("type")), names_of(item)
        key = self._open_one(kind, names)
        if not key and (kind not in CALL_OUTPUTS or not names):
            key = self._at.get((kind, index), "")
            key = key if key in self._open else self._last_open(kind)
        return key

    def _open_one(self, kind: str, names: tuple[str, ...]) -> str:
        """The open item of one of these names."""
        keys = (self._named.get((kind, name), "") for name in names)
        return next((key for key in keys if key in self._open), "")

    def _last_open(self, kind: str) -> str:
        return next((key for key in reversed(self._open) if self._open[key] == kind), "")

    def _identified(self, item: Item) -> Item:
        """A call with a call id that no other call of the response has."""
        if item.get("type") not in CALL_OUTPUTS:
            return item
        call_id = call_id_of(item)
        if not call_id or call_id in self._call_ids:
            self.mended = True
            named = (*names_of(item), "call")[0]
            call_id = f"{named}_{len(self._call_ids) + 1}"
            item = {**item, "call_id": call_id}
        self._call_ids.add(call_id)
        return item


def _says_same(one: Item, other: Item) -> bool:
    """The same item by its names and its text, whatever else is said of it (a status)."""
    if one == other:
        return True
    if any(one.get(name) != other.get(name) for name in ("type", "id", "call_id", "name")):
        return False
    if one.get("type") in CALL_OUTPUTS:
        return call_text(one) == call_text(other)
    return one.get("type") == "message" and message_text(one) == message_text(other)


def names_of(item: Item) -> tuple[str, ...]:
    """Its id and its call id, as far as it has them."""
    values = (item.get("id"), item.get("call_id"))
    return tuple(value for value in values if isinstance(value, str) and value)


def call_id_of(item: Item) -> str:
    """The call id of an item; empty if it has none."""
    value = item.get("call_id")
    return value if isinstance(value, str) else ""
