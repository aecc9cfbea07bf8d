"""Reads a server's events of the Responses API, or a whole response, or why there is none.

Some servers give no ``output_index``, some no ids, some neither beginnings nor ends of items, and
some say all of it again in the terminal event's list: here every item has one index and is written
once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from tui.bridge.endpoints.base import MOST_READ_CHARS, Unusable, status_of
from tui.bridge.endpoints.response_writer import ResponseWriter
from tui.bridge.upstream.errors import error_in, excerpt, explained
from tui.bridge.upstream.sse import Message, said_by
from tui.core.wire.address import Address, secrets_in
from tui.core.wire.events import CALL_OUTPUTS, MOST_ERROR_CHARS, usage_of
from tui.core.wire.json_writing import is_long
from tui.core.wire.masking import Mask
from tui.core.wire.rate_limits import pause_header, retry_after_s
from tui.core.wire.server.run import FinishStatus, Run, usage_fields

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


class _ItemEntry(Struct, eq=False):
    """An item that something was said of."""

    kind: str
    names: dict[str, str]
    """Its id and its call id, as far as they were said."""
    index: int
    item: Item | None = None
    """As it ended; None: it is open."""


MOST_OPEN = 256
"""Items that have begun and not ended; each is looked at when one more begins."""


class ItemIndex:
    """The items of one response."""

    def __init__(self) -> None:
        self._entries: list[_ItemEntry] = []
        self._next = 0
        self._last: tuple[tuple[object, object, object], _ItemEntry] | None = None
        """The newest event of an item's text, and the item: most are about the same one."""

    @property
    def unfinished(self) -> bool:
        """Something was said of an item that has not ended."""
        return any(entry.item is None for entry in self._entries)

    @property
    def torn(self) -> str:
        """That the only calls of a response have begun and not ended, in words; or nothing."""
        calls = [entry for entry in self._entries if entry.kind in _TEXTS]
        if not calls or any(entry.item is not None for entry in calls):
            return ""
        return "The answer ended within a call of a tool."

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
        twins: dict[int, _ItemEntry] = {}
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

    def _begin(self, kind: str, names: dict[str, str], index: int | None) -> _ItemEntry:
        entry = _ItemEntry(kind, names, self._next if index is None else index)
        self._entries.append(entry)
        self._next = max(self._next, entry.index + 1)
        return entry

    def _added(self, item: Item, index: int | None) -> _ItemEntry:
        still_open = self._open()
        if len(still_open) >= MOST_OPEN:
            raise Unusable(f"The endpoint has {MOST_OPEN} items open at once: it was stopped.")
        found = _first(still_open, item, _is_named)
        return found or self._begin(str(item.get("type")), _names(item), index)

    def _done(self, item: Item, index: int | None) -> _ItemEntry | None:
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

    def _meant(self, kind: str, event: dict[str, Any], index: int | None) -> _ItemEntry | None:
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

    def _of_text(self, family: str, names: dict[str, str], index: int | None) -> _ItemEntry | None:
        newest = [e for e in reversed(self._entries) if not family or e.kind == family]
        if names:
            return next((e for e in newest if names["id"] in e.names.values()), None)
        if index is not None:
            return next((e for e in newest if e.index == index), None)
        return next((e for e in newest if e.item is None), None) if family else None

    def _open(self) -> list[_ItemEntry]:
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


def _is_readable(kind: str, event: dict[str, Any]) -> bool:
    """Whether an event of an item says what it is to say; what a call is given becomes a text."""
    if kind in (ADDED, DONE):
        item = event.get("item")
        if not isinstance(item, dict):
            return False
        event["item"] = _readable(item)
    elif kind.endswith(".delta") and not isinstance(event.get("delta"), str):
        return not any(kind.startswith(begin) for begin, _ in _FAMILIES)
    return True


def _readable(item: Item) -> Item:
    """An item whose call has a text: some servers give null, or the arguments as an object."""
    field = _TEXTS.get(str(item.get("type")))
    if field is None or isinstance(item.get(field), str):
        return item
    given = item.get(field)
    return {**item, field: "" if given is None else json.dumps(given)}


def _counted(usage: object) -> object:
    """The usage as clients take it; None where it, or one of its numbers, is not a count."""
    known = usage_of({"usage": usage})
    if known is None or not isinstance(usage, dict):
        return None
    numbers = [usage.get("input_tokens"), usage.get("output_tokens")]
    return usage if numbers == [known.input_tokens, known.output_tokens] else usage_fields(known)


def _first(
    entries: list[_ItemEntry], item: Item, same: Callable[[_ItemEntry, Item], bool]
) -> _ItemEntry | None:
    kind = str(item.get("type"))
    return next((e for e in entries if e.kind == kind and same(e, item)), None)


def _is_named(entry: _ItemEntry, item: Item) -> bool:
    return any(name in entry.names.values() for name in _names(item).values())


def _is_another(entry: _ItemEntry, item: Item) -> bool:
    """Whether two calls have names of their own; other items are renamed by some on the way."""
    named = _names(item).items()
    return entry.kind in CALL_OUTPUTS and any(entry.names.get(k, v) != v for k, v in named)


def _says_the_same(entry: _ItemEntry, item: Item) -> bool:
    if entry.item is None:
        return False
    text = text_of(item)
    return text_of(entry.item) == text if text else entry.item == item


def _is_of_kind(_entry: _ItemEntry, _item: Item) -> bool:
    return True


def _names(item: Item) -> dict[str, str]:
    given = {key: item.get(key) for key in ("id", "call_id")}
    return {key: value for key, value in given.items() if isinstance(value, str) and value}


def _index(event: dict[str, Any]) -> int | None:
    index = event.get("output_index")
    return index if type(index) is int and index >= 0 else None


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""


_ENDS: dict[str, FinishStatus] = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.cancelled": "incomplete",
    "response.failed": "failed",
}
_SAME = ("type", "item_id", "delta")
"""What an event that is sent twice says twice, beside its number."""
_OPENINGS = frozenset({"response.created", "response.queued", "response.in_progress"})
"""Our own run has said these."""


class ResponsesReader:
    """One run and the upstream that answers it."""

    def __init__(self, run: Run | ResponseWriter, address: Address) -> None:
        self._run = run
        self._mask = Mask(secrets_in(address))
        self._items = ItemIndex()
        self._foreign = False
        """Something came that is no event of a response."""
        self._complaint = ""
        """What it said."""
        self._last: dict[str, Any] = {}
        self._counts = False
        """The server numbers its events."""
        self._torn = ""
        """Why a call cannot be run, in words."""

    def hear(self, message: Message) -> None:
        """Take one server-sent message; what cannot be read is skipped."""
        event = _object(said_by(message))
        if event is None and message.event == "error":
            event = {"error": excerpt(message.data)}
        elif event is None:
            self._complaint = excerpt(message.data) or self._complaint
        if event is not None:
            event.setdefault("type", message.event)
            self.hear_event(event)

    def hear_event(self, event: dict[str, Any]) -> None:
        """Take one event; what belongs to no response of this protocol is skipped."""
        kind, response = event.get("type"), event.get("response")
        if self._is_again(event):
            return
        if not isinstance(kind, str) or not kind:
            if event.get("error"):
                self._error(event)
            self._foreign = True
            self._complaint = error_in(event).message or self._complaint
            return
        if kind in _OPENINGS or not _is_readable(kind, event):
            return
        if kind in _ENDS:
            self._end(_ENDS[kind], response if isinstance(response, dict) else {})
        elif kind == "error":
            self._error(event)
        elif self._items.placed(event) and not self._tears(kind, event.get("item")):
            self._run.pass_on(event)

    def _is_again(self, event: dict[str, Any]) -> bool:
        """Whether an event was sent twice, by a server that numbers them."""
        last, self._last = self._last, event
        number, before = event.get("sequence_number"), last.get("sequence_number")
        if number != before or number is None:
            self._counts |= type(number) is type(before) is int and number > before
            return False
        return self._counts and all(event.get(key) == last.get(key) for key in _SAME)

    def hear_whole(self, message: Message) -> None:
        """Take a response that came as one JSON object."""
        response = _object(said_by(message))
        if response is None:
            self._run.fail("server_error", "The server's answer is not a response.")
        elif response.get("object") == "chat.completion":
            words = "The server does not speak the Responses API: its answer is of another kind."
            self._run.refuse(400, "not_an_endpoint", words)
        elif response.get("error") and not response.get("output"):
            self._error(response)
        else:
            status = str(response.get("status"))
            self._end(_ENDS.get(f"response.{status}", "completed"), response)

    def refuse(self, status: int, body: bytes, headers: Mapping[str, str], host: str) -> None:
        """End a run that the upstream refused with an HTTP status."""
        said = error_in(_object(said_by(Message("", body))) or {})
        said = explained(said, status, body, host)
        self._refuse(status, (said.code, said.message, said.param), headers)

    def cut(self, host: str, *, marked: bool) -> None:
        """The stream is over without a terminal event; ``marked``: it said that it was whole.

        Such a mark behind finished items, the last of which is no mere thought, is taken for the
        end: to ask again would bring the same answer, and the same lack.
        """
        run = self._run
        if run.done:
            return
        last = str(run.output[-1].get("type")) if run.output else "reasoning"
        said = self._mask.text(self._complaint)
        if marked and not self._items.unfinished and last != "reasoning":
            run.conclude("completed", {})
        elif self._foreign and not run.output:
            behind = f"it says: {said}" if said else "its answer is of another kind."
            words = f"{host} does not speak the Responses API: {behind}"
            run.refuse(400, "not_an_endpoint", words)
        else:
            behind = f": {said}" if said else "."
            run.fail("server_error", f"The answer of {host} ended before the response did{behind}")

    def _end(self, status: FinishStatus, response: dict[str, Any]) -> None:
        status = _ENDS.get(f"response.{response.get('status')}", status)
        self._say_rest(response.get("output"))
        if status == "completed" and (torn := self._torn or self._items.torn):
            self._run.fail("server_error", torn)
            return
        response = {**response, "usage": _counted(response.get("usage"))}
        error = response.get("error") if status == "failed" else None
        if status == "failed":
            told = error if isinstance(error, dict) else {}
            words = _word(told.get("message")) or _word(error)
            words = words or "The server gave up without a reason."
            code = _word(told.get("code")) or "server_error"
            more = {name: value for name, value in told.items() if not is_long(value, 1000, 100)}
            cut = {"code": code[:1000], "message": words[:MOST_ERROR_CHARS]}
            error = self._mask.value({**more, **cut})
        details = response.get("incomplete_details")
        if response.get("status") == "cancelled":
            details = details or {"reason": "cancelled"}
        details = None if is_long(details, 1000, 100) else self._mask.value(details)
        self._run.conclude(status, {**response, "error": error, "incomplete_details": details})

    def _error(self, event: dict[str, Any]) -> None:
        """An `error` event, flat or nested (PROTOCOL section 4)."""
        said, nested = error_in(event), event.get("error")
        code = said.code or (f"http_{said.status}" if said.status else "server_error")
        message = said.message or "The server ended with an error."
        status = said.status or status_of(code)
        holders = [holder for holder in (nested, event) if isinstance(holder, dict)]
        pauses = [
            retry_after_s(headers)
            for holder in holders
            if isinstance(headers := holder.get("headers"), dict)
        ]
        pause = pause_header(next((one for one in pauses if one is not None), None))
        self._refuse(status, (code, message, said.param), pause)

    def _say_rest(self, listed: object) -> None:
        """Tell what of the terminal event's list did not come by itself."""
        listed = listed if isinstance(listed, list) else []
        items = [_readable(item) for item in listed if isinstance(item, dict)]
        for index, item in self._items.rest(items):
            if self._tears(DONE, item):
                continue
            if index is None:
                index = self._run.item_added(begun(item))
                if text := text_of(item):
                    self._run.delta(index, text)
                self._run.item_done(index, item)
            else:
                self._run.pass_on({"type": DONE, "output_index": index, "item": item})

    def _tears(self, kind: str, item: object) -> bool:
        """Whether this is the end of a call that nobody could run, which is then not told."""
        if kind != DONE or not isinstance(item, dict) or item.get("type") != "function_call":
            return False
        name = _word(item.get("name"))
        if name.strip() and _is_json(_word(item.get("arguments"))):
            return False
        self._torn = f"The model called {name} with arguments that are not JSON."
        if not name.strip():
            self._torn = "The model made a call without a tool's name."
        return True

    def _refuse(self, status: int, told: tuple[str, str, str], headers: Mapping[str, str]) -> None:
        """``told``: code, message and param, which may all repeat the key."""
        code, message, param = map(self._mask.text, told)
        self._run.refuse(status, code, message, param or None, headers)


def _is_json(text: str) -> bool:
    """Whether arguments are nothing, or JSON; of long ones their end tells whether they are cut."""
    if len(text) > MOST_READ_CHARS:
        return text.rstrip()[-1:] == "}"
    if not text.strip():
        return True
    try:
        json.loads(text)  # which takes half characters, as this protocol does
    except (ValueError, RecursionError):
        return False
    return True


def _object(value: object) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None
