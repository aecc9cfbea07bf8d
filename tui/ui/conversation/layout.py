"""Where every row of the conversation is: views under each other, found by row number."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from tui.core.turn import Block, BlockKind
from tui.engine.notices import Notices
from tui.engine.session import Session
from tui.ui import theme
from tui.ui.conversation.views import VIEWS, BlockView, PatchView, Scene
from tui.ui.conversation.welcome import welcome_lines
from tui.ui.rows import Row, Target, inner_width

_NEWEST = 4
"""Cards that are looked at whenever hunks or buffers changed: their line numbers move."""


class Stop(NamedTuple):
    """A row on which Enter does something."""

    row: int
    view: int
    """Index of the block."""
    target: Target


class Layout:
    """All views of a transcript and the row at which each begins."""

    def __init__(self, session: Session, scene: Scene) -> None:
        """``scene.hunks`` is set here; its width and root are the widget's to set."""
        self.scene = scene
        self.views: list[BlockView] = []
        self.total = 0
        """Number of rows."""
        self._session = session
        self._starts: list[int] = []
        self._reviews = 0
        self._patches: list[int] = []
        self._open: set[int] = set()
        """Those of them whose patch is still coming, perhaps."""
        self._welcome: list[Row] = []
        self._welcome_key: object = None
        scene.hunks = session.workspace.roster.of_call

    def row(self, number: int) -> Row | None:
        """The row of this number; None outside."""
        if not 0 <= number < self.total:
            return self._welcome_row(number)
        view = bisect_right(self._starts, number) - 1
        return self.views[view].rows[number - self._starts[view]]

    def _welcome_row(self, number: int) -> Row | None:
        """Rows of an empty conversation."""
        if self.views:
            return None
        status, width = self._session.status, self.scene.width
        key = (status.rehearsal, status.endpoint, width, theme.active().name)
        if key != self._welcome_key:
            lines = welcome_lines(status, inner_width(width))
            self._welcome_key, self._welcome = key, [Row(line, width) for line in lines]
        return self._welcome[number] if 0 <= number < len(self._welcome) else None

    def rebuild(self) -> None:
        """Make everything anew: the width or the colours changed."""
        folds = {index for index, view in enumerate(self.views) if not view.folded}
        self.views.clear()
        self._starts.clear()
        self._patches.clear()
        self._open.clear()
        self.total = 0
        self._grow(folds)

    def sync(self, notices: Notices, shown: range = range(0)) -> int | None:
        """Read what is new; returns the first row that changed, None if none did.

        Cards are looked at where they may have changed: those still open, the newest, those
        with a row in ``shown``; and all of them once the user has decided something.
        """
        blocks = self._session.transcript.blocks
        if len(blocks) < len(self.views) or (self.views and blocks[0] is not self.views[0].block):
            self.views.clear()
            self.rebuild()
            return 0
        first_row: int | None = None
        changed: set[int] = set()
        if notices.transcript_from is not None:
            changed.update(range(notices.transcript_from, len(self.views)))
        if notices.hunks or notices.buffers:
            changed.update(self._cards(shown))
        for index in sorted(changed):
            row = self._sync_view(index)
            if row is not None:
                first_row = row if first_row is None else min(first_row, row)
        grown = self._grow(set())
        return grown if first_row is None else first_row

    def refocus(self) -> int | None:
        """`Scene.focus` changed: the cards' keys are elsewhere."""
        rows = [row for index in self._patches if (row := self._sync_view(index)) is not None]
        return min(rows, default=None)

    def toggle(self, index: int) -> int | None:
        """Fold or unfold a block; returns the first row that changed."""
        self.views[index].toggle()
        return self._sync_view(index)

    def stops(self) -> list[Stop]:
        """All rows on which Enter does something, in order."""
        found: list[Stop] = []
        for index, view in enumerate(self.views):
            before: Target | None = None
            for offset, row in enumerate(view.rows):
                if row.target is not None and row.target != before:
                    found.append(Stop(self._starts[index] + offset, index, row.target))
                before = row.target
        return found

    def _sync_view(self, index: int) -> int | None:
        view = self.views[index]
        height = len(view.rows)
        changed = view.sync()
        if changed is None:
            return None
        if (grown := len(view.rows) - height) != 0:
            for later in range(index + 1, len(self._starts)):
                self._starts[later] += grown
            self.total += grown
        return self._starts[index] + changed

    def _grow(self, unfolded: set[int]) -> int | None:
        """Views for new blocks; returns the first new row."""
        blocks = self._session.transcript.blocks
        first = self.total if len(blocks) > len(self.views) else None
        for index in range(len(self.views), len(blocks)):
            view = self._view(blocks[index], index, blocks)
            view.folded = index not in unfolded
            view.sync()
            self.views.append(view)
            self._starts.append(self.total)
            self.total += len(view.rows)
            if isinstance(view, PatchView):
                self._patches.append(index)
                self._open.add(index)
        return first

    def _view(self, block: Block, index: int, blocks: Sequence[Block]) -> BlockView:
        before = blocks[index - 1] if index else None
        return VIEWS[BlockKind(block.kind)](block, index, self.scene, before)

    def _cards(self, shown: range) -> list[int]:
        """Indexes of the cards to look at."""
        reviews = self._session.workspace.roster.reviews
        if reviews != self._reviews:
            self._reviews = reviews
            return self._patches
        views = self.views
        self._open = {index for index in self._open if views[index].block.state == "open"}
        first = max(bisect_right(self._starts, shown.start) - 1, 0)
        last = bisect_right(self._starts, shown.stop)
        seen = [i for i in range(first, last) if isinstance(views[i], PatchView)]
        return [*self._open, *seen, *self._patches[-_NEWEST:]]
