"""When the user changed the very lines that a section was changing: merge, or show both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui.core.edits.hunk import Hunk, Stage
from tui.core.edits.ledger import Author, Ledger
from tui.core.edits.sections.painter import SWALLOWED, Painter
from tui.core.edits.sections.region_painter import RegionPainter
from tui.core.text.patch import Replacement, merge3, replacements
from tui.core.text.rows import keep_ends, row_count, rows_text

if TYPE_CHECKING:
    from tui.core.edits.sections.section import Section

MERGED = "merged with what was changed meanwhile"


def merge_section(ledger: Ledger, section: Section, painter: Painter) -> tuple[int, int] | None:
    """End a section in trouble; returns the rows of the merge, None if it is in conflict.

    What the user wrote is never lost: either both changes are there, as one flagged hunk over
    the user's text, or the text stays the user's and the hunks say what the model wanted.
    """
    buffer = section.record.buffer
    merged = None
    first = painter.row
    base, agent, last = _sides(section, painter)
    if isinstance(painter, RegionPainter):
        base, last = painter.region, painter.region_end
    user = painter.without() + rows_text(buffer, painter.end, last)
    if base and painter.trouble != SWALLOWED:
        merged = merge3("".join(base), user, "".join(agent))
    if merged is None:
        show_both(ledger, section, painter)
        return None
    keep_text(section, *section.hunks)
    hunk, *others = section.hunks
    for other in others:
        hunk.added += other.added
        hunk.removed += other.removed
        ledger.forget_hunk(other)
    section.hunks[1:] = []
    ledger.rewrite(section.record, (first, last), merged, Author.MODEL)
    rows = (first, first + row_count(merged))
    hunk.base, hunk.agent = user, merged
    hunk.stage = Stage.LANDED
    hunk.flags += (*section.flags, MERGED)
    ledger.settle(section.record, hunk, rows)
    ledger.bump()
    return rows


def merge_whole(sent: str, mine: str, theirs: str) -> str | None:
    """A new text of a file, merged with what others changed; None if they changed the same lines.

    Lines that both put in at one place are there once, also where one side put in more.
    """
    lines = keep_ends(sent)
    ours = replacements(lines, keep_ends(mine))
    others = replacements(lines, keep_ends(theirs))
    left, more = _not_in(others, ours), _not_in(ours, others)
    return merge3(sent, _made(lines, left), _made(lines, more))


def _not_in(theirs: Sequence[Replacement], ours: Sequence[Replacement]) -> list[Replacement]:
    """Our changes, without lines put in that are the first or last of a larger change there."""
    first = {other.first: other for other in theirs}
    last = {other.last: other for other in theirs}

    def is_in(one: Replacement) -> bool:
        count, above, below = len(one.lines), first.get(one.first), last.get(one.first)
        begins = above not in (None, one) and above and above.lines[:count] == one.lines
        ends = below not in (None, one) and below and below.lines[-count:] == one.lines
        return one.first == one.last and bool(begins or ends)

    return [one for one in ours if not is_in(one)]


def _made(lines: Sequence[str], changes: Sequence[Replacement]) -> str:
    out, at = list[str](), 0
    for change in changes:
        out += [*lines[at : change.first], *change.lines]
        at = change.last
    return "".join([*out, *lines[at:]])


def show_both(ledger: Ledger, section: Section, painter: Painter) -> None:
    """The text stays as others have it; the hunks say what the model wanted."""
    keep_text(section, *section.hunks)
    painter.take_back()
    for hunk in section.hunks:
        hunk.stage, hunk.reason = Stage.CONFLICT, painter.trouble
        hunk.near = hunk.start.line if hunk.start is not None else painter.row
        hunk.start = hunk.end = None
    ledger.bump()


def keep_text(section: Section, *hunks: Hunk) -> None:
    """What was streamed stays with hunks that are not in the buffer."""
    lines: dict[tuple[Hunk, str], list[str]] = {}
    for op, text, of in section.ops:
        if of is not None:
            lines.setdefault((of, op), []).append(text + "\n")
    for hunk in hunks:
        hunk.base = "".join(lines.get((hunk, "-"), ()))
        hunk.agent = "".join(lines.get((hunk, "+"), ()))


def _sides(section: Section, painter: Painter) -> tuple[list[str], list[str], int]:
    """The old lines, what the model makes of them, and the row behind the last of them.

    Old lines that came after the trouble must follow in the live text, else there is nothing
    to merge on (an empty base).
    """
    buffer = section.record.buffer
    region = painter.region if isinstance(painter, RegionPainter) else None
    base, agent = list(painter.base) if region is None else region, list[str]()
    seen, row = 0, painter.end
    if not section.locator.old and region is None:
        agent += base
    for op, text, _ in section.ops:
        if op == "+":
            if agent and not agent[-1].endswith("\n"):
                agent[-1] += buffer.newline
            agent.append(painter.indented(text) + buffer.newline)
            continue
        if seen == len(base):
            if not section.locator.fits(row, text):
                return [], [], painter.end
            base.append(rows_text(buffer, row, row + 1))
            row += 1
        if op == "=":
            agent.append(base[seen])
        seen += 1
    return base, agent, row
