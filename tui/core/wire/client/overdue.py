"""Steering texts that were given back before the server had answered: its answer may still come."""

from __future__ import annotations

from collections import deque

REMEMBERED = 16
"""So many texts are known whose late answer would still be understood."""


class Overdue:
    """Of each text the response it was sent to, and until when its answer would have been in time.

    Each is good for one answer.
    """

    def __init__(self) -> None:
        self._texts: deque[tuple[str, float]] = deque(maxlen=REMEMBERED)

    def add(self, parent: str, due: float) -> None:
        """A text was given back."""
        self._texts.append((parent, due))

    def take(self, parent: str) -> bool:
        """Whether one was sent to this response; it is answered now."""
        found = next((one for one in self._texts if one[0] == parent), None)
        if found is not None:
            self._texts.remove(found)
        return found is not None

    def claims(self, parent: str, sent_at: float | None, *, known: bool) -> bool:
        """Whether an answer is rather for one of these than for a text that went out then.

        It is if no text is waited for, or the words are ``known`` and not those of one that is.
        Else answers come in order; but one that was given up before the next text even went out
        is lost rather than late.
        """
        times = [due for one, due in self._texts if one == parent]
        if not times or sent_at is None or known:
            return bool(times)
        return max(times) > sent_at
