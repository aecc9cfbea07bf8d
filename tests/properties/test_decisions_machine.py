"""Two authors, a disk, and someone who decides and thinks better of it, while it all streams.

`TwoAuthors` with undo and redo of decisions: what the user typed is never lost by them.
"""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.properties.test_two_authors_machine import TwoAuthors
from tui.core.document.hunk import Decision
from tui.errors import EditRefused


class SecondThoughts(TwoAuthors):
    """Decisions are undone and done again at any moment."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go: set[str] = set()
        """Typed, and once rejected with the hunk that it stood in: to do that again is no loss."""

    @rule(again=st.booleans(), count=st.integers(1, 3))
    def thinks_better_of_it(self, again: bool, count: int) -> None:
        """Undo (or redo) some decisions; a refusal changes nothing."""
        for _ in range(count):
            before = [(hunk.id, hunk.decision) for hunk in self.workspace.hunks]
            text = self.buffer.text()
            step = self.workspace.redo_decision if again else self.workspace.undo_decision
            entry = self.workspace.last_decision(again=again)
            try:
                self.disk.write(step())
                self.follow(takes=again and entry is not None and entry.whole)
            except EditRefused:
                assert self.buffer.text() == text
                assert [(hunk.id, hunk.decision) for hunk in self.workspace.hunks] == before
                return

    def follow(self, *, takes: bool) -> None:
        """What the user has let go goes again, and comes back when that is undone."""
        text = self.buffer.text()
        back = [token for token in self.undone if token in self.let_go and token in text]
        gone = [token for token in self.tokens if token not in text]
        assert not gone or (takes and self.let_go.issuperset(gone))
        self.tokens = [token for token in [*self.tokens, *back] if token not in gone]
        self.undone = [token for token in [*self.undone, *gone] if token not in back]

    @rule(data=st.data())
    def rejects_with_what_was_typed(self, data: st.DataObject) -> None:
        """Where the user asks for it, it goes; undoing the decision brings it back."""
        known = [hunk.id for hunk in self.workspace.hunks if hunk.decidable]
        if not known or self.streams:
            return
        text = self.buffer.text()
        done = len(self.workspace.documents.decisions.done)
        self.disk.write(self.workspace.reject([data.draw(st.sampled_from(known))], whole=True))
        if len(self.workspace.documents.decisions.done) > done:
            left = self.buffer.text()
            self.let_go |= {token for token in self.tokens if token not in left}
            self.disk.write(self.workspace.undo_decision())
            assert self.buffer.text() == text

    def teardown(self) -> None:
        """Everything can be undone, then all is as the last decisions left it."""
        for landing, rest in self.streams:
            landing.feed(rest)
            landing.finish(cut=False)
        self.streams = []
        for _ in range(200):
            if self.workspace.last_decision() is None:
                break
            with suppress(EditRefused):
                self.disk.write(self.workspace.undo_decision())
        assert self.workspace.last_decision() is None
        self.what_was_typed_is_there()
        accepted = [h for h in self.workspace.hunks if h.decision is Decision.ACCEPTED]
        assert all(h in self.workspace.documents.records[h.path].live for h in accepted)
        super().teardown()


TestSecondThoughts = SecondThoughts.TestCase
TestSecondThoughts.settings = settings(max_examples=8, stateful_step_count=40)


@pytest.mark.slow
class TestSecondThoughtsForLong(SecondThoughts.TestCase):
    settings = settings(max_examples=60, stateful_step_count=40)
