"""What lies beside and over the text: marks, the overview, counts of hunks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.fake_session import FakeWorkspace
from tests.support.tables import each
from tui.core.document.hunk import Decision, Hunk, Stage
from tui.ui.editor.hints import Hints, Spot, lay_over
from tui.ui.editor.overview import HunkMarks, overview_cells
from tui.ui.editor.overview import OverviewMark as Cell
from tui.ui.editor.paint import EditorRow
from tui.ui.editor.view import View


@each(
    "stage, decision, kind",
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
    workspace.hunk_list.add(hunk)
    workspace.hunk_list.add(Hunk(2, 1, "call", "other.py", stage=stage))
    assert marks_of(workspace, view) == ([Cell(1, 3, kind)] if kind else [])


def marks_of(workspace: FakeWorkspace, view: View) -> list[Cell]:
    hunks = HunkMarks()
    assert hunks.look(workspace, view)
    return hunks.marks(view)


def test_a_file_that_is_all_in_sight_has_no_thumb() -> None:
    assert overview_cells(10, (0, 10, 8), [Cell(2, 3, "pending")])[2] == (False, "pending")
    assert not any(thumb for thumb, _ in overview_cells(10, (0, 10, 8), []))


INCOMING = (4, ["one", "two"])


def laid(said: Hints, cursor: Spot = None, *, height: int = 20, width: int = 60) -> list[EditorRow]:
    rows = [EditorRow(f"line {number}", number) for number in range(1, height + 1)]
    lay_over(rows, width, said, cursor)
    return rows


def chips(row: EditorRow) -> str:
    return "".join(text for text, _ in row.chips)


@given(
    st.integers(0, 40),
    st.integers(0, 90),
    st.tuples(st.integers(0, 89), st.integers(0, 39)),
    st.booleans(),
)
def test_the_cursor_is_never_hidden(height: int, width: int, cursor: Spot, ghost: bool) -> None:
    said = Hints("hunk 1: landing at line 4", 3, 4, INCOMING if ghost else None)
    if cursor[0] >= width or cursor[1] >= height:
        cursor = None
    rows = laid(said, cursor, height=height, width=width)
    assert len(rows) == height
    if cursor is not None:
        row = rows[cursor[1]]
        assert row.kind != "incoming"
        assert cursor[0] < width - len(chips(row))
