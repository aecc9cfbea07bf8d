"""Where a line's text occurs in a buffer, without reading the whole buffer again.

The file is held in blocks of rows. Its first look-ups search the blocks as they are and put a
few of them in order each, so none of them waits for a whole large file; then the index follows
the buffer's own log of changes: only the blocks that were touched are made anew. Cost follows
the changes, not the length of the file. The rows of lines that are all over a file are kept as
the bits of one number, and moved with its changes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, islice
from typing import Any, overload

from tui.core.text.buffer import Buffer, LineChange
from tui.core.text.rows import file_rows

_PART_BYTES = 256
_PART_ROWS = 8 * _PART_BYTES


class RowSet(Sequence[int]):
    """Rows in order; never changed."""

    __slots__ = ("_count", "_counts", "_packed", "bits")

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self._count = -1
        self._packed = b""
        self._counts: list[int] = []
        """How many rows there are up to the end of each part; made when first asked for."""

    def __len__(self) -> int:
        if self._count < 0:
            self._count = self.bits.bit_count()
        return self._count

    def __bool__(self) -> bool:
        return bool(self.bits)

    def __contains__(self, row: object) -> bool:
        return isinstance(row, int) and row >= 0 and bool(self.bits >> row & 1)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowSet) and self.bits == other.bits

    def __hash__(self) -> int:
        return hash(self.bits)

    @overload
    def __getitem__(self, at: int) -> int: ...

    @overload
    def __getitem__(self, at: slice) -> RowSet: ...

    def __getitem__(self, at: int | slice) -> int | RowSet:
        if isinstance(at, slice):
            first, last, step = at.indices(len(self))
            if step != 1:
                raise ValueError("rows are taken one by one")
            if first >= last:
                return RowSet(0)
            low, high = self[first], self[last - 1]
            return RowSet(self.bits >> low << low & (1 << high + 1) - 1)
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        at %= len(self)
        counts = self._parts()
        part = bisect_right(counts, at)
        return part * _PART_ROWS + _nth(self._part(part), at - (counts[part - 1] if part else 0))

    def __iter__(self) -> Iterator[int]:
        for part in range(len(self._parts())):
            bits, row = self._part(part), part * _PART_ROWS
            while bits:
                low = bits & -bits
                yield row + low.bit_length() - 1
                bits ^= low

    def moved(self, rows: int) -> RowSet:
        """All of them so many rows further on."""
        return RowSet(self.bits << rows)

    def _parts(self) -> list[int]:
        if not self._counts:
            self._packed = self.bits.to_bytes(self.bits.bit_length() // 8 + 1, "little")
            parts = range(0, len(self._packed), _PART_BYTES)
            self._counts = list(accumulate(self._part(n).bit_count() for n in range(len(parts))))
        return self._counts

    def _part(self, number: int) -> int:
        first = number * _PART_BYTES
        return int.from_bytes(self._packed[first : first + _PART_BYTES], "little")


def bits_of(rows: Sequence[int]) -> int:
    """The bits of rows that are in order."""
    if isinstance(rows, RowSet):
        return rows.bits
    end = rows[-1] + 1 if rows else 0
    if len(rows) > end >> 6:
        digits = bytearray(b"0") * end
        for row in rows:
            digits[row] = 49  # "1"
        digits.reverse()
        return int(digits, 2)  # linear, in this base
    packed = bytearray(end + 7 >> 3)
    for row in rows:
        packed[row >> 3] |= 1 << (row & 7)
    return int.from_bytes(packed, "little")


def nearest_behind(starts: Sequence[int], rows: Sequence[int], least: int = 0) -> Sequence[int]:
    """Of each start the nearest row at least so far behind it, in order; both are in order."""
    ends, begun = bits_of(rows), bits_of(starts) << least
    gaps = ~ends & (1 << ends.bit_length()) - 1
    # added to the rows before the next end, all of them ones, a start carries over to that end
    return RowSet((begun & ends) | ((gaps + (begun & gaps)) & ends))


def _nth(bits: int, count: int) -> int:
    """The place of the bit that so many others are below."""
    place, width = 0, _PART_ROWS
    while width > 1:
        width >>= 1
        below = bits & (1 << width) - 1
        if (found := below.bit_count()) > count:
            bits = below
        else:
            bits, count, place = bits >> width, count - found, place + width
    return place


class Stretch:
    """Rows ``old_first .. old_last`` became ``first .. last``."""

    __slots__ = ("first", "last", "old_first", "old_last")

    def __init__(self, old_first: int, old_last: int, first: int, last: int) -> None:
        self.old_first, self.old_last, self.first, self.last = old_first, old_last, first, last


def stretches(changes: Sequence[LineChange]) -> list[Stretch]:
    """What several changes, oldest first, have changed together, in order."""
    found: list[Stretch] = []
    for row, n_old, n_new in changes:
        first, last = row, row + n_old
        begin = bisect_left(found, first, key=_last_row)
        end = bisect_right(found, last, begin, key=_first_row)
        if begin < end:
            low, high = found[begin], found[end - 1]
            old_first = low.old_first - max(0, low.first - first)
            old_last = high.old_last + max(0, last - high.last)
            first, last = min(first, low.first), max(last, high.last)
        else:
            offset = found[begin - 1].old_last - found[begin - 1].last if begin else 0
            old_first, old_last = first + offset, last + offset
        for stretch in found[end:]:
            stretch.first += n_new - n_old
            stretch.last += n_new - n_old
        found[begin:end] = [Stretch(old_first, old_last, first, last + n_new - n_old)]
    return found


def _first_row(stretch: Stretch) -> int:
    return stretch.first


def _last_row(stretch: Stretch) -> int:
    return stretch.last


Form = Callable[[str], str]
"""What of a line is compared: without its outer blanks, say."""
_MOST = 256
"""Lines whose rows are kept: in a file of 200,000 rows each takes 25 kB."""
_MOST_GROUPED = 16
_MOST_CHANGES = 200
"""After more than that they are looked for again."""


class CommonLines:
    """Rows as the bits of one number, see `RowSet`."""

    def __init__(self, buffer: Buffer, rows: Callable[[str], Sequence[int]]) -> None:
        """``rows`` looks up all rows of a line in whatever form."""
        self._buffer = buffer
        self._rows = rows
        self._kept: dict[tuple[Form, str], tuple[int, int]] = {}
        """Form and line -> a revision and the rows then; what was asked for last is the last."""
        self._grouped: dict[tuple[Form, str], tuple[int, dict[str, int]]] = {}

    def rows(self, form: Form, line: str) -> int:
        """The rows of which this form is the same as that of ``line``."""
        buffer, wanted = self._buffer, form(line)
        kept = self._kept.pop((form, wanted), None)
        bits = None if kept is None else self._moved(form, wanted, *kept)
        if bits is None:
            lines = buffer.lines
            bits = bits_of([row for row in self._rows(line) if form(lines[row]) == wanted])
        self._kept[form, wanted] = buffer.revision, bits
        _trim(self._kept, _MOST)
        return bits

    def groups(self, form: Form, line: str) -> dict[str, int]:
        """The rows of a line in whatever form, by another form that they have."""
        revision, groups = self._grouped.get((form, line), (-1, {}))
        if revision != self._buffer.revision:
            lines = self._buffer.lines
            found: dict[str, list[int]] = {}
            for row in self._rows(line):
                found.setdefault(form(lines[row]), []).append(row)
            groups = {key: bits_of(rows) for key, rows in found.items()}
            self._grouped[form, line] = self._buffer.revision, groups
            _trim(self._grouped, _MOST_GROUPED)
        return groups

    def clear(self) -> None:
        """Keep nothing."""
        self._kept.clear()
        self._grouped.clear()

    def _moved(self, form: Form, wanted: str, revision: int, bits: int) -> int | None:
        """The rows, which were these at a revision, as they are now; None: look for them."""
        if revision == self._buffer.revision:
            return bits
        changes = self._buffer.changes_since(revision)
        if changes is None or len(changes) > _MOST_CHANGES:
            return None
        for one in reversed(stretches(changes)):
            bits = self._spliced(form, wanted, one, bits)
        return bits & (1 << file_rows(self._buffer)) - 1

    def _spliced(self, form: Form, wanted: str, one: Stretch, bits: int) -> int:
        lines = self._buffer.lines[one.first : one.last]
        there = bits_of([row for row, line in enumerate(lines) if form(line) == wanted])
        below = bits & (1 << one.old_first) - 1
        above = bits >> one.old_last << one.old_first + len(lines)
        return below | there << one.old_first | above


def _trim(kept: dict[tuple[Form, str], Any], most: int) -> None:
    if len(kept) > most:
        del kept[next(iter(kept))]


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
