"""What lies beside and over the text: marks, the overview, counts of hunks, the ghost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.editor_app import EditorApp
from tests.support.fake_session import FakeSession, FakeWorkspace
from tests.support.tables import each
from tui.core.document.hunk import Decision, Hunk, Stage
from tui.core.text.buffer import Mark
from tui.engine.notices import Notices
from tui.ui.editor.overview import (
    GutterGhost,
    Hints,
    HunkMarks,
    ShownGhost,
    Spot,
    lay_over,
    mark_cells,
    thumb_cells,
)
from tui.ui.editor.overview import OverviewMark as Cell
from tui.ui.editor.paint import GUTTER_GHOST, EditorRow
from tui.ui.editor.view import View


@each(
    "stage, decision, kind",
    [
        (Stage.LANDING, Decision.PENDING, "landing"),
        (Stage.LANDED, Decision.PENDING, "pending"),
        (Stage.LANDED, Decision.ACCEPTED, "accepted"),
        (Stage.LANDED, Decision.REJECTED, ""),
        (Stage.CUT, Decision.PENDING, "cut"),
        (Stage.CONFLICT, Decision.PENDING, "conflict"),
        (Stage.REFUSED, Decision.PENDING, ""),
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
    assert mark_cells(10, 8, [Cell(2, 3, "pending")])[2] == "pending"
    assert not any(thumb_cells(10, (0, 10, 8)))


INCOMING = (4, ["one", "two"])


def laid(said: Hints, cursor: Spot = None, *, height: int = 20, width: int = 60) -> list[EditorRow]:
    rows = [EditorRow(f"line {number}", number, line=number - 1) for number in range(1, height + 1)]
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


PATH = "a.py"
LINES = 60


def session_with(*, busy: bool = True) -> FakeSession:
    """A model that wrote 40 lines of 10 tokens each within 0.4 s, from line 10 on."""
    session = FakeSession({PATH: "value = 1\n" * LINES, "b.py": "x\n"})
    session.workspace.open(PATH)
    session.workspace.open("b.py")
    hunk = Hunk(1, 1, "call-1", PATH, stage=Stage.LANDED)
    hunk.start, hunk.end = Mark(10), Mark(50)
    session.workspace.hunk_list.add(hunk)
    meter = session.meter
    meter.start(99.0, "m")
    for number in range(40):
        session.now_s = 100.0 + number / 100
        meter.delta(session.now_s, 40)
        meter.wrote(hunk, 10 + number)
    session.status.busy = busy
    if not busy:
        meter.stop(session.now_s)
    return session


def laid_ghost(
    session: FakeSession, *, path: str = PATH, top: int = 0, width: int = 80, cursor: Spot = None
) -> list[EditorRow]:
    view = View(session.workspace.open(path))
    lines = view.buffer.lines[top : top + 20]
    rows = [
        EditorRow(line, top + number + 1, line=top + number) for number, line in enumerate(lines)
    ]
    rows += [EditorRow()] * (20 - len(rows))
    ghost = GutterGhost(session)
    ghost.look()
    ghost.lay_over(rows, view, width, cursor)
    return rows


def said(rows: list[EditorRow]) -> dict[int, str]:
    return {y: "".join(text for text, _ in row.chips) for y, row in enumerate(rows) if row.chips}


@each("top, now_s", [(30, 101.0), (0, 104.0)])
def test_out_of_sight_it_says_nothing(top: int, now_s: float) -> None:
    session = session_with()
    session.now_s = now_s
    rows = laid_ghost(session, top=top)
    assert not said(rows)
    assert not any(row.ghost for row in rows)


@given(
    st.integers(0, 130),
    st.integers(0, 40),
    st.tuples(st.integers(0, 129), st.integers(0, 39)),
    st.integers(0, LINES - 1),
    st.integers(0, 30),
)
def test_it_hides_neither_text_nor_cursor(
    width: int, height: int, cursor: tuple[int, int], line: int, top: int
) -> None:
    session = session_with()
    view = View(session.workspace.open(PATH))
    rows = [
        EditorRow(f"value = {number}", number + 1, line=number)
        for number in range(top, top + height)
    ]
    ghost = GutterGhost(session)
    ghost.seen = ShownGhost(PATH, line)
    spot = cursor if cursor[0] < width and cursor[1] < height else None
    ghost.lay_over(rows, view, width, spot)
    assert len(rows) == height
    for y, row in enumerate(rows):
        start = width - sum(len(text) for text, _ in row.chips)
        if row.chips and row.ghost:
            assert start >= 7 + len(row.text)
        if row.chips and spot is not None and spot[1] == y:
            assert spot[0] < start


async def test_it_moves_in_the_editor_while_nothing_else_does() -> None:
    session = session_with(busy=False)
    session.now_s = 101.0
    app = EditorApp(session, PATH)
    async with app.run_test(size=(80, 20)) as pilot:
        app.pane.sync(Notices(status=True))
        await pilot.pause()
        editor = app.pane.editor

        def shown() -> list[str]:
            return [editor.render_line(y).text for y in range(editor.size.height)]

        assert shown()[14].startswith(f"{GUTTER_GHOST} 15")
        assert "50 tok/s would be here" in shown()[14]
        session.now_s = 101.2
        editor.background.walk()
        assert shown()[15].startswith(f"{GUTTER_GHOST} 16")
        assert not shown()[14].startswith(GUTTER_GHOST)
        session.now_s = 120.0
        editor.background.walk()
        assert GUTTER_GHOST not in "".join(shown())
        editor.background.walk()
        assert not editor.repeats.stop("ghost")
