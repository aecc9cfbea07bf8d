"""What to tell when a section fits nowhere: the closest place and the first difference.

Likeness serves here, and only here: nothing is placed by it (EDITS.md section 2). What it costs
is bounded by the lines of the section, and hardly follows the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple
from unicodedata import normalize

from tui.core.text.buffer import Buffer
from tui.core.text.indent import indent_change
from tui.core.text.line_index import LineIndex, plain
from tui.core.text.patterns import pattern
from tui.core.text.rows import file_rows

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
