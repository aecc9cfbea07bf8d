"""Where a line's text occurs in a buffer, without reading the whole buffer again.

The file is held in blocks of rows. Its first look-ups search the blocks as they are and put a
few of them in order each, so none of them waits for a whole large file; then the index follows
the buffer's own log of changes: only the blocks that were touched are made anew. Cost follows
the changes, not the length of the file.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice

from tui.core.text.buffer import Buffer
from tui.core.text.common_lines import CommonLines
from tui.core.text.rows import file_rows
from tui.core.text.stretches import Stretch, stretches

_BLOCK_ROWS = 500
_BLOCKS_A_TIME = 32
"""So many a look-up puts in order: 100,000 rows at once were a late frame."""
_SAMPLE = 20
"""So many blocks that are not in order say about how often a line is there."""
_OFTEN = 10
"""A line that is more often in a block is looked for in one go."""
_BLOCKS_KEPT = 100
"""Of a longer file no order is kept: it takes as much memory as the text."""
_MOST_KEPT = 1000
"""Rows of a line that are not looked up again, as long as the text stays."""
_PLAIN = {
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
    **dict.fromkeys(
        "\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "
    ),
    "\u2026": "...",
}


def plain(line: str) -> str:
    """A line without outer blanks and with plain quotes, dashes and spaces."""
    return line.strip() if line.isascii() else _plain_text(line).strip()


def _plain_text(text: str) -> str:
    """Plain quotes, dashes and spaces; most texts, in whatever script, have no others."""
    if not text.isascii():
        for fancy, instead in _PLAIN.items():
            if fancy in text:
                text = text.replace(fancy, instead)
    return text


class _Block:
    """Some rows that follow each other."""

    __slots__ = ("_sorted", "_text", "at", "count", "in_order", "lines")

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        """As they are; their plain text once they are in order."""
        self.count = len(lines)
        self.in_order = False
        self.at = 0
        """Its place among the blocks; -1: others took it."""
        self._text: str | None = None
        self._sorted: list[str] | None = None
        """The lines that are in order, by their text."""

    @property
    def text(self) -> str:
        """All lines with plain quotes, dashes and spaces; made once."""
        if self._text is None:
            self._text = _plain_text("\n".join(self.lines))
        return self._text

    def forget(self) -> None:
        """Keep the lines only."""
        self._text = self._sorted = None

    def put_in_order(self) -> None:
        """Make the lines plain; those that are so are the buffer's own."""
        if self.lines:
            ours = all(map(str.isascii, self.lines))
            plain_lines = self.lines if ours else self.text.split("\n")
            self.lines = list(map(str.strip, plain_lines))
        self.in_order, self._text = True, None

    def go(self) -> None:
        """Others have its rows from now on."""
        self.at, self.lines = -1, []
        self.forget()

    def splice(self, first: int, last: int, lines: list[str]) -> None:
        """Replace some lines, by such as it keeps."""
        self.lines[first:last] = lines
        self.count = len(self.lines)
        self._text = self._sorted = None

    def rows(self, wanted: str) -> Iterator[int]:
        """The rows, from 0 on, that have this plain text."""
        if self.in_order:
            yield from _same(self.lines, wanted)
        elif not wanted:
            yield from (row for row, line in enumerate(self.lines) if not plain(line))
        else:
            for row, line in self._lines_with(wanted):
                if line.strip() == wanted:
                    yield row

    def begun(self, wanted: str) -> Iterator[int]:
        """The rows, from 0 on, whose plain text begins so."""
        if self.in_order:
            if self._sorted is None:
                self._sorted = sorted(self.lines)
            at = bisect_left(self._sorted, wanted)
            if at == self.count or not self._sorted[at].startswith(wanted):
                return iter(())
            return (row for row, line in enumerate(self.lines) if line.startswith(wanted))
        return (row for row, line in self._lines_with(wanted) if line.strip().startswith(wanted))

    def _lines_with(self, wanted: str) -> Iterator[tuple[int, str]]:
        """Each row in whose text this occurs, with that text."""
        text = self.text
        row = counted = 0
        at = text.find(wanted)
        while at >= 0:
            first = text.rfind("\n", 0, at) + 1
            last = text.find("\n", at)
            last = len(text) if last < 0 else last
            row += text.count("\n", counted, first)
            counted = first
            yield row, text[first:last]
            at = text.find(wanted, last)

    def places(self, word: str) -> Iterator[int]:
        """The row of every place of a word."""
        for row, line in self._lines_with(word):
            for _ in range(line.count(word)):
                yield row


class LineIndex:
    """The rows of each line's plain text."""

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer
        self._revision = -1
        self._blocks: list[_Block] = []
        self._starts: list[int] = []
        """The first row of each block."""
        self._loose: list[_Block] = []
        """Those that are not in order."""
        self._having: dict[str, _Block | list[_Block]] = {}
        """Plain line -> those in order that have it, or had it."""
        self._found: dict[tuple[str, int | None], list[int]] = {}
        """What was asked since the last change."""
        self._places: dict[tuple[str, int], list[int]] = {}
        self.searched_rows = 0
        """How many rows were read for words, which are in no order; see `forget`."""
        self.common = CommonLines(buffer, self.rows)

    def count(self, line: str) -> int:
        """About how many rows have this plain text: not all of the blocks are looked at."""
        self._follow()
        wanted = plain(line)
        blocks = self._ordered_with(wanted)
        ends = blocks if len(blocks) < 3 else (blocks[0], blocks[-1])
        found = sum(block.lines.count(wanted) for block in ends)
        step = len(self._loose) // _SAMPLE + 1
        sample = (block.text.count(wanted or "\n\n") for block in self._loose[::step])
        return found * len(blocks) // max(1, len(ends)) + step * sum(sample)

    def only(self, lines: Sequence[str]) -> tuple[int, int] | None:
        """The first of the lines of which it is known at once that one row has it, and that row.

        None: it is none of them, or it is dear to find out.
        """
        self._follow()
        for at, line in enumerate(() if self._loose else lines):
            block = self._having.get(wanted := plain(line))
            if isinstance(block, _Block) and block.at >= 0 and wanted:
                rows = _same(block.lines, wanted)
                if len(rows) == 1:
                    return at, self._starts[block.at] + rows[0]
        return None

    def rows(self, line: str, most: int | None = None) -> Sequence[int]:
        """The rows whose plain text is that of ``line``, in order; about ``most`` of them."""
        self._follow()
        wanted = plain(line)
        found = self._found.get((wanted, most))
        if found is None:
            if self._loose:
                self._put_in_order()
            found = self._rows(wanted, most)
            if len(found) <= _MOST_KEPT:
                self._found[wanted, most] = found
        return found

    def begun(self, line: str, most: int) -> list[int]:
        """The first rows whose plain text begins like that of ``line``."""
        self._follow()
        wanted = plain(line)
        found: list[int] = []
        for first, block in zip(self._starts, self._blocks, strict=True):
            if wanted and len(found) < most:
                rows = islice(block.begun(wanted), most - len(found))
                found += [first + row for row in rows]
        return found

    def places(self, word: str, most: int) -> list[int]:
        """The row of each of the first places of a word without blanks and punctuation."""
        self._follow()
        if (word, most) in self._places:
            return self._places[word, most]
        found: list[int] = []
        for first, block in zip(self._starts, self._blocks, strict=True):
            if len(found) >= most:
                break
            self.searched_rows += block.count
            rows = islice(block.places(word), most - len(found))
            found += [first + row for row in rows]
        self._places[word, most] = found
        return found

    def forget(self) -> None:
        """Nothing is looked up for now: keep the order of a short file, and nothing else."""
        self.searched_rows = 0
        self._found.clear()
        self._places.clear()
        self.common.clear()
        if len(self._blocks) > _BLOCKS_KEPT:
            self._having.clear()
            self._revision, self._blocks, self._loose, self._starts = -1, [], [], []
        for block in self._blocks:
            block.forget()

    def _rows(self, wanted: str, most: int | None) -> list[int]:
        blocks = self._ordered_with(wanted)
        if self._loose:
            blocks = sorted([*blocks, *self._loose], key=_place)
        ends = file_rows(self._buffer)
        found: list[int] = []
        for block in blocks:
            if most is not None and len(found) >= most:
                break
            first = self._starts[block.at]
            found += [first + row for row in block.rows(wanted)]
        while found and found[-1] >= ends:
            found.pop()
        return found[:most]

    def _ordered_with(self, wanted: str) -> list[_Block]:
        """The blocks in order that have this line, or had it."""
        having = self._having.get(wanted, [])
        blocks = having if isinstance(having, list) else [having]
        return sorted((block for block in blocks if block.at >= 0), key=_place)

    def _put_in_order(self) -> None:
        for block in self._loose[:_BLOCKS_A_TIME]:
            block.put_in_order()
            self._note(block, block.lines)
        del self._loose[:_BLOCKS_A_TIME]

    def _note(self, block: _Block, lines: Iterable[str]) -> None:
        """A block has these plain lines."""
        having, new = self._having, dict.fromkeys(lines, block)
        for line in new.keys() & having.keys():
            before = having[line]
            if not isinstance(before, list):
                if before is block or before.at < 0:
                    continue  # it is noted, or others took its rows
                having[line] = before = [before]
            if block not in before:
                before.append(block)
            del new[line]
        having.update(new)

    def _note_anew(self) -> None:
        """Let go of lines that are in none of the blocks any more."""
        self._having.clear()
        for block in self._blocks:
            if block.in_order:
                self._note(block, block.lines)

    def _follow(self) -> None:
        buffer = self._buffer
        if self._revision == buffer.revision:
            return
        changes = buffer.changes_since(self._revision) if self._revision >= 0 else None
        self._revision = buffer.revision
        self._found.clear()
        self._places.clear()
        if changes is None:
            self._having.clear()
            self._blocks = _cut(buffer.lines)
            self._settle()
            return
        made = [self._replace(stretch) for stretch in reversed(stretches(changes))]
        if any(made):
            self._settle()
        if len(self._having) > 2 * len(buffer.lines) + 4 * _BLOCK_ROWS:
            self._note_anew()

    def _settle(self) -> None:
        """Other blocks than before."""
        self._starts = _starts(self._blocks)
        self._loose = [block for block in self._blocks if not block.in_order]
        for at, block in enumerate(self._blocks):
            block.at = at

    def _replace(self, stretch: Stretch) -> bool:
        """Take over rows that were changed, last ones first; True: into other blocks."""
        starts = self._starts
        at = bisect_right(starts, stretch.old_first) - 1
        to = max(at, bisect_left(starts, stretch.old_last) - 1)
        first, last = stretch.old_first - starts[at], stretch.old_last - starts[to]
        block, lines = self._blocks[at], self._buffer.lines[stretch.first : stretch.last]
        if at == to and block.count - (last - first) + len(lines) <= 2 * _BLOCK_ROWS:
            if block.in_order:
                lines = list(map(plain, lines))
                self._note(block, lines)
            block.splice(first, last, lines)
            if down := len(lines) - (last - first):
                starts[at + 1 :] = [start + down for start in starts[at + 1 :]]
            return False
        del starts[at + 1 :]  # what is changed before this needs no others
        around = [*block.lines[:first], *lines, *self._blocks[to].lines[last:]]
        for gone in self._blocks[at : to + 1]:
            gone.go()
        self._blocks[at : to + 1] = _cut(around)
        before = range(starts[at] + _BLOCK_ROWS, stretch.old_first + 1, _BLOCK_ROWS)
        starts += before[: -(-len(around) // _BLOCK_ROWS) - 1]
        return True


def _place(block: _Block) -> int:
    return block.at


def _cut(lines: list[str]) -> list[_Block]:
    """The lines in blocks; at least one."""
    rows = range(0, max(1, len(lines)), _BLOCK_ROWS)
    return [_Block(lines[first : first + _BLOCK_ROWS]) for first in rows]


def _starts(blocks: Sequence[_Block]) -> list[int]:
    return list(accumulate((block.count for block in blocks[:-1]), initial=0))


def _same(lines: list[str], wanted: str) -> list[int]:
    rows: list[int] = []
    try:
        while len(rows) <= _OFTEN:
            rows.append(lines.index(wanted, rows[-1] + 1 if rows else 0))
    except ValueError:
        return rows
    return [row for row, line in enumerate(lines) if line == wanted]
