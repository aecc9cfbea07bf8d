"""How two texts differ, as changes of whole lines, and the three-way merge of such changes."""

from __future__ import annotations

from collections.abc import Sequence

from tui.core.text.change_set import Author, Change, ChangeSet, Position, change_at, end_of
from tui.core.text.diff import blocks
from tui.core.text.rows import keep_ends


def line_changes(old: str, new: str, author: Author | None = None) -> ChangeSet:
    """The changes of whole lines that make ``new`` of ``old``.

    Of long texts that differ little only the difference is looked at.
    """
    head = old.rfind("\n", 0, same_start(old, new)) + 1
    old_rest, new_rest = old[head:], new[head:]
    tail = _whole_lines_behind(old_rest, new_rest)
    was = keep_ends(old_rest[: len(old_rest) - tail])
    now = keep_ends(new_rest[: len(new_rest) - tail])
    first = old.count("\n", 0, head)
    found = [
        change_at((first + a, 0), "".join(was[a:b]), "".join(now[c:d]))
        for a, b, c, d in blocks(was, now)
    ]
    return ChangeSet(end_of((0, 0), old), tuple(found), author)


def merge3(base: str, ours: str, theirs: str) -> str | None:
    """Both sides' changes of ``base``, line by line; None if they touch the same lines.

    The same change on both sides is taken once. Where one side inserts at the edge of what
    the other replaces, both are kept.
    """
    if ours in (base, theirs):
        return theirs
    if theirs == base:
        return ours
    fit = fitted(line_changes(base, ours), line_changes(base, theirs))
    return None if fit is None else fit.apply(ours)


def fitted(mine: ChangeSet, others: ChangeSet) -> ChangeSet | None:
    """The others' changes of lines in a text that has mine already; None if they clash."""
    if any(_runs_into(one, others.changes) for one in mine.changes[-1:]):
        return None
    if any(_runs_into(one, mine.changes) for one in others.changes[-1:]):
        return None
    return others.over(mine)


def merge_theirs(base: str, ours: str, theirs: str) -> tuple[str, bool]:
    """Their text, with those of our changes that do not touch theirs; and whether all of ours is.

    Lines of ours in the midst of what they replace stand behind that.
    """
    others = line_changes(base, theirs)
    mine = line_changes(base, ours)
    kept: list[Change] = []
    whole = True
    for one in mine.changes:
        if one.start == one.old_end and (at := _end_around(one.start, others.changes)):
            lines = one.new_text
            if kept and kept[-1].start == kept[-1].old_end == at:
                lines = kept.pop().new_text + lines
            one = change_at(at, "", lines)
        alone = mine.only([one])
        clashes = fitted(alone, others) is None
        if clashes or (kept and fitted(mine.only(kept[-1:]), alone) is None):
            whole = False
        else:
            kept.append(one)
    fit = mine.only(kept).over(others)
    assert fit is not None
    return fit.apply(theirs), whole


def _end_around(place: Position, others: Sequence[Change]) -> Position | None:
    """The end of the change that replaces what is on both sides of a place."""
    around = (other for other in others if other.start < place < other.old_end)
    return next((other.old_end for other in around), None)


def _runs_into(one: Change, others: Sequence[Change]) -> bool:
    """True if a change ends in the midst of a line, and one of others puts lines behind it.

    Of a text's changes only the last can: what stands last may have no newline.
    """
    if not one.new_text or one.new_text.endswith("\n"):
        return False
    return any(other.new_text and other.start >= one.old_end and other != one for other in others)


def _whole_lines_behind(old: str, new: str) -> int:
    """How many characters the whole lines have with which both end."""
    same = same_start(old[::-1], new[::-1])
    starts = (text[-same - 1 : -same] if same else "" for text in (old, new))
    if same and all(before in ("", "\n") for before in starts):
        return same
    cut = old.find("\n", len(old) - same) + 1
    return len(old) - cut if cut else 0


def same_start(one: str, other: str) -> int:
    """With how many equal characters both begin; compared in stretches."""
    limit = min(len(one), len(other))
    step, at = 1 << 16, 0
    while step:
        while at + step <= limit and one[at : at + step] == other[at : at + step]:
            at += step
        step >>= 1
    return at
