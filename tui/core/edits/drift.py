"""Where sections that wait for a choice could stand, moved with the text: a frame at a time.

Hundreds of them with a hundred places each would make every line that a model paints as dear as a
walk over all of it. So the changes are noted, and the places moved when somebody looks.
"""

from __future__ import annotations

from collections.abc import Iterable

from tui.core.edits.open_section import WaitingSection
from tui.core.edits.places import moved, nearest
from tui.core.text.rows import Span, shifted

_MOST_SPANS = 64
"""More changes are not put off: they would have to be gone through all at once."""


class Drift:
    """Changes of the text that the places have not followed yet."""

    __slots__ = ("_spans",)

    def __init__(self) -> None:
        self._spans: list[Span] = []

    def add(self, span: Span, waiting: Iterable[WaitingSection]) -> None:
        """A change; ``waiting`` are the sections that were there before it."""
        last = self._spans[-1] if self._spans else None
        if span.n_old == span.n_new < 2:
            return
        if last and not last.n_old and not span.n_old and span.row == last.row + last.n_new:
            self._spans[-1] = Span(last.row, 0, last.n_new + span.n_new)
        else:
            self._spans.append(span)
        if len(self._spans) > _MOST_SPANS:
            self.follow(waiting)

    def follow(self, waiting: Iterable[WaitingSection]) -> None:
        """Bring the places of all waiting sections to where the text is."""
        if not self._spans:
            return
        spans, self._spans = self._spans, []
        first = min(span.row for span in spans)
        for section in waiting:
            places = section.hunks[0].candidates  # all of its hunks have these, in order
            rows = nearest(places)
            if rows and rows[-1] >= first:
                places = moved(places, [_moved(row, spans) for row in rows])
                for hunk in section.hunks:
                    hunk.candidates = places


def _moved(row: int, spans: Iterable[Span]) -> int:
    for span in spans:
        row = shifted(row, row, span)[0]
    return row
