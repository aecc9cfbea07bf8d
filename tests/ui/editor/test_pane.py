"""The editor pane and its tabs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Static

from tests.support.editor_app import EditorApp
from tests.support.fake_session import FakeSession
from tui.engine.intents import CloseFile, SaveFile
from tui.ui import theme
from tui.ui.editor.pane import EditorPane
from tui.ui.editor.sides import Tab, Tabs

FILES = {
    "a.py": "".join(f"value = {number}\n" for number in range(100)),
    "b/main.py": "one\ntwo three two\n",
    "c/main.py": "",
    "m.py": "".join(
        f"def {name}():\n" + "    pass\n" * 40 for name in ("first", "second", "third")
    ),
}


@asynccontextmanager
async def pane(*paths: str) -> AsyncIterator[tuple[EditorPane, Pilot[None]]]:
    app = EditorApp(FakeSession(FILES), *paths)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        yield app.pane, pilot


def session_of(pane: EditorPane) -> FakeSession:
    assert isinstance(pane.session, FakeSession)
    return pane.session


def tabs_of(pane: EditorPane) -> str:
    return pane.files.tabs.render_line(0).text


def count_of(pane: EditorPane) -> str:
    return str(pane.find_bar.query_one(".count", Static).render()).strip()


def cursor_of(pane: EditorPane) -> tuple[int, int]:
    return pane.editor.view.cursor.position


async def test_tabs_name_files_and_show_what_is_unsaved() -> None:
    async with pane("a.py", "b/main.py", "c/main.py") as (p, pilot):
        assert all(name in tabs_of(p) for name in ("a.py ×", "b/main.py ×", "c/main.py ×"))
        await pilot.press("x")
        assert "c/main.py ●" in tabs_of(p)
        await pilot.press("ctrl+s")
        assert session_of(p).intents[-1] == SaveFile("c/main.py")


async def test_next_previous_and_closing_tabs() -> None:
    async with pane("a.py", "b/main.py", "c/main.py") as (p, pilot):
        await pilot.press("ctrl+pagedown")
        assert p.files.active == "a.py"
        await pilot.press("alt+comma")
        assert p.files.active == "c/main.py"
        await pilot.press("ctrl+w")
        assert session_of(p).intents[-1] == CloseFile("c/main.py")
        assert p.files.active == "b/main.py"
        await pilot.press("ctrl+w", "ctrl+w")
        assert (p.files.active, p.editor.view) == ("", None)


async def test_go_to_a_line() -> None:
    async with pane("a.py") as (p, pilot):
        await pilot.press("alt+g", *"50:3", "enter")
        assert cursor_of(p) == (49, 2)
        assert not p.find_bar.is_open
        await pilot.press("alt+g", *"x", "enter")
        assert count_of(p) == "type a number"


class _Row(App[None]):
    """A row of tabs by itself."""

    def compose(self) -> ComposeResult:
        theme.activate(theme.DEFAULT_THEME)
        yield Tabs(self.log, self.log, self.log)


async def test_several_are_written_at_once_and_fates_are_seen() -> None:
    app = _Row()
    async with app.run_test(size=(110, 3)) as pilot:
        row = app.query_one(Tabs)
        tabs = (
            Tab("a.py", writing=True),
            Tab("b.py", writing=True),
            Tab("c.py", fate="to be deleted"),
            Tab("d.py", fate="moves to e/f.py"),
            Tab("g.py", fate="moves to e/g.py"),
            Tab("h.py", dirty=True, torn=True),
        )
        row.show(tabs, "a.py")
        await pilot.pause()
        strip = row.render_line(0)
        assert "a.py ✎" in strip.text
        assert "b.py ✎" in strip.text
        assert "d.py → f.py ×" in strip.text
        assert "g.py → e/ ×" in strip.text, "another folder is what is new"
        assert "h.py !" in strip.text
        struck = [segment.text for segment in strip if segment.style and segment.style.strike]
        assert struck == ["c.py "]
