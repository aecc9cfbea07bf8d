from __future__ import annotations

from tui.core.text.buffer import Buffer
from tui.ui.editor.rail import Said
from tui.ui.editor.view import View
from tui.ui.finding.pattern import Query

TEXT = "".join(f"line {number}\n" for number in range(1, 201))


def plain(path: str, first: int, last: int) -> dict[int, str]:
    return {}


def landing(path: str, first: int, last: int) -> dict[int, str]:
    return dict.fromkeys(range(first, last), "landing")


def view_at(top: int, text: str = TEXT) -> View:
    view = View(Buffer("a.txt", text))
    view.scroll_to(top, 20)
    return view


def shown(view: View, height: int = 5) -> list[str]:
    return [row.text for row in view.rows(height, True, plain)]


def test_rows_are_what_is_in_sight() -> None:
    view = view_at(3)
    rows = view.rows(3, True, lambda path, first, last: {4: "pending"})
    assert [(row.number, row.text, row.kind) for row in rows] == [
        (4, "line 4", ""),
        (5, "line 5", "pending"),
        (6, "line 6", ""),
    ]


def test_below_the_end_are_blank_rows() -> None:
    assert [row.number for row in view_at(0, "a\nb").rows(4, True, plain)] == [1, 2, None, None]


def test_an_edit_above_does_not_move_what_is_seen() -> None:
    view = view_at(50)
    before = shown(view)
    view.buffer.replace((10, 0), (10, 0), "new\nnew\n")
    assert shown(view) == before
    view.buffer.replace((0, 0), (30, 0), "")
    assert shown(view) == before
    view.buffer.replace((view.top, 0), (view.top, 0), "right at the top\n")
    assert shown(view) == before


def test_a_new_file_is_shown_from_its_start() -> None:
    view = View(Buffer("new.py"))
    view.scroll_to(0, 20)
    view.buffer.replace((0, 0), (0, 0), "a\nb\nc\n")
    assert shown(view, 3) == ["a", "b", "c"]


def test_edits_above_take_the_pen_along() -> None:
    view = view_at(50)
    view.pen.put(60)
    view.buffer.replace((10, 0), (10, 0), "new\nnew\n")
    view.buffer.replace((62, 0), (62, 0), "right above\n")
    assert view.pen.line == 63
    pens = [row.text for row in view.rows(30, True, landing) if row.pen]
    assert pens == ["line 61"]
    view.buffer.replace((0, 0), view.buffer.end, "")
    assert view.pen.line == 0


def test_revealing_scrolls_as_little_as_possible() -> None:
    view = view_at(50)
    view.reveal(60, 20)
    assert view.top == 50
    view.reveal(75, 20)
    assert view.top == 58
    view.reveal(40, 20)
    assert view.top == 38
    view.reveal(120, 20, ahead=True)
    assert view.top == 108


def test_scrolling_ends_at_the_ends() -> None:
    view = view_at(0)
    view.scroll_to(-5, 20)
    assert view.top == 0
    view.scroll_to(10_000, 20)
    assert view.top == 201 - 18


def test_the_cursor_far_right_scrolls_sideways_and_back() -> None:
    view = view_at(0, "x" * 200 + "\nshort\n")
    view.cursor.line_end()
    view.reveal_cursor(40, 10)
    assert view.left == 200 - (40 - 7) + 1 + 6
    view.cursor.line_start()
    view.reveal_cursor(40, 10)
    assert view.left == 0


def test_selection_and_cursor_lie_over_the_text() -> None:
    view = view_at(0)
    view.cursor.select((0, 2), (1, 3))
    first, second = view.rows(2, True, plain)
    assert first.overlays == ((2, 6, "selection"),)
    assert first.newline_selected
    assert second.overlays == ((0, 3, "selection"), (3, 4, "cursor"))


def test_without_focus_the_cursor_is_dim_and_the_line_is_not_lifted() -> None:
    row = view_at(0).rows(1, False, plain)[0]
    assert row.overlays == ((0, 1, "cursor-away"),)
    assert not row.current


def test_a_ghost_lies_over_the_last_rows() -> None:
    view = view_at(0)
    rows = view.rows(10, True, plain, Said(ghost=(50, ["a", "b", "c", "d", "e"])))
    assert [row.text for row in rows[-4:]] == [
        "5 lines incoming, looking for the place",
        "c",
        "d",
        "e",
    ]
    assert {row.kind for row in rows[-4:]} == {"ghost"}
    assert rows[0].text == "line 1"


def test_the_pen_is_at_the_last_landing_line() -> None:
    view = view_at(0)
    view.pen.put(1)
    rows = view.rows(3, True, lambda path, first, last: {0: "landing", 1: "landing"})
    assert [row.pen for row in rows] == [False, True, False]


def test_matches_show_and_the_current_one_wins_over_the_selection() -> None:
    view = view_at(0)
    view.search.look_for(Query("line"))
    view.search.go((0, 0))
    view.cursor.select((0, 0), (0, 4))
    first, second = view.rows(2, False, plain)
    assert first.overlays == ((0, 4, "selection"), (0, 4, "match-now"))
    assert second.overlays == ((0, 4, "match"),)


def test_a_view_that_is_closed_leaves_no_marks() -> None:
    buffer = Buffer("a", "one\ntwo\nthree\n")
    view = View(buffer)
    view.search.limit(((0, 0), (1, 2)))
    view.pen.put(1)
    view.release()
    assert buffer._marks == []
