"""The file tree beside the editor, or over it where both do not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events

from tui.engine.notices import Notices
from tui.ui.editor.files import EditorFiles
from tui.ui.editor.sides import FEWEST_COLUMNS
from tui.ui.messages import EditorWanted

if TYPE_CHECKING:
    from tui.ui.files.tree import FileTree

_FEWEST_COLUMNS = 58
"""An editor beside the tree has these; else the tree lies over it, and goes when it is left."""
_WIDEST, _NARROWEST = 36, 24


class EditorTree(EditorFiles):
    """The open files and the tree; `EditorPane` adds the actions."""

    file_tree: FileTree | None = None
    """None until it was first wanted."""
    _cramped = False
    """Tree and editor do not fit beside each other."""

    @property
    def tree_open(self) -> bool:
        """The tree is in sight."""
        return self.has_class("-tree")

    @property
    def tree_over(self) -> bool:
        """It lies over the editor."""
        return self.has_class("-tree-over")

    async def toggle_tree(self) -> None:
        """Show the tree and go into it; from within it: put it away."""
        if self.file_tree is not None and self.tree_open:
            if self.screen.focused is self.file_tree:
                self.close_tree()
                self.post_message(EditorWanted())
                return
        else:
            await self._open_tree()
        if self.file_tree is not None:
            self.screen.set_focus(self.file_tree)

    def close_tree(self) -> None:
        """Put the tree away."""
        if self.file_tree is not None and self.tree_open:
            focused = self.screen.focused is self.file_tree
            self.remove_class("-tree", "-tree-over")
            self.file_tree.hide()
            if focused and self.editor.view is not None:
                self.screen.set_focus(self.editor)

    def leave_tree(self) -> bool:
        """Esc in the tree: take back what was typed, else leave it; False if it has no focus."""
        tree = self.file_tree
        if tree is None or not self.tree_open or self.screen.focused is not tree:
            return False
        if tree.clear_filter():
            return True
        if self.tree_over:
            self.close_tree()
            return self.editor.view is not None
        if self.editor.view is None:
            return False
        self.screen.set_focus(self.editor)
        return True

    def sync(self, notices: Notices) -> None:
        """Paint what changed; called once a frame."""
        super().sync(notices)
        if self.file_tree is not None and self.tree_open:
            if self._cramped and self.tree_over == (self.editor.view is None):
                self._place_tree()  # the first file came, or the last one went
            if self.tree_over and self.screen.focused is not self.file_tree:
                self.close_tree()
            self.file_tree.sync(notices)

    def settled(self) -> None:
        """Two sides need the room that the tree has."""
        super().settled()
        self._place_tree()

    def recolour(self) -> None:
        """The theme changed."""
        super().recolour()
        if self.file_tree is not None:
            self.file_tree.refresh()

    def on_resize(self, event: events.Resize) -> None:
        """Beside the editor, or over it."""
        super().on_resize(event)
        self._place_tree()

    async def _open_tree(self) -> None:
        from tui.ui.files.tree import FileTree  # not before it is wanted

        if self.file_tree is None:
            self.file_tree = FileTree(self.session, id="tree")
            await self.query_one("#editor-row").mount(self.file_tree, before=0)
        self.add_class("-tree")
        self._place_tree()
        self.file_tree.show(self.active)

    def _place_tree(self) -> None:
        if self.file_tree is None or not self.tree_open:
            return
        width = self.size.width
        columns = max(min(width // 3, _WIDEST), _NARROWEST)
        needed = 2 * FEWEST_COLUMNS if self.beside else _FEWEST_COLUMNS
        self._cramped = width - columns < needed
        over = self._cramped and self.editor.view is not None
        self.set_class(over, "-tree-over")
        self.file_tree.styles.width = min(_WIDEST, width) if over else columns

    async def on_file_tree_opened(self, event: FileTree.Opened) -> None:
        """A file was chosen: show it, and go there."""
        event.stop()
        if event.aside:
            await self.divide()
            if (other := self.other) is not None:
                self.enter(other)
        if self._cramped:
            self.close_tree()
        self.choose(event.path)
        self.post_message(EditorWanted())

    def on_file_tree_left(self, event: FileTree.Left) -> None:
        """Back to the editor."""
        event.stop()
        if self.tree_over:
            self.close_tree()
        self.post_message(EditorWanted())
