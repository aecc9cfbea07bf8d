"""Long lists in parts: what is left waits for ``/more``."""

from __future__ import annotations

from collections.abc import Iterable

MOST_LINES = 40
_OVER = 5
"""So few lines more are told at once."""


class Pages:
    """Keeps what was not told of the last list."""

    def __init__(self, most: int | None = MOST_LINES) -> None:
        """``most``: lines at a time; None: all."""
        self._most = most
        self._rest: list[str] = []

    def begin(self, lines: Iterable[str]) -> list[str]:
        """The first part of a new list; what was left of another is dropped."""
        self._rest = list(lines)
        return self.more()

    def more(self) -> list[str]:
        """The next part."""
        most = len(self._rest) if self._most is None else self._most
        if len(self._rest) <= most + _OVER:
            most = len(self._rest)
        part, self._rest = self._rest[:most], self._rest[most:]
        if not part:
            return ["There is no more."]
        if left := len(self._rest):
            part.append(f"{left:,} more lines: /more goes on.")
        return part
