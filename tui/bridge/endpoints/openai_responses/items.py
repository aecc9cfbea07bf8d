"""Which item of a response an upstream's event is about, whatever it leaves out.

Some give no ``output_index``, some no ids, some neither beginnings nor ends of items, and some say
all of it again in the terminal event's list. Here every item has one index and is told once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tui.bridge.endpoints.base import Unusable
from tui.core.wire.events import CALL_OUTPUTS

Item = dict[str, Any]
ADDED, DONE = "response.output_item.added", "response.output_item.done"
_TEXTS = {"function_call": "arguments", "custom_tool_call": "input"}
_FAMILIES = (
    ("response.output_text.", "message"),
    ("response.refusal.", "message"),
    ("response.content_part.", "message"),
    ("response.reasoning", "reasoning"),
    ("response.function_call_arguments.", "function_call"),
    ("response.custom_tool_call_input.", "custom_tool_call"),
    ("response.apply_patch_call", "apply_patch_call"),
)
"""How the types of events begin that are about an item of a kind."""


@dataclass(slots=True, eq=False)
class _Entry:
    """An item that something was said of."""

    kind: str
    names: dict[str, str]
    """Its id and its call id, as far as they were said."""
    index: int
    item: Item | None = None
    """As it ended; None: it is open."""


MOST_OPEN = 256
"""Items that have begun and not ended; each is looked at when one more begins."""


class ItemBook:
    """The items of one response."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self._next = 0
        self._last: tuple[tuple[object, object, object], _Entry] | None = None
        """The newest event of an item's text, and the item: most are about the same one."""

    @property
    def unfinished(self) -> bool:
        """Something was said of an item that has not ended."""
        return any(entry.item is None for entry in self._entries)

    def placed(self, event: dict[str, Any]) -> bool:
        """Give an event its item's index, if it has none; False: it was said before."""
        kind, item, index = event.get("type"), event.get("item"), _index(event)
        if isinstance(item, dict) and kind in (ADDED, DONE):
            entry = self._added(item, index) if kind == ADDED else self._done(item, index)
            self._last = None
            if entry is None:
                return False
        else:
            found = self._meant(str(kind), event, index)
            if found is None:
                return True
            entry = found
        if index is None:
            event["output_index"] = entry.index
        return True

    def rest(self, listed: list[Item]) -> Iterator[tuple[int | None, Item]]:
        """What of a terminal event's list has not been told, with the index of what is open.

        An item goes by its names, by what it says, or by its place among those of its kind: some
        upstreams give other ids at the end.
        """
        pool = sorted(self._entries, key=lambda entry: entry.item is None)
        twins: dict[int, _Entry] = {}
        for same in (_is_named, _says_the_same, _is_of_kind):
            for at, item in enumerate(listed):
                twin = _first(pool, item, same) if at not in twins else None
                if twin is not None:
                    twins[at] = twin
                    pool.remove(twin)
        for at, item in enumerate(listed):
            entry = twins.get(at)
            if entry is None:
                yield None, item
            elif entry.item is None:
                entry.item = item
                yield entry.index, item

    def _begin(self, kind: str, names: dict[str, str], index: int | None) -> _Entry:
        entry = _Entry(kind, names, self._next if index is None else index)
        self._entries.append(entry)
        self._next = max(self._next, entry.index + 1)
        return entry

    def _added(self, item: Item, index: int | None) -> _Entry:
        still_open = self._open()
        if len(still_open) >= MOST_OPEN:
            raise Unusable(f"The endpoint has {MOST_OPEN} items open at once: it was stopped.")
        found = _first(still_open, item, _is_named)
        return found or self._begin(str(item.get("type")), _names(item), index)

    def _done(self, item: Item, index: int | None) -> _Entry | None:
        kind = str(item.get("type"))
        entry = _first(self._open(), item, _is_named)
        if entry is None and self._is_over(item, index):
            return None
        if entry is None:
            those = [e for e in self._open() if e.kind == kind and not _is_another(e, item)]
            placed = [e for e in those if e.index == index]
            entry = next(iter(placed or those[-1:]), None)
        entry = entry or self._begin(kind, _names(item), index)
        entry.item = item
        return entry

    def _is_over(self, item: Item, index: int | None) -> bool:
        """Whether this very end was said before, of an item that can be told from others."""
        for entry in self._entries:
            if entry.item == item and (entry.names or entry.index == index):
                return True
        return False

    def _meant(self, kind: str, event: dict[str, Any], index: int | None) -> _Entry | None:
        """The item of a delta and the like; None: it is about none, or about one unheard of."""
        asked = kind, event.get("item_id"), index
        if self._last is not None and self._last[0] == asked:
            return self._last[1]
        family = next((of for begin, of in _FAMILIES if kind.startswith(begin)), "")
        name = event.get("item_id")
        names = {"id": name} if isinstance(name, str) and name else {}
        entry = self._of_text(family, names, index)
        if entry is None and family and kind.endswith(".delta"):
            entry = self._begin(family, names, index)
        if entry is not None:
            self._last = asked, entry
        return entry

    def _of_text(self, family: str, names: dict[str, str], index: int | None) -> _Entry | None:
        newest = [e for e in reversed(self._entries) if not family or e.kind == family]
        if names:
            return next((e for e in newest if names["id"] in e.names.values()), None)
        if index is not None:
            return next((e for e in newest if e.index == index), None)
        return next((e for e in newest if e.item is None), None) if family else None

    def _open(self) -> list[_Entry]:
        return [entry for entry in self._entries if entry.item is None]


def text_of(item: Item) -> str:
    """What of an item streams as deltas."""
    kind = str(item.get("type"))
    if kind in _TEXTS:
        return _word(item.get(_TEXTS[kind]))
    parts = item.get("content") if kind == "message" else None
    texts = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    return "".join(_word(part.get("text")) for part in texts)


def begun(item: Item) -> Item:
    """An item as it is before its text."""
    kind = str(item.get("type"))
    empty: Item = {"content": []} if kind == "message" else {}
    return {**item, **empty, **({_TEXTS[kind]: ""} if kind in _TEXTS else {})}


def _first(
    entries: list[_Entry], item: Item, same: Callable[[_Entry, Item], bool]
) -> _Entry | None:
    kind = str(item.get("type"))
    return next((e for e in entries if e.kind == kind and same(e, item)), None)


def _is_named(entry: _Entry, item: Item) -> bool:
    return any(name in entry.names.values() for name in _names(item).values())


def _is_another(entry: _Entry, item: Item) -> bool:
    """Whether two calls have names of their own; other items are renamed by some on the way."""
    named = _names(item).items()
    return entry.kind in CALL_OUTPUTS and any(entry.names.get(k, v) != v for k, v in named)


def _says_the_same(entry: _Entry, item: Item) -> bool:
    if entry.item is None:
        return False
    text = text_of(item)
    return text_of(entry.item) == text if text else entry.item == item


def _is_of_kind(_entry: _Entry, _item: Item) -> bool:
    return True


def _names(item: Item) -> dict[str, str]:
    given = {key: item.get(key) for key in ("id", "call_id")}
    return {key: value for key, value in given.items() if isinstance(value, str) and value}


def _index(event: dict[str, Any]) -> int | None:
    index = event.get("output_index")
    return index if type(index) is int and index >= 0 else None


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""
