"""A list with one row lit, cut down by what is typed: no widget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tui.ui.rows import inert

_DIGITS = "123456789"


class Item(NamedTuple):
    """One row to choose."""

    key: str
    title: str
    words: str = ""


@dataclass(slots=True)
class Chooser:
    """What is chosen among; digits choose where letters do not filter."""

    items: Sequence[Item]
    filtered: bool = False
    """Letters cut the list down; else a digit chooses its row."""
    at: int = 0
    typed: str = ""
    shown: list[Item] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.shown = list(self.items)

    @property
    def chosen(self) -> Item | None:
        """The lit row; None: nothing is left."""
        return self.shown[self.at] if self.shown else None

    def step(self, rows: int) -> None:
        """Light another row; the ends stop it."""
        self.at = max(min(self.at + rows, len(self.shown) - 1), 0)

    def type(self, character: str) -> bool:
        """Take a character; True: it chose a row."""
        if self.filtered:
            self._filter(self.typed + character)
            return False
        row = _DIGITS.find(character)
        if not 0 <= row < len(self.shown):
            return False
        self.at = row
        return True

    def erase(self) -> bool:
        """Take the last character back; False: there is none."""
        if not self.typed:
            return False
        self._filter(self.typed[:-1])
        return True

    def window(self, rows: int) -> range:
        """Which of the shown rows are seen in so many; the lit one is among them."""
        rows = max(rows, 1)
        first = max(0, min(self.at - rows // 2, len(self.shown) - rows))
        return range(first, min(first + rows, len(self.shown)))

    def _filter(self, typed: str) -> None:
        """All words have to be in the row, in any order."""
        self.typed = inert(typed) if typed.strip() else ""
        words = self.typed.lower().split()
        self.shown = [item for item in self.items if all(w in item.title.lower() for w in words)]
        self.at = 0
