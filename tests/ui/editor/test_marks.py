from __future__ import annotations

import pytest

from tests.support.fake_session import FakeWorkspace
from tui.core.hunk import Decision, Hunk, Stage
from tui.ui.editor.marks import marks_of
from tui.ui.editor.overview import Mark
from tui.ui.editor.view import View
from tui.ui.finding.pattern import Query


@pytest.mark.parametrize(
    ("stage", "decision", "kind"),
    [
        (Stage.LANDING, Decision.PENDING, "landing"),
        (Stage.LANDED, Decision.PENDING, "pending"),
        (Stage.LANDED, Decision.ACCEPTED, "accepted"),
        (Stage.LANDED, Decision.REJECTED, ""),
        (Stage.PARTIAL, Decision.PENDING, "partial"),
        (Stage.CONFLICT, Decision.PENDING, "conflict"),
        (Stage.DROPPED, Decision.PENDING, ""),
    ],
)
def test_a_hunk_is_marked_as_its_lines_are(stage: Stage, decision: Decision, kind: str) -> None:
    workspace = FakeWorkspace({"a.py": "a\nb\nc\nd\n"})
    view = View(workspace.open("a.py"))
    hunk = Hunk(1, 1, "call", "a.py", stage=stage, decision=decision)
    hunk.start, hunk.end = view.buffer.mark(1), view.buffer.mark(3)
    workspace.roster.add(hunk)
    workspace.roster.add(Hunk(2, 1, "call", "other.py", stage=stage))
    assert marks_of(workspace, view) == ([Mark(1, 3, kind)] if kind else [])


def test_candidates_and_matches() -> None:
    workspace = FakeWorkspace({"a.py": "a\nb\na\nd\n"})
    view = View(workspace.open("a.py"))
    workspace.roster.add(Hunk(1, 1, "c", "a.py", stage=Stage.CANDIDATES, candidates=(1, 3)))
    view.search.look_for(Query("a", case=True))
    view.search.go((0, 0))
    assert marks_of(workspace, view) == [
        Mark(0, 1, "match"),
        Mark(2, 3, "match"),
        Mark(1, 2, "candidate"),
        Mark(3, 4, "candidate"),
    ]
