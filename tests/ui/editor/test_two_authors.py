"""A user and models in one buffer, in the whole app: any keys, any chunks, any sizes.

After every step each row on the screen is the buffer's, nobody's cursor or first row jumps where
somebody else wrote, a locked file is as it was, and a turn that is taken back leaves the bytes.
"""

from __future__ import annotations

import random
import re

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from tests.support.notations import NOTATIONS, told
from tests.support.pair_session import PairSession
from tests.support.patches import Edit, patch_of
from tests.support.scripted_app import scripted_app
from tui.core.edits.sections import painter
from tui.core.text.buffer import Buffer, Position
from tui.ui.app import DuettoApp
from tui.ui.editor.editor import Editor
from tui.ui.editor.keys import CHANGES, MOVES, SCROLLS
from tui.ui.editor.paint import gutter_width
from tui.ui.editor.pane import EditorPane
from tui.ui.editor.view import View
from tui.ui.finding.find_bar import FindBar

SIZES = [(100, 30), (120, 36), (60, 16), (80, 24), (200, 50), (44, 13)]
LOOKS = (*MOVES, *SCROLLS)
COMMANDS = ("duplicate", "move_lines 1", "move_lines -1", "toggle_comment", "wrap", "step_tab 1")
BEHIND = re.compile(r" *▍?[␍␊]* *$")
"""What may stand behind a line: cursor, pen, a picture of its ending."""


def file_of(name: str, pick: random.Random) -> str:
    """Lines that all differ, short and long."""
    lines = []
    for number in range(pick.choice([3, 30, 150])):
        indent = pick.choice(["", "    ", "\t"])
        lines.append(f"{indent}{name}{number} = call({'word ' * pick.choice([0, 2, 30])})")
        lines += [f"{indent}if {name}{number}:"] * (pick.random() < 0.1)
    newline = pick.choice(["\n", "\n", "\n", "\r\n"])
    return newline.join([*lines, *[""] * pick.choice([0, 1, 1])])


def texts(editor: Editor) -> list[tuple[str, str] | None]:
    """Number and text of each row of the file; None where lines on their way lie over it."""
    assert editor.view is not None
    gutter = gutter_width(editor.view.digits)
    rows: list[tuple[str, str] | None] = []
    for y in range(editor.size.height):
        text = editor.render_line(y).text
        assert len(text) == editor.size.width
        if chips := editor._rows[y].chips:
            under = editor._rows[y]._replace(chips=())
            whole = editor._painter.strip(under, editor._frame).text
            over = "".join(words for words, _ in chips)
            assert text == whole[: -len(over)] + over
            text = whole
        ghost = text[gutter - 2] == "┊"
        rows.append(None if ghost else (text[: gutter - 2].strip(), text[gutter:]))
    return rows


def check(editor: Editor) -> None:
    """What is painted is what the buffer holds."""
    view = editor.view
    if view is None or not editor.size.height or not editor.size.width:
        return
    assert view.buffer.clamp(view.cursor.position) == view.cursor.position
    (check_wrapped if view.wrapped else check_plain)(view, texts(editor))


def check_plain(view: View, rows: list[tuple[str, str] | None]) -> None:
    """One row a line, from the first one on."""
    for line, row in enumerate(rows, view.top):
        if row is None:
            assert line != view.cursor.position[0]
            continue
        number, text = row
        if line >= view.buffer.line_count:
            assert (number, text.strip()) == ("", "")
            continue
        assert number == str(line + 1)
        whole = view.buffer.lines[line].expandtabs(4)
        shown = whole[view.left : view.left + len(text)]
        if len(whole) > view.left + len(text):
            assert text == shown[:-1] + "›"
        else:
            assert text.startswith(shown)
            assert BEHIND.match(text[len(shown) :])


def check_wrapped(view: View, rows: list[tuple[str, str] | None]) -> None:
    """The rows of a line together are the line."""
    found: dict[int, str] = {}
    line: int | None = view.top
    for row in rows:
        if row is None:
            line = None  # what goes on behind them is a line that is not known
            continue
        number, text = row
        assert number or not text.strip()
        if number not in ("", "↳"):
            assert line is None or int(number) - 1 == line + (line in found)
            line = int(number) - 1
        if line is not None and (number or text.strip()):
            found[line] = found.get(line, "") + text
    whole_picture = None not in rows
    for at, (line, text) in enumerate(found.items()):
        shown = "".join(re.sub("[▍␍␊]", "", text).split())
        whole = "".join(view.buffer.lines[line].split())
        assert shown in whole
        if whole_picture:
            assert at == 0 or whole.startswith(shown)
            assert at == len(found) - 1 or whole.endswith(shown)
    if whole_picture and view.top + len(found) < view.buffer.line_count:
        assert rows[-1] is not None
        assert rows[-1][0]


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
        assert self.view is not None
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
        session, path = self.session, self.pane.active
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
        if not self.pane.split:
            await self.pane.divide()
        elif self.pick.random() < 0.3:
            self.pane.join()
        else:
            self.pane.enter(self.pick.choice(self.pane.sides))

    async def find(self, *, typing: bool) -> None:
        bar = self.pane.find_bar
        if not bar.is_open:
            self.pane.action_replace()
            bar.query_one("#find-needle", Input).value = self.pick.choice(["call", "w", ")"])
        elif typing and self.pick.random() < 0.7:
            text = self.pick.choice(["call", "zed", ""])
            bar.post_message(FindBar.ReplaceWanted(text, everything=self.pick.random() < 0.5))
        else:
            self.pane.close_open()

    def end(self) -> None:
        """The models get ready."""
        while self.session.streams:
            self.session.feed(1_000_000)
        self.frame()


@pytest.mark.parametrize("typing", [True, False], ids=["typing", "looking"])
@pytest.mark.parametrize("seed", range(4))
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
        while not typing and session.workspace.model_turns:
            session.take_back()
            pair.frame()
        kept = locked if typing else [path for path in before if path in session.workspace.buffers]
        for path in kept:
            assert session.workspace.buffers[path].text() == before[path]


async def test_an_undo_that_waits_for_the_model_says_so() -> None:
    session = PairSession({"a.py": "one\ntwo\nthree\n"})
    session.open("a.py")
    app = scripted_app(session)
    async with app.run_test(size=(100, 30)) as pilot:
        app.bench.panes.show("editor")
        app.bench.editor.focus_editor()
        await pilot.press("!")
        session.start(patch_of(["!one", "two", "three"], [Edit(1, 2, ("2", "zwei"))], 1, "a.py"))
        session.feed(60)
        app.bench.sync(session.drain())
        await pilot.press("ctrl+z")
        assert session.workspace.buffers["a.py"].lines[0] == "!one"
        said = [note.message for note in app._notifications]
        assert said == ["The model is writing in these lines: try again when it is done."]
        session.feed(1_000)
        await pilot.press("ctrl+z")
        assert session.workspace.buffers["a.py"].text() == "one\n2\nzwei\nthree\n"
