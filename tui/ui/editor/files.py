"""The open files of the editor pane: tabs, one view a file, follow mode.

The session says which files are open and which is active; the pane keeps a view for each, so
that cursor and scroll position are there again when the user comes back.
"""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Static

from tui.core.buffer import Position
from tui.engine.intents import CloseFile, OpenFile
from tui.engine.notices import Notices
from tui.errors import EditRefused
from tui.ui.editor.editor import Editor
from tui.ui.editor.find_bar import FindBar
from tui.ui.editor.marks import marks_of
from tui.ui.editor.overview import Overview
from tui.ui.editor.session import EditorSession
from tui.ui.editor.tabs import FOLLOWS, Tab, Tabs
from tui.ui.editor.view import View
from tui.ui.rows import inert

_NOTHING_OPEN = (
    "No file is open.\n\n"
    "Ctrl+O opens one by a few letters of its name.\n"
    "What the model edits opens here by itself."
)
_FOLLOWING, _NOT_FOLLOWING = f"{FOLLOWS} following", "Alt+L follows"


class EditorFiles(Vertical):
    """Tabs, editor and overview; `EditorPane` adds the actions and the find bar's work."""

    def __init__(self, session: EditorSession, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.session = session
        self.active = ""
        """The path that is shown; empty: none."""
        self.tabs = Tabs(id="tabs")
        self.editor = Editor(session, id="editor-text")
        self.overview = Overview(id="overview")
        self.find_bar = FindBar(id="find-bar")
        self._notice = Static(_NOTHING_OPEN, markup=False, id="editor-notice")
        self._views: dict[str, View] = {}
        self._writing = ""
        self._was_busy = False
        self._warned = ""
        """The user was told that this file is not saved."""

    def compose(self) -> ComposeResult:
        """All parts; which are seen is a matter of classes."""
        yield self.tabs
        with Horizontal(id="editor-row"):
            yield self.editor
            yield self.overview
        yield self._notice
        yield self.find_bar

    def on_mount(self) -> None:
        """Show what is open already; new colours are taken up at once."""
        self.app.theme_changed_signal.subscribe(self, lambda theme: self.recolour())
        self._sync_tabs()

    def sync(self, notices: Notices) -> None:
        """Paint what changed; called once a frame."""
        if notices.status:
            self._turn()
        if notices.landing is not None:
            self._land(*notices.landing)
        if notices.tabs or notices.status or notices.buffers or notices.landing:
            self._sync_tabs()
        if notices.goto is not None:
            path, line, col = notices.goto
            self.show(path, (line, col))
        self.editor.repaint()
        self.note()

    def show(self, path: str, position: Position | None = None) -> None:
        """Show a file, or in one sentence why it cannot be shown."""
        view, refusal = self._view_of(path)
        self.active = path if view is None else view.buffer.path
        self.set_class(view is None, "-notice")
        if view is None:
            self._notice.update(inert(refusal))
        if view is not self.editor.view:
            self.editor.show(view)
            self.shown()
        if view is not None and position is not None:
            self.editor.let_go()
            self.editor.go(position)
        self.note()

    def look(self, path: str, lines: tuple[int, int] | None) -> None:
        """Show a hunk that is selected in the conversation; the focus stays there."""
        view, _ = self._view_of(path)
        if view is None:
            return
        if view.buffer.path != self.active:
            self.session.submit(OpenFile(path))
            self.show(path)
        if lines is not None:
            self.editor.look(*lines)
        self.note()

    def shown(self) -> None:
        """Another file is shown."""

    def choose(self, path: str) -> None:
        """The user goes to an open file."""
        self.session.submit(OpenFile(path))
        self.show(path)
        self._sync_tabs()

    def close_file(self, path: str) -> None:
        """The user closes a tab; of unsaved changes they are told before."""
        if self.session.workspace.is_dirty(path) and path != self._warned:
            self._warned = path
            name = inert(path.rpartition("/")[2])
            self.app.notify(
                f"{name} has changes that are not saved. Ctrl+S saves; close it once more to keep"
                " them without a tab.",
                severity="warning",
                markup=False,
            )
            return
        self._warned = ""
        self.session.submit(CloseFile(path))
        self._sync_tabs()

    def recolour(self) -> None:
        """The theme changed."""
        for part in (self.tabs, self.editor, self.overview):
            part.refresh()

    def note(self) -> None:
        """Show where the cursor and the view are, and whether the view follows."""
        view = self.editor.view
        if view is None:
            self.tabs.note("", "")
            self.overview.show(0, 1, 1, ())
            return
        line, _ = view.cursor.position
        follow = _FOLLOWING if self.editor.following else _NOT_FOLLOWING
        self.tabs.note(f"{line + 1}:{view.cursor.cell + 1}", follow)
        height, total = self.editor.size.height, view.buffer.line_count
        self.overview.show(view.top, height, total, marks_of(self.session.workspace, view))

    def _turn(self) -> None:
        """A turn that starts is followed again, unless the user let go in the midst of one."""
        busy = self.session.status.busy
        if busy and not self._was_busy and self.editor.resumes:
            self.editor.following, self.editor.resumes = True, False
        self._was_busy = busy

    def _land(self, path: str, line: int) -> None:
        """The model wrote here: mark it, and go there in follow mode."""
        self._writing = path
        editor = self.editor
        if editor.following and path != self.active:
            self.session.submit(OpenFile(path))
            self.show(path)
        if path == self.active:
            editor.follow_to(line)

    def _sync_tabs(self) -> None:
        """The tabs as the session has them; the active one is shown."""
        status, workspace = self.session.status, self.session.workspace
        if not status.busy:
            self._writing = ""
        paths = status.open_paths
        for path in [path for path in self._views if path not in paths]:
            self._views.pop(path).release()
        if not paths:
            self.active = ""
            self.add_class("-notice")
            self._notice.update(_NOTHING_OPEN)
            if self.editor.view is not None:
                self.editor.show(None)
        elif (path := status.active_path or paths[0]) != self.active or path not in self._views:
            self.show(path)
        tabs = [Tab(path, workspace.is_dirty(path), path == self._writing) for path in paths]
        self.tabs.show(tuple(tabs), self.active)

    def _view_of(self, path: str) -> tuple[View | None, str]:
        """The view of a file, or why there is none."""
        try:
            buffer = self.session.workspace.open(path)
        except EditRefused as refused:
            return None, str(refused)
        view = self._views.get(buffer.path)
        if view is None or view.buffer is not buffer:
            if view is not None:
                view.release()
            view = self._views[buffer.path] = View(buffer)
        return view, ""

    @on(Editor.Moved)
    def _moved(self, event: Editor.Moved) -> None:
        event.stop()
        self.note()

    @on(Editor.Edited)
    def _edited(self, event: Editor.Edited) -> None:
        event.stop()
        self._warned = ""
        self._sync_tabs()

    @on(Tabs.Chosen)
    def _tab_chosen(self, event: Tabs.Chosen) -> None:
        event.stop()
        self.choose(event.path)

    @on(Tabs.Closed)
    def _tab_closed(self, event: Tabs.Closed) -> None:
        event.stop()
        self.close_file(event.path)

    @on(Overview.Chosen)
    def _line_chosen(self, event: Overview.Chosen) -> None:
        event.stop()
        view = self.editor.view
        if view is not None:
            self.editor.scroll_lines(event.line - self.editor.size.height // 2 - view.top)
