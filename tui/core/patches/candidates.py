"""Rows at which the lines of a section so far fit, by how well, narrowed line by line.

A line is compared with ten thousand rows where the first one was a blank: what most rows are (the
same text, or nothing like it) is found out by comparing and searching strings only.

What to tell when a section fits nowhere: the closest place and the first difference. Likeness
serves here, and only here: nothing is placed by it (EDITS.md section 2). What it costs is bounded
by the lines of the section, and hardly follows the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import NamedTuple
from unicodedata import normalize

from tui.core.text.buffer import Buffer
from tui.core.text.indent import indent_change, indentation
from tui.core.text.line_index import CommonLines, Form, LineIndex, RowSet, plain
from tui.core.text.patterns import pattern
from tui.core.text.rows import file_rows

_GROUPS = 16
"""More ways to be indented are looked at before the next line of a section."""


class Tier(IntEnum):
    """How well lines match; a block is as good as its worst line."""

    EXACT = 0
    RSTRIP = 1
    STRIP = 2
    UNICODE = 3
    NONE = 4


_TIERS = tuple(Tier)
FORMS: tuple[Form, ...] = (str, str.rstrip, str.strip, plain)
"""What is the same in two lines that match on a tier, or on one above it."""


class Candidates:
    """Rows on each tier, in order."""

    __slots__ = ("_tiers",)

    def __init__(self, rows: Iterable[int] = ()) -> None:
        """``rows`` are looked at from the first line on: see `narrow`."""
        self._tiers: list[list[int]] = [list(rows), [], [], []]

    def on(self, tier: Tier) -> list[int]:
        """The rows that fit so well and no better; not to be changed."""
        return self._tiers[tier] if tier < Tier.NONE else []

    def aligned(self, tier: Tier, lines: Sequence[str], old: Sequence[str]) -> list[int]:
        """Those on a tier whose indentation differs from that of ``old`` in one way."""
        size = len(old)
        return [
            row for row in self.on(tier) if indent_change(lines[row : row + size], old) is not None
        ]

    @property
    def best(self) -> Tier:
        """The best tier that has rows; NONE: there are none."""
        for tier, rows in zip(_TIERS, self._tiers, strict=False):
            if rows:
                return tier
        return Tier.NONE

    def narrow(self, lines: Sequence[str], count: int, offset: int, line: str) -> None:
        """Keep what has ``line`` so many rows further on; of the lines only ``count`` are text."""
        found: list[list[int]] = [[], [], [], []]
        for tier, rows in enumerate(self._tiers):
            if not rows:
                continue
            if rows[-1] + offset >= count:
                rows = [row for row in rows if row + offset < count]
            exact = [row for row in rows if lines[row + offset] == line]
            found[tier] += exact
            if len(exact) < len(rows):
                for row in _alike(rows, lines, offset, line):
                    worst = max(tier, line_tier(lines[row + offset], line))
                    if worst < Tier.NONE:
                        found[worst].append(row)
        for rows in found[1:]:
            rows.sort()
        self._tiers = found


class CommonCandidates:
    """The same, where every line is in many rows: none of them is looked at by itself.

    A tier is looked at only when it is asked for: mostly the first one is enough.
    """

    __slots__ = ("_common", "_old", "_sets", "_within")

    def __init__(self, common: CommonLines, old: Iterable[str]) -> None:
        self._common = common
        self._old = list(old)
        self._within = [(0, 0)] * len(FORMS)
        """For each tier, rows that fit on it or above it, for so many lines."""
        self._sets: dict[Tier, RowSet] = {}

    def on(self, tier: Tier) -> RowSet:
        """The rows that fit so well and no better."""
        found = self._sets.get(tier)
        if found is None:
            bits = self._fitting(tier) if tier < Tier.NONE else 0
            if tier > Tier.EXACT and bits:
                bits &= ~self._fitting(Tier(tier - 1))
            found = self._sets[tier] = RowSet(bits)
        return found

    def aligned(self, tier: Tier, lines: Sequence[str], old: Sequence[str]) -> RowSet:
        """Those on a tier whose indentation differs from that of ``old`` in one way."""
        theirs: list[str] = []
        groups: list[tuple[list[str], int]] = [([], self.on(tier).bits)]
        for at, line in enumerate(old):
            if not line.strip():
                continue
            theirs.append(line)
            ours = self._common.groups(indentation, line).items()
            groups = [
                ([*indents, indent], both)
                for indents, bits in groups
                for indent, rows in ours
                if (both := bits & rows >> at)
            ]
            if len(groups) > _GROUPS:
                groups = _with_one_change(groups, theirs)
        found = 0
        for _, bits in _with_one_change(groups, theirs):
            found |= bits
        return RowSet(found)

    @property
    def best(self) -> Tier:
        """The best tier that has rows; NONE: there are none."""
        return next((tier for tier in Tier if tier < Tier.NONE and self.on(tier)), Tier.NONE)

    def narrow(self, lines: Sequence[str], count: int, offset: int, line: str) -> None:
        """Keep what has ``line`` so many rows further on; see `Candidates.narrow`."""
        self._old.append(line)
        self._sets.clear()

    def _fitting(self, tier: Tier) -> int:
        bits, seen = self._within[tier]
        for at in range(seen, len(self._old)):
            if at and not bits:
                break
            rows = self._common.rows(FORMS[tier], self._old[at]) >> at
            bits = bits & rows if at else rows
        self._within[tier] = bits, len(self._old)
        return bits


def _with_one_change(
    groups: list[tuple[list[str], int]], theirs: Sequence[str]
) -> list[tuple[list[str], int]]:
    return [
        (indents, bits)
        for indents, bits in groups
        if indent_change([f"{indent}x" for indent in indents], theirs) is not None
    ]


def line_tier(file: str, patch: str) -> Tier:
    """How well one line matches."""
    if file == patch:
        return Tier.EXACT
    if file.rstrip() == patch.rstrip():
        return Tier.RSTRIP
    if file.strip() == patch.strip():
        return Tier.STRIP
    return Tier.UNICODE if plain(file) == plain(patch) else Tier.NONE


def _alike(rows: list[int], lines: Sequence[str], offset: int, line: str) -> list[int]:
    """Those whose line is not the same and may match: all that do match are among them."""
    wanted = plain(line)
    if not wanted:
        return [r for r in rows if (text := lines[r + offset]) != line and not text.strip()]
    return [
        row
        for row in rows
        if (text := lines[row + offset]) != line and (wanted in text or not text.isascii())
    ]


_QUOTE_CHARS = 80
_VOTES_A_LINE = 200
"""A line that is in the file more often says nothing of the place."""
_LINES = 400
"""Lines of a section that are looked up at most."""
_WORDS, _PLACES = 24, 40
"""Words that are looked for if no line is there, and places of each."""
_FEW_WORDS, _WORD_ROWS = 4, 240_000
"""In long files fewer words are: so many rows are searched for all of them."""
_MOST_ROWS = 4_000_000
"""So many are searched for words of all sections of a patch: about a third of a second."""
_WORD = pattern(r"\w{3,}")


class NearMiss(NamedTuple):
    """The closest place in words, and its first row; None: nothing is like it."""

    words: str
    row: int | None = None


def nearest_miss(
    buffer: Buffer, index: LineIndex, old: Sequence[str], new: Sequence[str]
) -> NearMiss:
    """The closest window, and the first differing line on both sides; or that it is done."""
    if done := _already_there(buffer, index, old, new):
        words = f"already applied, its new text is already in the file at line {done}"
        return NearMiss(words, done - 1)
    votes = _votes(index, old) or _votes_of_words(index, old, file_rows(buffer))
    if not votes:
        return NearMiss(f"no line of it is in the file, first {_quoted(old[0])}")
    best = max(votes.values())
    start = min(row for row, count in votes.items() if count == best)
    fitting, difference = _compared(buffer, start, old)
    closest = f"closest is line {max(start, 0) + 1}, {fitting} of {len(old)} lines match"
    return NearMiss(f"{closest}; {difference}", max(start, 0))


def _compared(buffer: Buffer, start: int, old: Sequence[str]) -> tuple[int, str]:
    """How many lines fit from a row on, and the first one that does not."""
    fitting, difference = 0, ""
    for offset, line in enumerate(old):
        row = start + offset
        there = buffer.lines[row] if 0 <= row < file_rows(buffer) else None
        if there is not None and plain(there) == plain(line):
            fitting += 1
        elif not difference:
            difference = _both(row, there, line)
    return fitting, difference or _indented_otherwise(buffer, start, old)


def _indented_otherwise(buffer: Buffer, start: int, old: Sequence[str]) -> str:
    """The first line at which the indentation differs in another way than before."""
    there = buffer.lines[start : start + len(old)]
    count = len(old)
    at = next((n for n in range(count) if indent_change(there[: n + 1], old[: n + 1]) is None), 0)
    if there[at] == old[at]:  # those above it are not as deep as it says
        at = next((n for n, (a, b) in enumerate(zip(there, old, strict=False)) if a != b), at)
    both = _both(start + at, there[at], old[at])
    return f"the indentation differs from line to line: {both}"


def _both(row: int, there: str | None, line: str) -> str:
    if row < 0:
        return f"above line 1 of the file is nothing, the patch has {_quoted(line)} there"
    if there is None:
        return f"line {row + 1} of the file has nothing, the patch has {_quoted(line)}"
    pairs = zip(there, line, strict=False)
    same = next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(there), len(line)))
    skip = max(0, same - _QUOTE_CHARS // 2) if same >= _QUOTE_CHARS - 10 else 0
    file, patch = (_quoted("…" * bool(skip) + text[skip:]) for text in (there, line))
    if normalize("NFKC", there) == normalize("NFKC", line):  # they look alike
        file, patch = (ascii(text[max(0, same - 20) :][:_QUOTE_CHARS]) for text in (there, line))
    if "".join(there.split()) != "".join(line.split()):
        return f"line {row + 1} of the file has {file}, the patch has {patch}"
    file, patch = (_with_blanks(text[max(0, same - 20) :]) for text in (there, line))
    return (
        f"line {row + 1} of the file differs in blanks only: it has {file}, the patch has {patch} "
        "(· is a blank, \\t a tab)"
    )


def _with_blanks(text: str) -> str:
    return _quoted(text).replace(" ", "·")


def _votes(index: LineIndex, old: Sequence[str]) -> Counter[int]:
    """For each first row, how many lines would fit."""
    votes: Counter[int] = Counter()
    for offset, line in enumerate(old[:_LINES]):
        if line.strip():
            votes.update(row - offset for row in index.rows(line, _VOTES_A_LINE))
    return votes


def _votes_of_words(index: LineIndex, old: Sequence[str], rows: int) -> Counter[int]:
    """The same by long words, where no line is in the file as it is quoted."""
    votes: Counter[int] = Counter()
    words = max(_FEW_WORDS, min(_WORDS, _WORD_ROWS // max(1, rows)))
    if index.searched_rows > _MOST_ROWS:
        words = 0
    for offset, word in _long_words(old)[:words]:
        places = index.places(word, _PLACES)
        for row in places:
            votes[row - offset] += 1 + 12 // len(places)
    return votes


def _long_words(old: Sequence[str]) -> list[tuple[int, str]]:
    """The longest words of the first lines, each with its line."""
    words = {
        word: offset
        for offset, line in reversed(list(enumerate(old[:_WORDS])))
        for word in _WORD.findall(line[:1000])
    }
    chosen = sorted(words, key=lambda word: (-len(word), words[word], word))[:_WORDS]
    return [(words[word], word) for word in chosen]


def _already_there(buffer: Buffer, index: LineIndex, old: Sequence[str], new: Sequence[str]) -> int:
    """The 1-based line at which the new text stands already, 0 if it does not."""
    if list(old) == list(new) or not any(_says_something(line) for line in new):
        return 0
    wanted = list(new)
    for row in index.rows(new[0], _VOTES_A_LINE):
        if buffer.lines[row : row + len(new)] == wanted:
            return row + 1
    return 0


def _says_something(line: str) -> bool:
    return any(char.isalnum() for char in line)


def _quoted(line: str) -> str:
    return repr(line if len(line) <= _QUOTE_CHARS else line[:_QUOTE_CHARS] + "…")
