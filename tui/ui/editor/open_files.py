"""The open files of the editor pane: tabs, views, and the file in which the model writes.

The session says which files are open and which is active; each side keeps a view for every file
it has shown, so that cursor and scroll position are there again when the user comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from textual.widget import Widget
from textual.widgets import Static

from tui.core.document.hunk import Stage
from tui.core.document.workspace import Workspace, fate_words, written_paths, written_row
from tui.core.text.change_set import Position
from tui.engine.intents import CloseFile, OpenFile
from tui.engine.notices import Notices, Status
from tui.engine.session import Session
from tui.errors import EditRefused
from tui.ui.editor.editor import Editor
from tui.ui.editor.sides import FOLLOWS, EditorSide, Heading, Sides, Tab, Tabs
from tui.ui.editor.view import LF, View
from tui.ui.keymap import shown
from tui.ui.styled_text import inert

_FOLLOWING = f"{FOLLOWS} following"
_MOST_TABS = 30
"""With more open files others do not open by themselves, unless they are followed."""


class WrittenFiles:
    """Files that models write in: which of them come into a tab, and which one is followed."""

    def __init__(self) -> None:
        self.landed = ""
        """The file in which a model wrote last."""
        self._seen = 0
        """The newest hunk whose file was looked at."""
        self.closed: set[str] = set()
        """Files that the user closed in this turn: they stay closed."""

    def come(self, workspace: Workspace, status: Status) -> list[str]:
        """Files in which new hunks stand, and that have no tab yet."""
        self.closed.difference_update(status.open_paths)  # opened again
        found: dict[str, None] = {}
        for path in self._news(workspace):
            here = path in workspace.buffers and path not in self.closed
            if here and path not in status.open_paths:
                found[path] = None
        return list(found)[: max(_MOST_TABS - len(status.open_paths), 0)]

    def writing(self, workspace: Workspace, status: Status) -> Collection[str]:
        """Files that a model is writing in now."""
        if not status.busy:
            self.landed = ""
        return written_paths(workspace) or (self.landed,)

    def _news(self, workspace: Workspace) -> Iterator[str]:
        """Paths of hunks that came since this was asked last, oldest first."""
        fresh = []
        for hunk in reversed(workspace.hunks):
            if hunk.id <= self._seen:
                break
            fresh.append(hunk)
        for hunk in reversed(fresh):
            self._seen = hunk.id
            if hunk.stage is not Stage.REFUSED:
                yield hunk.path


class FileTabs:
    """Shows files in tabs and sides; a sentence where there is none to show."""

    def __init__(
        self, session: Session, sides: Sides, pane: Widget, follow: Callable[[], None]
    ) -> None:
        """``follow`` turns the follow mode on, or off."""
        self.tabs = Tabs(self.choose, self.close, follow)
        self.notice = Static(_nothing_open(), markup=False, id="editor-notice")
        self.on_shown: Callable[[], None] = lambda: None
        """Called when another file is shown."""
        self.on_note: Callable[[], None] = lambda: None
        """Called when what is said of the cursors may be other than before."""
        self._session = session
        self._sides = sides
        self._pane = pane
        self._said = _nothing_open()
        self._written = WrittenFiles()
        self._was_busy = False
        self._warned = ""
        """The user was told that this file is not saved."""
        pane.add_class("-notice", update=False)

    @property
    def active(self) -> str:
        """The path that is shown where the user is; empty: none."""
        return self._sides.used.path

    def sync(self, notices: Notices) -> None:
        """Show what changed; called once a frame."""
        status = self._session.status
        if notices.status:
            self._turn()
        for path in self._written.come(self._session.workspace, status):
            self._session.submit(OpenFile(path, aside=True))
        if notices.landing is not None:
            self._land(*notices.landing)
        if notices.tabs or notices.status or notices.buffers or notices.hunks or notices.landing:
            self.sync_tabs()
        if notices.gotos_before:
            active = status.active_path
            for path, line, col in notices.gotos_before:
                self.show(path, (line, col))
            self.choose(active)
        if notices.goto is not None:
            path, line, col = notices.goto
            self.show(path, (line, col))

    def show(self, path: str, position: Position | None = None) -> None:
        """Show a file where the user is, or in one sentence why it cannot be shown."""
        side = self._sides.used
        if self._show_in(side, path) is not None and position is not None:
            side.editor.go(position)
        self.on_note()

    def look(self, path: str, lines: tuple[int, int] | None) -> None:
        """Show a hunk that is selected in the conversation; the focus stays there."""
        side = self._sides.leader
        if path != side.path:
            try:
                self._session.workspace.open(path)
            except EditRefused:
                return
            self._open_in(side, path)
        if lines is not None:
            side.editor.look(*lines)
        self.on_note()

    def choose(self, path: str) -> None:
        """The user goes to an open file."""
        self.leave(path)
        self._session.submit(OpenFile(path))
        self.show(path)
        self.sync_tabs()

    def leave(self, path: str) -> None:
        """The user goes to this file: the landing edit does not bring them back from there."""
        if path != self.active and self._session.status.busy:
            self._sides.used.editor.let_go()

    def step(self, count: int) -> None:
        """Go to a neighbouring tab."""
        paths = self._session.status.open_paths
        if paths:
            at = paths.index(self.active) if self.active in paths else 0
            self.choose(paths[(at + count) % len(paths)])

    def edited(self) -> None:
        """The user changed the text."""
        self._warned = ""
        self.sync_tabs()
        if (other := self._sides.other) is not None and other.path == self.active:
            other.editor.repaint()

    def close(self, path: str) -> None:
        """The user closes a tab; of unsaved changes they are told before."""
        if self._session.workspace.is_dirty(path) and path != self._warned:
            self._warned = path
            name = inert(path.rpartition("/")[2])
            self._pane.app.notify(
                f"{name} has changes that are not saved. {shown('save')} saves; close it once"
                " more to keep them without a tab.",
                severity="warning",
                markup=False,
            )
            return
        self._warned = ""
        self._written.closed.add(path)
        self._session.submit(CloseFile(path))
        self.sync_tabs()

    def note(self) -> None:
        """Show where the cursors and the views are, and whether one follows."""
        workspace, used = self._session.workspace, self._sides.used
        for side in self._sides:
            side.note()
        if used.editor.view is None:
            self.tabs.note("", "")
            return
        follow = _FOLLOWING if self._sides.follow.on else f"{shown('follow')} follows"
        if not self._sides.beside:
            self.tabs.note(_place(used.editor, workspace), follow)
            return
        self.tabs.note("", follow)
        for side in self._sides:
            dirty = workspace.is_dirty(side.path)
            follows = side is not used and side.editor.following
            place = _place(side.editor, workspace)
            side.title.show(Heading(side.path, place, dirty, side is used, follows))

    def sync_tabs(self) -> None:
        """The tabs as the session has them; the active one is shown where the user is."""
        status, workspace = self._session.status, self._session.workspace
        writing = self._written.writing(workspace, status)
        paths = status.open_paths
        for side in self._sides:
            side.keep(paths)
        used, other = self._sides.used, self._sides.other
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

    def _turn(self) -> None:
        """A turn that starts is followed again, unless the user let go in the midst of one."""
        busy, follow = self._session.status.busy, self._sides.follow
        if busy and not self._was_busy:
            self._written.closed.clear()
            if follow.resumes:
                follow.on, follow.resumes = True, False
        self._was_busy = busy

    def _land(self, path: str, line: int) -> None:
        """The model wrote here: mark it, and go there in follow mode.

        Where several files are written at once, the view stays with one of them.
        """
        workspace, written, leader = self._session.workspace, self._written, self._sides.leader
        written.landed = path
        rows = {one: written_row(workspace, one) for one in written_paths(workspace)}
        rows[path] = line
        stays = leader.path == path or leader.path in rows or path in written.closed
        if self._sides.follow.on and not stays:
            self._open_in(leader, path)
        for side in self._sides:
            if (row := rows.get(side.path)) is not None:
                side.editor.follow_to(row)

    def _show_nothing(self) -> None:
        for side in self._sides:
            side.path = ""
            if side.editor.view is not None:
                side.editor.show(None)
        self._pane.add_class("-notice")
        self._say(_nothing_open())

    def _say(self, words: str) -> None:
        """In the editor's place; the same words again would lay out the whole screen."""
        if words != self._said:
            self._said = words
            self.notice.update(words)

    def _show_in(self, side: EditorSide, path: str) -> View | None:
        """Show a file in this side; None if it is refused."""
        view, refusal = self._view_of(side, path)
        side.path = path if view is None else view.buffer.path
        if side is self._sides.used:
            self._pane.set_class(view is None, "-notice")
            if view is None:
                self._say(inert(refusal))
        if view is not side.editor.view:
            side.editor.show(view)
            if side is self._sides.used:
                self.on_shown()
        return view

    def _open_in(self, side: EditorSide, path: str) -> None:
        """What is followed or looked at opens in a tab; the user's file stays theirs."""
        self._session.submit(OpenFile(path, aside=side is not self._sides.used))
        self._show_in(side, path)

    def _view_of(self, side: EditorSide, path: str) -> tuple[View | None, str]:
        """The view of a file, or why there is none."""
        try:
            buffer = self._session.workspace.open(path)
        except EditRefused as refused:
            return None, str(refused)
        near = next((one for one in self._sides if one is not side), None)
        return side.view_of(buffer, near), ""


def _nothing_open() -> str:
    return (
        "No file is open.\n\n"
        f"{shown('open_file')} opens one by a few letters, {shown('tree')} shows the file tree.\n"
        "What the model edits opens here by itself."
    )


def _place(editor: Editor, workspace: Workspace) -> str:
    """Line and column as people, `path:line:col` and compilers count; what is unusual about it."""
    if (view := editor.view) is None:
        return ""
    line, col = view.cursor.position
    words = [f"{line + 1}:{col + 1}"]
    if (endings := view.newlines.word) != LF:
        words.append(endings)
    if workspace.read_only(view.path):
        words.append("read-only")
    return " ".join(words)
