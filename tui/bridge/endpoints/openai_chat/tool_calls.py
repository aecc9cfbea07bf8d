"""The calls of one answer, put together from deltas that servers number as they like.

The index tells parallel calls apart, but some servers leave it out, number all calls 0, give no
ids or the same one twice, say the name in pieces, late, or again with every delta, or the whole
call at once, be it once more.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct, field

from tui.bridge.endpoints.response_writer import ResponseWriter
from tui.bridge.endpoints.tools import Toolbox, ToolCall

_MOST_NAME_CHARS = 1024
MOST_CALLS = 256
"""Of one answer; a server that makes more of them has gone astray."""


class _CallEntry(Struct, eq=False):
    index: int | None
    id: str
    name: str = ""
    call: ToolCall | None = None
    """None: it has not begun for the client, its name may be incomplete."""
    at: int = 0
    """Its output index."""
    over: bool = False
    extra: dict[str, Any] = field(default_factory=dict)
    """What the provider signs it with."""
    twin: bool = False
    """It began under another one's id, and may be no more than that one's end."""
    early: list[str] = field(default_factory=list)
    """Arguments that came before the name."""
    said: tuple[int, int] = (0, 0)
    """Length of its arguments, and checksum of their beginning: to know them again."""

    @property
    def whole(self) -> bool:
        """Its arguments cannot go on."""
        return self.call is not None and (self.over or self.call.complete)

    def keep(self, arguments: str) -> None:
        """More of its arguments."""
        self.said = _summed(arguments, self.said)

    @property
    def idle(self) -> bool:
        """It is no call: nothing of it came but its name, which is another one's."""
        return self.twin and self.call is None and not self.early

    def twins(self, index: int | None, call_id: str, arguments: str) -> bool:
        """Whether a named delta under this id begins a call of another number."""
        same = bool(call_id) and call_id == self.id
        if not same or None in (index, self.index) or index == self.index:
            return False
        return not arguments.strip() or (_begins(arguments) and not self.whole)

    def repeats(self, call_id: str, arguments: str) -> bool:
        """Whether a delta says all of this call once more, or of its twin under the same id."""
        return bool(call_id) and call_id == self.id and _begins(arguments) and self.whole


class ToolCallBook:
    """The calls of one answer."""

    def __init__(
        self,
        writer: ResponseWriter,
        toolbox: Toolbox,
        begin: Callable[[dict[str, Any]], None],
    ) -> None:
        """``begin`` is called before a call begins, with what it is signed with."""
        self._writer = writer
        self._toolbox = toolbox
        self._begin = begin
        self._entries: list[_CallEntry] = []

    def __bool__(self) -> bool:
        return bool(self._entries)

    def take(self, told: dict[str, Any]) -> None:
        """One delta of a call. Raises Steered."""
        function = told.get("function")
        function = function if isinstance(function, dict) else {}
        name, arguments = function.get("name"), function.get("arguments")
        if isinstance(arguments, dict | list):
            arguments = msgspec.json.encode(arguments).decode()
        arguments = arguments if isinstance(arguments, str) else ""
        call_id = told.get("id")
        call_id = call_id if isinstance(call_id, str) else ""
        name = name if isinstance(name, str) else ""
        index = _number(told.get("index"))
        last = self._entries[-1] if self._entries else None
        if name or index is None or last is None or not (_begins(arguments) and last.whole):
            entry = self._meant(index, call_id, name, arguments)
        else:  # a new call, whose name comes later
            entry = self._numbered(index, call_id) or self._begun(_CallEntry(index, call_id))
        if entry.repeats(call_id, arguments):
            if _summed(arguments) == entry.said or not name:
                return
            entry = self._begun(_CallEntry(index, call_id, name))
        nameless = not (name or call_id) and entry.whole and _begins(arguments)
        if nameless and _summed(arguments) == entry.said:
            return  # its arguments once more
        extra = told.get("extra_content")
        if isinstance(extra, dict) and entry.call is None:
            entry.extra = {"extra_content": extra}
        if arguments and not entry.over:
            self._say(entry, arguments)

    def settle(self) -> None:
        """Something else comes: calls that are whole are over. Raises Steered."""
        for entry in self._entries:
            if entry.call is not None and not entry.over and entry.call.complete:
                self._end(entry)

    def unsound(self) -> list[str]:
        """No more comes; returns the names of calls whose arguments are no JSON."""
        names: list[str] = []
        for entry in self._entries:
            if entry.over or entry.idle:
                continue
            if entry.early:
                self._say(entry, "")
            call = self._opened(entry)
            if rest := call.end():
                self._writer.delta(entry.at, rest)
            if not call.sound:
                names.append(entry.name)
        return names

    def finish(self) -> None:
        """End what is sound, and leave the rest open. Raises Steered."""
        for entry in self._entries:
            if not entry.over and entry.call is not None and entry.call.sound:
                entry.over = True
                self._writer.item_done(entry.at)

    def _meant(self, index: int | None, call_id: str, name: str, arguments: str) -> _CallEntry:
        """Which call a delta is about; a new one if it is about none that we know."""
        last = self._entries[-1] if self._entries else None
        known = self._numbered(index, call_id)
        if known is None and (not name or (index is None and not call_id and not _is_begun(last))):
            known = last
        if name and known is not None and known.twins(index, call_id, arguments):
            return self._begun(_CallEntry(index, call_id, name, twin=True))
        if known is None or _is_another(known, call_id, name):
            return self._begun(_CallEntry(index, call_id, name))
        long = len(known.name) >= _MOST_NAME_CHARS
        if name and known.call is None and name != known.name and not long:
            known.name += name
        known.id = known.id or call_id
        return known

    def _numbered(self, index: int | None, call_id: str) -> _CallEntry | None:
        """The newest call of this id, and of this number if there are several; else of it alone."""
        newest = self._entries[::-1]
        named = [e for e in newest if call_id and e.id == call_id]
        numbered = (e for e in named or newest if index is not None and e.index == index)
        return next(numbered, named[0] if named else None)

    def _begun(self, entry: _CallEntry) -> _CallEntry:
        if len(self._entries) >= MOST_CALLS:
            self._writer.fail("server_error", f"The model made more than {MOST_CALLS} calls.")
        self._entries.append(entry)
        return entry

    def _say(self, entry: _CallEntry, arguments: str) -> None:
        entry.keep(arguments)
        if not entry.name.strip():
            entry.early.append(arguments)
            return
        if entry.early:
            arguments, entry.early = "".join((*entry.early, arguments)), []
        if text := self._opened(entry).feed(arguments):
            self._writer.delta(entry.at, text)

    def _opened(self, entry: _CallEntry) -> ToolCall:
        if entry.call is not None:
            return entry.call
        self.settle()
        if not entry.name.strip():
            self._writer.fail("server_error", "The model made a call without a tool's name.")
        self._begin(entry.extra)
        entry.call = self._toolbox.call(entry.name, entry.id)
        entry.at = self._writer.item_added(entry.call.item)
        return entry.call

    def _end(self, entry: _CallEntry) -> None:
        entry.over = True
        if entry.call is not None and (rest := entry.call.end()):
            self._writer.delta(entry.at, rest)
        self._writer.item_done(entry.at)


def _is_another(entry: _CallEntry, call_id: str, name: str) -> bool:
    """Whether a delta with this id and name begins another call under the same number."""
    if not name:
        return False
    if call_id and entry.id and call_id != entry.id:
        return True
    return entry.whole and (not call_id or call_id != entry.id)


def _is_begun(entry: _CallEntry | None) -> bool:
    return entry is not None and entry.call is not None


def _number(index: object) -> int | None:
    if isinstance(index, str) and index.isascii() and index.isdigit():
        return int(index[:9])
    return index if type(index) is int else None


def _begins(arguments: str) -> bool:
    return arguments.lstrip().startswith("{")


def _summed(arguments: str, before: tuple[int, int] = (0, 0)) -> tuple[int, int]:
    size, checksum = before
    data = arguments.encode("utf-8", "surrogatepass")
    return size + len(arguments), zlib.crc32(data, checksum)
