"""The text of a file before turns of an earlier start: models' hunks out, all else kept.

Of such turns no marks are left: there are the texts of the file at some moments, and what each hunk
replaced. Between two moments the hunks are peeled off the later text, newest first; what then
still differs others have done, and it is carried over to the text without the hunks. A file is
brought from one text to another so that what others did since goes along.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tui.core.document.disk_plan import backed_out
from tui.core.document.documents import Documents
from tui.core.files import decoded
from tui.core.session_record import HunkMade
from tui.core.text.buffer import ended, form_of, plain_text
from tui.core.text.change_set import Author, Change
from tui.core.text.diff import LineBlock, blocks, fitted, line_changes, merge_theirs
from tui.core.text.rows import file_rows, keep_ends, whole_text
from tui.errors import EditRefused


class KnownText(NamedTuple):
    """A file at some time."""

    seq: int
    """The number of the record that says so."""
    text: str | None
    """As a buffer has it; None: there was no file."""


class PastHunk(NamedTuple):
    """A hunk that was accepted."""

    made: HunkMade
    seq: int
    """The number of the last record that changed it, mostly that it was accepted."""


class Taken(NamedTuple):
    """A file without some hunks."""

    text: str | None
    """None: there is no file."""
    stays: list[HunkMade]
    """Hunks that do not come out, wholly: others changed their lines since."""


def without(moments: Sequence[KnownText], hunks: Iterable[PastHunk]) -> Taken:
    """The last text without these hunks, which were written after the first moment.

    A hunk was written with the first text behind its last record; or, where that says something
    else, with an earlier one.
    """
    left = sorted(hunks, key=lambda one: one.made.id)
    found = _without(moments, left)
    if any(one.kind != "move" for one in found.stays):
        early = _without(moments, [one._replace(seq=0) for one in left])
        found = min(found, early, key=lambda one: len(one.stays))
    return found


def _without(moments: Sequence[KnownText], left: list[PastHunk]) -> Taken:
    first = moments[0]
    text, was, out, stays = first.text, first.text, list[HunkMade](), dict[int, HunkMade]()
    newline = _newline(next((one.text for one in reversed(moments) if one.text), "\n"))
    for moment in moments[1:]:
        now = moment.text
        if now == was:
            continue
        due = [one.made for one in left if one.seq <= moment.seq]
        if now is None:
            deleted = {one.id for one in due if one.kind == "delete"}
            text = text if deleted else None
            was, left = None, [one for one in left if one.made.id not in deleted]
            continue
        old, mine = _ended(was or "", newline), _ended(text or "", newline)
        bare, off = _peeled(old, _ended(now, newline), due, newline)
        taken = {one.id for one in off}
        left = [one for one in left if one.made.id not in taken]
        made = was is None and any(one.kind == "add" for one in off)
        text, clashes = carried(old, mine, bare)
        out += off
        stays |= {one.id: one for one in out if _is_about(one, clashes)}
        if made and not text:
            text = None
        was = now
    known, shows = set((first.text or "").splitlines()), set((text or "").splitlines())
    stays |= {one.id: one for one in out if not shows.isdisjoint(_put(one) - known)}
    stays |= {one.made.id: one.made for one in left if _shows(one.made, shows)}
    return Taken(text, [stays[number] for number in sorted(stays)])


def carried(base: str, mine: str, others: str) -> tuple[str, list[Change]]:
    """What two sides made of a text, put together; where they clash the others' stays.

    But for blanks only: a formatter's change of lines goes with them. Returns the changes of mine
    that were left out, too.
    """
    ours, theirs = line_changes(base, mine), line_changes(base, others)
    stays, left_out, blanks = list[Change](), list[Change](), set[Change]()
    for one in ours.changes:
        alone = ours.only([one])
        if fitted(alone, theirs) is None:
            clashing = {it for it in theirs.changes if fitted(alone, theirs.only([it])) is None}
            if all(map(_is_of_blanks, clashing)):
                blanks |= clashing
            elif not merge_theirs(base, others, alone.apply(base))[1]:
                left_out.append(one)
                continue
        stays.append(one)
    others = theirs.only(it for it in theirs.changes if it not in blanks).apply(base)
    while True:
        text, whole = merge_theirs(base, others, ours.only(stays).apply(base))
        if whole or not stays:
            return text, left_out
        left_out.append(stays.pop())


def _is_of_blanks(change: Change) -> bool:
    return "".join(change.old_text.split()) == "".join(change.new_text.split())


def _peeled(
    old: str, new: str, hunks: Sequence[HunkMade], newline: str
) -> tuple[str, list[HunkMade]]:
    """The new text without those of the hunks that came into it since the old one, and these."""
    was, now, found = keep_ends(old), keep_ends(new), list[HunkMade]()
    for hunk in reversed(hunks):
        if hunk.kind not in ("edit", "add"):
            continue
        base, agent = _ended(hunk.base, newline), _ended(hunk.agent, newline)
        rows, before = _rows(was, now, hunk), base
        if rows is None:
            rows, before = _typed_in(was, now, (base, agent))
        if rows is None:
            continue
        if rows[1] < len(now) and before[-1:] not in ("", "\n"):
            before += newline
        now[rows[0] : rows[1]] = keep_ends(before)
        found.append(hunk)
    text = "".join(now)
    if found and text.rstrip("\r\n") == old.rstrip("\r\n"):
        text = old  # a hunk at the end gave the last line its newline
    return text, found


def _rows(was: Sequence[str], now: Sequence[str], hunk: HunkMade) -> tuple[int, int] | None:
    """Where a hunk's text stands, in what differs; None: nowhere."""
    old, new = _bare(keep_ends(hunk.base)), _bare(keep_ends(hunk.agent))
    lines, best = _bare(now), None
    for block in blocks(_bare(was), lines):
        for row in _places(_bare(was), lines, (old, new), block):
            near = _alike(lines[:row][::-1], hunk.above[::-1])
            near += _alike(lines[row + len(new) :], hunk.below)
            score = near, -abs(row - (hunk.line or 0))
            if best is None or score > best[0]:
                best = score, row
    return None if best is None else (best[1], best[1] + len(new))


def _typed_in(
    was: Sequence[str], now: Sequence[str], hunk: tuple[str, str]
) -> tuple[tuple[int, int] | None, str]:
    """Where a hunk stands in whose text others wrote, and what they did without it."""
    base, agent = hunk
    lines = {line for line in keep_ends(agent) if line.strip()}
    for block in blocks(was, now):
        rows = now[block.new_first : block.new_last]
        if "".join(was[block.old_first : block.old_last]) == base and lines.intersection(rows):
            left, whole = merge_theirs(agent, "".join(rows), base)
            if whole:
                return (block.new_first, block.new_last), left
    return None, ""


def _places(
    was: Sequence[str],
    now: Sequence[str],
    sides: tuple[list[str], list[str]],
    block: LineBlock,
) -> Iterable[int]:
    """Rows at which a hunk could stand that changed something of this block."""
    old, new = sides
    if new:
        low, high = max(block.new_first - len(new), 0), block.new_last
        for row in range(low, min(high, len(now) - len(new)) + 1):
            if now[row : row + len(new)] == new:
                yield row
        return
    low, high = max(block.old_first - len(old), 0), block.old_last
    for row in range(low, min(high, len(was) - len(old)) + 1):
        if was[row : row + len(old)] == old:
            yield min(max(block.new_first + row - block.old_first, 0), len(now))


def _alike(lines: Sequence[str], wanted: Sequence[str]) -> int:
    """With how many lines both begin."""
    pairs = enumerate(zip(lines, wanted, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(lines), len(wanted)))


def _shows(hunk: HunkMade, lines: set[str]) -> bool:
    """True if something of a hunk that was not found is to be seen in a text."""
    return hunk.kind == "delete" or (hunk.kind != "move" and not _put(hunk).isdisjoint(lines))


def _put(hunk: HunkMade) -> set[str]:
    """The lines that a hunk put there."""
    return {line for line in hunk.agent.splitlines() if line.strip()}.difference(
        hunk.base.splitlines()
    )


def _is_about(hunk: HunkMade, changes: Iterable[Change]) -> bool:
    """True if one of these changes would have taken a line of the hunk's out, or put one back."""
    put, took = set(hunk.agent.splitlines()), set(hunk.base.splitlines())
    return any(
        put.intersection(one.old_text.splitlines()) or took.intersection(one.new_text.splitlines())
        for one in changes
    )


def _bare(lines: Iterable[str]) -> list[str]:
    return [line.removesuffix("\n").removesuffix("\r") for line in lines]


def _newline(text: str) -> str:
    """What all lines of a text end with; empty if they end in different ways."""
    count = text.count("\n")
    crlf = text.count("\r\n")
    return "\n" if not crlf else "\r\n" if crlf == count else ""


def _ended(text: str, newline: str) -> str:
    """A text whose lines end as those of the file do now."""
    if not newline or _newline(text) == newline or _newline(text) == "":
        return text
    return ended(text, newline)


SINCE = "its lines were changed since"


class Swap(NamedTuple):
    """A file, what it was, and what it is to be instead; None: there is no file."""

    path: str
    was: bytes | None
    then: bytes | None

    @property
    def back(self) -> Swap:
        """What undoes it."""
        return Swap(self.path, self.then, self.was)


def swapped(documents: Documents, swap: Swap) -> str:
    """Bring an open file, or one that is not open, from one text to another.

    What was changed since goes along; where it clashes it stays. The path is to be written then.

    Returns:
        Why some of it stays as it is; empty: all is done.

    Raises:
        EditRefused: nothing of it can be done, with the reason.
    """
    path = swap.path
    record = documents.find(path)
    was, then = text_of(path, swap.was), text_of(path, swap.then)
    if record is None and then is None:
        return ""
    if record is None and was is not None:
        raise EditRefused("it is gone since")
    if record is not None and record.read_only:
        raise EditRefused(record.read_only)
    if record is not None and record.sections:
        raise EditRefused("a model writes in it")
    if record is None:
        record = documents.create(path)
        record.buffer.form = form_of(decoded(path, swap.then or b""))
    now = backed_out(documents, record)
    text, clashes = carried(was or "", then or "", now)
    if then is None and not text:
        documents.drop(record)
        record.decide()
        return ""
    whole, others = carried(now, text, whole_text(record.buffer))
    documents.rewrite(record, (0, file_rows(record.buffer)), whole, Author.REVIEW)
    record.decide()
    return SINCE if clashes or others else ""


def text_of(path: str, data: bytes | None) -> str | None:
    """A file's text as a buffer has it. Raises EditRefused: it is none."""
    return None if data is None else plain_text(decoded(path, data))
