from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual import events
from textual.geometry import Region
from textual.pilot import Pilot

from tests.support.editor_app import EditorApp
from tests.support.fake_session import FakeSession
from tui.core.text.change_set import Change, Position
from tui.errors import EditRefused
from tui.ui.editor.editor import Editor

TEXT = "def f(a):\n    return a\n\nx = f(1)\n"
LONG = "".join(f"line {number}\n" for number in range(1, 301))


class Desk:
    """An app with one file open, and short names for what tests look at."""

    def __init__(self, app: EditorApp, pilot: Pilot[None], path: str) -> None:
        self.app = app
        self.path = path
        self.pilot = pilot
        self.session = app.session
        self.editor: Editor = app.pane.editor

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    @property
    def text(self) -> str:
        return self.session.workspace.buffers[self.path].text()

    @property
    def cursor(self) -> tuple[int, int]:
        return self.editor.view.cursor.position

    @property
    def top(self) -> int:
        return self.editor.view.top

    def land(self, line: int, text: str) -> None:
        self.app.pane.sync(self.session.land(self.path, line, text))

    def screen(self) -> list[str]:
        return [self.editor.render_line(y).text.rstrip() for y in range(self.editor.size.height)]


@asynccontextmanager
async def desk(
    text: str = TEXT, size: tuple[int, int] = (60, 20), path: str = "a.py"
) -> AsyncIterator[Desk]:
    app = EditorApp(FakeSession({path: text}), path)
    async with app.run_test(size=size) as pilot:
        yield Desk(app, pilot, path)


async def test_typing_goes_to_the_workspace_and_to_the_screen_at_once() -> None:
    async with desk() as d:
        await d.press("ctrl+end", *"if y:", "enter", *"z()", "enter", "backspace", "q")
        assert d.text == TEXT + "if y:\n    z()\nq"
        assert d.screen()[4:7] == ["   5   if y:", "   6       z()", "   7   q"]
        assert d.session.touches == ["a.py"] * len(d.session.touches) != []
        assert d.session.where == ("a.py", (6, 1), None)


async def test_only_damaged_rows_are_painted(monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk(LONG, path="a.txt") as d:  # colours may come frames later
        painted: list[Region] = []
        monkeypatch.setattr(d.editor, "refresh", lambda *regions, **_: painted.extend(regions))
        d.land(5, "")
        assert painted == []
        await d.press("x")
        assert {region.y for region in painted} == {0}
        painted.clear()
        d.land(12, "new\n")
        assert {region.y for region in painted} == set(range(12, 19))
        painted.clear()
        d.land(200, "far below\n")
        assert {region.y for region in painted} <= {12}


async def test_follow_mode_follows_until_the_user_scrolls_and_again_on_a_key() -> None:
    async with desk(LONG) as d:
        d.land(150, "here\n")
        assert d.top < 150 < d.top + 19
        await d.pilot._post_mouse_events([events.MouseScrollUp], d.editor)
        top = d.top
        d.land(250, "there\n")
        assert d.top == top
        assert not d.editor.following
        await d.press("alt+l")
        assert d.top < 250 < d.top + 19
        d.land(10, "up again\n")
        assert d.top < 10 < d.top + 19


async def test_the_mouse_places_selects_and_scrolls() -> None:
    async with desk() as d:
        await d.pilot.click(d.editor, offset=(7 + 4, 1))
        assert d.cursor == (1, 4)
        await d.pilot.click(d.editor, offset=(7 + 6, 1), times=2)
        assert d.editor.view.cursor.selected_text == "return"
        await d.pilot.mouse_down(d.editor, offset=(7, 0))
        await d.pilot.hover(d.editor, offset=(7 + 3, 1))
        await d.pilot.mouse_up(d.editor, offset=(7 + 3, 1))
        assert d.editor.view.cursor.selected_text == "def f(a):\n   "


LINES = "one two three\nfour\n\tfive\n"


KEYS = [
    (["alt+f", "alt+f", "alt+b"], LINES, (0, 4)),
    (["ctrl+e"], LINES, (0, 13)),
    (["alt+right", "ctrl+k"], "one\nfour\n\tfive\n", (0, 3)),
    (["end", "ctrl+k"], "one two threefour\n\tfive\n", (0, 13)),
    (["end", "ctrl+u"], "\nfour\n\tfive\n", (0, 0)),
    (["down", "ctrl+u"], "one two threefour\n\tfive\n", (0, 13)),
    (["alt+d"], " two three\nfour\n\tfive\n", (0, 0)),
    (["end", "alt+backspace"], "one two \nfour\n\tfive\n", (0, 8)),
    (["alt+shift+right", "delete"], " two three\nfour\n\tfive\n", (0, 0)),
    (
        ["shift+end", "shift+delete", "ctrl+end", "shift+insert"],
        "\nfour\n\tfive\none two three",
        (3, 13),
    ),
    (["ctrl+shift+k"], "four\n\tfive\n", (0, 0)),
    (["ctrl+enter", "x"], "one two three\nx\nfour\n\tfive\n", (1, 1)),
    (["down", "down", "ctrl+shift+enter", "x"], "one two three\nfour\n\tx\n\tfive\n", (2, 2)),
    (["down", "ctrl+x", "ctrl+v", "ctrl+v"], "one two three\nfour\nfour\n\tfive\n", (3, 0)),
    (["ctrl+a", "ctrl+d"], LINES + "one two three\nfour\n\tfive\n", (6, 0)),
    (["x", "ctrl+z", "ctrl+shift+z"], "x" + LINES, (0, 1)),
    (["super+backspace"], LINES, (0, 0)),
]


@pytest.mark.slow
async def test_keys() -> None:
    for keys, text, cursor in KEYS:
        async with desk(LINES) as d:
            await d.press(*keys)
            assert (d.text.rstrip("\n"), d.cursor) == (text.rstrip("\n"), cursor), keys


async def test_a_read_only_file_says_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk("text\n") as d:
        said: list[str] = []
        monkeypatch.setattr(d.app, "notify", lambda words, **more: said.append(words))

        def refuse(path: str, start: Position, end: Position, text: str, group: str = "") -> Change:
            raise EditRefused("a.py is read-only.")

        def refuse_all(path: str) -> Position | None:
            raise EditRefused("a.py is read-only.")

        monkeypatch.setattr(d.session.workspace, "edit", refuse)
        monkeypatch.setattr(d.session.workspace, "undo", refuse_all)
        monkeypatch.setattr(d.session.workspace, "redo", refuse_all)
        await d.press("ctrl+z", "ctrl+y")
        await d.press(*"abc", "enter", "backspace", "ctrl+d", "alt+down", "ctrl+underscore")
        assert said == ["a.py is read-only."]
        assert d.text == "text\n"
        assert not d.session.touches
