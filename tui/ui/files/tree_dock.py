"""Where the file tree lies: beside the editor, or over it where both do not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widget import Widget

from tui.engine.notices import Notices
from tui.ui.editor.session import EditorSession
from tui.ui.editor.sides import FEWEST_COLUMNS, Sides
from tui.ui.messages import EditorWanted

if TYPE_CHECKING:
    from tui.ui.files.file_tree import FileTree

_BESIDE_COLUMNS = 40
"""An editor beside the tree has these; else the tree lies over it, and goes when it is left."""
_WIDEST, _NARROWEST = 36, 24


class TreeDock:
    """Opens, places and puts away the tree of one editor pane."""

    def __init__(self, session: EditorSession, sides: Sides, pane: Widget) -> None:
        self.tree: FileTree | None = None
        """None until it was first wanted."""
        self.cramped = False
        """Tree and editor do not fit beside each other."""
        self._session = session
        self._sides = sides
        self._pane = pane

    @property
    def is_open(self) -> bool:
        """The tree is in sight."""
        return self._pane.has_class("-tree")

    @property
    def is_over(self) -> bool:
        """It lies over the editor."""
        return self._pane.has_class("-tree-over")

    async def toggle(self) -> None:
        """Show the tree and go into it; from within it: put it away."""
        screen = self._pane.screen
        if self.tree is None or not self.is_open:
            await self._open()
        elif screen.focused is self.tree:
            self.close()
            self._pane.post_message(EditorWanted())
            return
        if self.tree is not None:
            screen.set_focus(self.tree)

    def close(self) -> None:
        """Put the tree away."""
        if self.tree is not None and self.is_open:
            focused = self._pane.screen.focused is self.tree
            self._pane.remove_class("-tree", "-tree-over")
            self.tree.hide()
            if focused:
                self._focus_editor()

    def leave(self) -> bool:
        """Esc in the tree: take back what was typed, else leave it; False if it has no focus."""
        tree = self.tree
        if tree is None or not self.is_open or self._pane.screen.focused is not tree:
            return False
        if tree.clear_filter():
            return True
        if self.is_over:
            self.close()
            return self._sides.used.editor.view is not None
        return self._focus_editor()

    def sync(self, notices: Notices) -> None:
        """Paint what changed; called once a frame."""
        if self.tree is not None and self.is_open:
            if self.cramped and self.is_over == (self._sides.used.editor.view is None):
                self.place()  # the first file came, or the last one went
            if self.is_over and self._pane.screen.focused is not self.tree:
                self.close()
            self.tree.sync(notices)

    def place(self) -> None:
        """Beside the editor, or over it: two sides need the room that the tree has."""
        if self.tree is None or not self.is_open:
            return
        width = self._pane.size.width
        columns = max(min(width // 3, _WIDEST), _NARROWEST)
        needed = 2 * FEWEST_COLUMNS if self._sides.beside else _BESIDE_COLUMNS
        self.cramped = width - columns < needed
        over = self.cramped and self._sides.used.editor.view is not None
        self._pane.set_class(over, "-tree-over")
        self.tree.styles.width = min(_WIDEST, width) if over else columns

    def _focus_editor(self) -> bool:
        """Give the focus to the text, if there is one."""
        editor = self._sides.used.editor
        if editor.view is not None:
            self._pane.screen.set_focus(editor)
        return editor.view is not None

    async def _open(self) -> None:
        from tui.ui.files.file_tree import FileTree  # not before it is wanted

        if self.tree is None:
            self.tree = FileTree(self._session, id="tree")
            await self._pane.query_one("#editor-row").mount(self.tree, before=0)
        self._pane.add_class("-tree")
        self.place()
        self.tree.show(self._sides.used.path)
