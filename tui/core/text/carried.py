"""Changes of whole rows: one side's carried over the other side's, and those of one place alone.

Unlike `diff.merge3` it does not give up where both changed the same lines: it says so of that
replacement alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from tui.core.text.diff import line_changes
from tui.core.text.rows import keep_ends, row_count


class Replacement(NamedTuple):
    """Rows ``first .. last`` of a text, the last one not included, become another text."""

    first: int
    last: int
    text: str
    clash: Literal["", "replaces", "beside"] = ""
    """What others did there goes, or it was put in at the same place and stays above."""


def carried_over(base: str, ours: str, theirs: str) -> list[Replacement]:
    """Their changes of ``base`` as changes of our text, first row first.

    What both did is done once. Where both changed the same lines theirs stands instead of ours;
    where both put lines in at one place theirs stand behind ours.
    """
    now, new = keep_ends(ours), keep_ends(theirs)
    found: list[Replacement] = []
    more_ours = more_theirs = 0  # rows than the base has, above
    for mine, others in _meeting(_in_rows(base, ours), _in_rows(base, theirs)):
        both = [*mine, *others]
        low, high = min(one.first for one in both), max(one.last for one in both)
        first, begin = low + more_ours, low + more_theirs
        more_ours += sum(one.more for one in mine)
        more_theirs += sum(one.more for one in others)
        last = high + more_ours
        old, text = "".join(now[first:last]), "".join(new[begin : high + more_theirs])
        if not others or text == old:
            continue
        if not mine:
            found.append(Replacement(first, last, text))
        elif low < high:
            found.append(Replacement(first, last, text, "replaces"))
        else:
            found += _put_in(Replacement(first, last, text), old)
    return found


def carried_text(base: str, ours: str, theirs: str) -> str:
    """Our text with their changes carried over."""
    rows = keep_ends(ours)
    for one in reversed(carried_over(base, ours, theirs)):
        rows[one.first : one.last] = [one.text]
    return "".join(rows)


def row_in(old: str, new: str, row: int) -> int:
    """Where a row of the old text is in the new one, by what was changed above it."""
    return row + sum(one.more for one in _in_rows(old, new) if one.last <= row)


def changed_only_at(old: str, new: str, first: int, last: int) -> tuple[str, int]:
    """The old text with the changes that touch these rows; how many others were left out.

    Rows ``first .. last`` of the old text, the last one not included. What is put in at either
    side, or goes on into lines beside them, touches them.
    """
    lines, changes = keep_ends(old), _in_rows(old, new)
    touching = [one for one in changes if one.first <= last and one.last >= first]
    for one in reversed(touching):
        lines[one.first : one.last] = [one.text]
    return "".join(lines), len(changes) - len(touching)


class _RowChange(NamedTuple):
    """A change of whole lines."""

    first: int
    last: int
    """Which rows of the old text go."""
    text: str
    """What stands there instead."""

    @property
    def more(self) -> int:
        """Rows that the new text has, less those that go."""
        return row_count(self.text) - (self.last - self.first)

    @property
    def bare(self) -> bool:
        """What it puts in has no line end behind it."""
        return bool(self.text) and not self.text.endswith("\n")


def _in_rows(old: str, new: str) -> list[_RowChange]:
    return [
        _RowChange(one.start[0], one.start[0] + row_count(one.old_text), one.new_text)
        for one in line_changes(old, new).changes
    ]


def _meeting(
    mine: Sequence[_RowChange], others: Sequence[_RowChange]
) -> Iterator[tuple[list[_RowChange], list[_RowChange]]]:
    """The changes of both sides in order, those together that are about the same lines."""
    here: tuple[list[_RowChange], list[_RowChange]] = ([], [])
    ordered = sorted(
        [(one, 0) for one in mine] + [(one, 1) for one in others], key=lambda pair: pair[0][:2]
    )
    for one, side in ordered:
        if (here[0] or here[1]) and not any(_clash(other, one) for other in here[1 - side][-1:]):
            yield here
            here = ([], [])
        here[side].append(one)
    if here[0] or here[1]:
        yield here


def _clash(one: _RowChange, later: _RowChange) -> bool:
    """True if two changes, in the order of their places, cannot both be made as they are."""
    if one.bare and later.first >= one.last and later.more + later.last > later.first:
        return True
    if one.first == one.last and later.first == later.last:
        return one.first == later.first
    return later.first < one.last and one.first < later.last


def _put_in(place: Replacement, old: str) -> list[Replacement]:
    """Lines for a place where others put in ``old``; what both begin with is there once."""
    end, text = place.last, place.text
    if old.startswith(text):
        return []
    if not old.endswith("\n"):
        newline = "\r\n" if "\r\n" in text else "\n"
        return [place._replace(text=f"{old}{newline}{text}", clash="beside")]
    if text.startswith(old):
        return [Replacement(end, end, text[len(old) :])]
    return [Replacement(end, end, text, "beside")]
