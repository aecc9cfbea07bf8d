"""Steering texts that were given back before the server had answered: its answer may still come."""

from __future__ import annotations

from collections import deque

REMEMBERED = 16
"""So many texts are known whose late answer would still be understood."""


class Overdue:
    """Of each text the response it was sent to. Each is good for one answer."""

    def __init__(self) -> None:
        self._parents: deque[str] = deque(maxlen=REMEMBERED)

    def add(self, parent: str) -> None:
        """A text was given back."""
        self._parents.append(parent)

    def take(self, parent: str) -> bool:
        """Whether one was sent to this response; it is answered now.

        One socket keeps the order, so an answer without words is that of the oldest text that has
        none. Where a server really left one out, the next text is given back instead of used: asked
        twice at worst, never lost.
        """
        if parent not in self._parents:
            return False
        self._parents.remove(parent)
        return True

    def knows(self, parent: str) -> bool:
        """Whether an answer to one that was sent to this response may still come."""
        return parent in self._parents
