"""Dragging a selection with the mouse, and what a resize leaves in sight."""

from __future__ import annotations

import pytest
from textual import events

from tests.support.editor_app import EditorApp
from tests.support.fake_session import FakeSession
from tui.ui.editor.editor import Editor


async def test_dragging_far_below_scrolls_faster_the_longer_it_is_held() -> None:
    text = "".join(f"line {number}\n" for number in range(5_000))
    app = EditorApp(FakeSession({"a.py": text}), "a.py")
    async with app.run_test(size=(60, 12)) as pilot:
        editor = app.pane.editor
        await pilot.mouse_down(editor, offset=(9, 2))
        editor.post_message(events.MouseMove(editor, 9, 14, 0, 1, 1, False, False, False))
        await pilot.pause()
        assert editor.view is not None
        steps = []
        for _ in range(60):
            before = editor.view.top
            editor._drag_on()
            steps.append(editor.view.top - before)
        assert steps == sorted(steps)
        assert steps[-1] > steps[0] > 0
        await pilot.mouse_up(editor, offset=(9, 5))
        assert editor.view.cursor.selection is not None


def held(x: int, y: int, editor: Editor) -> events.MouseMove:
    return events.MouseMove(editor, x, y, 0, 1, 1, False, False, False)


async def test_dragging_beyond_the_right_edge_scrolls_sideways_and_back() -> None:
    app = EditorApp(FakeSession({"a.py": "0123456789" * 30 + "\nb\n" + "c\n" * 20}), "a.py")
    async with app.run_test(size=(60, 12)) as pilot:
        editor = app.pane.editor
        view = editor.view
        assert view is not None
        await pilot.mouse_down(editor, offset=(9, 0))
        editor.post_message(held(90, 0, editor))
        await pilot.pause()
        for _ in range(6):
            editor._drag_on()
        assert view.left > 100
        selection = view.cursor.selection
        assert selection is not None
        assert (selection[0], selection[1][0]) == ((0, 2), 0)
        assert selection[1][1] >= view.left
        editor.post_message(held(2, 0, editor))
        await pilot.pause()
        for _ in range(200):
            editor._drag_on()
        assert view.left == 0
        assert view.cursor.selection == ((0, 0), (0, 2))
        await pilot.mouse_up(editor, offset=(2, 0))


async def test_what_the_model_writes_above_does_not_shift_a_selection_in_the_making() -> None:
    app = EditorApp(FakeSession({"a.py": "one\ntwo\nthree\nfour\n"}), "a.py")
    async with app.run_test(size=(60, 12)) as pilot:
        editor = app.pane.editor
        await pilot.mouse_down(editor, offset=(7, 2))
        app.pane.sync(app.session.land("a.py", 0, "new\nlines\n"))
        view = editor.view
        assert view is not None
        y = next(
            y
            for y, row in enumerate(view.rows(12, True, lambda path, first, last: {}))
            if row.text == "four"
        )
        await pilot.hover(editor, offset=(7 + 4, y))
        await pilot.mouse_up(editor, offset=(7 + 4, y))
        assert editor.selected_text == "three\nfour"
        assert not editor.following


async def test_where_the_terminal_ends_the_last_row_scrolls_on() -> None:
    app = EditorApp(FakeSession({"a.py": "line\n" * 300}), "a.py")
    async with app.run_test(size=(60, 12)) as pilot:
        editor = app.pane.editor
        view = editor.view
        assert view is not None
        assert editor.region.bottom == 12
        await pilot.mouse_down(editor, offset=(9, 2))
        editor.post_message(held(9, editor.size.height - 2, editor))
        await pilot.pause()
        editor._drag_on()
        assert view.top == 0
        editor.post_message(held(9, editor.size.height - 1, editor))
        await pilot.pause()
        editor._drag_on()
        assert view.top > 0
        await pilot.mouse_up(editor, offset=(9, 5))


@pytest.mark.parametrize("wrap", [False, True])
async def test_the_cursor_stays_in_sight_when_the_screen_shrinks(wrap: bool) -> None:
    app = EditorApp(FakeSession({"a.py": ("word " * 30 + "\n") * 60}), "a.py")
    async with app.run_test(size=(90, 30)) as pilot:
        editor = app.pane.editor
        editor.set_wrap(wrap)
        await pilot.press(*["down"] * 22, "end")
        for size in ((90, 9), (40, 9), (30, 5), (200, 50), (26, 6)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert editor.view is not None
            assert editor.view.cursor_spot(editor.size.height) is not None, size


async def test_a_view_that_was_scrolled_away_stays_there_when_the_screen_shrinks() -> None:
    app = EditorApp(FakeSession({"a.py": "line\n" * 300}), "a.py")
    async with app.run_test(size=(90, 30)) as pilot:
        editor = app.pane.editor
        editor.scroll_lines(100)
        await pilot.resize_terminal(60, 12)
        await pilot.pause()
        assert editor.view is not None
        assert editor.view.top == 100


async def test_the_landing_edit_stays_in_sight_when_the_screen_shrinks() -> None:
    app = EditorApp(FakeSession({"a.py": "line\n" * 300}), "a.py")
    async with app.run_test(size=(90, 30)) as pilot:
        app.pane.sync(app.session.land("a.py", 150, "new\n" * 12))
        view = app.pane.editor.view
        assert view is not None
        for size in ((60, 10), (20, 5), (200, 50)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert 161 in view.shown(app.pane.editor.size.height)
