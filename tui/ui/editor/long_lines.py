"""Columns and cells of very long lines: in blocks, measured as far as somebody looks.

A line of a megabyte is cut into blocks where graphemes and mostly words end. Finding a cell
needs the widths of the blocks before it, and a block's width is kept until the block is edited:
the line after an edit takes over the blocks of the line before it, so a key costs one block.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from time import perf_counter
from unicodedata import category

from tui.ui.editor.cells import LONG, OTHER, TAB_SIZE, LineCells, Piece, part_cells, run_pattern

BLOCK = LONG // 2
"""Characters of a block when it is cut; one that has grown over twice as many is cut anew."""
_LOOK = 256
"""Characters before a block's nominal end in which a better place to cut is looked for."""
_KEPT = 64
"""Long lines remembered, so that the same line after an edit is known again."""
_KEPT_CHARACTERS = 8_000_000
_ZWJ = "\u200d"
_HALVES = re.compile("[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff\U0001f1e6-\U0001f1ff]")
"""Parts of Korean syllables and of flags."""
_CJK_LEADS = bytes(range(0xE4, 0xEA))
_PLAIN = bytes(range(0x20, 0x7F)) + bytes(range(0x80, 0xC0)) + _CJK_LEADS
_HEXAGRAMS = b"\xe4\xb7"
"""U+4DC0 to U+4DFF, the narrow ones among what these leads begin."""

Width = tuple[int, int]
"""Cells of a block, and the phase that this holds for (-1: for each)."""


class LongCells:
    """The same questions as `cells.LineCells` answers, for a line of any length."""

    __slots__ = ("_cells", "_starts", "_widths", "length", "line")

    def __init__(
        self, line: str, starts: list[int] | None = None, widths: list[Width | None] | None = None
    ) -> None:
        """Cut ``line`` into blocks, or take over those that are known from an earlier line."""
        self.line = line
        self.length = len(line)
        self._starts = list(_cuts(line, 0, len(line))) if starts is None else starts
        self._widths: list[Width | None] = [None] * len(self._starts) if widths is None else widths
        self._cells = [0]
        """The cells in which the blocks begin, as far as they are known."""

    @property
    def width(self) -> int:
        """Cells of the whole line. Measures all of it."""
        self._measure(len(self._starts))
        return self._cells[-1]

    def cell(self, col: int) -> int:
        """The cell in which a column begins (the width, behind the last one)."""
        index = self._index(col)
        self._measure(index)
        return self._cells[index] + self._block(index).cell(col - self._starts[index])

    def column(self, cell: int) -> int:
        """The column of the grapheme that covers a cell; the line's end if there is none."""
        count = len(self._starts)
        while self._cells[-1] <= cell and len(self._cells) <= count:
            self._measure(len(self._cells))
        index = max(bisect_right(self._cells, cell) - 1, 0)
        if index >= count:
            return self.length
        return self._starts[index] + self._block(index).column(cell - self._cells[index])

    def after(self, col: int) -> int:
        """The column behind the grapheme that begins at ``col``."""
        start = self._starts[index := self._index(col)]
        return start + self._block(index).after(col - start)

    def before(self, col: int) -> int:
        """The column of the grapheme that ends at ``col``."""
        start = self._starts[index := self._index(max(col - 1, 0))]
        return start + self._block(index).before(col - start)

    def snap(self, col: int) -> int:
        """``col``, or the start of the grapheme that it would stand inside of."""
        start = self._starts[index := self._index(col)]
        return start + self._block(index).snap(col - start)

    def window(self, first: int, last: int) -> Iterator[Piece]:
        """What stands in the cells ``first .. last``; cut graphemes leave blanks."""
        self.column(first)
        index = min(max(bisect_right(self._cells, first) - 1, 0), len(self._starts) - 1)
        while index < len(self._starts):
            self._measure(index)
            begin, col = self._cells[index], self._starts[index]
            if begin >= last:
                return
            for piece in self._block(index).window(max(first - begin, 0), last - begin):
                yield piece._replace(col=piece.col + col, end=piece.end + col)
            index += 1

    def block(self, col: int) -> tuple[int, int]:
        """First column and end of the block that a column is in."""
        index = self._index(col)
        return self._starts[index], self._end(index)

    def block_text(self, index: int) -> str:
        """The characters of a block."""
        return self.line[self._starts[index] : self._end(index)]

    def idle(self, budget_s: float) -> bool:
        """Measure on, for when the user jumps to the line's end; False when there is no more."""
        end = perf_counter() + budget_s
        while (known := len(self._cells)) <= len(self._starts) and perf_counter() < end:
            self._measure(known)
        return len(self._cells) <= len(self._starts)

    def edited(self, line: str) -> LongCells | None:
        """``line`` with the blocks of this one outside of what differs; None: another line."""
        head = _common_head(self.line, line)
        shorter = min(self.length, len(line))
        tail = _common_tail(self.line, line, shorter - head)
        if (head + tail) * 2 < shorter:
            return None
        moved = len(line) - self.length
        # A cut between two characters that are both still there is as good as it was.
        kept = max(bisect_right(self._starts, head - 2), 1)
        rest = max(bisect_right(self._starts, self.length - tail + 1), kept)
        starts = self._starts[:kept]
        widths = self._widths[: kept - 1]
        stop = self._starts[rest] + moved if rest < len(self._starts) else len(line)
        fresh = list(_cuts(line, starts[-1], stop))
        starts += fresh[1:]
        widths += [None] * len(fresh)
        starts += [start + moved for start in self._starts[rest:]]
        widths += self._widths[rest:]
        cells = LongCells(line, starts, widths)
        cells._cells = self._cells[:kept]
        return cells

    def _index(self, col: int) -> int:
        return max(bisect_right(self._starts, col) - 1, 0)

    def _end(self, index: int) -> int:
        return self._starts[index + 1] if index + 1 < len(self._starts) else self.length

    def _block(self, index: int) -> LineCells:
        """The runs of a block; its columns are right in any case, its cells if it is measured."""
        phase = self._cells[index] % TAB_SIZE if index < len(self._cells) else 0
        return part_cells(self.block_text(index), phase)

    def _measure(self, until: int) -> None:
        """Make sure that the cell in which block ``until`` begins is known."""
        cells, widths = self._cells, self._widths
        while len(cells) <= until:
            index = len(cells) - 1
            phase = cells[index] % TAB_SIZE
            width = widths[index]
            if width is None or width[1] not in (-1, phase):
                text = self.block_text(index)
                width = widths[index] = (
                    quick_width(text, phase),
                    phase if "\t" in text else -1,
                )
            cells.append(cells[index] + width[0])


_kept: list[LongCells] = []


def long_cells(line: str) -> LongCells:
    """The cells of a long line; what is known of the line before an edit is taken over."""
    for known in _kept:
        if known.line is line:
            return known
        if known.length == len(line) and known.line == line:
            known.line = line  # the object that will be asked for again
            return known
    found = None
    for index, known in enumerate(_kept):
        if abs(known.length - len(line)) * 2 <= known.length and _akin(known.line, line):
            found = known.edited(line)
            if found is not None:
                del _kept[index]
                break
    if found is None:
        found = LongCells(line)
    _kept.insert(0, found)
    size = 0
    for index, known in enumerate(islice(_kept, _KEPT)):
        size += known.length
        if index and size > _KEPT_CHARACTERS:
            del _kept[index:]
            return found
    del _kept[_KEPT:]
    return found


def quick_width(text: str, phase: int) -> int:
    """Cells of a text that begins ``phase`` cells behind a tab stop, without its runs if it can."""
    if "\t" in text:
        flat = (" " * phase + text).expandtabs(TAB_SIZE)
        if flat.isascii() and flat.isprintable():
            return len(flat) - phase
    elif text.isascii():
        if text.isprintable():
            return len(text)
    else:
        encoded = text.encode("utf-8", "surrogatepass")
        if not encoded.translate(None, _PLAIN) and _HEXAGRAMS not in encoded:
            # Three bytes and two cells each, where the others have one of both.
            return len(text) + (len(encoded) - len(text)) // 2
    cell = phase
    for run in _runs_pattern().findall(text):
        if run == "\t":
            cell += TAB_SIZE - cell % TAB_SIZE
        elif run.isascii() and run.isprintable():
            cell += len(run)
        else:
            cell += _run_cells(run)
    return cell - phase


@lru_cache(maxsize=1)
def _runs_pattern() -> re.Pattern[str]:
    """The runs as strings: quicker than with their places, where only their widths count."""
    return re.compile(re.sub(r"\(\?P<\w+>", "(?:", run_pattern().pattern))


@lru_cache(maxsize=4096)
def _run_cells(run: str) -> int:
    return LineCells(run).width


def _cuts(line: str, first: int, last: int) -> Iterator[int]:
    """Starts of the blocks of ``first .. last``."""
    yield first
    while last - first > 2 * BLOCK:
        first = _cut(line, first + BLOCK)
        yield first


@lru_cache(maxsize=1)
def _pair_pattern() -> re.Pattern[str]:
    """Two neighbours that belong to no common grapheme; compiled with the first long line."""
    other = OTHER.replace("[^", "[", 1)
    return re.compile(f"{other}(?={other})")


def _cut(line: str, near: int) -> int:
    """The best place for a cut: before a word, else between plain characters or graphemes."""
    plain = _pair_pattern()
    place = near + 1
    while (place := line.rfind(" ", near - _LOOK, place - 1) + 1) > 0:
        if line[place] != " " and plain.match(line, place - 1):
            return place
    if pair := plain.search(line, near - _LOOK // 4, near + _LOOK):
        return pair.end()
    for place in range(near, near - _LOOK, -1):
        if _begins(line, place):
            return place
    return near


def _begins(line: str, place: int) -> bool:
    """Whether a grapheme surely begins here (a flag's half may end one)."""
    here = line[place]
    if line[place - 1] == _ZWJ or category(here) in ("Mn", "Me", "Mc", "Cf", "Sk"):
        return False
    return not _HALVES.match(here)


def _akin(one: str, other: str) -> bool:
    """Whether two lines may be one before and after an edit."""
    return one[:_LOOK] == other[:_LOOK] or one[-_LOOK:] == other[-_LOOK:]


def _common_head(one: str, other: str) -> int:
    """Characters that both begin with; compares slices, which is quick."""
    low, high = 0, min(len(one), len(other))
    if one.startswith(other[:high]):
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if one.startswith(other[low:middle], low):
            low = middle
        else:
            high = middle - 1
    return low


def _common_tail(one: str, other: str, most: int) -> int:
    """Characters, ``most`` at most, that both end with."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one.endswith(other[len(other) - middle : len(other) - low], 0, len(one) - low):
            low = middle
        else:
            high = middle - 1
    return low
