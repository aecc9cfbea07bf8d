"""A set of rows as one number, of which bit n stands for row n.

What is done to it takes time by the length of the file in machine words, however many rows are
in it: a hundred thousand places are counted, narrowed and moved in some microseconds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import overload

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
