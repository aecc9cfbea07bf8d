"""When the user changed the very lines that a section was changing: merge, or show both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.core.hunk import Hunk, Stage
from tui.core.ledger import Author, Ledger
from tui.core.painter import SWALLOWED, Painter
from tui.core.patch import merge3
from tui.core.rows import row_count, rows_text

if TYPE_CHECKING:
    from tui.core.section import Section


def merge_section(ledger: Ledger, section: Section, painter: Painter) -> tuple[int, int] | None:
    """End a section in trouble; returns the rows of the merge, None if it is in conflict.

    What the user wrote is never lost: either both changes are there, as one flagged hunk over
    the user's text, or the text stays the user's and the hunks say what the model wanted.
    """
    buffer = section.record.buffer
    merged = None
    first = painter.row
    base, agent, last = _sides(section, painter)
    user = painter.without() + rows_text(buffer, painter.end, last)
    if base and painter.trouble != SWALLOWED:
        merged = merge3("".join(base), user, "".join(agent))
    keep_text(section, *section.hunks)
    if merged is None:
        painter.take_back()
        for hunk in section.hunks:
            hunk.stage, hunk.reason = Stage.CONFLICT, painter.trouble
            hunk.start = hunk.end = None
        ledger.bump()
        return None
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
    hunk.flags += [*section.flags, "merged with what was changed meanwhile"]
    ledger.settle(section.record, hunk, rows)
    ledger.bump()
    return rows


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
    base, agent = list(painter.base), list[str]()
    seen, row = 0, painter.end
    if not section.locator.old:
        agent += base
    for op, text, _ in section.ops:
        if op == "+":
            if agent and not agent[-1].endswith("\n"):
                agent[-1] += buffer.newline
            agent.append(text + buffer.newline)
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
