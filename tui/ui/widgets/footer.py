"""The bottom row: what the keys do now, read from the one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cell_len

from tui.ui import theme
from tui.ui.keymap import hints
from tui.ui.keys.key import Scope, When
from tui.ui.rows import Piece
from tui.ui.widgets.bar import Bar


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
        room = width - 1
        for key, label in self._hints():
            room -= cell_len(key) + cell_len(label) + 3
            if room < 0:
                break
            pieces += [
                (f" {key}", palette.style("accent")),
                (f" {label} ", palette.style("muted")),
            ]
        return pieces

    def _hints(self) -> list[tuple[str, str]]:
        return hints(set(self._states), *self._scopes, labels=self._labels)
