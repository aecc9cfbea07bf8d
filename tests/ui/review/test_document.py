"""A diff as rows, in one column and in two, folded and unfolded; made when they are seen."""

from __future__ import annotations

from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from tests.support.review_session import CACHE, ReviewSession
from tui.ui.review.changes import FileChanges, of_hunks, of_texts
from tui.ui.review.document import Document, Look, Row, file_rows

lines = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=40)


def rows_of(file: FileChanges, look: Look) -> list[Row]:
    """All rows of one file."""
    document = Document([file_rows(file, look)])
    return [document.row(number) for number in range(document.height)]


def texts(rows: list[Row]) -> tuple[list[str], list[str]]:
    """The old and the new text, as far as they are shown."""
    shown = [row for row in rows if row.kind == "line"]
    old = [row.old.text for row in shown if row.old is not None]
    return old, [row.new.text for row in shown if row.new is not None]


@given(lines, lines, st.booleans())
def test_unfolded_both_texts_are_there_whole(old: list[str], new: list[str], split: bool) -> None:
    file = of_texts("a.py", old, new)
    rows = rows_of(file, Look(80, split, unfolded=True))
    if file.changes:
        assert texts(rows) == (old, new)
    numbers = [row.old.number for row in rows if row.old is not None]
    assert numbers == sorted(numbers, key=lambda number: number or 0)
    for row in rows:
        for side, text in ((row.old, old), (row.new, new)):
            if side is not None and side.number is not None:
                assert text[side.number - 1] == side.text


@given(lines, lines, st.booleans())
def test_what_is_folded_is_counted(old: list[str], new: list[str], split: bool) -> None:
    file = of_texts("a.py", old, new)
    rows = rows_of(file, Look(80, split))
    shown = sum(row.new is not None for row in rows)
    hidden = sum(int(row.text.split()[0]) for row in rows if row.kind == "fold")
    assert not file.changes or shown + hidden == len(new)


def test_a_fold_opens_by_itself() -> None:
    old = [f"line {number}" for number in range(100)]
    new = [*old]
    new[50] = "changed"
    file = of_texts("a.py", old, new)
    rows = rows_of(file, Look(80))
    folds = [row for row in rows if row.kind == "fold"]
    assert [row.text for row in folds] == ["47 lines", "46 lines"]
    opened = rows_of(file, Look(80, opened=frozenset({("a.py", folds[1].gap)})))
    assert [row.text for row in opened if row.kind == "fold"] == ["47 lines"]
    assert len(opened) == len(rows) + 45


def test_a_change_has_a_row_of_its_own_above_its_lines() -> None:
    old = [f"line {number}" for number in range(20)]
    new = [*old]
    new[10] = "changed"
    kinds = [row.kind for row in rows_of(of_texts("a.py", old, new), Look(80))]
    assert kinds == ["file", "fold", "hunk", *["line"] * 8, "fold", "blank"]


def test_two_columns_are_as_long_as_the_longer_side() -> None:
    file = of_texts("a.py", ["def f(a):"], ["# words", "def f(a, b):", "    pass"])
    one, two = rows_of(file, Look(80)), rows_of(file, Look(80, split=True))
    assert len([row for row in one if row.kind == "line"]) == 4
    sides = [
        (row.old and row.old.text, row.new and row.new.text) for row in two if row.kind == "line"
    ]
    assert sides == [
        (None, "# words"),
        ("def f(a):", "def f(a, b):"),
        (None, "    pass"),
    ]


def test_the_words_that_differ_are_marked_in_both_layouts() -> None:
    file = of_texts("a.py", ["x = get(key)"], ["x = get(key, None)"])
    for split in (False, True):
        rows = rows_of(file, Look(80, split))
        ranges = [row.new.ranges for row in rows if row.new is not None]
        assert ranges == [((11, 17),)]


def test_why_a_person_must_look_is_said_in_rows_of_their_own() -> None:
    session = ReviewSession()
    session.turn_of()
    hunk = session.workspace.hunk(2)
    hunk.flags.append("indentation was changed")
    session.workspace.reject([3], "use a plain lock instead, and only where it is needed at all")
    file = of_hunks(session.workspace, session.workspace.hunks)[0]
    notes = [row.text for row in rows_of(file, Look(50)) if row.kind == "note"]
    assert notes[0] == "⚑ indentation was changed"
    assert "you said: use a plain lock instead, and only" in " ".join(notes)
    assert any("not found" in note for note in notes)


def test_a_hunk_that_was_not_found_has_no_numbers() -> None:
    session = ReviewSession()
    session.turn_of()
    file = of_hunks(session.workspace, session.workspace.hunks)[0]
    sides = [side for row in rows_of(file, Look(80)) for side in (row.old, row.new) if side]
    lost = [side for side in sides if side.kind in ("lost", "away")]
    assert [(side.kind, side.number) for side in lost] == [("lost", None), ("away", None)]


def test_numbers_are_those_of_their_own_text_while_it_lands() -> None:
    session = ReviewSession()
    session.begin()
    while session.streams:
        session.feed(13)
        for file in of_hunks(session.workspace, session.workspace.hunks):
            if file.path == "ledger/cache.py":
                for row in rows_of(file, Look(80, unfolded=True)):
                    if row.old is not None and row.old.number is not None:
                        assert CACHE.splitlines()[row.old.number - 1] == row.old.text
                    if row.new is not None and row.new.number is not None:
                        assert file.lines[row.new.number - 1] == row.new.text


def test_a_row_of_ten_thousand_hunks_costs_what_one_of_ten_does() -> None:
    def cost_s(count: int) -> float:
        old = [f"line {number}" for number in range(8 * count)]
        new = [f"new {number}" if number % 8 == 0 else old[number] for number in range(8 * count)]
        document = Document([file_rows(of_texts("a.py", old, new), Look(80, split=True))])
        assert len(document.stops()) == count
        began_s = process_time()
        for number in range(40):
            document.row(document.height // 2 + number - 20)
        return process_time() - began_s

    assert cost_s(10_000) < 20 * max(cost_s(10), 0.0005)


def test_no_lines_belong_around_what_stands_nowhere() -> None:
    """They would look like its place."""
    session = ReviewSession({"a.py": "a = 1\nb = 2\n"})
    session.turn_of("*** Begin Patch\n*** Update File: a.py\n@@\n-x = 1\n+x = 2\n*** End Patch\n")
    (file,) = of_hunks(session.workspace, session.workspace.hunks)
    for look, shown in ((Look(80, alone=True), 0), (Look(80, alone=True, unfolded=True), 2)):
        kinds = [row.kind for row in rows_of(file, look) if row.kind != "note"]
        above = ["line"] * shown
        assert kinds == [*above, "hunk", "line", "line", "blank"]
