from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.pilot import Pilot
from textual.widgets import Input, Static

from tests.support.editor_app import EditorApp
from tests.support.fake_session import FakeSession
from tui.engine.intents import CloseFile, OpenFile, SaveFile
from tui.engine.notices import Notices
from tui.ui.editor.pane import EditorPane
from tui.ui.files.finder import FileFinder

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
    return pane.tabs.render_line(0).text


def count_of(pane: EditorPane) -> str:
    return str(pane.find_bar.query_one(".count", Static).render()).strip()


def cursor_of(pane: EditorPane) -> tuple[int, int]:
    assert pane.editor.view is not None
    return pane.editor.view.cursor.position


async def test_nothing_open_says_what_to_do() -> None:
    async with pane() as (p, _):
        assert "Ctrl+O" in str(p.query_one("#editor-notice", Static).render())
        assert not p.editor.display or p.has_class("-notice")


async def test_with_nothing_open_what_changes_elsewhere_lays_nothing_out() -> None:
    async with pane() as (p, pilot):
        updated: list[object] = []
        vars(p.query_one("#editor-notice", Static))["update"] = updated.append
        p.sync(Notices(status=True))
        await pilot.pause()
        assert updated == []


async def test_a_refused_file_is_one_sentence() -> None:
    async with pane("logo.png") as (p, _):
        words = str(p.query_one("#editor-notice", Static).render())
        assert words == "logo.png is binary; duetto shows text files only."
        assert p.has_class("-notice")


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
        assert p.active == "a.py"
        await pilot.press("alt+comma")
        assert p.active == "c/main.py"
        await pilot.press("ctrl+w")
        assert session_of(p).intents[-1] == CloseFile("c/main.py")
        assert p.active == "b/main.py"
        await pilot.press("ctrl+w", "ctrl+w")
        assert (p.active, p.editor.view) == ("", None)


async def test_each_file_keeps_its_place() -> None:
    async with pane("a.py", "b/main.py") as (p, pilot):
        await pilot.press("ctrl+pageup", "pagedown", "end", "ctrl+pageup", "ctrl+pageup")
        assert (p.active, cursor_of(p)) == ("a.py", (21, 10))


async def test_clicking_tabs() -> None:
    async with pane("a.py", "b/main.py") as (p, pilot):
        await pilot.click(p.tabs, offset=(2, 0))
        assert session_of(p).intents[-1] == OpenFile("a.py")
        assert p.active == "a.py"
        cross = tabs_of(p).index("×")
        await pilot.click(p.tabs, offset=(cross, 0))
        assert session_of(p).intents[-1] == CloseFile("a.py")


async def test_find_counts_steps_and_closes() -> None:
    async with pane("b/main.py") as (p, pilot):
        await pilot.press("ctrl+f", *"TWO")
        assert count_of(p) == "1 of 2"
        assert p.editor.selected_text == "two"
        await pilot.press("enter")
        assert (count_of(p), cursor_of(p)) == ("2 of 2", (1, 13))
        await pilot.press("shift+enter")
        assert count_of(p) == "1 of 2"
        await pilot.press("alt+c")
        assert count_of(p) == "not found"
        assert p.close_open()
        assert not p.close_open()
        await pilot.pause()
        assert p.editor.has_focus
        assert p.editor.view is not None
        assert p.editor.view.search.count == 0


async def test_find_begins_with_the_selection_and_goes_to_other_files_too() -> None:
    async with pane("a.py", "b/main.py") as (p, pilot):
        await pilot.press("shift+end", "ctrl+f")
        assert p.find_bar.query_one(Input).value == "one"
        p.choose("a.py")
        await pilot.pause()
        assert count_of(p) == "not found"


async def test_go_to_a_line() -> None:
    async with pane("a.py") as (p, pilot):
        await pilot.press("alt+g", *"50:3", "enter")
        assert cursor_of(p) == (49, 2)
        assert not p.find_bar.is_open
        await pilot.press("alt+g", *"x", "enter")
        assert count_of(p) == "a number, please"


async def test_the_file_finder_opens_what_is_chosen() -> None:
    async with pane("a.py") as (p, pilot):
        await pilot.press("ctrl+o")
        assert isinstance(p.app.screen, FileFinder)
        await pilot.press(*"cmain", "enter")
        await pilot.pause()
        assert session_of(p).intents[-1] == OpenFile("c/main.py")
        assert p.active == "c/main.py"
        await pilot.press("ctrl+o", "escape")
        assert p.active == "c/main.py"


async def test_the_file_finder_goes_to_a_line() -> None:
    async with pane("b/main.py") as (p, pilot):
        await pilot.press("ctrl+o", *"a.py:7", "enter")
        await pilot.pause()
        assert (p.active, cursor_of(p)) == ("a.py", (6, 0))


async def test_follow_opens_the_file_where_the_edit_lands() -> None:
    async with pane("a.py") as (p, _):
        session_of(p).status.busy = True
        p.sync(session_of(p).land("b/main.py", 1, "new\n"))
        assert p.active == "b/main.py"
        assert "✎ " in tabs_of(p)
        assert "following" in tabs_of(p)
        p.action_follow()
        p.sync(session_of(p).land("a.py", 1, "new\n"))
        assert p.active == "b/main.py"
        assert "Alt+L follows" in tabs_of(p)


async def test_the_first_file_is_followed_and_gone_to_before_it_has_a_size() -> None:
    async with pane() as (p, pilot):
        session_of(p).submit(OpenFile("b/main.py"))
        p.sync(session_of(p).land("b/main.py", 1, "new\n"))
        await pilot.pause()
        assert p.editor.view is not None
        assert p.editor.view.top == 0
    async with pane() as (p, pilot):
        session_of(p).submit(OpenFile("a.py"))
        p.sync(session_of(p).land("a.py", 80, "new\n"))
        await pilot.pause()
        assert p.editor.view is not None
        assert 60 < p.editor.view.top < 80
    async with pane() as (p, pilot):
        session_of(p).submit(OpenFile("a.py"))
        p.sync(Notices(tabs=True, goto=("a.py", 90, 0)))
        await pilot.pause()
        assert p.editor.view is not None
        assert 68 < p.editor.view.top <= 80


async def test_goto_shows_the_place_the_user_asked_for() -> None:
    async with pane("b/main.py") as (p, _):
        session_of(p).submit(OpenFile("a.py"))
        p.sync(Notices(tabs=True, goto=("a.py", 42, 3)))
        assert (p.active, cursor_of(p)) == ("a.py", (42, 3))
        assert p.editor.view is not None
        assert p.editor.view.top > 20


async def test_the_overview_goes_where_it_is_clicked() -> None:
    async with pane("a.py") as (p, pilot):
        await pilot.click(p.overview, offset=(0, p.overview.size.height - 1))
        assert p.editor.view is not None
        assert p.editor.view.top > 60


async def test_the_place_of_the_cursor_is_one_that_can_be_gone_to() -> None:
    FILES["tabbed.py"] = "\tif x:\n\t\t日本 = y\n"
    async with pane("tabbed.py") as (p, pilot):
        p.editor.go((1, 4))
        await pilot.pause()
        assert " 2:5 " in tabs_of(p)
        p.editor.go((0, 0))
        await pilot.press("ctrl+g", *"2:5", "enter")
        assert cursor_of(p) == (1, 4)
