"""Soft wrap: where rows begin, and the way from row to row."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.painted_rows import check
from tests.support.patches import Edit, patch_of
from tests.support.stepped_pair import SteppedPair, stepped
from tui.core.document.hunk import Hunk, Stage
from tui.core.document.removed import Removed
from tui.core.text.buffer import Buffer
from tui.ui.editor.cells import LineCells
from tui.ui.editor.paint import EditorRow, gutter_width
from tui.ui.editor.view import View
from tui.ui.editor.wrapping import Place, RemovedRows, Wrapping

FAMILY = "👩\u200d👩\u200d👧"
TEXT = st.text(
    st.one_of(st.sampled_from("ab  \n\n\t-漢字é\u0301\u200d🇩🇪"), st.characters(codec="utf-8")),
    max_size=120,
)


def layout_of(text: str, room: int | None) -> Wrapping:
    layout = Wrapping(Buffer("a", text))
    layout.wrap(room)
    return layout


def places(layout: Wrapping) -> list[Place]:
    """All rows of a buffer, one by one."""
    found, short = [(0, 0)], 0
    while not short:
        place, short = layout.step(found[-1], 1)
        if not short:
            found.append(place)
    return found


def rows(text: str, room: int) -> list[str]:
    layout = layout_of(text, room)
    return [
        " " * layout.indent(place) + layout.buffer.lines[place[0]][place[1] : layout.end(place)]
        for place in places(layout)
    ]


def test_a_grapheme_is_never_cut() -> None:
    assert rows(FAMILY * 5, 5) == [FAMILY * 2, FAMILY * 2, FAMILY]
    assert rows("x" + "e\u0301" * 6, 5) == ["x" + "e\u0301" * 3, "e\u0301" * 3]


@settings(max_examples=100)
@given(TEXT, st.integers(2, 40))
def test_a_cell_leads_back_to_its_position(text: str, room: int) -> None:
    layout = layout_of(text, room)
    for line, content in enumerate(layout.buffer.lines):
        cells, col = LineCells(content), 0
        while col <= len(content):
            place = layout.row((line, col))
            assert place[1] <= col
            assert layout.position(place, layout.cell((line, col))) == (line, col)
            col = cells.after(col) if col < len(content) else col + 1


WRAPPED = "one two three four five six\nshort\n    if a and b and c and d:\n"
HEIGHT = 8


def plain(path: str, first: int, last: int) -> dict[int, str]:
    return {}


def view_of(text: str, width: int = 22, *, wrap: bool = True) -> View:
    """Of 22 cells 7 are gutter, and one is left for the cursor."""
    view = View(Buffer("a.txt", text))
    view.fit(width, wrap=wrap)
    return view


def rows_of(view: View, height: int = HEIGHT) -> list[EditorRow]:
    return view.rows(height, True, plain)


def texts(view: View, height: int = HEIGHT) -> list[str]:
    return [" " * row.cell + row.text for row in rows_of(view, height)]


def test_an_edit_above_moves_nothing_and_one_in_the_top_line_keeps_the_row() -> None:
    view = view_of("x\n" + WRAPPED * 3)
    view.scroll_rows(2, HEIGHT)
    before = texts(view)
    view.buffer.replace((0, 0), (0, 0), "new and longer than a row is\nnew\n")
    assert texts(view) == before
    view.buffer.replace((view.top, 0), (view.top, 0), "a few more words ")
    assert texts(view)[:4] == ["three four ", "five six", "short", "    if a and b "]


LINES = [f"line {number}" for number in range(40)]
WHOLE = "\n".join([*LINES, ""])


def edit(first: int, last: int, *new: str) -> str:
    return patch_of(LINES, [Edit(first, last, new)], 2, "a.py")


def shown(pair: SteppedPair, first: str, count: int) -> list[str]:
    """Rows from the one with this number on, without their blanks."""
    rows = [row.rstrip() for row in pair.rows()]
    at = next(y for y, row in enumerate(rows) if row.split()[:1] == [first])
    return [" ".join(row.split()) for row in rows[at : at + count]]


async def test_they_stand_in_place_until_that_is_decided() -> None:
    async with stepped({"a.py": WHOLE}, "a.py") as pair:
        await pair.go(0)
        await pair.start(edit(5, 7, "new"), "-line 5\n")
        assert shown(pair, "5", 4) == ["5 line 4", "- ╌ line 5", "6 line 6", "7 line 7"]
        await pair.stream()
        landed = ["5 line 4", "- ╌ line 5", "- ╌ line 6", "6 ┃ new", "7 line 7"]
        assert shown(pair, "5", 5) == landed
        await pair.press("alt+r")
        await pair.frame()
        assert shown(pair, "5", 3) == ["5 line 4", "6 line 5", "7 line 6"]
        await pair.start(edit(9, 10))
        await pair.stream()
        assert shown(pair, "9", 3) == ["9 line 8", "- ╌ line 9", "10 line 10"]
        await pair.press("alt+a")
        await pair.frame()
        assert shown(pair, "9", 2)[1].endswith("line 10")


async def test_the_cursor_skips_them_and_copies_leave_them_out() -> None:
    async with stepped({"a.py": WHOLE}, "a.py") as pair:
        await pair.start(edit(5, 7, "new"))
        await pair.stream()
        await pair.go(4, 2)
        await pair.press("down")
        assert pair.view.cursor.position == (5, 2)
        await pair.press("up", "home", "shift+down", "shift+down")
        assert pair.editor.selected_text == "line 4\nnew\n"
        y = pair.view.wrapping.distance(pair.view.place, (5, -2), 40)
        assert y is not None
        await pair.pilot.click(pair.editor, offset=(gutter_width(3) + 1, y))
        assert pair.view.cursor.position == (5, 1)


async def test_neither_is_there_text_in_what_is_being_struck() -> None:
    async with stepped({"a.py": WHOLE}, "a.py") as pair:
        await pair.start(edit(5, 8, "new"), "-line 6\n")
        await pair.go(4, 2)
        await pair.press("down")
        assert pair.view.cursor.position == (7, 2)
        await pair.press("up")
        assert pair.view.cursor.position == (4, 2)
        await pair.press("home", "shift+down")
        assert pair.editor.selected_text == "line 4\n"
        await pair.press("left", "end", "right")
        assert pair.view.cursor.position == (7, 0)
        await pair.press("left")
        assert pair.view.cursor.position == (4, 6)


async def test_long_ones_are_folded_but_where_the_cursor_is() -> None:
    async with stepped({"a.py": WHOLE}, "a.py") as pair:
        await pair.go(0)
        await pair.start(edit(5, 25, "new"))
        await pair.stream()
        assert shown(pair, "5", 10)[7:] == ["- ╌ line 11", "- ╌ ⋯ 13 more removed lines", "6 ┃ new"]
        await pair.go(5)
        assert any(row.endswith("line 24") for row in map(str.rstrip, pair.rows()))
        assert pair.view.cursor_spot(pair.editor.size.height) is not None
        check(pair.editor)


async def test_a_key_hides_them_and_a_command_does() -> None:
    async with stepped({"a.py": WHOLE}, "a.py") as pair:
        await pair.go(0)
        await pair.start(edit(5, 7, "new"))
        await pair.stream()
        await pair.press("alt+minus")
        assert shown(pair, "5", 3) == ["5 line 4", "6 ┃ new", "7 line 7"]
        assert "hidden" in pair.said()[-1]
        pair.app.bench.slash.run("/removed")
        await pair.frame()
        assert shown(pair, "5", 2) == ["5 line 4", "- ╌ line 5"]


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("end", ["", "\n"])
async def test_the_end_and_the_start_of_a_file(wrap: bool, end: str) -> None:
    text = "\n".join(LINES) + end
    async with stepped({"a.py": text}, "a.py", wrap=wrap) as pair:
        await pair.start(patch_of(LINES, [Edit(36, 40, ())], 2, "a.py"))
        await pair.crawl()
        await pair.start(patch_of(LINES[:36], [Edit(0, 2, ())], 2, "a.py"))
        await pair.crawl()
        await pair.press("f6")
        await pair.go(*pair.buffer.end)
        check(pair.editor)
        pair.editor.scroll_lines(50)
        rows = [" ".join(row.split()) for row in pair.rows()]
        assert [row for row in rows if row][-2:] == ["- ╌ line 39", "35"]
        pair.editor.scroll_lines(-100)
        assert [" ".join(row.split()) for row in pair.rows()[:3]] == [
            "- ╌ line 0",
            "- ╌ line 1",
            "1 line 2",
        ]
        check(pair.editor)


async def test_what_is_struck_at_the_top_stays_there_when_it_lands() -> None:
    async with stepped({"a.py": WHOLE}, "a.py") as pair:
        await pair.start(edit(10, 18, "new"), "+new")
        pair.editor.let_go()
        pair.view.scroll_to(13, pair.editor.size.height)
        pair.editor.repaint()
        before = [row[4:].strip() for row in pair.rows()[:4]]
        await pair.stream()
        assert [row[4:].strip() for row in pair.rows()[:4]] == before
        check(pair.editor)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 30))
def test_any_row_leads_to_any_other(seed: int) -> None:
    """Rows one by one are the rows that larger steps and distances tell of."""
    pick = random.Random(seed)
    lines = ["word " * pick.choice([0, 1, 9]) for _ in range(pick.randint(1, 12))]
    gone = {
        line: "".join(f"old {'word ' * pick.choice([0, 9])}\n" for _ in range(pick.randint(1, 4)))
        for line in range(len(lines) + 1)
        if pick.random() < 0.3
    }
    hunk = Hunk(1, 1, "call", "a.py", stage=Stage.LANDED)

    def find(first: int, last: int) -> list[Removed]:
        return [Removed(line, text, hunk) for line, text in gone.items() if first <= line <= last]

    layout = Wrapping(Buffer("a.py", "\n".join(lines)), RemovedRows(find))
    layout.wrap(pick.choice([None, 12]))
    rows: list[Place] = [place for place, _ in layout.below(layout.head(0), 1000)]
    assert rows == sorted(set(rows))
    assert rows[-1] == layout.last
    for index, place in enumerate(rows):
        for count in (*range(-5, 6), 40, -40):
            wanted = index + count
            nearest = min(max(wanted, 0), len(rows) - 1)
            assert layout.step(place, count) == (rows[nearest], wanted - nearest)
        for other in range(index, len(rows)):
            away = other - index
            assert layout.distance(place, rows[other], 20) == (away if away < 20 else None)
        assert [row for row, _ in layout.below(place, 7)] == rows[index : index + 7]
