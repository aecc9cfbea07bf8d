from __future__ import annotations

import pytest

from tests.support.fake_session import FakeWorkspace
from tui.core.edits.hunk import Decision, Hunk, Stage
from tui.core.text.buffer import Mark
from tui.ui.editor.marks import Landmarks
from tui.ui.editor.overview import Mark as Cell
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
    assert marks_of(workspace, view) == ([Cell(1, 3, kind)] if kind else [])


def test_candidates_and_matches() -> None:
    workspace = FakeWorkspace({"a.py": "a\nb\na\nd\n"})
    view = View(workspace.open("a.py"))
    workspace.roster.add(Hunk(1, 1, "c", "a.py", stage=Stage.CANDIDATES, candidates=(1, 3)))
    view.search.look_for(Query("a", case=True))
    view.search.go((0, 0))
    assert marks_of(workspace, view) == [
        Cell(0, 1, "match"),
        Cell(2, 3, "match"),
        Cell(1, 2, "candidate"),
        Cell(3, 4, "candidate"),
    ]


def marks_of(workspace: FakeWorkspace, view: View) -> list[Cell]:
    landmarks = Landmarks()
    assert landmarks.look(workspace, view)
    return landmarks.marks(view)


def crowded(count: int) -> tuple[FakeWorkspace, View]:
    """A file with a hunk in every tenth of its lines."""
    workspace = FakeWorkspace({"a.py": "line\n" * (10 * count)})
    view = View(workspace.open("a.py"))
    for number in range(count):
        hunk = Hunk(number + 1, 1, "call", "a.py", stage=Stage.LANDED)
        hunk.start, hunk.end = Mark(10 * number), Mark(10 * number + 1, right=True)
        workspace.roster.add(hunk)
    return workspace, view


def test_hunks_out_of_sight_are_counted() -> None:
    workspace, view = crowded(20)
    landmarks = Landmarks()
    landmarks.look(workspace, view)
    assert landmarks.beyond(0, 9) == (0, 19)
    assert landmarks.beyond(0, 10) == (0, 18)
    assert landmarks.beyond(51, 100) == (6, 9)
    workspace.hunks[0].decision = workspace.hunks[1].decision = Decision.ACCEPTED
    landmarks.look(workspace, view)
    assert landmarks.beyond(51, 100) == (4, 9)
    workspace.roster.add(Hunk(99, 1, "c", "a.py", stage=Stage.CANDIDATES, candidates=(5, 150)))
    landmarks.look(workspace, view)
    assert landmarks.beyond(51, 100) == (5, 9), "it is one hunk, wherever it may stand"


def late(landmarks: Landmarks, workspace: FakeWorkspace, view: View) -> bool:
    """Look again, and whether that was too soon."""
    landmarks.look(workspace, view)
    return landmarks.late


def test_very_many_hunks_are_not_looked_through_each_frame() -> None:
    workspace, view = crowded(3_000)
    landmarks = Landmarks()
    while not landmarks.look(workspace, view):
        assert landmarks.beyond(10_000, 10_050) == (0, 0), "those of before, till it is done"
    assert len(landmarks.marks(view)) <= 1_001
    assert landmarks.beyond(10_000, 10_050) == (1_000, 1_994)
    for hunk in workspace.hunks:
        hunk.decision = Decision.REJECTED
    assert late(landmarks, workspace, view)
    assert landmarks.beyond(10_000, 10_050) == (1_000, 1_994)
    landmarks._due_s = 0.0  # the time is up
    while not landmarks.look(workspace, view):
        landmarks._due_s = 0.0
    assert landmarks.beyond(10_000, 10_050) == (0, 0)


def test_more_places_than_can_be_shown_are_not_marked_until_one_is_chosen() -> None:
    workspace = FakeWorkspace({"a.py": "a\n" * 9})
    view = View(workspace.open("a.py"))
    reading = Hunk(1, 1, "c", "a.py", stage=Stage.CANDIDATES, candidates=(1, 2, 3, 4, 5, 6))
    workspace.roster.add(reading)
    assert marks_of(workspace, view) == []
    reading.reason = "ambiguous: it fits in six places"  # now the user chooses
    assert len(marks_of(workspace, view)) == 5, "the nearest ones"
