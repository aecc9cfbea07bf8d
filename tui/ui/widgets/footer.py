"""The bottom row: what the keys do now, read from the one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cell_len

from tui.ui import theme
from tui.ui.keymap import hints
from tui.ui.keys.table import Scope, When
from tui.ui.rows import Piece
from tui.ui.widgets.bar import Bar

_ROOMY = 70
"""A row that is narrower has only what works now."""


def _cells(hint: tuple[str, str]) -> int:
    """How wide a key and its word are, with the blanks around them."""
    return cell_len(hint[0]) + cell_len(hint[1]) + 3


class KeysLine(Bar):
    """Shows keys for a set of states and the scopes that have the focus."""

    _states: frozenset[When] = frozenset()
    _scopes: tuple[Scope, ...] = ("global",)

    _labels: Mapping[str, str] = {}

    def show(self, states: set[When], scopes: Sequence[Scope], labels: Mapping[str, str]) -> None:
        """These states hold now; the keys of these scopes work now, the nearest first.

        ``labels``: words for actions that do not always do the same.
        """
        self._labels = dict(labels)
        self._states, self._scopes = frozenset(states), tuple(scopes)
        self.update_bar()

    def pieces(self, width: int) -> list[Piece]:
        """As many keys as fit."""
        palette = theme.active()
        pieces: list[Piece] = []
        for key, label in self._fitting(width - 1):
            pieces += [
                (f" {key}", palette.style("accent")),
                (f" {label} ", palette.style("muted")),
            ]
        return pieces

    def _fitting(self, room: int) -> list[tuple[str, str]]:
        """The first ones that fit; where the help has no place among them it is the last one.

        While something can be stopped what it needs goes first.
        """
        shown: list[tuple[str, str]] = []
        found = self._hints()
        if sum(map(_cells, found)) <= room:
            return found
        calm = room >= _ROOMY and "stoppable" not in self._states
        last = [hint for hint in found if hint[1] == "help" and calm]
        room -= sum(map(_cells, last))
        for hint in found:
            if hint in last:
                continue
            room -= _cells(hint)
            if room < 0:
                break
            shown.append(hint)
        return shown + last

    def _hints(self) -> list[tuple[str, str]]:
        return hints(set(self._states), *self._scopes, labels=self._labels)
