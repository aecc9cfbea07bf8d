"""Long texts of the draft, each shown as one label: ``[pasted 12,345 lines]``.

A text area wraps all of its lines, which took seconds for a megabyte; and nobody reads that much in
eight rows. What a label stands for is kept for the run, so that undo and the history bring it back.
"""

from __future__ import annotations

import re
from bisect import bisect_left

LONG_CHARS, LONG_LINES = 5_000, 100
"""What is longer, in characters or in lines, is folded."""
ROOM_CHARS, SHORT_CHARS = 20_000, 200
"""Beside so much what is short no longer is folded too: many pastes make a long one."""
KEPT_CHARS = 64_000_000
"""Of all texts behind labels; the oldest that nothing shows is given up first."""
_LABEL = re.compile(r"\[pasted [\d,]+ (?:lines|characters)(?: #\d+)?\]")


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
