"""Any keys, clicks, sizes and landings in any order: nothing breaks, every row fills its cells."""

from __future__ import annotations

import random
from typing import TypeVar

import pytest
from textual import events

from tests.support.editor_app import EditorApp
from tests.support.fake_session import FakeSession
from tui.ui.editor.editing import CHANGES, MOVES, SCROLLS
from tui.ui.editor.editor import Editor

PIECES = (
    "word ", "x" * 50, "\t", "漢字", "e\u0301", "👩\u200d👩\u200d👧", "\x1b[0m", "\u202e", "🇩🇪",
    "\ud800", "\n", "\n", "\r\n", "    ", "(", ")", "def f():\n",
)  # fmt: skip
M = TypeVar("M", bound=events.MouseEvent)
KEYS = (*MOVES, *CHANGES, *SCROLLS, *"ab({ ", "ctrl+v", "ctrl+x", "ctrl+c")
SIZES = [(20, 5), (21, 4), (33, 12), (80, 24), (300, 60)]


def mouse(kind: type[M], editor: Editor, place: tuple[int, int], shift: bool) -> M:
    return kind(editor, *place, 0, 0, 1, shift, False, False)


class Monkey:
    """Does one thing at a time to an editor."""

    def __init__(self, app: EditorApp, pick: random.Random) -> None:
        self.app = app
        self.pick = pick
        self.done: list[object] = []

    @property
    def editor(self) -> Editor:
        return self.app.pane.editor

    def act(self) -> None:
        rare = (self.paste, self.undo, self.wrap, self.drag, self.land, self.scroll, self.follow)
        act = self.press if self.pick.random() < 0.5 else self.pick.choice(rare)
        self.done.append(act.__name__)
        act()

    def press(self) -> None:
        key = self.pick.choice(KEYS)
        self.done.append(key)
        self.editor.on_key(events.Key(key, key if len(key) == 1 else None))

    def paste(self) -> None:
        self.editor.paste("".join(self.pick.choices(PIECES, k=9)))

    def undo(self) -> None:
        self.editor.undo(again=self.pick.random() < 0.4)

    def wrap(self) -> None:
        self.app.pane.action_wrap()

    def drag(self) -> None:
        editor, pick = self.editor, self.pick
        places = [
            (pick.randrange(-3, editor.size.width + 4), pick.randrange(-2, editor.size.height + 3))
            for _ in range(3)
        ]
        shift = pick.random() < 0.2
        editor.on_mouse_down(mouse(events.MouseDown, editor, places[0], shift))
        for place in places:
            editor.on_mouse_move(mouse(events.MouseMove, editor, place, shift))
            editor._drag_on()
            if pick.random() < 0.3:
                self.land()
        editor.on_mouse_up(mouse(events.MouseUp, editor, places[-1], shift))

    def land(self) -> None:
        view = self.editor.view
        if view is not None:
            line = self.pick.randrange(view.buffer.line_count)
            text = "".join(self.pick.choices(PIECES, k=4)) + "\n"
            self.app.pane.sync(self.app.session.land("a.py", line, text))

    def scroll(self) -> None:
        self.editor.scroll_lines(self.pick.choice([-30, -3, 3, 30]))
        self.editor.scroll_cells(self.pick.choice([-8, 8, 100]))
        self.editor.scroll_to_line(self.pick.randrange(40))

    def follow(self) -> None:
        self.app.pane.action_follow()

    def check(self) -> None:
        editor = self.editor
        width, height = editor.size
        strips = [editor.render_line(y) for y in range(height)]
        assert {sum(part.cell_length for part in strip) for strip in strips} <= {width}, self.done
        view = editor.view
        assert view.buffer.clamp(view.cursor.position) == view.cursor.position
        text = "".join(strip.text for strip in strips)
        assert not set(text) & set("\x1b\r\n\t\u202e\ud800"), self.done


@pytest.mark.parametrize("seed", range(3))
async def test_anything_goes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pick = random.Random(seed)
    text = "".join(pick.choices(PIECES, k=pick.choice([0, 5, 200, 2_000])))
    if seed % 3 == 0:
        text += pick.choice(PIECES[:9]) * 3_000
    app = EditorApp(FakeSession({"a.py": text}), "a.py")
    async with app.run_test(size=pick.choice(SIZES)) as pilot:
        await pilot.pause()
        monkey = Monkey(app, pick)
        for step in range(80):
            if step % 20 == 19:
                await pilot.resize_terminal(*pick.choice(SIZES))
            monkey.act()
            monkey.check()
