"""A recording read back: lines, then exchanges (a request and what came of it), in their order.

Takes our own recordings and those of other clients (``_meta`` marks what is no frame). Nothing in
a file makes it raise: a broken line is counted and passed over.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct, field

from tui.core.files import FileBlock, file_blocks

MAX_ENTRIES = 5_000_000
ActKind = Literal["frame", "interrupt", "steer", "lost"]
_ENDS = ("response.completed", "response.incomplete", "response.failed", "error")
_CLOSES = frozenset(
    {
        "abrupt_tcp_abort",
        "abort",
        "client_closed_while_server_was_streaming",
        "close",
        "close_frame",
        "connection_closed",
        "server_closes_right_after_upgrade",
    }
)
_STOPPED = ("the connection was dropped to stop", "stopped:")
"""How our own client says that it left because its user pressed Esc."""
_TOLD = re.compile(
    r"<[a-z_]+>|Open files, as they stand in the editor|The user's decisions on your hunks:"
    r"|Your hunks as they stand now[:;]|In your message, the patch |The formatter changed this "
    r"|The user edited meanwhile:|New files: |Files that are gone: |Your last answer "
    r"|Attached by the user: |"
    r"[^\n]{1,4000} is (?:(?:unchanged since|as) you last saw it|(?:open|attached) but "
    r"|open; too long)"
)
"""How a message begins in which a client tells what the user did not type."""


class RecordedEntry(Struct, frozen=True):
    """One line."""

    from_client: bool
    t: float
    """Seconds since the recording began; never less than that of the line before."""
    connection: int
    frame: dict[str, Any]

    @property
    def kind(self) -> str:
        """The event's type, or the `_meta` of what is no frame."""
        return str(self.frame.get("_meta") or self.frame.get("type") or "")

    @property
    def is_meta(self) -> bool:
        """It was no frame."""
        return "_meta" in self.frame


class Recording(Struct):
    """All usable lines of a file."""

    entries: list[RecordedEntry] = field(default_factory=list)
    broken: int = 0
    """Lines that were passed over."""

    def count(self, kind: str) -> int:
        """How many entries are of this kind."""
        return sum(entry.kind == kind for entry in self.entries)

    @property
    def about(self) -> dict[str, Any]:
        """What our recorder wrote into the first line; empty if somebody else recorded it."""
        first = self.entries[0].frame if self.entries else {}
        return first if first.get("_meta") == "recording" else {}


def read(lines: Iterable[bytes]) -> Recording:
    """The recording that these lines hold."""
    recording = Recording()
    for line in lines:
        if not line.strip():
            continue
        last = recording.entries[-1].t if recording.entries else 0.0
        entry = _entry(line, last) if len(recording.entries) < MAX_ENTRIES else None
        if entry is None:
            recording.broken += 1
        else:
            recording.entries.append(entry)
    return recording


def _entry(line: bytes, last: float) -> RecordedEntry | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    frame = value.get("frame") if isinstance(value, dict) else None
    if not isinstance(frame, dict) or value.get("dir") not in ("c2s", "s2c"):
        return None
    t, connection = value.get("t"), value.get("conn")
    number = connection if isinstance(connection, int) else 0
    return RecordedEntry(value["dir"] == "c2s", max(last, _seconds(t, last)), number, frame)


def _seconds(t: object, last: float) -> float:
    """A time in seconds; the last one where this is no finite number."""
    if isinstance(t, bool) or not isinstance(t, int | float):
        return last
    try:
        return float(t) if math.isfinite(t) else last
    except OverflowError:
        return last


class RecordedAct(Struct, frozen=True):
    """What happened after a request."""

    t: float
    kind: ActKind
    text: str = ""
    """The frame without its lane, the steering text, or why the socket was lost."""
    code: int | None = None
    """Of the close, where the server gave one."""
    by_user: bool = False
    """The client left the socket by itself while the response streamed: its user stopped it."""


class RecordedExchange(Struct):
    """One request with everything that answers it, steered successors included."""

    t: float
    request: dict[str, Any]
    prompt: str
    """What the user typed; empty: the request goes on with a turn."""
    acts: list[RecordedAct] = field(default_factory=list)
    response_ids: set[str] = field(default_factory=set)
    ended: bool = False

    @property
    def is_prewarm(self) -> bool:
        """It asks for no output."""
        cache = self.request.get("prompt_cache_options")
        forced = isinstance(cache, dict) and cache.get("prewarm") is True
        return self.request.get("generate") is False or forced

    @property
    def model(self) -> str:
        """The model's name, empty if none was named."""
        return str(self.request.get("model") or "")

    @property
    def conversation(self) -> str:
        """What tells conversations apart; empty: the request does not say."""
        return str(self.request.get("prompt_cache_key") or "")


def exchanges(entries: Iterable[RecordedEntry]) -> list[RecordedExchange]:
    """All requests in the order in which they were sent."""
    return _Sorter().sorted(entries)


def foreground(found: Iterable[RecordedExchange]) -> tuple[list[RecordedExchange], int]:
    """The conversation that was there first, without prewarms, and how many requests that omits.

    (A client asks for titles and summaries in conversations of their own.)
    """
    real = [exchange for exchange in found if not exchange.is_prewarm]
    first = next((exchange.conversation for exchange in real if exchange.conversation), "")
    kept = [exchange for exchange in real if exchange.conversation in ("", first)]
    return kept, len(real) - len(kept)


class _Track(Struct):
    """One lane of one socket."""

    waiting: list[RecordedExchange] = field(default_factory=list)
    """Sent, and no response began."""
    current: RecordedExchange | None = None


class _Sorter:
    """Finds for each frame the request that it answers."""

    def __init__(self) -> None:
        self._found: list[RecordedExchange] = []
        self._tracks: dict[tuple[int, str], _Track] = {}

    def sorted(self, entries: Iterable[RecordedEntry]) -> list[RecordedExchange]:
        """All exchanges."""
        for entry in entries:
            if entry.is_meta:
                if entry.kind in _CLOSES:
                    self._close(entry)
            elif entry.from_client:
                self._client(entry)
            else:
                self._server(entry)
        return self._found

    def _client(self, entry: RecordedEntry) -> None:
        frame = entry.frame
        if entry.kind == "response.create":
            exchange = RecordedExchange(entry.t, frame, prompt_of(frame))
            self._found.append(exchange)
            key = (entry.connection, str(frame.get("stream_id") or ""))
            self._tracks.setdefault(key, _Track()).waiting.append(exchange)
        elif entry.kind == "response.interrupt":
            self._control(entry, str(frame.get("response_id") or ""), "interrupt", "")
        elif entry.kind == "response.steer":
            text = "\n".join(_texts(frame.get("input")))
            self._control(entry, str(frame.get("previous_response_id") or ""), "steer", text)

    def _control(self, entry: RecordedEntry, response_id: str, kind: ActKind, text: str) -> None:
        for (connection, _), track in self._tracks.items():
            current = track.current
            if current is None or current.ended or connection != entry.connection:
                continue
            if response_id in current.response_ids:
                current.acts.append(RecordedAct(entry.t, kind, text))
                return

    def _server(self, entry: RecordedEntry) -> None:
        track = self._track_of(entry)
        if track is None:
            return
        current, kind = track.current, entry.kind
        idle = current is None or current.ended
        if kind in ("response.created", "error") and idle and track.waiting:
            current = track.current = track.waiting.pop(0)
        elif kind == "response.created" and current is not None:
            current.ended = False  # the successor of a steered response
        elif current is None or (idle and kind == "error"):
            return
        if kind == "response.created":
            response = entry.frame.get("response")
            named = response.get("id") if isinstance(response, dict) else None
            current.response_ids.add(str(named or ""))
        current.acts.append(RecordedAct(entry.t, "frame", _unnamed(entry.frame)))
        current.ended = current.ended or kind in _ENDS

    def _track_of(self, entry: RecordedEntry) -> _Track | None:
        """The lane that a frame names, or the only one that it can belong to."""
        lane = entry.frame.get("stream_id")
        named = self._tracks.get((entry.connection, str(lane or "")))
        if named is not None:
            return named
        mine = [track for key, track in self._tracks.items() if key[0] == entry.connection]
        open_now = [t for t in mine if t.waiting or (t.current and not t.current.ended)]
        return next(iter(open_now or mine), None)

    def _close(self, entry: RecordedEntry) -> None:
        """What was open on the socket is lost."""
        act = _lost(entry)
        for key in [key for key in self._tracks if key[0] == entry.connection]:
            track = self._tracks.pop(key)
            current = [track.current] if track.current and not track.current.ended else []
            for exchange in [*current, *track.waiting]:
                exchange.acts.append(act)
                exchange.ended = True


def _lost(entry: RecordedEntry) -> RecordedAct:
    frame = entry.frame
    code, reason = frame.get("code"), frame.get("reason")
    sent_by_server = frame.get("sent_close")
    if code is None and isinstance(sent_by_server, list) and sent_by_server:
        code, *rest = sent_by_server
        reason = rest[0] if rest else ""
    known = code if isinstance(code, int) else None
    by_user = known is None and (entry.from_client or str(reason).startswith(_STOPPED))
    words = f"the connection was closed ({known})" if known else "the connection broke"
    return RecordedAct(entry.t, "lost", str(reason or words), known, by_user)


def _unnamed(frame: Mapping[str, Any]) -> str:
    """The frame as it travelled, without its lane."""
    if "_raw" in frame:
        return str(frame["_raw"])
    return json.dumps({key: value for key, value in frame.items() if key != "stream_id"})


def prompt_of(request: Mapping[str, Any]) -> str:
    """What the user typed last, unless the model has answered it; empty if there is nothing.

    Messages without anything between them (a prompt, and what was to steer it) belong together.
    """
    items = request.get("input")
    if isinstance(items, str):
        return items
    typed: list[str] = []
    for item in reversed(items) if isinstance(items, list) else ():
        if not isinstance(item, dict) or item.get("role") in ("developer", "system"):
            continue
        if item.get("type", "message") != "message" or item.get("role") != "user":
            break
        text = "\n".join(_texts([item]))
        if text and not _TOLD.match(text):
            typed.insert(0, text)
        elif typed:
            break
    return "\n\n".join(typed)


def quoted_files(request: Mapping[str, Any]) -> Iterator[FileBlock]:
    """The files that a request quotes whole, oldest first."""
    for text in _texts(request.get("input")):
        for block in file_blocks(text):
            marks = block.attributes
            if not {"from", "to"} & marks.keys() and marks.get("state") != "changed":
                yield block


def _texts(value: object) -> Iterator[str]:
    """All texts of a request's input: of messages and of the outputs of calls."""
    if isinstance(value, str):
        yield value
    for item in value if isinstance(value, list) else ():
        if not isinstance(item, dict):
            continue
        for content in (item.get("content"), item.get("output")):
            if isinstance(content, str):
                yield content
            for part in content if isinstance(content, list) else ():
                if isinstance(part, dict) and isinstance(part.get("text"), str):
                    yield part["text"]
