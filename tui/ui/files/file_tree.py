"""The file tree: folders that are listed when they are opened, with git's states.

Arrows move, Enter opens, letters filter; the mouse does the same. It shows what the file finder
offers; Alt+I shows the rest, dimmed. A folder is read in a thread, and again only when the
watcher says that something in it changed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from tui.core.files import FolderEntry, GitState, amount, kind_by_name
from tui.engine.notices import Notices
from tui.engine.session import Session
from tui.errors import FileRefused
from tui.ui import theme
from tui.ui.editor.sides import UNSAVED
from tui.ui.files.tree_rows import PathIndex, TreeList, TreeRow, best, filtered
from tui.ui.keymap import bindings
from tui.ui.painting.ink import PaintedStrip
from tui.ui.styled_text import clip, one_line
from tui.ui.terminal.terminal_app import TerminalApp
from tui.ui.widgets.painted import PaintedWidget, scroll_thumb

_WHEEL_LINES = 3
_MOVES = {"up": -1, "down": 1, "ctrl+p": -1, "ctrl+n": 1}
_INDENT = 2
_OPEN, _CLOSED, _LINK = "▾", "▸", "↗"
_EDGE, _THUMB = "│", "┃"
_MOST_DEPTH = 10
"""Deeper rows are not indented further: the name needs the room."""
_COLOURS: dict[GitState, str] = {
    "U": "error",
    "D": "hunk-struck",
    "M": "warning",
    "A": "success",
    "?": "deep",
}


class TreeMarks(NamedTuple):
    """What is lit in the tree besides git's states."""

    active: str = ""
    """The file in the editor."""
    unsaved: frozenset[str] = frozenset()
    focused: bool = False


class FileTree(PaintedWidget, can_focus=True):
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

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.list = TreeList()
        self._session = session
        self._marks = TreeMarks()
        self._listed: list[str] = []
        self._paths: PathIndex | None = None
        self._wished = ""
        """The path to light when it is listed."""
        self._loading = False
        self._fresh = False
        """It was looked at just now, when it was shown."""

    def show(self, active: str) -> None:
        """The tree came into sight: look at everything anew, light the active file."""
        self._fresh = True
        self._session.folders.watch(seen=True)
        self.list.tree.take(self._session.folders.states)
        self.list.tree.forget()
        self.mark()
        self.reveal(active)

    def hide(self) -> None:
        """Out of sight nothing is looked at."""
        self._session.folders.watch(seen=False)
        self.list.words, self._paths = "", None

    def sync(self, notices: Notices) -> None:
        """Take up what changed, in a frame."""
        if notices.git:
            self._keeping(lambda: self.list.tree.take(self._session.folders.states))
        if notices.folders:
            self.list.tree.forget(notices.folders)
            self._load()
        if self.list.words and (notices.folders or notices.listing):
            self.list.refind(filtered(self._index().find(self.list.words), self.list.words))
            self.refresh()
        if notices.tabs or notices.status:
            self.mark()

    def mark(self) -> None:
        """Which file is active and which are not saved may have changed."""
        status, workspace = self._session.status, self._session.workspace
        unsaved = frozenset(path for path in status.open_paths if workspace.is_dirty(path))
        marks = TreeMarks(status.active_path, unsaved, self.has_focus)
        if marks != self._marks:
            moved = marks.active != self._marks.active
            self._marks = marks
            self.refresh()
            if moved and not self.has_focus and not self.list.words and marks.active:
                self.reveal(marks.active)

    # -- folders

    def reveal(self, path: str) -> None:
        """Open the folders above a file, and light it as soon as they are listed."""
        self._wished = path
        above = path.split("/")[:-1]
        for count in range(1, len(above) + 1):
            self.list.tree.open("/".join(above[:count]))
        self._load()
        self._light_wished()

    def _light_wished(self) -> None:
        if self._wished and not self.list.words:
            at = self.list.tree.index(self._wished)
            if at is not None:
                self.go(at)
            if at is not None or not self.list.tree.wanted():
                self._wished = ""
        self.refresh()

    def _load(self) -> None:
        """List what is open and was not listed."""
        if not self._loading and self.list.tree.wanted():
            self._loading = True
            self.run_worker(self._load_wanted())

    async def _load_wanted(self) -> None:
        try:
            while wanted := self.list.tree.wanted():
                await self._list(wanted)
        finally:
            self._loading = False

    async def _list(self, folders: Collection[str]) -> None:
        listed: dict[str, list[FolderEntry] | str] = {}
        self.list.tree.asking(folders)
        for folder in folders:
            try:
                listed[folder] = list(await self._session.folders.entries(folder))
            except FileRefused as error:
                listed[folder] = str(error)
        self._keeping(lambda: self.list.tree.loaded(listed))
        self._light_wished()

    def _set_open(self, folder: str, opened: bool) -> None:
        if opened:
            self.list.tree.open(folder)
            self._load()
        else:
            self.list.tree.close(folder)
        self.go(self.list.at)
        self.refresh()

    # -- rows

    def go(self, at: int) -> None:
        """Light another row."""
        before, top = self.list.at, self.list.top
        self.list.go(at)
        if self.list.top != top:
            self.refresh()
        elif self.list.at != before:
            rows = {y for y in (before - top + 1, self.list.at - top + 1) if y > 0}
            self.refresh(*(Region(0, y, self.size.width, 1) for y in rows))

    def _keeping(self, change: Callable[[], None]) -> None:
        """Change the rows; the lit file stays lit."""
        self.list.keeping(change)
        self.refresh()

    def filter(self, words: str) -> None:
        """Show only what has these words in its path; empty: everything."""
        before = self.list.chosen
        self.list.words = words
        if words.strip():
            self.list.found = filtered(self._index().find(words), words)
            self.go(best(self.list.found))
        else:
            self.list.found = []
            if before is not None and before.kind == "file":
                self.reveal(before.path)
            self.go(self.list.at)
        self.refresh()

    def clear_filter(self) -> bool:
        """Show everything again; False if nothing was typed."""
        typed = bool(self.list.words)
        if typed:
            self.filter("")
        return typed

    def _index(self) -> PathIndex:
        """The paths to be filtered, made anew when there are others."""
        listed = self._session.listing()
        if self._paths is None or self._listed is not listed:
            crowded = set(self.list.tree.crowded()).difference(listed)
            self._listed, self._paths = listed, PathIndex([*listed, *sorted(crowded)])
        return self._paths

    def render_line(self, y: int) -> Strip:
        """The header, a row, or nothing."""
        tree, height = self.list.tree, self.list.height
        thumb = y - 1 in scroll_thumb(self.list.top, height, len(self.list.rows))
        shape = (self.size.width, thumb)
        if y == 0:
            files = sum(row.kind == "file" for row in self.list.found)
            return header_strip(self.list.words, files, shape, shows_all=tree.all)
        at = self.list.top + y - 1
        row = self.list.rows[at] if at < len(self.list.rows) else None
        state = None if row is None or row.kind == "note" else tree.states.of(row.path)
        return row_strip(row, state, self._marks, shape, lit=at == self.list.at)

    # -- keys and mouse

    def on_key(self, event: events.Key) -> None:
        """Move and filter; every other key bubbles."""
        if self._take_key(event):
            event.stop()
            event.prevent_default()

    def _take_key(self, event: events.Key) -> bool:
        key = event.key
        self._wished = ""  # the user is going elsewhere by now
        moves = _MOVES | {"pageup": -self.list.page, "pagedown": self.list.page}
        if key in moves:
            self.go(self.list.at + moves[key])
        elif key in ("home", "end"):
            self.go(0 if key == "home" else len(self.list.rows) - 1)
        elif key in ("left", "right"):
            self._turn(opening=key == "right")
        elif key in ("backspace", "ctrl+h"):
            self.filter(self.list.words[:-1])
        elif event.is_printable and event.character and "+" not in key.removesuffix("+"):
            self.filter((self.list.words + event.character).lstrip())
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
        self._keeping(lambda: self.list.tree.show_all(not self.list.tree.all))

    def action_leave(self) -> None:
        """Back to the editor."""
        self.post_message(self.Left())

    def on_click(self, event: events.Click) -> None:
        """Open what was clicked."""
        event.stop()
        if (at := self.list.row_at(event.y)) is not None:
            self.go(at)
            self._enter(aside=event.ctrl or event.meta)

    def wheel(self, steps: int, *, sideways: bool) -> None:
        """The user scrolls; the lit row stays where it is."""
        if self.list.scroll(steps * _WHEEL_LINES):
            self.refresh()

    def on_resize(self) -> None:
        """The lit row stays in sight."""
        self.list.height = max(self.size.height - 1, 1)
        self.go(self.list.at)

    def watch_has_focus(self, has_focus: bool) -> None:
        """The lit row is bright with the focus only."""
        super().watch_has_focus(has_focus)
        self.mark()
        if has_focus and not self._fresh:  # a huge workspace is not watched everywhere
            self._session.folders.watch(seen=True)
            self.list.tree.forget()
            self._load()
        self._fresh = False

    def _turn(self, *, opening: bool) -> None:
        """Right: open a folder, or go into it. Left: close it, or go to the one above."""
        row = self.list.chosen
        if row is None or self.list.words:
            return
        if row.kind == "folder" and row.open != opening:
            self._set_open(row.path, opening)
        elif row.kind == "folder" and opening:
            self.go(self.list.at + 1)
        elif not opening:
            above = row.path if row.kind == "note" else row.path.rpartition("/")[0]
            at = self.list.tree.index(above)
            if at is not None:
                self.go(at)

    def _enter(self, *, aside: bool) -> None:
        row = self.list.chosen
        if row is None or row.kind == "note":
            return
        if row.kind == "folder":
            if not self.list.words:
                self._set_open(row.path, not row.open)
            else:
                self.list.words, self.list.found = "", []
                self.reveal(row.path)
        else:
            self.clear_filter()
            if isinstance(self.app, TerminalApp):
                self.app.focus_comes()
            self.post_message(self.Opened(row.path, aside=aside))


def header_strip(words: str, found: int, shape: tuple[int, bool], *, shows_all: bool) -> Strip:
    """The first row: what is typed and how many files have it, or what the keys do."""
    style, (width, _) = theme.active().style, shape
    if words:
        count = f" {found or 'no'} file{'' if found == 1 else 's'} "
        left = Segment(f" ⌕ {one_line(words)}▏", style("foreground", "panel"))
    else:
        count = " type to filter "
        left = Segment(" All files" if shows_all else " Files", style("accent", "panel", "bold"))
    right = Segment(count, style("faint" if found or not words else "warning", "panel"))
    room = width - 1 - cell_len(right.text)
    text = clip(left.text, max(room, 1))
    gap = " " * max(room - cell_len(text), 0)
    segments = [Segment(text, left.style), Segment(gap, style("", "panel")), right]
    return PaintedStrip([*PaintedStrip(segments).crop(0, width - 1), _edge(False)], width)


def row_strip(
    row: TreeRow | None,
    state: GitState | None,
    marks: TreeMarks,
    shape: tuple[int, bool],
    *,
    lit: bool,
) -> Strip:
    """One row; ``shape`` is the width in cells and whether the scroll bar's thumb is here."""
    width, thumb = shape
    style = theme.active().style
    if row is None:
        return PaintedStrip(
            [Segment(" " * (width - 1), style("", "background")), _edge(thumb)], width
        )
    back = "background"
    if lit:
        back = "selection" if marks.focused else "panel"
    colour, more = _look(row, state, marks)
    notes = _notes(row, state, marks, back)
    indent = " " * (1 + _INDENT * min(row.depth, _MOST_DEPTH))
    sign = f"{_sign(row)} "
    room = width - 1 - len(indent) - len(sign) - sum(cell_len(note.text) for note in notes)
    name = clip(one_line(row.name) or row.name, max(room, 1))
    about = _about(row, room - cell_len(name))
    room -= cell_len(about)
    segments = [
        Segment(indent, style("", back)),
        Segment(sign, style("faint", back)),
        *_name(name, row.match, (colour, back, more)),
        Segment(" " * max(room - cell_len(name), 0), style("", back)),
        Segment(about, style("faint", back)),
        *notes,
    ]
    return PaintedStrip([*PaintedStrip(segments).crop(0, width - 1), _edge(thumb)], width)


def _about(row: TreeRow, room: int) -> str:
    """What a binary is and its size, as far as there is room behind the name."""
    kind = kind_by_name(row.path) if row.kind == "file" else ""
    if not kind:
        return ""
    size = "" if row.size_bytes is None else amount(row.size_bytes)
    forms = (", ".join(filter(None, (kind, size))), size)
    return next((f"  {form}" for form in forms if form and cell_len(form) + 2 <= room), "")


def _edge(thumb: bool) -> Segment:
    style = theme.active().style
    return Segment(_THUMB if thumb else _EDGE, style("muted" if thumb else "line", "background"))


def _sign(row: TreeRow) -> str:
    if row.kind == "folder":
        return _OPEN if row.open else _CLOSED
    return _LINK if row.kind == "link" else " "


def _look(row: TreeRow, state: GitState | None, marks: TreeMarks) -> tuple[str, str]:
    """Colour and weight of a name."""
    if row.kind == "note":
        return "faint", "italic"
    if row.kind == "gone":
        return _COLOURS["D"], "strike"
    if row.ignored:
        return "faint", ""
    weight = "bold" if row.path == marks.active else ""
    if state is not None and row.kind != "folder":
        return _COLOURS[state], weight
    return ("muted" if row.kind == "folder" else "foreground"), weight


def _notes(row: TreeRow, state: GitState | None, marks: TreeMarks, back: str) -> list[Segment]:
    """What stands at the right: ``●`` not saved, git's letter; of a folder a dot."""
    style = theme.active().style
    notes = []
    if row.path in marks.unsaved and row.kind == "file":
        notes.append(Segment(f" {UNSAVED}", style("warning", back)))
    if state is not None and not row.ignored:
        letter = "•" if row.kind == "folder" else state
        notes.append(Segment(f" {letter}", style(_COLOURS[state], back)))
    return [*notes, Segment(" ", style("", back))]


def _name(name: str, match: tuple[int, int], look: tuple[str, str, str]) -> list[Segment]:
    colour, back, more = look
    style = theme.active().style
    plain = style(colour, back, more)
    first, last = match
    if not last:
        return [Segment(name, plain)]
    found = style("accent", back, "bold")
    parts = ((name[:first], plain), (name[first:last], found), (name[last:], plain))
    return [Segment(text, one) for text, one in parts if text]
