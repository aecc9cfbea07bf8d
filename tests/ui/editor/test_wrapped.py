"""The editor with long lines wrapped: what is seen, where keys and the mouse go."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual import events

from tests.support.editor_app import EditorApp
from tests.support.fake_session import FakeSession
from tui.core.text.buffer import Buffer
from tui.ui import theme
from tui.ui.editor.cursor import Cursor
from tui.ui.editor.editor import Editor
from tui.ui.editor.paint import Painter, Row
from tui.ui.editor.view import View

FAMILY = "👩\u200d👩\u200d👧"
TEXT = "one two three four five six\nshort\n    if a and b and c and d:\n"
HEIGHT = 8


def plain(path: str, first: int, last: int) -> dict[int, str]:
    return {}


def view_of(text: str, width: int = 22, *, wrap: bool = True) -> View:
    """Of 22 cells 7 are gutter, and one is left for the cursor."""
    view = View(Buffer("a.txt", text))
    view.fit(width, wrap=wrap)
    return view


def rows(view: View, height: int = HEIGHT) -> list[Row]:
    return view.rows(height, True, plain)


def texts(view: View, height: int = HEIGHT) -> list[str]:
    return [" " * row.cell + row.text for row in rows(view, height)]


def walk(view: View, *moves: str) -> list[tuple[int, int]]:
    found = []
    for move in moves:
        name, _, count = move.partition(" ")
        if count:
            getattr(view.cursor, name)(int(count))
        else:
            getattr(view.cursor, name)()
        found.append(view.cursor.position)
    return found


def test_rows_of_a_line_share_its_number_and_its_indentation() -> None:
    shown = rows(view_of(TEXT))
    assert [" " * row.cell + row.text for row in shown] == [
        "one two three ",
        "four five six",
        "short",
        "    if a and b ",
        "    and c and ",
        "    d:",
        "",
        "",
    ]
    assert [row.number for row in shown] == [1, 1, 2, 3, 3, 3, 4, None]
    assert [row.continued for row in shown[:6]] == [False, True, False, False, True, True]
    assert [row.last for row in shown[:6]] == [False, True, True, False, False, True]


def test_only_the_last_row_has_pen_and_selected_end() -> None:
    view = view_of(TEXT)
    view.pen.put(0)
    view.cursor.select((0, 4), (1, 2))
    shown = view.rows(4, True, lambda path, first, last: {0: "landing"})
    assert [row.pen for row in shown] == [False, True, False, False]
    assert [row.newline_selected for row in shown] == [False, True, False, False]
    assert [row.kind for row in shown] == ["landing", "landing", "", ""]
    assert [row.overlays for row in shown[:2]] == [((4, 14, "selection"),), ((0, 13, "selection"),)]
    assert shown[2].overlays == ((0, 2, "selection"), (2, 3, "cursor"))


def test_up_and_down_go_by_rows_and_keep_the_cell() -> None:
    view = view_of(TEXT)
    view.cursor.place((0, 6))
    assert walk(view, "lines 1", "lines 1", "lines 1", "lines 1", "lines 1", "lines 1") == [
        (0, 20),
        (1, 5),
        (2, 6),
        (2, 17),
        (2, 27),
        (3, 0),
    ]
    assert walk(view, "lines -1", "lines -1", "lines -3", "lines -9") == [
        (2, 27),
        (2, 17),
        (0, 20),
        (0, 0),
    ]


def test_home_and_end_go_by_rows_first() -> None:
    view = view_of("  one two three four five six\n")
    view.cursor.place((0, 19))
    assert view.layout.row((0, 19)) == (0, 10)
    assert walk(view, "line_start", "line_start", "line_start") == [(0, 10), (0, 2), (0, 0)]
    assert walk(view, "line_end", "line_end", "line_start") == [(0, 9), (0, 29), (0, 21)]


def test_the_cursor_is_in_one_row_only() -> None:
    view = view_of("abcdefghijklmnopqrstuvwxyz")
    for col in range(27):
        view.cursor.place((0, col))
        with_cursor = [row for row in rows(view) if row.overlays]
        assert len(with_cursor) == 1
        assert with_cursor[0].current
        x, y = view.cursor_spot(HEIGHT) or (0, 0)
        assert (x, y) == (7 + col % 14, col // 14)


def test_clicks_find_rows() -> None:
    view = view_of(TEXT)
    assert view.position_at(7, 0) == (0, 0)
    assert view.position_at(7 + 3, 1) == (0, 17)
    assert view.position_at(21, 0) == (0, 13)
    assert view.position_at(0, 4) == (2, 15)
    assert view.position_at(7 + 4, 4) == (2, 15)
    assert view.position_at(40, 5) == (2, 27)
    assert view.position_at(7, 70) == view.buffer.end
    assert view.position_at(7, -1) == (0, 0)


def test_scrolling_is_by_rows_and_ends_at_the_ends() -> None:
    view = view_of(TEXT * 9)
    view.scroll_rows(1, HEIGHT)
    assert (view.top, texts(view)[0]) == (0, "four five six")
    assert list(view.shown(HEIGHT)) == [0, 1, 2, 3, 4]
    view.scroll_rows(-9, HEIGHT)
    assert view.place == (0, 0)
    view.scroll_rows(999, HEIGHT)
    assert texts(view)[-3:] == ["", "", ""]
    assert texts(view)[-4] == "    d:"


def test_an_edit_above_moves_nothing_and_one_in_the_top_line_keeps_the_row() -> None:
    view = view_of("x\n" + TEXT * 3)
    view.scroll_rows(2, HEIGHT)
    before = texts(view)
    view.buffer.replace((0, 0), (0, 0), "new and longer than a row is\nnew\n")
    assert texts(view) == before
    view.buffer.replace((view.top, 0), (view.top, 0), "a few more words ")
    assert texts(view)[:4] == ["three four ", "five six", "short", "    if a and b "]


def test_wrap_off_and_on_again_keeps_the_top_line() -> None:
    view = view_of(TEXT * 9)
    view.scroll_rows(7, HEIGHT)
    top = view.top
    view.fit(22, wrap=False)
    assert (view.top, view.place) == (top, (top, 0))
    assert [row.number for row in rows(view, 3)] == [top + 1, top + 2, top + 3]
    view.fit(40, wrap=True)
    assert view.top == top


CHARACTERS = st.one_of(
    st.sampled_from(
        ["a", "bc ", "\n", "\n", "\t", "漢", "é", "e\u0301", FAMILY, "\x1b", " " * 9, "x" * 40]
    ),
    st.characters(),
)
MOVES = st.sampled_from(
    [
        "left",
        "right",
        "lines 1",
        "lines -1",
        "lines 5",
        "line_start",
        "line_end",
        "word_right",
        "word_left",
        "file_end",
        "type",
        "wider",
        "narrower",
        "scroll",
        "wrap",
    ]
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(CHARACTERS, max_size=60).map("".join),
    st.lists(MOVES, max_size=25),
    st.integers(24, 50),
    st.integers(1, 12),
    st.booleans(),
)
def test_the_cursor_is_seen_and_rows_fill_their_cells(
    text: str, moves: list[str], width: int, height: int, wrap: bool
) -> None:
    view, painter = view_of(text, width, wrap=wrap), Painter(theme.active())
    for move in moves:
        if move == "type":
            view.buffer.replace(view.cursor.position, view.cursor.position, "typed 漢 ")
        elif move in ("wider", "narrower"):
            width = min(width + 7, 60) if move == "wider" else max(width - 7, 24)
        elif move == "wrap":
            wrap = not wrap
        elif move == "scroll":
            view.scroll_rows(3, height)
        else:
            walk(view, move)
        view.fit(width, wrap=wrap)
        if move != "scroll":
            view.reveal_cursor(width, height)
            assert view.cursor_spot(height) is not None
            assert sum("cursor" in str(row.overlays) for row in rows(view, height)) == 1
        shown = rows(view, height)
        assert len(shown) == height
        strips = [painter.strip(row, view.frame(width)) for row in shown]
        assert all(sum(part.cell_length for part in strip) == width for strip in strips)
        if wrap:
            assert not any("›" in strip.text[7:] for strip in strips if "›" not in text)


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("unit", ["word xyz ", "漢字a\t", FAMILY, "x"])
async def test_a_line_of_a_megabyte_is_edited_like_any_other(unit: str, wrap: bool) -> None:
    line = unit * (1_000_000 // len(unit))
    app = EditorApp(FakeSession({"a.py": line + "\nlast\n"}), "a.py")
    async with app.run_test(size=(60, 14)) as pilot:
        editor = app.pane.editor
        editor.set_wrap(wrap)
        await pilot.press("end", "end", *"end", "home", "up", "pagedown", "ctrl+end")
        buffer = app.session.workspace.buffers["a.py"]
        assert len(buffer.lines[0]) == len(line) + 3
        assert editor.view is not None
        assert editor.view.cursor.position == buffer.end
        assert all(len(row.text) < 4_000 for row in editor.view.rows(14, True, plain))
        assert "last" in "".join(editor.render_line(y).text for y in range(14))


async def test_alt_z_wraps_and_unwraps() -> None:
    app = EditorApp(FakeSession({"a.py": "word " * 40 + "\nb\n"}), "a.py")
    async with app.run_test(size=(60, 14)) as pilot:
        editor, pane = app.pane.editor, app.pane
        assert editor.render_line(1).text.startswith("   2   b")
        await pilot.press("end")
        assert editor.view is not None
        assert editor.view.left > 0
        pane.action_wrap()
        assert (editor.wrap, editor.view.left) == (True, 0)
        assert editor.render_line(1).text.startswith("   ↳   word")
        assert editor.view.cursor.position == (0, 200)
        await pilot.press("up", "home")
        assert editor.view.cursor.position == (0, 100)
        await pilot.press("ctrl+home")
        pane.action_wrap()
        assert editor.render_line(1).text.startswith("   2   b")


async def test_wrapping_follows_the_width() -> None:
    app = EditorApp(FakeSession({"a.py": "word " * 40 + "\nb\n"}), "a.py")
    async with app.run_test(size=(60, 14)) as pilot:
        app.pane.editor.set_wrap(True)
        await pilot.resize_terminal(220, 14)
        await pilot.pause()
        assert app.pane.editor.render_line(1).text.startswith("   2   b")
        await pilot.resize_terminal(20, 5)
        await pilot.pause()
        assert app.pane.editor.render_line(0).text.startswith("   1   word word")
        assert app.pane.editor.render_line(1).text.startswith("   ↳   word word")


async def test_the_other_side_wraps_too() -> None:
    app = EditorApp(FakeSession({"a.py": "word " * 40}), "a.py")
    async with app.run_test(size=(120, 14)):
        app.pane.action_wrap()
        await app.pane.divide()
        assert all(side.editor.wrap for side in app.pane.sides)
        app.pane.action_wrap()
        assert not any(side.editor.wrap for side in app.pane.sides)


async def test_only_rows_that_changed_are_painted(monkeypatch: pytest.MonkeyPatch) -> None:
    app = EditorApp(FakeSession({"a.zzz": "word " * 40 + "\n" + "b\n" * 20}), "a.zzz")
    async with app.run_test(size=(60, 14)) as pilot:
        editor = app.pane.editor
        editor.set_wrap(True)
        painted: list[int] = []
        monkeypatch.setattr(
            editor, "refresh", lambda *regions, **_: painted.extend(area.y for area in regions)
        )
        await pilot.press("x")
        assert set(painted) <= {0, 1, 2, 3, 4}
        painted.clear()
        await pilot.press("down")
        assert set(painted) == {0, 1}


def test_cursor_without_a_view_moves_by_lines() -> None:
    cursor = Cursor(Buffer("a", "long " * 90 + "\nb\n"))
    cursor.lines(1)
    assert cursor.position == (1, 0)


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("unit", ["word xyz ", "漢字 a\t", FAMILY, '{"k":[1,2]},'])
async def test_a_key_in_a_megabyte_costs_a_few_milliseconds(unit: str, wrap: bool) -> None:
    app = EditorApp(FakeSession({"a.txt": unit * (1_000_000 // len(unit))}), "a.txt")
    async with app.run_test(size=(120, 40)) as pilot:
        editor = app.pane.editor
        editor.set_wrap(wrap)
        for place in ("ctrl+home", "ctrl+end"):
            await pilot.press(place)
            costs = sorted(cost_s(editor, key) for key in [*"abcd", "left", "up", "down"] * 4)
            assert costs[len(costs) // 2] < 0.008, (place, costs)


def cost_s(editor: Editor, key: str) -> float:
    """CPU seconds until a key's rows are ready for the screen."""
    start = process_time()
    event = events.Key(key, key if len(key) == 1 else None)
    editor.on_key(event)
    for y in range(editor.size.height):
        editor.render_line(y)
    return process_time() - start
