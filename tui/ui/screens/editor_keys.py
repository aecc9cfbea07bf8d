"""Keys that work from everywhere and are about the editor pane."""

from __future__ import annotations

from tui.ui.editor.pane import EditorPane
from tui.ui.painting.screen import PaintedScreen


class EditorKeys(PaintedScreen):
    """The pane's actions that the scope "global" has; `WorkbenchKeys` adds its own."""

    editor: EditorPane

    def action_save(self) -> None:
        """Write the file that the editor shows."""
        self.editor.action_save()

    def action_open_file(self) -> None:
        """Open a file by a few letters of its name."""
        self.editor.action_open_file()

    def action_follow(self) -> None:
        """Follow the landing edit, or let go of it."""
        self.editor.action_follow()

    def action_wrap(self) -> None:
        """Wrap long lines in the editor, or don't."""
        self.editor.action_wrap()
