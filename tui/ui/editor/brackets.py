"""The partner of the bracket at the cursor, across strings and comments, at any distance.

A far partner is looked for in slices: the first one before the repaint, the rest when idle, so
that no key waits in a file of any length. An edit outside of the pair only moves it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from time import perf_counter
from typing import TYPE_CHECKING

from tui.core.text.buffer import Buffer, LineChange
from tui.core.text.change_set import Position
from tui.ui.editor.paint import Overlay

if TYPE_CHECKING:
    from tui.ui.highlight.lines import Spans

_PARTNERS = {"(": ")", "[": "]", "{": "}", ")": "(", "]": "[", "}": "{"}
_OPENERS = "([{"
_LOOK_AT_CLOCK = 64
"""Lines or brackets between two looks at the clock."""
_QUOTED_LINES = 50
"""How far a bracket in a string or comment looks for its partner."""

Pair = tuple[Position, Position]
SpansOf = Callable[[int], "Spans"]


class Brackets:
    """The pair of brackets at one cursor."""

    def __init__(self, buffer: Buffer, spans: SpansOf) -> None:
        """``spans`` gives a line's syntax spans, as far as they are known."""
        self.pair: Pair | None = None
        """The bracket at the cursor and its partner; None: there is none, or not found yet."""
        self._buffer = buffer
        self._spans = spans
        self._revision = buffer.revision
        self._cursor: Position | None = None
        self._search: Iterator[Position | None] | None = None
        self._doubt = False
        """The pair is to be looked for again when nobody writes."""
        self._quiet = -1
        self._from: Position = (0, 0)

    @property
    def pending(self) -> bool:
        """True while the partner is still looked for."""
        return self._search is not None or self._doubt

    def look(self, cursor: Position | None) -> None:
        """The cursor is here; None: nothing is to be shown."""
        buffer = self._buffer
        if cursor == self._cursor and buffer.revision == self._revision:
            return
        changes = buffer.changes_since(self._revision)
        self._revision = buffer.revision
        kept, sure = None, True
        if changes is not None and self.pair is not None:
            kept, sure = _moved(self.pair, changes)
        doubt = self._doubt or self._search is not None or not sure
        self._cursor, self._search, self.pair, self._doubt = cursor, None, None, False
        at = None if cursor is None else bracket_at(buffer, cursor)
        if at is None:
            return
        if kept is not None and at in kept:
            other = kept[1] if at == kept[0] else kept[0]
            if _are_partners(buffer, at, other):
                # An edit between the two keeps them a pair, mostly: made sure of when it is quiet.
                self.pair, self._doubt = (at, other), doubt
                return
        self._from, self._search = at, partners(buffer.lines, at, self._spans)

    def advance(self, budget_s: float, *, idle: bool = False) -> bool:
        """Look on for at most so long; True if there is something else to show.

        ``idle``: the call is not a repaint's; two of them without an edit between are quiet.
        """
        if self.pending and self._revision != self._buffer.revision:
            self.look(self._cursor)
        if self._doubt and idle:
            if self._quiet == self._revision and self.pair is not None:
                self._from, self._doubt = self.pair[0], False
                self._search = partners(self._buffer.lines, self._from, self._spans)
            self._quiet = self._revision
        if self._search is None:
            return False
        until = perf_counter() + budget_s
        before = self.pair
        for found in self._search:
            if found is not None:
                self.pair, self._search = (self._from, found), None
                return self.pair != before
            if perf_counter() >= until:
                return False
        self.pair, self._search = None, None
        return before is not None

    def on_line(self, line: int) -> list[Overlay]:
        """The brackets of a line as overlays."""
        return [(col, col + 1, "bracket") for row, col in self.pair or () if row == line]


def _moved(pair: Pair, changes: list[LineChange]) -> tuple[Pair | None, bool]:
    """The pair after edits, and whether all of them were outside of it; None: one was at it."""
    (here, here_col), (there, there_col) = pair
    sure = True
    for change in changes:
        last = change.row + change.n_old
        if change.row <= here < last or change.row <= there < last:
            return None, False
        sure = sure and not min(here, there) < change.row < max(here, there)
        more = change.n_new - change.n_old
        here += more if here >= last else 0
        there += more if there >= last else 0
    return ((here, here_col), (there, there_col)), sure


def _are_partners(buffer: Buffer, at: Position, other: Position) -> bool:
    line, col = other
    text = buffer.lines[line] if line < buffer.line_count else ""
    return text[col : col + 1] == _PARTNERS[buffer.lines[at[0]][at[1]]]


def bracket_at(buffer: Buffer, cursor: Position) -> Position | None:
    """The bracket under the cursor, else the one before it."""
    line, col = cursor
    text = buffer.lines[line]
    for place in (col, col - 1):
        if 0 <= place < len(text) and text[place] in _PARTNERS:
            return (line, place)
    return None


def next_bracket(buffer: Buffer, cursor: Position) -> Position | None:
    """The bracket at the cursor, else the first one behind it in its line."""
    at = bracket_at(buffer, cursor)
    if at is not None:
        return at
    line, col = cursor
    text = buffer.lines[line]
    places = [place for sign in _PARTNERS if (place := text.find(sign, col)) >= 0]
    return (line, min(places)) if places else None


def partners(lines: Sequence[str], at: Position, spans: SpansOf) -> Iterator[Position | None]:
    """Look for the partner of the bracket at a position: None again and again, then the place.

    Ends without a place if the bracket has no partner. The lines must not change meanwhile.
    """
    row, col = at
    sign = lines[row][col]
    partner, forward = _PARTNERS[sign], sign in _OPENERS
    kind = kind_at(spans(row), col)
    step = 1 if forward else -1
    last = len(lines) if forward else -1
    if kind:
        last = min(last, row + _QUOTED_LINES) if forward else max(last, row - _QUOTED_LINES)
    depth, seen, start = 0, 0, col
    for line in range(row, last, step):
        text = lines[line]
        seen += 1
        if seen % _LOOK_AT_CLOCK == 0:
            yield None
        if sign not in text and partner not in text:
            continue
        if line != row:
            start = 0 if forward else len(text) - 1
        known = spans(line)
        walk = _onwards if forward else _back
        places = walk(text, start, sign, partner)
        for place, delta in places:
            seen += 1
            if seen % _LOOK_AT_CLOCK == 0:
                yield None
            if known and kind_at(known, place) != kind:
                continue
            depth += delta
            if depth == 0:
                yield (line, place)
                return


def _onwards(text: str, start: int, sign: str, partner: str) -> Iterator[tuple[int, int]]:
    """Where the two stand from ``start`` on; +1 for the sign, -1 for its partner."""
    one, other = text.find(sign, start), text.find(partner, start)
    while one >= 0 or other >= 0:
        if other < 0 or 0 <= one < other:
            yield one, 1
            one = text.find(sign, one + 1)
        else:
            yield other, -1
            other = text.find(partner, other + 1)


def _back(text: str, start: int, sign: str, partner: str) -> Iterator[tuple[int, int]]:
    """The same from ``start`` backwards."""
    one, other = text.rfind(sign, 0, start + 1), text.rfind(partner, 0, start + 1)
    while one >= 0 or other >= 0:
        if one > other:
            yield one, 1
            one = text.rfind(sign, 0, one)
        else:
            yield other, -1
            other = text.rfind(partner, 0, other)


def kind_at(spans: Spans, col: int) -> str:
    """``string`` or ``comment`` if the column is inside of one; empty in code.

    Told by the token's own path of names, so that Pygments need not be there.
    """
    index = bisect_left(spans, col + 1, key=itemgetter(0)) - 1
    if index < 0 or spans[index][1] <= col:
        return ""
    names = spans[index][2]
    if names[:1] == ("Comment",):
        return "" if names[1:2] in (("Preproc",), ("PreprocFile",)) else "comment"
    quoted = names[:2] == ("Literal", "String") and names[2:] != ("Interpol",)
    return "string" if quoted else ""
