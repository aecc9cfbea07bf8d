"""What stood on the screen when: a terminal emulator reads the pieces that a program wrote."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.benchmarks.screen.pseudo_terminal import COLUMNS, ROWS, Piece
from tui.errors import DuettoError

_UNKNOWN = re.compile(
    rb"\x1b\[[<>=][0-9;:]*[ -/]*[@-~]|\x1b\[\?[0-9;]*(?:u|\$p)|\x1b[P_^X].*?(?:\x1b\\|\x07)"
    rb"|\x1b\[[0-9;]*(?: q|t)|\x1b\[[0-9;]*:[0-9;:]*m",
    re.DOTALL,
)
"""Sequences that pyte would print: of the Kitty protocol, DCS, APC, window reports, colons."""
_WHOLE = re.compile(
    rb"\x1b\[[0-9;:?<>=]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9A-B]"
    rb"|\x1b[P_^X].*?(?:\x1b\\|\x07)|\x1b[^\[\]()P_^X]",
    re.DOTALL,
)
_BEGIN, _END = b"\x1b[?2026h", b"\x1b[?2026l"


@dataclass(slots=True)
class Picture:
    """What was seen, and when: seconds of `time.monotonic`."""

    first_text_s: float | None = None
    """The first character that is not a blank."""
    marks: list[tuple[float, int]] = field(default_factory=list)
    """Whenever a mark with a higher number than all before was there."""
    seen: dict[str, float] = field(default_factory=dict)
    """When the words that were looked for were there for the first time."""
    changes_s: list[float] = field(default_factory=list)
    """When any text changed."""
    last: str = ""
    """The screen at the end."""


class Emulator:
    """A terminal's screen, which reads on from piece to piece. Raises DuettoError: no pyte."""

    def __init__(self, rows: int = ROWS) -> None:
        self._screen, self._stream = _emulator(rows)
        self._rows = [""] * rows
        self._carry = b""
        self._is_open = False

    @property
    def text(self) -> str:
        """The whole screen."""
        return "\n".join(row.rstrip() for row in self._rows)

    def read(
        self,
        pieces: Iterable[Piece],
        words: Sequence[str] = (),
        mark: re.Pattern[str] | None = None,
        since_s: float = 0.0,
    ) -> Picture:
        """Look for words and marks in what is painted from ``since_s`` on."""
        picture, pending, highest = Picture(), list(words), -1
        for now_s, rows in self.changes(pieces):
            if picture.first_text_s is None and any(row.strip() for row in rows):
                picture.first_text_s = now_s
            if now_s < since_s:
                continue
            picture.changes_s.append(now_s)
            text = "\n".join(rows)
            for word in [word for word in pending if word in text]:
                picture.seen[word] = now_s
                pending.remove(word)
            found = max(map(int, mark.findall(text)), default=-1) if mark is not None else -1
            if found > highest:
                highest = found
                picture.marks.append((now_s, found))
        picture.last = self.text
        return picture

    def changes(self, pieces: Iterable[Piece]) -> Iterator[tuple[float, list[str]]]:
        """Each time that the text of some rows changed, with those rows.

        What is between the begin and the end of a synchronized update counts from its end, as a
        terminal shows it.
        """
        for now_s, data in pieces:
            data, self._carry = _split(self._carry + data)
            self._is_open = _open_behind(data, self._is_open)
            self._stream.feed(_UNKNOWN.sub(b"", data))
            if not self._is_open and (changed := self._changed()):
                yield now_s, changed

    def _changed(self) -> list[str]:
        changed = []
        for number in sorted(row for row in self._screen.dirty if row < len(self._rows)):
            text = _text(self._screen.buffer[number])
            if text != self._rows[number]:
                self._rows[number] = text
                changed.append(text)
        self._screen.dirty.clear()
        return changed


def _split(data: bytes) -> tuple[bytes, bytes]:
    """Whole sequences, and the beginning of one whose end has not come."""
    at = data.rfind(b"\x1b")
    if at < 0 or _WHOLE.match(data, at) or len(data) - at > 1 << 16:
        return data, b""
    return data[:at], data[at:]


def _open_behind(data: bytes, was_open: bool) -> bool:
    """Whether a synchronized update is going on at the end of a piece."""
    begin, end = data.rfind(_BEGIN), data.rfind(_END)
    return was_open if begin == end else begin > end


def _text(row: Any) -> str:
    return "".join([row[column].data for column in range(COLUMNS)])


def _emulator(rows: int) -> tuple[Any, Any]:
    """The screen and the stream of pyte, which answer nothing and know how to scroll."""
    try:
        import pyte
    except ImportError:
        raise DuettoError(
            "this reads the painted screen with pyte, which is not installed:"
            " pip install 'duetto[bench]'"
        ) from None

    csi = {**pyte.ByteStream.csi, "S": "scroll_up", "T": "scroll_down"}
    events = frozenset([*pyte.ByteStream.events, "scroll_up", "scroll_down"])
    reports = dict.fromkeys(("report_device_status", "report_device_attributes"), _silent)
    scrolls = {"scroll_up": _scroll_up, "scroll_down": _scroll_down}
    screen = type("Screen", (pyte.Screen,), {**reports, **scrolls})(COLUMNS, rows)
    return screen, type("Stream", (pyte.ByteStream,), {"csi": csi, "events": events})(screen)


def _silent(screen: Any, *args: object, **kwargs: object) -> None:
    """What is asked of the terminal is answered by `PseudoTerminal`."""


def _scroll_up(screen: Any, count: int = 1, **kwargs: object) -> None:
    """SU, which pyte does not know."""
    _scrolled(screen, count, 1, screen.index)


def _scroll_down(screen: Any, count: int = 1, **kwargs: object) -> None:
    """SD."""
    _scrolled(screen, count, 0, screen.reverse_index)


def _scrolled(screen: Any, count: int, edge: int, step: Callable[[], None]) -> None:
    margins, line = screen.margins or (0, screen.lines - 1), screen.cursor.y
    for _ in range(count or 1):
        screen.cursor.y = margins[edge]
        step()
    screen.cursor.y = line
