"""Where the characters of a line stand on the screen: columns to cells and back.

A line is cut into runs. Plain text is one run however long it is, so that a line of a megabyte
costs little; tabs, control characters and graphemes of several characters are runs of their own
that the cursor steps over as a whole. What could act on a terminal or deceive the eye (control
characters, bidirectional overrides, zero-width spaces, lone surrogates) is shown as a picture.

A line of a megabyte is cut into blocks (`LongCells`), which are measured as far as somebody looks.
The line after an edit takes over the blocks of the line before it, so a key costs one block.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from time import perf_counter
from typing import Literal, NamedTuple
from unicodedata import category

from rich.cells import cell_len, split_graphemes

from tui.core.text.patterns import pattern

TAB_SIZE = 4
"""Cells from one tab stop to the next."""
_MOST_RUNS = 40_000
"""Runs that are remembered, some 250 bytes each."""
_ENTRY_RUNS = 20
"""What a remembered text costs besides, as a number of runs."""
LONG = 2048
"""Characters beyond which a line is looked at in blocks, never as a whole."""

NARROW = (
    " -~\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0377\u0391-\u03a9\u03b1-\u0481"
    "\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2200-\u22ff\u2500-\u25fc"
)
WIDE = "\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60"
_INERT = (
    "\x00-\x08\x0a-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f"
)
OTHER = f"[^{NARROW}{WIDE}{_INERT}\t]"
"""Characters whose width or whose neighbours have to be asked for."""


_RUN = {
    "tab": "\t",
    "inert": f"[{_INERT}]",
    "narrow": f"[{NARROW}]+(?!{OTHER})",
    "wide": f"[{WIDE}]+(?!{OTHER})",
    "other": f"[{NARROW}{WIDE}]?{OTHER}+(?:(?<=\u200d)[{NARROW}{WIDE}])?",
}
"""What a run is, by its kind."""
_RUNS = pattern("|".join(f"(?P<{kind}>{text})" for kind, text in _RUN.items()))
_RUN_TEXTS = pattern("|".join(_RUN.values()))
"""The runs as strings: quicker than with their places, where only their widths count."""
_TORN = pattern("[\ud800-\udc7f\udd00-\udfff]")
"""Halves of surrogate pairs."""


Kind = Literal["text", "tab", "inert"]


class CellRun(NamedTuple):
    """Neighbouring characters of one line."""

    col: int
    """Column of the first character."""
    end: int
    """Column behind the last one."""
    cell: int
    """Cell in which it begins."""
    cells: int
    """Its width."""
    text: str
    """What is shown; as wide as `cells`."""
    step: int
    """Cells a character if each stands for itself; 0: one grapheme, all or nothing."""
    kind: Kind = "text"


class Piece(NamedTuple):
    """A part of a line that is to be painted in one go, in screen order."""

    col: int
    end: int
    text: str
    step: int
    kind: Kind


class LineCells:
    """The runs of one line, or of a part of one that begins ``phase`` cells behind a tab stop."""

    __slots__ = ("_starts", "length", "runs", "width")

    def __init__(self, line: str, phase: int = 0) -> None:
        self.runs: list[CellRun] = list(_runs(line, phase))
        self.length = len(line)
        last = self.runs[-1] if self.runs else None
        self.width = last.cell + last.cells if last else 0
        """Cells of the whole line."""
        self._starts = [run.col for run in self.runs]

    def cell(self, col: int) -> int:
        """The cell in which a column begins (the width, behind the last one)."""
        run = self._run(col)
        if run is None or col >= run.end:
            return self.width
        return run.cell + (col - run.col) * run.step

    def column(self, cell: int) -> int:
        """The column of the grapheme that covers a cell; the line's end if there is none."""
        if cell >= self.width:
            return self.length
        index = bisect_right(self.runs, cell, key=lambda run: run.cell) - 1
        run = self.runs[max(index, 0)]
        return run.col + ((max(cell, 0) - run.cell) // run.step if run.step else 0)

    def after(self, col: int) -> int:
        """The column behind the grapheme that begins at ``col``."""
        run = self._run(col)
        if run is None or col >= self.length:
            return self.length
        return col + 1 if run.step else run.end

    def before(self, col: int) -> int:
        """The column of the grapheme that ends at ``col``."""
        run = self._run(max(col - 1, 0))
        if run is None or col <= 0:
            return 0
        return col - 1 if run.step else run.col

    def snap(self, col: int) -> int:
        """``col``, or the start of the grapheme that it would stand inside of."""
        run = self._run(col)
        return col if run is None or run.step or col >= run.end else run.col

    def window(self, first: int, last: int) -> Iterator[Piece]:
        """What stands in the cells ``first .. last``; cut graphemes leave blanks."""
        index = max(bisect_right(self.runs, first, key=lambda run: run.cell) - 1, 0)
        for run in self.runs[index:]:
            if run.cell >= last:
                return
            cut = max(first - run.cell, 0)
            stop = min(last - run.cell, run.cells)
            if stop <= cut:
                continue
            if cut == 0 and stop == run.cells:
                yield Piece(run.col, run.end, run.text, run.step, run.kind)
            elif run.step == 0:
                yield Piece(run.col, run.end, " " * (stop - cut), 0, run.kind)
            else:
                yield from _cropped(run, cut, stop)

    def _run(self, col: int) -> CellRun | None:
        if not self.runs:
            return None
        return self.runs[max(bisect_right(self._starts, col) - 1, 0)]


def _cropped(run: CellRun, cut: int, stop: int) -> Iterator[Piece]:
    """A part of a plain run; half of a wide character is a blank."""
    first, odd = divmod(cut, run.step)
    if odd:
        yield Piece(run.col + first, run.col + first + 1, " ", 0, run.kind)
        first += 1
    last, odd = divmod(stop, run.step)
    if last > first:
        text = run.text[first:last]
        yield Piece(run.col + first, run.col + last, text, run.step, run.kind)
    if odd and last >= first:
        yield Piece(run.col + last, run.col + last + 1, " ", 0, run.kind)


def _runs(line: str, phase: int) -> Iterator[CellRun]:
    cell = 0
    for match in _RUNS.finditer(line):
        col, end = match.span()
        kind = match.lastgroup
        if kind == "narrow":
            run = CellRun(col, end, cell, end - col, match.group(), 1)
        elif kind == "wide":
            run = CellRun(col, end, cell, 2 * (end - col), match.group(), 2)
        elif kind == "tab":
            cells = TAB_SIZE - (phase + cell) % TAB_SIZE
            run = CellRun(col, end, cell, cells, " " * cells, 0, "tab")
        elif kind == "inert":
            shown = picture(match.group())
            run = CellRun(col, end, cell, len(shown), shown, 0, "inert")
        else:
            for run in _graphemes(match.group(), col, cell):
                yield run
                cell = run.cell + run.cells
            continue
        yield run
        cell += run.cells


def _graphemes(text: str, col: int, cell: int) -> Iterator[CellRun]:
    for start, end, cells, shown in _clusters(text):
        yield CellRun(col + start, col + end, cell, cells, shown, 0)
        cell += cells


@lru_cache(maxsize=1024)
def _clusters(text: str) -> tuple[tuple[int, int, int, str], ...]:
    """Start, end, cells and what is shown of each grapheme; the same few come again and again."""
    found = []
    for start, end, _ in split_graphemes(text)[0]:
        shown = text[start:end]
        cells = cell_len(shown)
        if not cells:
            shown = "\u25cc" + shown
            cells = cell_len(shown)
        found.append((start, end, cells, shown))
    return tuple(found)


def copied(text: str) -> str:
    r"""A text as the clipboard wants it: line ends as ``\n``, no halves of surrogate pairs.

    Bytes that were no UTF-8 (U+DC80 to U+DCFF) stay, they are bytes again when they are encoded.
    """
    if not text.isascii():
        text = _TORN.sub("\ufffd", text)
    return text.replace("\r\n", "\n")


def picture(character: str) -> str:
    """An inert character as something to look at: ESC is ``␛``, U+202E is ``<202e>``.

    A byte that is no UTF-8, which files that are only looked at have, is ``<e9>`` (PEP 383).
    """
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00
    return f"<{code:02x}>"


class _Known:
    """The runs of texts that were asked for last, as many as there is memory for."""

    def __init__(self) -> None:
        self._cells: dict[tuple[str, int], LineCells] = {}
        self._weight = 0

    def cells(self, text: str, phase: int) -> LineCells:
        """The runs of a text."""
        found = self._cells.pop((text, phase), None)
        if found is None:
            found = LineCells(text, phase)
            self._weight += len(found.runs) + _ENTRY_RUNS
            while self._weight > _MOST_RUNS and self._cells:
                oldest = self._cells.pop(next(iter(self._cells)))
                self._weight -= len(oldest.runs) + _ENTRY_RUNS
        self._cells[text, phase] = found
        return found


_known = _Known()


def line_cells(line: str) -> LineCells | LongCells:
    """The (cached) columns and cells of a line."""
    if len(line) <= LONG:
        return _known.cells(line, 0)
    return long_cells(line)


def part_cells(text: str, phase: int) -> LineCells:
    """The (cached) runs of a part of a line that begins ``phase`` cells behind a tab stop."""
    return _known.cells(text, phase)


def line_width(line: str) -> int:
    """Cells of a line; not cached, and quick for what is plain ASCII."""
    if line.isascii() and line.isprintable():
        return len(line)
    return line_cells(line).width


BLOCK = LONG // 2
"""Characters of a block when it is cut; one that has grown over twice as many is cut anew."""
_LOOK = 256
"""Characters before a block's nominal end in which a better place to cut is looked for."""
_KEPT = 64
"""Long lines remembered, so that the same line after an edit is known again."""
_KEPT_CHARACTERS = 8_000_000
_ZWJ = "\u200d"
_HALVES = pattern("[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff\U0001f1e6-\U0001f1ff]")
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
    for run in _RUN_TEXTS.findall(text):
        if run == "\t":
            cell += TAB_SIZE - cell % TAB_SIZE
        elif run.isascii() and run.isprintable():
            cell += len(run)
        else:
            cell += _run_cells(run)
    return cell - phase


@lru_cache(maxsize=4096)
def _run_cells(run: str) -> int:
    return LineCells(run).width


def _cuts(line: str, first: int, last: int) -> Iterator[int]:
    """Starts of the blocks of ``first .. last``."""
    yield first
    while last - first > 2 * BLOCK:
        first = _cut(line, first + BLOCK)
        yield first


_PLAIN_SIGN = OTHER.replace("[^", "[", 1)
_PAIR = pattern(f"{_PLAIN_SIGN}(?={_PLAIN_SIGN})")
"""Two neighbours that belong to no common grapheme."""


def _cut(line: str, near: int) -> int:
    """The best place for a cut: before a word, else between plain characters or graphemes."""
    place = near + 1
    while (place := line.rfind(" ", near - _LOOK, place - 1) + 1) > 0:
        if line[place] != " " and _PAIR.match(line, place - 1):
            return place
    if pair := _PAIR.search(line, near - _LOOK // 4, near + _LOOK):
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
