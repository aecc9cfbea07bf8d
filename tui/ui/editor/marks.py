"""What the overview shows of a file: its hunks, and the matches of a search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tui.core.hunk import OPEN, Decision, Hunk, Stage
from tui.core.workspace import Workspace
from tui.ui.editor.overview import Mark
from tui.ui.editor.view import View


def marks_of(workspace: Workspace, view: View) -> list[Mark]:
    """The coloured cells of a file's overview."""
    marks = [Mark(line, line + 1, "match") for line in view.search.sample]
    for hunk in _shown(workspace):
        if hunk.path == view.path:
            marks += _marks_of_hunk(hunk)
    return marks


def _shown(workspace: Workspace) -> Iterable[Hunk]:
    """What waits or comes in, and what the last turn did; the rest is the file's text."""
    found = {hunk.id: hunk for hunk in workspace.roster.unsettled()}
    for hunk in reversed(workspace.hunks):
        if hunk.turn != workspace.hunks[-1].turn:
            break
        found[hunk.id] = hunk
    return found.values()


def _marks_of_hunk(hunk: Hunk) -> Iterator[Mark]:
    kind = _kind(hunk)
    if kind == "candidate":
        for line in hunk.candidates:
            yield Mark(line, line + 1, kind)
    elif kind and hunk.start is not None and hunk.end is not None:
        yield Mark(hunk.start.line, hunk.end.line, kind)


def _kind(hunk: Hunk) -> str:
    """The decoration that a hunk's lines have; empty if it is over."""
    if hunk.decision is Decision.ACCEPTED:
        return "accepted"
    if hunk.decision is Decision.REJECTED or hunk.stage in (Stage.REFUSED, Stage.DROPPED):
        return ""
    if hunk.stage is Stage.CONFLICT:
        return "conflict"
    if hunk.stage is Stage.PARTIAL:
        return "partial"
    if hunk.candidates and hunk.start is None:
        return "candidate"
    return "landing" if hunk.stage in OPEN else "pending"
