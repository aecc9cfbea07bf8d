"""Which rows of a buffer somebody changed since the model was last told."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import islice
from operator import attrgetter

from msgspec import Struct

from tui.core.text.buffer import Buffer
from tui.core.text.change_set import Change
from tui.core.text.rows import Span, file_rows, keep_ends, old_rows, rows_text, shifted


class UserChange(Struct, frozen=True):
    """A region that the user changed since the last take."""

    path: str
    first_line: int
    """0-based, in the text as it is now."""
    old_text: str
    new_text: str


class _Region(Struct):
    first: int
    last: int
    old_text: str


_first, _last = attrgetter("first"), attrgetter("last")


class UserRegions:
    """Merged regions, each with the text that stood there before the user's first edit.

    After replacing all there may be thousands: an edit looks only at those that it touches.
    """

    def __init__(self) -> None:
        self._regions: list[_Region] = []
        """In the order of their rows: neither a first nor a last one is above one before it."""

    def __bool__(self) -> bool:
        return bool(self._regions)

    def follow(self, buffer: Buffer, change: Change, span: Span, own: bool) -> None:
        """A change was made; ``own``: by whom these regions are about."""
        if own:
            self.edited(buffer, change, span)
        elif self._regions:
            self.moved(span)

    def edited(self, buffer: Buffer, change: Change, span: Span) -> None:
        """The user made this change; ``buffer`` is as it is after it."""
        row, stop, delta = span.row, span.row + span.n_old, span.n_new - span.n_old
        regions = self._regions
        begin = bisect_left(regions, row, key=_last)
        end = bisect_right(regions, stop, lo=begin, key=_first)
        hits = regions[begin:end]
        first = min([row, *(r.first for r in hits)])
        last = max([stop, *(r.last for r in hits)])
        olds = keep_ends(old_rows(buffer, change))
        parts: list[str] = []
        at = first
        for region in [*hits, _Region(last, last, "")]:
            for line in range(at, region.first):
                if row <= line < stop:
                    parts += olds[line - row : line - row + 1]
                else:
                    here = line if line < row else line + delta
                    parts.append(rows_text(buffer, here, here + 1))
            parts.append(region.old_text)
            at = max(at, region.last)
        if delta:
            for region in islice(regions, end, None):
                region.first += delta
                region.last += delta
        regions[begin:end] = [_Region(first, last + delta, "".join(parts))]

    def moved(self, span: Span) -> None:
        """Somebody else changed these rows."""
        regions, stop = self._regions, span.row + span.n_old
        lines_stay = span.n_old == span.n_new
        for region in islice(regions, bisect_left(regions, span.row, key=_last), None):
            if lines_stay and region.first > stop:
                break
            region.first, region.last, _ = shifted(region.first, region.last, span)

    def before(self, buffer: Buffer) -> str:
        """The whole text without these changes: with those of all others."""
        parts: list[str] = []
        at = 0
        for region in self._regions:
            parts += (rows_text(buffer, at, region.first), region.old_text)
            at = max(at, region.last)
        return "".join([*parts, rows_text(buffer, at, file_rows(buffer))])

    def forget(self) -> None:
        """The model is told how the text is now."""
        self._regions.clear()

    def take(self, buffer: Buffer) -> list[UserChange]:
        """What really differs, and forget it."""
        regions, self._regions = self._regions, []
        changes = [
            UserChange(buffer.path, r.first, r.old_text, rows_text(buffer, r.first, r.last))
            for r in regions
        ]
        return [change for change in changes if change.old_text != change.new_text]
