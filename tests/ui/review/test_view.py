"""Stepping through a diff, and deciding on its hunks, without an app."""

from __future__ import annotations

from types import SimpleNamespace

from textual.message import Message

from tests.support.review_session import ReviewSession
from tui.core.document.hunk import Stage
from tui.core.steps import finished
from tui.engine.intents import Accept, Reject
from tui.ui.messages import HunkShown
from tui.ui.review.changes import making
from tui.ui.review.document import DiffOptions, laying_out
from tui.ui.review.screen import ReviewDecisions
from tui.ui.review.view import DiffCursor

HEIGHT = 24


class Review:
    """A turn that has landed, its cursor, and decisions on it."""

    def __init__(self) -> None:
        self.session = ReviewSession()
        self.session.turn_of()
        self.said: list[str] = []
        self.left: list[Message] = []
        self.content = SimpleNamespace(decides=True)
        self.cursor = DiffCursor(lambda: HEIGHT, lambda: None)
        self.decisions = ReviewDecisions(
            self.session, self.content, self.cursor, self.said.append, self.left.append
        )
        self.lay_out()

    def lay_out(self, *, unfolded: bool = False) -> None:
        workspace = self.session.workspace
        files = making(workspace, workspace.hunks, self.cursor.places)
        self.cursor.take(finished(laying_out(files, DiffOptions(80, unfolded=unfolded))))

    @property
    def chosen(self) -> int:
        assert self.cursor.hunk is not None
        return self.cursor.hunk.id

    @property
    def place(self) -> int:
        """How far below the upper edge the chosen change is."""
        place = self.cursor.row - self.cursor.top
        assert 0 <= place < HEIGHT
        return place


def test_what_is_chosen_is_in_sight_and_stays_where_it_is() -> None:
    review = Review()
    cursor = review.cursor
    ids = [review.chosen]
    for _ in range(len(cursor.laid.stops) - 1):
        cursor.step(1)
        assert review.place < HEIGHT
        ids.append(review.chosen)
    assert ids == list(dict.fromkeys(ids))
    cursor.step(1)
    assert review.chosen == ids[-1], "there is no further one"
    cursor.choose_hunk(ids[1])
    before = review.place
    review.lay_out(unfolded=True)
    assert (review.chosen, review.place) == (ids[1], before)
    review.lay_out()
    rows = cursor.laid.rows
    cursor.scroll_rows(review.place + 1)
    assert cursor.row == min(row for row in rows if row >= cursor.top)
    cursor.scroll_rows(2 * HEIGHT)
    cursor.scroll_rows(review.place - HEIGHT)
    assert cursor.row == max(row for row in rows if row < cursor.top + HEIGHT)
    cursor.step_file(1)
    cursor.step_file(-9)
    assert review.chosen == ids[0]
    assert not cursor.choose_hunk(99)


def test_decisions_go_on_to_the_next_hunk_that_waits() -> None:
    review = Review()
    review.decisions.accept()
    assert (review.session.asked[-1], review.chosen) == (Accept((1,)), 2)
    review.decisions.reject("too long")
    assert (review.session.asked[-1], review.chosen) == (Reject((2,), "too long"), 3)
    review.decisions.undo()
    assert review.chosen == 2
    review.decisions.decide_file(True)
    assert review.session.asked[-1] == Accept((2, 3, 4))
    review.cursor.choose_hunk(1)
    assert review.decisions.to_explain() is None
    assert review.said == ["This hunk is already decided; u undoes that."]
    assert review.decisions.edit() is None
    (message,) = review.left
    assert isinstance(message, HunkShown)
    assert (message.hunk_id, message.edit, message.review) == (1, False, True)


def test_a_cut_hunk_is_not_accepted_with_others_but_taken_back_with_them() -> None:
    review = Review()
    hunks = [hunk for hunk in review.session.workspace.hunks if hunk.decidable]
    hunks[0].stage = Stage.CUT
    review.decisions.decide_all(True)
    (said,) = review.said
    assert said.startswith(f"Hunk {hunks[0].id} was cut, and is left out: a keeps it")
    assert review.session.asked[-1] == Accept(tuple(hunk.id for hunk in hunks[1:]))
    review.decisions.decide_all(False)
    assert review.session.asked[-1] == Reject((hunks[0].id,))


def test_nothing_is_decided_where_a_diff_is_only_looked_at() -> None:
    review = Review()
    review.content.decides = False
    asked = len(review.session.asked)
    for act in (review.decisions.accept, review.decisions.reject, review.decisions.undo):
        act()
    review.decisions.decide_all(False)
    assert review.said == ["This diff is read-only; d goes back to the review."] * 4
    assert len(review.session.asked) == asked
