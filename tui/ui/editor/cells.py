"""Where the characters of a line stand on the screen: columns to cells and back.

A line is cut into runs. Plain text is one run however long it is, so that a line of a megabyte
costs little; tabs, control characters and graphemes of several characters are runs of their own
that the cursor steps over as a whole. What could act on a terminal or deceive the eye (control
characters, bidirectional overrides, zero-width spaces, lone surrogates) is shown as a picture.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple, Protocol

from rich.cells import cell_len, split_graphemes

TAB_SIZE = 4
"""Cells from one tab stop to the next."""
_MOST_RUNS = 40_000
"""Runs that are remembered, some 250 bytes each."""
_ENTRY_RUNS = 20
"""What a remembered text costs besides, as a number of runs."""
LONG = 2048
"""Characters beyond which a line is looked at in blocks (`long_lines`), never as a whole."""

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


@lru_cache(maxsize=1)
def run_pattern() -> re.Pattern[str]:
    """What a run is; compiled with the first file, since that takes longer than a frame."""
    return re.compile(
        f"(?P<tab>\t)"
        f"|(?P<inert>[{_INERT}])"
        f"|(?P<narrow>[{NARROW}]+(?!{OTHER}))"
        f"|(?P<wide>[{WIDE}]+(?!{OTHER}))"
        f"|(?P<other>[{NARROW}{WIDE}]?{OTHER}+(?:(?<=\u200d)[{NARROW}{WIDE}])?)"
    )


Kind = Literal["text", "tab", "inert"]


class Run(NamedTuple):
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


class Cells(Protocol):
    """Columns and cells of one line, however long it is."""

    @property
    def length(self) -> int:
        """Characters of the line."""

    @property
    def width(self) -> int:
        """Cells of the whole line."""

    def cell(self, col: int) -> int:
        """The cell in which a column begins (the width, behind the last one)."""

    def column(self, cell: int) -> int:
        """The column of the grapheme that covers a cell; the line's end if there is none."""

    def after(self, col: int) -> int:
        """The column behind the grapheme that begins at ``col``."""

    def before(self, col: int) -> int:
        """The column of the grapheme that ends at ``col``."""

    def snap(self, col: int) -> int:
        """``col``, or the start of the grapheme that it would stand inside of."""


class LineCells:
    """The runs of one line, or of a part of one that begins ``phase`` cells behind a tab stop."""

    __slots__ = ("_starts", "length", "runs", "width")

    def __init__(self, line: str, phase: int = 0) -> None:
        self.runs: list[Run] = list(_runs(line, phase))
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

    def _run(self, col: int) -> Run | None:
        if not self.runs:
            return None
        return self.runs[max(bisect_right(self._starts, col) - 1, 0)]


def _cropped(run: Run, cut: int, stop: int) -> Iterator[Piece]:
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


def _runs(line: str, phase: int) -> Iterator[Run]:
    cell = 0
    for match in run_pattern().finditer(line):
        col, end = match.span()
        kind = match.lastgroup
        if kind == "narrow":
            run = Run(col, end, cell, end - col, match.group(), 1)
        elif kind == "wide":
            run = Run(col, end, cell, 2 * (end - col), match.group(), 2)
        elif kind == "tab":
            cells = TAB_SIZE - (phase + cell) % TAB_SIZE
            run = Run(col, end, cell, cells, " " * cells, 0, "tab")
        elif kind == "inert":
            shown = picture(match.group())
            run = Run(col, end, cell, len(shown), shown, 0, "inert")
        else:
            for run in _graphemes(match.group(), col, cell):
                yield run
                cell = run.cell + run.cells
            continue
        yield run
        cell += run.cells


def _graphemes(text: str, col: int, cell: int) -> Iterator[Run]:
    for start, end, cells, shown in _clusters(text):
        yield Run(col + start, col + end, cell, cells, shown, 0)
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
        text = _halves().sub("\ufffd", text)
    return text.replace("\r\n", "\n")


@lru_cache(maxsize=1)
def _halves() -> re.Pattern[str]:
    return re.compile("[\ud800-\udc7f\udd00-\udfff]")


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


def line_cells(line: str) -> Cells:
    """The (cached) columns and cells of a line."""
    if len(line) <= LONG:
        return _known.cells(line, 0)
    from tui.ui.editor.long_lines import long_cells  # most files have no such line

    return long_cells(line)


def part_cells(text: str, phase: int) -> LineCells:
    """The (cached) runs of a part of a line that begins ``phase`` cells behind a tab stop."""
    return _known.cells(text, phase)


def line_width(line: str) -> int:
    """Cells of a line; not cached, and quick for what is plain ASCII."""
    if line.isascii() and line.isprintable():
        return len(line)
    return line_cells(line).width
