"""What is pasted: whether it is text, and long texts, each shown as one label.

A text area wraps all of its lines, which took seconds for a megabyte; and nobody reads that much in
eight rows. What ``[pasted 12,345 lines]`` stands for is kept for the run, so that undo and the
history bring it back. A label is one thing under the cursor: it stays whole or goes.
"""

from __future__ import annotations

from bisect import bisect_left

from tui.core.text.patterns import pattern
from tui.ui.prompt.draft import DraftLines, Location

LONG_CHARS, LONG_LINES = 5_000, 100
"""What is longer, in characters or in lines, is folded."""
ROOM_CHARS, SHORT_CHARS = 20_000, 200
"""Beside so much what is short no longer is folded too: many pastes make a long one."""
KEPT_CHARS = 64_000_000
"""Characters kept behind labels; the oldest that nothing shows are given up first."""
_LABEL = pattern(r"\[pasted [\d,]+ (?:lines|characters)(?: #\d+)?\]")


class Folds:
    """The labels, and what they stand for."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        """By label, the oldest first."""

    def __len__(self) -> int:
        return len(self._texts)

    def fold(self, text: str, beside: str = "") -> str:
        """The text with labels for what is too long to be shown beside what stands there."""
        if not is_long(text, len(beside)):
            return text
        for label, known in sorted(self._texts.items(), key=lambda item: -len(item[1])):
            text = text.replace(known, label)
        pieces: list[str] = []
        at = 0
        for start, end in [*self.places(text), (len(text), len(text))]:
            piece = text[at:start]
            pieces.append(self._label(piece) if is_long(piece, len(beside)) else piece)
            pieces.append(text[start:end])
            at = end
        folded = "".join(pieces)
        self._give_up(beside + folded)
        return folded

    def whole(self, text: str) -> str:
        """The text with what its labels stand for."""
        if not self._texts:
            return text
        return _LABEL.sub(lambda found: self._texts.get(found[0], found[0]), text)

    def places(self, line: str) -> list[tuple[int, int]]:
        """Where labels stand in a line."""
        if not self._texts:
            return []
        return [found.span() for found in _LABEL.finditer(line) if found[0] in self._texts]

    def around(self, line: str, column: int) -> tuple[int, int] | None:
        """The label that this column lies inside of, not at its ends."""
        places = self.places(line)
        at = bisect_left(places, (column, 0)) - 1
        if at >= 0 and places[at][0] < column < places[at][1]:
            return places[at]
        return None

    def beside(self, lines: DraftLines, at: Location) -> tuple[Location, Location] | None:
        """Both ends of the label that this place touches, the one before it first."""
        row, column = at
        places = self.places(lines.get_line(row))
        touched = next((place for place in places if column in place), None)
        return None if touched is None else ((row, touched[0]), (row, touched[1]))

    def widened(
        self, lines: DraftLines, top: Location, bottom: Location
    ) -> tuple[Location, Location]:
        """The places of an edit that takes whole labels only; a text put into one comes behind."""
        above, below = self._inside(lines, top), self._inside(lines, bottom)
        if top == bottom and above is not None:
            return (top[0], above[1]), (top[0], above[1])
        return (
            top if above is None else (top[0], above[0]),
            bottom if below is None else (bottom[0], below[1]),
        )

    def outside(self, lines: DraftLines, at: Location, before: Location) -> Location:
        """A place at an end of the label around it: the one that the cursor was not at."""
        place = self._inside(lines, at)
        if place is None:
            return at
        row, (start, end) = at[0], place
        if before in ((row, start), (row, end)):
            return (row, end if before[1] == start else start)
        return (row, start if at[1] - start < end - at[1] else end)

    def _inside(self, lines: DraftLines, at: Location) -> tuple[int, int] | None:
        """The label that a place lies inside of."""
        row, column = at
        return self.around(lines.get_line(row), column) if row < lines.line_count else None

    def _label(self, text: str) -> str:
        """A label for this text alone."""
        lines = text.count("\n") + (not text.endswith("\n"))
        said = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
        label, number = f"[pasted {said}]", 1
        while self._texts.get(label, text) != text:
            number += 1
            label = f"[pasted {said} #{number}]"
        self._texts[label] = text
        return label

    def _give_up(self, shown: str) -> None:
        """The oldest texts, when all together are too much."""
        spare = sum(map(len, self._texts.values())) - KEPT_CHARS
        for label in [label for label in self._texts if label not in shown]:
            if spare <= 0:
                return
            spare -= len(self._texts.pop(label))


def is_long(text: str, beside_chars: int = 0) -> bool:
    """Whether a text is too long to be shown beside so many characters."""
    size = len(text)
    if size > LONG_CHARS or text.count("\n") >= LONG_LINES:
        return True
    return size > SHORT_CHARS and size + beside_chars > ROOM_CHARS


_LOOKED_AT = 100_000
"""Characters: what is no text shows it early."""
_FEW = 16
"""So many odd characters may be in any text: a log, a name in another encoding."""
_SHARE = 0.05
_ODD = pattern("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
"""Control characters that no text has, and what could not be decoded. Esc is in coloured output."""


def no_text(pasted: str) -> str:
    """Why a paste is not taken, in a sentence; empty: it is text."""
    if not pasted:
        return (
            "There is no text on the clipboard. Pictures cannot be pasted: save one as a file of"
            " the workspace, and name it with @."
        )
    looked_at = pasted[:_LOOKED_AT]
    odd = len(_ODD.findall(looked_at))
    if odd > _FEW and odd > len(looked_at) * _SHARE:
        return (
            f"That is not text ({odd:,} of {len(looked_at):,} characters cannot be shown): nothing"
            " was pasted. Name a file of the workspace with @ instead."
        )
    return ""
