"""Lines that undecided hunks took out, and where they stood: shown in place, though no text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from tui.core.document.file_record import in_order
from tui.core.document.hunk import Hunk, Kind
from tui.core.document.workspace import Workspace
from tui.core.text.rows import keep_ends


class Removed(NamedTuple):
    """Old lines of one hunk that stood side by side."""

    line: int
    """They stand above this line; behind the last one it is the number of lines."""
    text: str
    """With their endings."""
    hunk: Hunk


RemovedIn = Callable[[int, int], list[Removed]]
"""First and last line -> what stands above them, top to bottom; see `removed_lines`."""
StruckIn = Callable[[int, int], list[range]]
"""First and last line -> runs of lines that are struck; see `struck_runs`."""


def removed_lines(workspace: Workspace, path: str, first: int, last: int) -> list[Removed]:
    """What hunks that wait for a decision took out above lines ``first .. last``.

    The cost is that of these lines: hunks stand in an index that changes move.
    """
    record = workspace.documents.records.get(path)
    if record is None or not record.live:
        return []
    near = [hunk for hunk in record.live.near(first, last) if _is_shown(hunk)]
    if len(near) > 1:
        wanted = set(near)
        ordered = in_order(record, (first, last))
        near = [hunk for hunk in ordered if hunk in wanted]
    found = [one for hunk in near for one in _of_hunk(hunk) if first <= one.line <= last]
    return sorted(found, key=lambda one: one.line)


def _is_shown(hunk: Hunk) -> bool:
    return hunk.decidable and bool(hunk.base) and hunk.kind in (Kind.EDIT, Kind.ADD)


def _of_hunk(hunk: Hunk) -> Iterator[Removed]:
    if hunk.start is None or hunk.end is None:
        return
    start, end = hunk.start.line, hunk.end.line
    if hunk.woven is None:
        yield Removed(start, hunk.base, hunk)
        return
    lines = keep_ends(hunk.base)
    for offset, low, high in hunk.woven:
        if text := "".join(lines[low:high]):
            yield Removed(min(start + offset, end), text, hunk)


def struck_above(workspace: Workspace, path: str, line: int) -> int:
    """How many lines above this one are struck, and have no number; see `struck_runs`."""
    record = workspace.documents.records.get(path)
    count = 0
    for section in record.sections if record is not None else ():
        if (painter := section.painter) is not None and not painter.trouble:
            count += painter.tags[: max(line - painter.row, 0)].count("-")
    return count


def struck_runs(workspace: Workspace, path: str, first: int, last: int) -> list[range]:
    """The runs of struck lines that lines ``first .. last`` are part of, top to bottom.

    Lines of hunks that still come in: in the buffer until that has landed, but not text of the
    user's any more.
    """
    record = workspace.documents.records.get(path)
    found: list[range] = []
    for section in record.sections if record is not None else ():
        if (painter := section.painter) is None or painter.trouble:
            continue
        tags, row = painter.tags, painter.row
        at, stop = max(first - row, 0), min(last + 1 - row, len(tags))
        while at < stop:
            if tags[at] != "-":
                at += 1
                continue
            low, at = at, at + 1
            while low and tags[low - 1] == "-":
                low -= 1
            while at < len(tags) and tags[at] == "-":
                at += 1
            found.append(range(row + low, row + at))
    return sorted(found, key=lambda run: run.start)
