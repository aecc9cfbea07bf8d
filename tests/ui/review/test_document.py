"""What the review shows of each file, as rows in one column and in two."""

from __future__ import annotations

from tests.support.review_session import ReviewSession
from tui.core.steps import finished
from tui.ui.review.changes import FileChanges, making
from tui.ui.review.document import DiffDocument, DiffOptions, DiffRow, laying_rows


def rows_of(file: FileChanges, look: DiffOptions) -> list[DiffRow]:
    """All rows of one file."""
    document = DiffDocument([finished(laying_rows(file, look))])
    return [document.row(number) for number in range(document.height)]


def test_no_lines_belong_around_what_stands_nowhere() -> None:
    """They would look like its place."""
    session = ReviewSession({"a.py": "a = 1\nb = 2\n"})
    session.turn_of("*** Begin Patch\n*** Update File: a.py\n@@\n-x = 1\n+x = 2\n*** End Patch\n")
    (file,) = finished(making(session.workspace, session.workspace.hunks))
    for look, shown in (
        (DiffOptions(80, alone=True), 0),
        (DiffOptions(80, alone=True, unfolded=True), 2),
    ):
        kinds = [row.kind for row in rows_of(file, look) if row.kind != "note"]
        above = ["line"] * shown
        assert kinds == [*above, "hunk", "line", "line", "blank"]
