"""When the user changed the very lines that a section was changing: merge, or show both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.core.edits.hunk import Hunk, Stage
from tui.core.edits.ledger import Ledger
from tui.core.edits.sections.painter import SWALLOWED, Painter
from tui.core.edits.sections.region_painter import RegionPainter
from tui.core.text.change_set import Author, Change, ChangeSet
from tui.core.text.merge import line_changes, merge3
from tui.core.text.rows import row_count, rows_text

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
    ours, others = line_changes(sent, mine), line_changes(sent, theirs)
    left, more = _not_in(others, ours), _not_in(ours, others)
    return merge3(sent, left.apply(sent), more.apply(sent))


def _not_in(theirs: ChangeSet, ours: ChangeSet) -> ChangeSet:
    """Our changes, without lines put in that are the first or last of a larger change there."""
    first = {other.start: other for other in theirs.changes}
    last = {other.old_end: other for other in theirs.changes}

    def is_in(one: Change) -> bool:
        above, below = first.get(one.start), last.get(one.start)
        begins = above not in (None, one) and above and above.new_text.startswith(one.new_text)
        ends = (
            below not in (None, one)
            and below
            and f"\n{below.new_text}".endswith(f"\n{one.new_text}")
        )
        return one.start == one.old_end and bool(begins or ends)

    return ours.only(one for one in ours.changes if not is_in(one))


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
