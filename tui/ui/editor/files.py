"""The open files of the editor pane: tabs, views, follow mode.

The session says which files are open and which is active; each side keeps a view for every file
it has shown, so that cursor and scroll position are there again when the user comes back.
"""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Static

from tui.core.edits.telling.progress import fate_words, written_paths, written_row
from tui.core.edits.workspace import Workspace
from tui.core.text.buffer import Position
from tui.engine.intents import CloseFile, OpenFile
from tui.engine.notices import Notices
from tui.errors import EditRefused
from tui.ui.editor.arrivals import Arrivals
from tui.ui.editor.editor import Editor
from tui.ui.editor.session import EditorSession
from tui.ui.editor.side import Heading, Side
from tui.ui.editor.sides import EditorSides
from tui.ui.editor.tabs import FOLLOWS, Tab, Tabs
from tui.ui.editor.view import View
from tui.ui.finding.find_bar import FindBar
from tui.ui.keymap import shown
from tui.ui.rows import inert

_FOLLOWING = f"{FOLLOWS} following"


def _nothing_open() -> str:
    return (
        "No file is open.\n\n"
        f"{shown('open_file')} opens one by a few letters, {shown('tree')} shows the file tree.\n"
        "What the model edits opens here by itself."
    )


class EditorFiles(EditorSides):
    """Tabs and editors; `EditorPane` adds the actions and the find bar's work."""

    def __init__(self, session: EditorSession, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self.add_class("-notice", update=False)
        self.tabs = Tabs(id="tabs")
        self.find_bar = FindBar(id="find-bar")
        self._notice = Static(_nothing_open(), markup=False, id="editor-notice")
        self._said = _nothing_open()
        self._arrivals = Arrivals()
        self._was_busy = False
        self._warned = ""
        """The user was told that this file is not saved."""

    def compose(self) -> ComposeResult:
        """All parts; which are seen is a matter of classes."""
        yield self.tabs
        with Horizontal(id="editor-row"):
            yield self.sides[0]
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
        for path in self._arrivals.come(self.session.workspace, self.session.status):
            self.session.submit(OpenFile(path, aside=True))
        if notices.landing is not None:
            self._land(*notices.landing)
        if notices.tabs or notices.status or notices.buffers or notices.hunks or notices.landing:
            self._sync_tabs()
        if notices.gotos_before:
            active = self.session.status.active_path
            for path, line, col in notices.gotos_before:
                self.show(path, (line, col))
            self.choose(active)
        if notices.goto is not None:
            path, line, col = notices.goto
            self.show(path, (line, col))
        for side in self.sides:
            side.editor.repaint()
        self.note()

    def show(self, path: str, position: Position | None = None) -> None:
        """Show a file where the user is, or in one sentence why it cannot be shown."""
        side = self.side
        view = self._show_in(side, path)
        if view is not None and position is not None:
            side.editor.let_go()
            side.editor.go(position)
        self.note()

    def look(self, path: str, lines: tuple[int, int] | None) -> None:
        """Show a hunk that is selected in the conversation; the focus stays there."""
        side = self.follower
        if path != side.path:
            try:
                self.session.workspace.open(path)
            except EditRefused:
                return
            self._open_in(side, path)
        if lines is not None:
            side.editor.look(*lines)
        self.note()

    def shown(self) -> None:
        """Another file is shown."""

    def choose(self, path: str) -> None:
        """The user goes to an open file."""
        self.leave(path)
        self.session.submit(OpenFile(path))
        self.show(path)
        self._sync_tabs()

    def leave(self, path: str) -> None:
        """The user goes to this file: the landing edit does not bring them back from there."""
        if path != self.active and self.side is self.follower and self.session.status.busy:
            self.editor.let_go()

    def close_file(self, path: str) -> None:
        """The user closes a tab; of unsaved changes they are told before."""
        if self.session.workspace.is_dirty(path) and path != self._warned:
            self._warned = path
            name = inert(path.rpartition("/")[2])
            self.app.notify(
                f"{name} has changes that are not saved. {shown('save')} saves; close it once"
                " more to keep them without a tab.",
                severity="warning",
                markup=False,
            )
            return
        self._warned = ""
        self._arrivals.closed(path)
        self.session.submit(CloseFile(path))
        self._sync_tabs()

    def recolour(self) -> None:
        """The theme changed."""
        self.tabs.refresh()
        for side in self.sides:
            for part in (side.title, side.editor, side.overview):
                part.refresh()

    def note(self) -> None:
        """Show where the cursors and the views are, and whether one follows."""
        workspace, used = self.session.workspace, self.side
        for side in self.sides:
            side.note()
        if used.editor.view is None:
            self.tabs.note("", "")
            return
        follow = _FOLLOWING if self.following else f"{shown('follow')} follows"
        if not self.beside:
            self.tabs.note(_place(used.editor, workspace), follow)
            return
        self.tabs.note("", follow)
        for side in self.sides:
            dirty = workspace.is_dirty(side.path)
            follows = side is not used and side.editor.following
            place = _place(side.editor, workspace)
            side.title.show(Heading(side.path, place, dirty, side is used, follows))

    def settled(self) -> None:
        """Sides came or went, or the user is in another one."""
        self._sync_tabs()
        self.shown()
        self.note()

    def _turn(self) -> None:
        """A turn that starts is followed again, unless the user let go in the midst of one."""
        busy, editor = self.session.status.busy, self.follower.editor
        if busy and not self._was_busy:
            self._arrivals.begin()
        if busy and not self._was_busy and editor.resumes:
            editor.following, editor.resumes = True, False
        self._was_busy = busy

    def _land(self, path: str, line: int) -> None:
        """The model wrote here: mark it, and go there in follow mode.

        Where several files are written at once, the view stays with one of them.
        """
        workspace, arrivals = self.session.workspace, self._arrivals
        arrivals.landed = path
        rows = {one: written_row(workspace, one) for one in written_paths(workspace)}
        rows[path] = line
        if self.following and arrivals.leads(path, self.follower.path, rows):
            self._open_in(self.follower, path)
        for side in self.sides:
            if (row := rows.get(side.path)) is not None:
                side.editor.follow_to(row)

    def _sync_tabs(self) -> None:
        """The tabs as the session has them; the active one is shown where the user is."""
        status, workspace = self.session.status, self.session.workspace
        writing = self._arrivals.writing(workspace, status)
        paths = status.open_paths
        for side in self.sides:
            side.keep(paths)
        used, other = self.side, self.other
        if not paths:
            self._show_nothing()
        elif (path := status.active_path or paths[0]) != used.path or not used.has(path):
            self.show(path)
        if other is not None and paths and not other.has(other.path):
            self._show_in(other, paths[-1] if paths[-1] != used.path else paths[0])
        beside = "" if other is None else other.path
        tabs = [
            Tab(
                path,
                workspace.is_dirty(path),
                path in writing,
                path == beside,
                fate_words(workspace, path),
                path in workspace.conflicts,
            )
            for path in paths
        ]
        self.tabs.show(tuple(tabs), self.active)

    def _show_nothing(self) -> None:
        for side in self.sides:
            side.path = ""
            if side.editor.view is not None:
                side.editor.show(None)
        self.add_class("-notice")
        self._say(_nothing_open())

    def _say(self, words: str) -> None:
        """In the editor's place; the same words again would lay out the whole screen."""
        if words != self._said:
            self._said = words
            self._notice.update(words)

    def _show_in(self, side: Side, path: str) -> View | None:
        """Show a file in this side; None if it is refused."""
        view, refusal = self._view_of(side, path)
        side.path = path if view is None else view.buffer.path
        if side is self.side:
            self.set_class(view is None, "-notice")
            if view is None:
                self._say(inert(refusal))
        if view is not side.editor.view:
            side.editor.show(view)
            if side is self.side:
                self.shown()
        return view

    def _open_in(self, side: Side, path: str) -> None:
        """What is followed or looked at opens in a tab; the user's file stays theirs."""
        self.session.submit(OpenFile(path, aside=side is not self.side))
        self._show_in(side, path)

    def _view_of(self, side: Side, path: str) -> tuple[View | None, str]:
        """The view of a file, or why there is none."""
        try:
            buffer = self.session.workspace.open(path)
        except EditRefused as refused:
            return None, str(refused)
        near = next((one for one in self.sides if one is not side), None)
        return side.view_of(buffer, near), ""

    @on(Editor.Moved)
    def _moved(self, event: Editor.Moved) -> None:
        event.stop()
        self.note()

    @on(Editor.Edited)
    def _edited(self, event: Editor.Edited) -> None:
        event.stop()
        self._warned = ""
        self._sync_tabs()
        if (other := self.other) is not None and other.path == self.active:
            other.editor.repaint()

    @on(Tabs.Chosen)
    def _tab_chosen(self, event: Tabs.Chosen) -> None:
        event.stop()
        self.choose(event.path)

    @on(Tabs.Closed)
    def _tab_closed(self, event: Tabs.Closed) -> None:
        event.stop()
        self.close_file(event.path)


def _place(editor: Editor, workspace: Workspace) -> str:
    """Line and column as people, `path:line:col` and compilers count; what is unusual about it."""
    if (view := editor.view) is None:
        return ""
    line, col = view.cursor.position
    words = [f"{line + 1}:{col + 1}"]
    if view.newline_words != "LF":
        words.append(view.newline_words)
    if workspace.read_only(view.path):
        words.append("read-only")
    return " ".join(words)
