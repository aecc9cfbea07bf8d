"""The user's changes on their way into the workspace: undo groups, and where the cursor goes.

What a key means is in `changes` and its neighbours; here it is made, once, for every editor.
"""

from __future__ import annotations

from tui.core.edits.workspace import Workspace
from tui.ui.editor.changes import Typing
from tui.ui.editor.undo_groups import UndoGroups
from tui.ui.editor.view import View


class Typist:
    """Makes the changes of one editor."""

    def __init__(self) -> None:
        self.groups = UndoGroups()
        self.cut_line = ""
        """The line on the clipboard that was cut as a whole; empty if something else is."""
        self._said: tuple[str, str] | None = None
        """The refusal that the user has read."""

    def make(self, workspace: Workspace, view: View, typing: Typing, now_s: float) -> None:
        """Change the text and place the cursor.

        Raises:
            EditRefused: the file is read-only or gone; nothing was changed.
        """
        cursor = view.cursor
        group = self.groups.name(typing, now_s)
        selection = cursor.selection
        for item in typing.replacements:
            done = workspace.edit(view.path, item.start, item.end, item.text, group)
        self._said = None
        cursor.moves += 1  # wherever it stays
        if typing.goes_to is not None:
            anchor, head = typing.goes_to
            cursor.place(anchor)
            cursor.place(head, select=True)
        elif not typing.keep_selection:
            cursor.place(done.new_end)
        elif selection is not None and selection[0][1] == 0 and (now := cursor.selection):
            cursor.select((selection[0][0], 0), now[1])

    def is_news(self, path: str, refusal: str) -> bool:
        """True the first time that this is to be said: a held key complains once."""
        news = self._said != (path, refusal)
        self._said = (path, refusal)
        return news
