"""The rows of the file tree on the screen: which one is lit, where the view is."""

from __future__ import annotations

from collections.abc import Callable

from textual.geometry import Region
from textual.strip import Strip

from tui.ui.files.paint import Marks, header_strip, row_strip
from tui.ui.files.tree_rows import Tree, TreeRow
from tui.ui.widgets.painted import PaintedWidget


class TreeView(PaintedWidget, can_focus=True):
    """A header and the rows; `FileTree` fills them and takes the keys."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.tree_rows = Tree()
        self.words = ""
        """What the rows are filtered by; empty: not at all."""
        self.found: list[TreeRow] = []
        """What the filter left."""
        self.marks = Marks()
        self._at = 0
        self._top = 0

    @property
    def rows(self) -> list[TreeRow]:
        """The rows, filtered or not."""
        return self.found if self.words else self.tree_rows.rows

    @property
    def chosen(self) -> TreeRow | None:
        """The lit row."""
        rows = self.rows
        return rows[self._at] if self._at < len(rows) else None

    @property
    def at(self) -> int:
        """The index of the lit row."""
        return self._at

    @property
    def page(self) -> int:
        """Rows of a page."""
        return max(self.size.height - 2, 1)

    def row_at(self, y: int) -> int | None:
        """The index of the row at a line of the widget."""
        at = self._top + y - 1
        return at if y and at < len(self.rows) else None

    def go(self, at: int) -> None:
        """Light another row."""
        before, top = self._at, self._top
        self._at = max(min(at, len(self.rows) - 1), 0)
        height = max(self.size.height - 1, 1)
        self._top = max(min(self._top, self._at), self._at - height + 1)
        self._top = max(min(self._top, len(self.rows) - height), 0)
        if self._top != top:
            self.refresh()
        elif self._at != before:
            width = self.size.width
            rows = {y for y in (before - top + 1, self._at - top + 1) if 0 < y <= height}
            self.refresh(*(Region(0, y, width, 1) for y in rows))

    def scroll_rows(self, lines: int) -> None:
        """The user scrolls; the lit row stays where it is."""
        most = max(len(self.rows) - max(self.size.height - 1, 1), 0)
        top = max(min(self._top + lines, most), 0)
        if top != self._top:
            self._top = top
            self.refresh()

    def keeping(self, change: Callable[[], None]) -> None:
        """Change the rows; the lit file stays lit."""
        row = None if self.words else self.chosen
        change()
        if row is not None:
            rows = self.tree_rows.rows
            moved = self._at >= len(rows) or rows[self._at].path != row.path
            self.go_with_rows(self.tree_rows.index(row.path) if moved else self._at)
        self.refresh()

    def go_with_rows(self, at: int | None) -> None:
        """The lit row is in another place now (None: gone): show it in the same row."""
        shift = 0 if at is None else at - self._at
        self._top = max(self._top + shift, 0)
        self.go(self._at if at is None else at)

    def render_line(self, y: int) -> Strip:
        """The header, a row, or nothing."""
        width, rows = self.size.width, self.rows
        edge = self._edge(y)
        if y == 0:
            files = sum(row.kind == "file" for row in self.found)
            return header_strip(self.words, files, (width, edge), shows_all=self.tree_rows.all)
        at = self._top + y - 1
        row = rows[at] if at < len(rows) else None
        state = None if row is None or row.kind == "note" else self.tree_rows.states.of(row.path)
        return row_strip(row, state, self.marks, (width, edge), lit=at == self._at)

    def _edge(self, y: int) -> bool:
        """True where the scroll bar's thumb is."""
        shown, total = self.size.height - 1, len(self.rows)
        if total <= shown or y == 0 or shown <= 0:
            return False
        first = self._top * shown // total
        return first <= y - 1 <= max((self._top + shown) * shown // total - 1, first)
