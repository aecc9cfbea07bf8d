"""A user and models in one buffer, in the whole app: any keys, any chunks, any sizes.

After every step each row on the screen is the buffer's, nobody's cursor or first row jumps where
somebody else wrote, a locked file is as it was, and a turn that is taken back leaves the bytes.
"""

from __future__ import annotations

import random

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from tests.support.notations import NOTATIONS, told
from tests.support.painted_rows import check
from tests.support.pair_session import PairSession
from tests.support.patches import Edit
from tests.support.scripted_app import scripted_app
from tui.core.patches import painter
from tui.core.text.buffer import Buffer
from tui.core.text.change_set import Position
from tui.ui.app import DuettoApp
from tui.ui.editor.editing import CHANGES, MOVES, SCROLLS
from tui.ui.editor.editor import Editor
from tui.ui.editor.pane import EditorPane

SIZES = [(100, 30), (120, 36), (60, 16), (80, 24), (200, 50), (44, 13)]
LOOKS = (*MOVES, *SCROLLS)
COMMANDS = (
    *("duplicate", "move_lines 1", "move_lines -1", "toggle_comment", "wrap", "removed"),
    "step_tab 1",
)


def file_of(name: str, pick: random.Random) -> str:
    """Lines that all differ, short and long."""
    lines = []
    for number in range(pick.choice([3, 30, 150])):
        indent = pick.choice(["", "    ", "\t"])
        lines.append(f"{indent}{name}{number} = call({'word ' * pick.choice([0, 2, 30])})")
        lines += [f"{indent}if {name}{number}:"] * (pick.random() < 0.1)
    newline = pick.choice(["\n", "\n", "\n", "\r\n"])
    return newline.join([*lines, *[""] * pick.choice([0, 1, 1])])


class Place:
    """Where a view is, by the text that is there; None where a text is there twice."""

    def __init__(self, editor: Editor) -> None:
        self.editor, self.view = editor, editor.view
        if self.view is not None:
            cursor = self.view.cursor
            # Lines put at the end of a selection stay outside of it.
            self.cursor = None if cursor.selection else self.named(cursor.position)
            self.top, self.left = self.named((self.view.top, 0)), self.view.left

    def named(self, at: Position) -> tuple[str, int] | None:
        text = self.view.buffer.lines[at[0]]
        return (text, at[1]) if len(text) > 3 and self.alone(self.view.buffer, text) else None

    @staticmethod
    def alone(buffer: Buffer, text: str) -> bool:
        return buffer.lines.count(text) == 1

    def still(self) -> None:
        """Nothing jumped."""
        view = self.view
        if view is None or self.editor.view is not view:
            return
        ends = [(self.cursor, view.cursor.position)]
        if not self.editor.following:
            assert view.left == self.left
            ends.append((self.top, (view.top, 0)))
        for before, (line, col) in ends:
            if before is not None and self.alone(view.buffer, before[0]):
                assert (view.buffer.lines[line], col) == before


class Pair:
    """One user, up to two models, and dice."""

    def __init__(self, app: DuettoApp, pilot: Pilot[int], session: PairSession, seed: int) -> None:
        self.app, self.pilot, self.session = app, pilot, session
        self.pick = random.Random(seed)
        self.words = self.retracted = 0
        self.whole = False

    @property
    def pane(self) -> EditorPane:
        return self.app.bench.editor

    def frame(self) -> None:
        """As a tick of the app does, and then everything is looked at."""
        notices = self.session.drain()
        notices.status = True
        self.app.bench.sync(notices)
        for side in self.pane.sides:
            check(side.editor)

    def press(self, keys: tuple[str, ...]) -> None:
        key = self.pick.choice(keys)
        self.pane.editor.on_key(events.Key(key, key if len(key) == 1 else None))
        check(self.pane.editor)

    def look(self) -> None:
        self.press(LOOKS)

    def type(self) -> None:
        self.press((*LOOKS, *CHANGES, *"ab({} :xyz" * 3))

    def command(self) -> None:
        name, *args = self.pick.choice(COMMANDS).split()
        getattr(self.pane, f"action_{name}")(*map(int, args))
        check(self.pane.editor)

    def paste(self) -> None:
        self.pane.editor.paste(self.pick.choice(["pasted", "p1\np2\n", "long " * 60, "\n"]))
        check(self.pane.editor)

    def undo(self) -> None:
        self.pane.editor.undo(again=self.pick.random() < 0.4)
        check(self.pane.editor)

    def follow(self) -> None:
        self.pane.action_follow()

    def wrap(self) -> None:
        self.pane.action_wrap()
        check(self.pane.editor)

    def click(self) -> None:
        editor, pick = self.pane.editor, self.pick
        if editor.view is not None and editor.size.width and editor.size.height:
            x, y = pick.randrange(editor.size.width), pick.randrange(editor.size.height)
            shift = pick.random() < 0.3
            editor.on_mouse_down(events.MouseDown(editor, x, y, 0, 0, 1, shift, False, False))
            editor.on_mouse_up(events.MouseUp(editor, x, y, 0, 0, 1, False, False, False))
            check(editor)

    def decide(self) -> None:
        session, path = self.session, self.pane.files.active
        workspace, decision = session.workspace, self.pick.randrange(3)
        if decision == 2:
            session.take_back()
        else:
            session.write(workspace.accept() if decision else workspace.reject())
        if path and self.pick.random() < 0.2 and not workspace.read_only(path):
            session.write([path])
        self.frame()

    def model(self) -> None:
        """A model begins, or writes on."""
        session, pick = self.session, self.pick
        alone = self.whole and session.streams  # what two write at once goes and comes again
        if not session.streams or (len(session.streams) < 2 and pick.random() < 0.1 and not alone):
            path = pick.choice(sorted(session.files))
            lines = session.workspace.open(path).lines[:-1]
            if lines and not any("\r" in line for line in lines):
                fmt = pick.choice(NOTATIONS[:3] if session.streams else NOTATIONS)
                self.whole = fmt == "whole_file"
                text = told(fmt, lines, self.edits(lines), pick.choice([0, 1, 3, 3]), path)
                session.start(text, fmt)
        places = [Place(side.editor) for side in self.pane.sides]
        retracted = self.retracted
        session.feed(pick.choice([1, 7, 40, 200, 1000, 5000]))
        self.frame()
        if retracted == self.retracted:  # what is taken back and comes again is gone in between
            for place in places:
                place.still()

    def edits(self, lines: list[str]) -> list[Edit]:
        pick, edits = self.pick, list[Edit]()
        at = pick.randrange(len(lines))
        while at < len(lines) and len(edits) < 3:
            last = min(len(lines), at + pick.choice([0, 1, 3, 20]))
            self.words += 1
            count = pick.choice([1, 4, 30])
            text = "text " * pick.choice([0, 5, 40])
            edits.append(Edit(at, last, tuple(f"m {self.words} {i} {text}" for i in range(count))))
            at = last + pick.randrange(4, 30)
        return edits

    async def act(self, *, typing: bool) -> None:
        """Anything."""
        looks = [self.look, self.follow, self.wrap, self.click]
        types = [*[self.type] * 5, self.command, self.command, self.paste, self.undo, self.decide]
        acts = [*looks, *[self.model] * 5, *(types if typing else [])]
        chance = self.pick.random()
        if chance < 0.05:
            await self.pilot.resize_terminal(*self.pick.choice(SIZES))
        elif chance < 0.1:
            await self.sides()
        elif chance < 0.15:
            await self.find(typing=typing)
        else:
            self.pick.choice(acts)()
            return
        await self.pilot.pause()
        self.frame()

    async def sides(self) -> None:
        if not self.pane.sides.divided:
            await self.pane.sides.divide()
        elif self.pick.random() < 0.3:
            self.pane.sides.join()
        else:
            self.pane.sides.enter(self.pick.choice([*self.pane.sides]))

    async def find(self, *, typing: bool) -> None:
        bar = self.pane.find_bar
        if not bar.is_open:
            self.pane.action_replace()
            bar.query_one("#find-needle", Input).value = self.pick.choice(["call", "w", ")"])
        elif typing and self.pick.random() < 0.7:
            text = self.pick.choice(["call", "zed", ""])
            bar.find.replace(text, self.pick.random() < 0.5)
        else:
            self.pane.find.close()

    def end(self) -> None:
        """The models get ready."""
        while self.session.streams:
            self.session.feed(1_000_000)
        self.frame()


MORE = [(1, False), (2, True), (2, False)]


@pytest.mark.parametrize(
    ("seed", "typing"), [(1, True), *(pytest.param(*one, marks=pytest.mark.slow) for one in MORE)]
)
async def test_anything_by_both(seed: int, typing: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    pick = random.Random(seed)
    files = {f"{name}.py": file_of(name, pick) for name in ("alpha", "beta")}
    before, locked = dict(files), ["beta.py"] if seed == 2 else []
    session = PairSession(files, locked)
    session.open("beta.py")
    session.open("alpha.py")
    app = scripted_app(session)
    async with app.run_test(size=pick.choice(SIZES)) as pilot:
        pair = Pair(app, pilot, session, seed)
        take_back = painter.Painter.take_back

        def counted(one: painter.Painter, group: painter.Group | None = None) -> None:
            pair.retracted += 1
            take_back(one, group)

        monkeypatch.setattr(painter.Painter, "take_back", counted)
        app.bench.panes.show("editor")
        pair.pane.focus_editor()
        await pilot.pause()
        for _ in range(100):
            await pair.act(typing=typing)
        pair.end()
        while not typing and session.workspace.last_turn:
            session.take_back()
            pair.frame()
        kept = locked if typing else [path for path in before if path in session.workspace.buffers]
        for path in kept:
            assert session.workspace.buffers[path].text() == before[path]
