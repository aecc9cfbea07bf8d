"""The file tree: folders that are listed when they are opened, with git's states.

Arrows move, Enter opens, letters filter; the mouse does the same. It shows what the file finder
offers; Alt+I shows the rest, dimmed. A folder is read in a thread, and again only when the
watcher says that something in it changed.
"""

from __future__ import annotations

from textual import events
from textual.message import Message

from tui.engine.notices import Notices
from tui.ui.editor.session import EditorSession
from tui.ui.files.loading import ListedTree
from tui.ui.files.paint import Marks
from tui.ui.files.tree_rows import PathIndex, best, filtered
from tui.ui.keymap import bindings

_WHEEL_LINES = 3
_MOVES = {"up": -1, "down": 1, "ctrl+p": -1, "ctrl+n": 1}


class FileTree(ListedTree, can_focus=True):
    """The tree of one session's workspace."""

    BINDINGS = bindings("files")

    class Opened(Message):
        """A file was chosen; ``aside``: for the other one of two editors."""

        def __init__(self, path: str, *, aside: bool = False) -> None:
            super().__init__()
            self.path = path
            self.aside = aside

    class Left(Message):
        """The user goes back to the editor."""

    def __init__(self, session: EditorSession, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self._listed: list[str] = []
        self._paths: PathIndex | None = None
        self._fresh = False
        """It was looked at just now, when it was shown."""

    def show(self, active: str) -> None:
        """The tree came into sight: look at everything anew, light the active file."""
        self._fresh = True
        self.session.folders.watch(seen=True)
        self.tree_rows.take(self.session.folders.states)
        self.tree_rows.forget()
        self.mark()
        self.reveal(active)

    def hide(self) -> None:
        """Out of sight nothing is looked at."""
        self.session.folders.watch(seen=False)
        self.words, self._paths = "", None

    def sync(self, notices: Notices) -> None:
        """Take up what changed, in a frame."""
        if notices.git:
            self.keeping(lambda: self.tree_rows.take(self.session.folders.states))
        if notices.folders:
            self.tree_rows.forget(notices.folders)
            self.load()
        if self.words and (notices.folders or notices.listing):
            self._find_again()
        if notices.tabs or notices.status:
            self.mark()

    def mark(self) -> None:
        """Which file is active and which are not saved may have changed."""
        status, workspace = self.session.status, self.session.workspace
        unsaved = frozenset(path for path in status.open_paths if workspace.is_dirty(path))
        marks = Marks(status.active_path, unsaved, self.has_focus)
        if marks != self.marks:
            moved = marks.active != self.marks.active
            self.marks = marks
            self.refresh()
            if moved and not self.has_focus and not self.words and marks.active:
                self.reveal(marks.active)

    def filter(self, words: str) -> None:
        """Show only what has these words in its path; empty: everything."""
        before = self.chosen
        self.words = words
        if words.strip():
            self.found = filtered(self._index().find(words), words)
            self.go(best(self.found))
        else:
            self.found = []
            if before is not None and before.kind == "file":
                self.reveal(before.path)
            self.go(self.at)
        self.refresh()

    def _find_again(self) -> None:
        """Other files may have the words now; the lit row stays lit, and where it is."""
        row = self.chosen
        self.found = filtered(self._index().find(self.words), self.words)
        at = (
            None
            if row is None
            else next((at for at, now in enumerate(self.found) if now.path == row.path), None)
        )
        self.go_with_rows(at)
        self.refresh()

    def _index(self) -> PathIndex:
        """The paths to be filtered, made anew when there are others."""
        listed = self.session.listing()
        if self._paths is None or self._listed is not listed:
            crowded = set(self.tree_rows.crowded()).difference(listed)
            self._listed, self._paths = listed, PathIndex([*listed, *sorted(crowded)])
        return self._paths

    def clear_filter(self) -> bool:
        """Show everything again; False if nothing was typed."""
        typed = bool(self.words)
        if typed:
            self.filter("")
        return typed

    # -- keys and mouse

    def on_key(self, event: events.Key) -> None:
        """Move and filter; every other key bubbles."""
        if self._take_key(event):
            event.stop()
            event.prevent_default()

    def _take_key(self, event: events.Key) -> bool:
        key = event.key
        self.forget_wish()  # the user is going elsewhere by now
        moves = _MOVES | {"pageup": -self.page, "pagedown": self.page}
        if key in moves:
            self.go(self.at + moves[key])
        elif key in ("home", "end"):
            self.go(0 if key == "home" else len(self.rows) - 1)
        elif key in ("left", "right"):
            self._turn(opening=key == "right")
        elif key in ("backspace", "ctrl+h"):
            self.filter(self.words[:-1])
        elif event.is_printable and event.character and "+" not in key.removesuffix("+"):
            self.filter((self.words + event.character).lstrip())
        else:
            return False
        return True

    def action_open_row(self) -> None:
        """Open the file; open or close the folder."""
        self._enter(aside=False)

    def action_open_beside(self) -> None:
        """Open the file in the other editor."""
        self._enter(aside=True)

    def action_show_all(self) -> None:
        """With or without what is hidden or ignored."""
        self.keeping(lambda: self.tree_rows.show_all(not self.tree_rows.all))

    def action_leave(self) -> None:
        """Back to the editor."""
        self.post_message(self.Left())

    def on_click(self, event: events.Click) -> None:
        """Open what was clicked."""
        event.stop()
        if (at := self.row_at(event.y)) is not None:
            self.go(at)
            self._enter(aside=event.ctrl or event.meta)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll."""
        event.stop()
        self.scroll_rows(_WHEEL_LINES)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll."""
        event.stop()
        self.scroll_rows(-_WHEEL_LINES)

    def on_resize(self) -> None:
        """The lit row stays in sight."""
        self.go(self.at)

    def watch_has_focus(self, has_focus: bool) -> None:
        """The lit row is bright with the focus only."""
        super().watch_has_focus(has_focus)
        self.mark()
        if has_focus and not self._fresh:  # a huge workspace is not watched everywhere
            self.session.folders.watch(seen=True)
            self.tree_rows.forget()
            self.load()
        self._fresh = False

    def _turn(self, *, opening: bool) -> None:
        """Right: open a folder, or go into it. Left: close it, or go to the one above."""
        row = self.chosen
        if row is None or self.words:
            return
        if row.kind == "folder" and row.open != opening:
            self._set_open(row.path, opening)
        elif row.kind == "folder" and opening:
            self.go(self.at + 1)
        elif not opening:
            above = row.path if row.kind == "note" else row.path.rpartition("/")[0]
            at = self.tree_rows.index(above)
            if at is not None:
                self.go(at)

    def _enter(self, *, aside: bool) -> None:
        row = self.chosen
        if row is None or row.kind == "note":
            return
        if row.kind == "folder":
            if not self.words:
                self._set_open(row.path, not row.open)
            else:
                self.words, self.found = "", []
                self.reveal(row.path)
        else:
            self.clear_filter()
            self.post_message(self.Opened(row.path, aside=aside))

    def _set_open(self, folder: str, opened: bool) -> None:
        if opened:
            self.tree_rows.open(folder)
            self.load()
        else:
            self.tree_rows.close(folder)
        self.go(self.at)
        self.refresh()
