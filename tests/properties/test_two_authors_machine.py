"""Two authors and a disk, step by step in any order: what the user typed is never lost.

The user types tokens that occur nowhere else, takes edits back and does them again, saves,
decides and takes turns back; models stream patches in pieces, two at a time, and are cut; the
disk changes. Each token must be in the text, in the user's redo, or have been deleted by the
user himself; and it must be on the disk after every save, but for what stands in a hunk that is
not decided: that is dirty, and a crash keeps it.
"""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.support.notations import edited, notations, told
from tests.support.patches import Disk, edits_of, turns_left
from tests.support.records import Records
from tui.core.document.disk_plan import still_text
from tui.core.document.hunk import PLACED, Decision
from tui.core.document.review import take_back_cut
from tui.core.document.workspace import undo_stopped
from tui.core.edit_stream.events import Notation
from tui.core.files import FileRead
from tui.core.patches.landing import Landing
from tui.core.text.rows import rows_text
from tui.core.unsaved import typed_text
from tui.errors import EditRefused

PATH = "a.txt"
START = [f"line {number}" for number in range(12)] + ["same", "", "same", ""]
WORDS = frozenset({"landing", "pending", "accepted", "struck", "cut", "conflict", "candidate"})


class TwoAuthors(RuleBasedStateMachine):
    """One file, one user, up to two streaming models, a disk that changes by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.disk = Disk({PATH: "\n".join([*START, ""]).encode()})
        self.workspace = self.disk.workspace
        self.workspace.documents.ask = self.workspace.documents.freeze = True
        self.buffer = self.workspace.open(PATH)
        self.records = Records(self.workspace)
        self.records.check()
        self.streams: list[tuple[Landing, str]] = []
        self.sent = list(START)
        """The lines as the model was sent them."""
        self.tokens: list[str] = []
        """Typed and not taken back by the user himself."""
        self.undone: list[str] = []
        self.passed: set[str] = set()
        """Tokens that an undo passed over, as others had written into them."""
        self.insists = False
        """The last undo stopped at such an edit, and said so."""
        self.turn = 0
        self.outsiders = 0

    # the user

    @rule(data=st.data(), ends=st.sampled_from(["", "\n", " x"]))
    def types(self, data: st.DataObject, ends: str) -> None:
        token = chr(0xE000 + len(self.tokens) + len(self.undone))
        line = data.draw(st.integers(0, self.buffer.line_count - 1))
        at = (line, data.draw(st.integers(0, len(self.buffer.lines[line]))))
        self.workspace.edit(PATH, at, at, token + ends)
        self.tokens.append(token)

    @rule(data=st.data())
    def deletes_without_tokens(self, data: st.DataObject) -> None:
        line = data.draw(st.integers(0, self.buffer.line_count - 1))
        last = min(line + data.draw(st.integers(0, 2)), self.buffer.line_count - 1)
        end = (last, len(self.buffer.lines[last]))
        if not any(token in self.buffer.slice((line, 0), end) for token in self.tokens):
            self.workspace.edit(PATH, (line, 0), end, "")

    @rule(again=st.booleans())
    def undoes(self, again: bool) -> None:
        before = self.buffer.text()
        (self.workspace.redo if again else self.workspace.undo)(PATH)
        text, stopped = self.buffer.text(), undo_stopped(self.workspace, PATH)
        if stopped:
            assert text == before
        elif not again:
            self.was_the_newest([token for token in self.tokens if token not in text])
        self.insists = stopped and not again
        known = [*self.tokens, *self.undone]
        self.tokens = [token for token in known if token in text]
        self.undone = [token for token in known if token not in text]

    def was_the_newest(self, gone: list[str]) -> None:
        """Only the user's last edit goes; an older one where he insists, as he was told."""
        assert len(gone) <= 1
        for token in gone:
            newer = {one for one in self.tokens if one > token and one not in gone}
            assert newer <= self.passed or self.insists
            self.passed |= newer

    @rule()
    def saves(self) -> None:
        if PATH in self.workspace.conflicts:
            self.workspace.outside_change(PATH, FileRead(self.disk.files[PATH]))
        self.disk.write([PATH])
        if PATH not in self.workspace.conflicts:
            held = self.held()
            record = self.workspace.documents.records[PATH]
            assert record.planned is not None
            assert self.workspace.is_dirty(PATH) == bool(record.planned[2])
            text = self.disk.files[PATH].decode()
            tokens = [token for token in self.tokens if token not in held]
            assert [text.count(token) for token in tokens] == [1] * len(tokens)

    def held(self) -> str:
        """The text of hunks that does not come apart from what the user typed in it."""
        record = self.workspace.documents.records[PATH]
        self.workspace.disk_plan(PATH)
        assert record.planned is not None
        rows = [
            (one.start.line, one.end.line) for one in record.planned[2] if one.start and one.end
        ]
        return "".join(rows_text(self.buffer, first, last) for first, last in rows)

    @rule(data=st.data(), accepted=st.booleans())
    def decides(self, data: st.DataObject, accepted: bool) -> None:
        ids = None
        if self.workspace.hunks and data.draw(st.booleans()):
            known = [hunk.id for hunk in self.workspace.hunks]
            ids = data.draw(st.lists(st.sampled_from(known), max_size=3))
        decide = self.workspace.accept if accepted else self.workspace.reject
        self.disk.write(decide(ids))

    @rule(data=st.data())
    def places(self, data: st.DataObject) -> None:
        for hunk in [hunk for hunk in self.workspace.hunks if hunk.placeable]:
            try:
                self.workspace.place(hunk.id, data.draw(st.sampled_from(hunk.candidates)))
            except EditRefused:
                continue

    @rule()
    def takes_a_turn_back(self) -> None:
        self.disk.write(self.workspace.undo_turn())

    # the models

    @precondition(lambda self: not self.streams)
    @rule()
    def is_asked(self) -> None:
        """A request: it says how the text is now."""
        self.workspace.take_user_changes()
        self.sent = self.buffer.lines[: None if self.buffer.lines[-1] else -1]

    @precondition(lambda self: len(self.streams) < 2)
    @rule(data=st.data(), fmt=notations, context=st.integers(0, 2), over=st.booleans())
    def starts(self, data: st.DataObject, fmt: Notation, context: int, over: bool) -> None:
        """A patch of the text as it was sent; ``over``: a new file in the place of this one."""
        self.turn += 1
        lines = self.sent
        if any("\r" in line for line in lines):
            return
        edits = [
            edit
            for edit in data.draw(edits_of(len(lines), apart=2))
            if max("".join(lines[edit.first : edit.last]), default="") < "\ue000"
        ]  # accepting the deletion of a token would be the user's own wish
        patch = told(fmt, lines, edits, context, PATH)
        if fmt == "apply_patch" and over:
            body = "".join(f"+{line}\n" for line in edited(lines, edits))
            patch = f"*** Begin Patch\n*** Add File: {PATH}\n{body}*** End Patch\n"
        self.streams.append((self.disk.start(self.turn, fmt), patch))

    @precondition(lambda self: self.streams)
    @rule(data=st.data(), count=st.integers(1, 60), tail=st.booleans())
    def streams_on(self, data: st.DataObject, count: int, tail: bool) -> None:
        at = data.draw(st.integers(0, len(self.streams) - 1))
        landing, rest = self.streams[at]
        landing.feed(rest[:count])
        if tail:
            landing.tail()
        self.streams[at] = (landing, rest[count:])

    @precondition(lambda self: self.streams)
    @rule(data=st.data(), cut=st.booleans())
    def ends(self, data: st.DataObject, cut: bool) -> None:
        landing, rest = self.streams.pop(data.draw(st.integers(0, len(self.streams) - 1)))
        if not cut:
            landing.feed(rest)
        landing.finish(cut=cut)
        assert landing.report()

    @rule()
    def goes_on(self) -> None:
        take_back_cut(self.workspace.documents)
        assert not self.workspace.hunk_list.cut()

    # the disk

    @rule(data=st.data(), theirs=st.booleans())
    def disk_changes(self, data: st.DataObject, theirs: bool) -> None:
        lines = self.disk.files[PATH].decode().split("\n")
        self.outsiders += 1
        lines.insert(data.draw(st.integers(0, len(lines) - 1)), f"outside {self.outsiders}")
        self.disk.files[PATH] = "\n".join(lines).encode()
        read = FileRead(self.disk.files[PATH])
        self.workspace.outside_change(PATH, read)
        if PATH in self.workspace.conflicts and theirs:
            text = self.buffer.text()
            if self.workspace.documents.records[PATH].landing is not None:
                with pytest.raises(EditRefused, match="a model writes in"):
                    self.workspace.outside_change(PATH, read, theirs=True)
                assert self.buffer.text() == text
                return
            self.workspace.outside_change(PATH, read, theirs=True)
            text = self.buffer.text()
            gone = [token for token in self.tokens if token not in text]
            self.workspace.undo(PATH)
            back = self.buffer.text()
            lost = [token for token in gone if token not in back]
            assert not lost or self.streams, "undo brings back what theirs took"
            self.tokens = [token for token in self.tokens if token in back]
            self.undone += lost

    # always

    @invariant()
    def what_was_typed_is_there(self) -> None:
        text = self.buffer.text()
        assert [text.count(token) for token in self.tokens] == [1] * len(self.tokens)

    @invariant()
    def the_disk_gets_what_was_typed(self) -> None:
        plan = self.workspace.disk_plan(PATH)
        assert plan.data is not None
        record = self.workspace.documents.records[PATH]
        slow, hunks = still_text(self.workspace.documents, record).apart()
        assert (slow.encode(), hunks) == (plan.data, record.planned and record.planned[2])
        text, held = plan.data.decode(), self.held()
        tokens = [token for token in self.tokens if token not in held]
        assert [text.count(token) for token in tokens] == [1] * len(tokens)
        typed = typed_text(self.workspace.documents, PATH)
        kept = typed.file() if typed else None
        assert kept is not None
        text = kept.data.decode()
        assert [text.count(token) for token in self.tokens] == [1] * len(self.tokens)

    @invariant()
    def the_text_is_what_all_changes_made_of_it(self) -> None:
        self.records.check()

    @invariant()
    def what_is_saved_is_on_the_disk(self) -> None:
        waits = any(hunk.undecided for hunk in self.workspace.hunks) or self.streams
        if not (waits or self.workspace.is_dirty(PATH) or PATH in self.workspace.conflicts):
            assert self.buffer.encode() == self.disk.files[PATH]

    @invariant()
    def hunks_stand_in_the_file(self) -> None:
        for hunk in self.workspace.hunks:
            if hunk.stage in PLACED and hunk.decision is Decision.PENDING:
                assert hunk.start is not None
                assert hunk.end is not None
                assert 0 <= hunk.start.line <= hunk.end.line <= self.buffer.line_count

    @invariant()
    def decorations_are_of_lines(self) -> None:
        found = self.workspace.decorations(PATH, 0, self.buffer.line_count)
        assert set(found.values()) <= WORDS
        assert all(0 <= line <= self.buffer.line_count for line in found)
        few = self.workspace.decorations(PATH, 2, 4)
        assert few == {line: word for line, word in found.items() if 2 <= line <= 4}

    def teardown(self) -> None:
        """Everything ends; without the model the user's words and the disk's are left."""
        for landing, rest in self.streams:
            landing.feed(rest)
            landing.finish(cut=False)
        self.what_was_typed_is_there()
        self.disk.write(self.workspace.accept())
        self.what_was_typed_is_there()
        while turns_left(self.workspace):
            before = turns_left(self.workspace)
            self.disk.write(self.workspace.undo_turn())
            if turns_left(self.workspace) == before:
                break
        self.what_was_typed_is_there()


TestTwoAuthors = TwoAuthors.TestCase
TestTwoAuthors.settings = settings(max_examples=8, stateful_step_count=40)


@pytest.mark.slow
class TestTwoAuthorsForLong(TwoAuthors.TestCase):
    settings = settings(max_examples=60, stateful_step_count=40)
