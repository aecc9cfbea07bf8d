"""The whole app over a real workspace, step by step: a model writes, a user types, both look."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from textual.pilot import Pilot

from tests.support.painted_rows import check
from tests.support.pair_session import PairSession
from tests.support.scripted_app import scripted_app
from tui.core.document.hunk import Hunk
from tui.core.edit_stream import Format
from tui.core.text.buffer import Buffer
from tui.ui.app import DuettoApp
from tui.ui.editor.editor import Editor
from tui.ui.editor.paint import gutter_width
from tui.ui.editor.pane import EditorPane
from tui.ui.editor.view import View


class Sight(NamedTuple):
    """Where somebody looks: the cursor's character and row of the screen, the first row's text."""

    line: str
    col: int
    row: int | None
    top: str
    selected: str


class SteppedPair:
    """One stream of a patch at a time, fed up to where a test wants it."""

    def __init__(self, app: DuettoApp, pilot: Pilot[int], session: PairSession) -> None:
        self.app, self.pilot, self.session = app, pilot, session
        self._patch, self._at = "", 0

    @property
    def pane(self) -> EditorPane:
        return self.app.bench.editor

    @property
    def editor(self) -> Editor:
        return self.pane.editor

    @property
    def view(self) -> View:
        assert self.editor.view is not None
        return self.editor.view

    @property
    def buffer(self) -> Buffer:
        return self.view.buffer

    @property
    def hunks(self) -> list[Hunk]:
        return self.session.workspace.hunks

    async def start(self, patch: str, upto: str = "", fmt: Format = "apply_patch") -> None:
        """The model begins; ``upto`` is the last text that comes now."""
        self._patch, self._at = patch, 0
        self.session.start(patch, fmt)
        if upto:
            await self.stream(upto)

    async def stream(self, upto: str = "") -> None:
        """The patch goes on, up to and with this text (empty: to its end), then a frame."""
        end = self._patch.index(upto, self._at) + len(upto) if upto else len(self._patch)
        self._feed(end - self._at)
        await self.frame()

    async def crawl(self, step: int = 7) -> None:
        """The rest comes in small pieces, with a frame after each."""
        while self._at < len(self._patch):
            self._feed(step)
        await self.frame()

    def _feed(self, count: int) -> None:
        """So many characters, and a frame: what it says and paints is what the buffers hold."""
        buffers = self.session.workspace.buffers
        before = {path: buffer.text() for path, buffer in buffers.items()}
        self.session.feed(count)
        self._at += count
        notices = self.session.drain()
        changed = {path for path, buffer in buffers.items() if buffer.text() != before.get(path)}
        assert changed <= notices.buffers | (set(buffers) - set(before))
        if notices.landing is not None:
            path, line = notices.landing
            assert 0 <= line < buffers[path].line_count
        self.app.bench.sync(notices)
        for side in self.pane.sides:
            check(side.editor)

    async def frame(self) -> None:
        """What the app does once a frame, and paint it."""
        notices = self.session.drain()
        notices.status = True
        self.app.bench.sync(notices)
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def go(self, line: int, col: int = 0) -> None:
        """The user goes there by themselves; the view stops following."""
        self.editor.let_go()
        self.editor.go((line, col))
        await self.pilot.pause()

    def sight(self, editor: Editor | None = None) -> Sight:
        editor = editor or self.editor
        view = editor.view
        assert view is not None
        line, col = view.cursor.position
        spot = view.cursor_spot(editor.size.height)
        selection = view.cursor.selection
        return Sight(
            view.buffer.lines[line],
            col,
            None if spot is None else spot[1],
            view.buffer.lines[view.top],
            view.cursor.selected_text if selection else "",
        )

    def rows(self, editor: Editor | None = None) -> list[str]:
        """What the editor shows, row by row."""
        editor = editor or self.editor
        return [editor.render_line(y).text for y in range(editor.size.height)]

    def bars(self) -> dict[int, str]:
        """Line number (from 1) -> the sign in its gutter."""
        place = gutter_width(self.view.digits) - 2
        found = {}
        for row in self.rows():
            number = row[: place - 1].strip()
            if number.isdigit() and row[place] != " ":
                found[int(number)] = row[place]
        return found

    def said(self) -> list[str]:
        """What the app told the user, oldest first."""
        return [note.message for note in self.app._notifications]


@asynccontextmanager
async def stepped(
    files: dict[str, str], *opened: str, size: tuple[int, int] = (100, 30), wrap: bool = False
) -> AsyncIterator[SteppedPair]:
    """The app with files open, the last one shown, and the focus in the editor."""
    session = PairSession(files)
    for path in opened:
        session.open(path)
    app = scripted_app(session)
    async with app.run_test(size=size) as pilot:
        app.bench.panes.show("editor")
        app.bench.editor.focus_editor()
        if wrap:
            app.bench.editor.sides.set_wrap(True)
        await pilot.pause()
        yield SteppedPair(app, pilot, session)
