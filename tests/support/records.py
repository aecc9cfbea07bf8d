"""What was done to the files of a workspace, as change sets, beside the workspace itself."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest
from typing import Any

from tui.core.document.file_record import FileRecord
from tui.core.document.hunk import Hunk
from tui.core.document.workspace import Workspace
from tui.core.text.buffer import Buffer
from tui.core.text.change_set import Change, ChangeSet, Position, end_of
from tui.core.text.rows import Span


class Records:
    """Each change of each buffer from the moment on that it is known."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.began: dict[Buffer, tuple[str, ChangeSet]] = {}
        """The text that a buffer had, and what all changes since have done to it."""
        self.news: list[tuple[Buffer, Change]] = []
        documents = workspace.documents
        follow = documents._follow

        def noted(record: FileRecord, change: Change, *more: Any) -> Span:
            self.news.append((record.buffer, change))
            return follow(record, change, *more)

        documents.__dict__["_follow"] = noted

    def check(self) -> None:
        """Texts are what their changes make of them, and what the edits that are on leave."""
        self.compose()
        for record in list(self.workspace.documents.records.values()):
            text = record.buffer.text()
            began, done = self.began.setdefault(
                record.buffer, (text, ChangeSet(end_of((0, 0), text)))
            )
            assert done.apply(began) == text
            assert done.invert().apply(text) == began
            if record._weave is not None:
                assert record.weave.end == record.buffer.end
                assert record.weave.without((), text) == text
            if not (record.gone or record.view or record.sections):
                check_hunks(self.workspace, record)

    def compose(self) -> None:
        """Put the changes since the last time to those before them."""
        news, self.news = self.news, []
        for buffer in {buffer for buffer, _ in news} & self.began.keys():
            began, done = self.began[buffer]
            changes = [one for other, one in news if other is buffer]
            self.began[buffer] = began, done.compose(composed(done.new_end, changes))


def composed(end: Position, changes: Iterable[Change]) -> ChangeSet:
    """What changes have done together, each of which was made in the text of those before it."""
    made = [ChangeSet(end, ())]
    for change in changes:
        made.append(ChangeSet(made[-1].new_end, (change,)))
    while len(made) > 1:  # halves, so that each is gone through a few times only
        pairs = zip_longest(made[::2], made[1::2])
        made = [one.compose(other) if other else one for one, other in pairs]
    return made[0]


def check_hunks(workspace: Workspace, record: FileRecord) -> None:
    """With all of its hunks a file is as it is; with none as without the edits of the model."""
    path, text = record.path, record.buffer.text()
    assert workspace.with_hunks(path, [hunk.id for hunk in record.live]) == record.buffer.encode()
    edits = [edit for edit in record.weave.edits if isinstance(edit.key, Hunk) and edit.on]
    others = any(edit.on and not isinstance(edit.key, Hunk) for edit in record.weave.edits)
    standing = {edit.key for edit in edits} == set(record.live)
    ended = all(
        not part or part.endswith("\n") for one in record.live for part in (one.base, one.agent)
    )
    if standing and ended and not others:
        data = workspace.with_hunks(path, []) or b""
        assert data == record.buffer.form.encode(record.weave.without(edits, text))
