"""The three-way merge, row arithmetic and the line index."""

from __future__ import annotations

from time import process_time

import pytest

from tui.core.text.buffer import Buffer
from tui.core.text.line_index import LineIndex, plain
from tui.core.text.patch import Replacement, merge3, replacements
from tui.core.text.rows import Span, file_rows, keep_ends, row_count, shifted, touched_span


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        ("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n"),
        ("a\nb\n", "A\nb\n", "a\nB\n", "A\nB\n"),
        ("a\nb\n", "x\nb\n", "y\nb\n", None),
        ("a\nb\n", "x\nb\n", "x\nb\n", "x\nb\n"),
        ("a\nb\n", "a\nmine\nb\n", "", None),
        ("a\nb\n", "a\nb\nmine\n", "", "mine\n"),
        ("a\n", "a\nx\n", "a\ny\n", None),
        ("", "mine", "", "mine"),
        ("a\nb", "a\nb", "a\nb\n", "a\nb\n"),
    ],
)
def test_merge3(base, ours, theirs, merged):
    assert merge3(base, ours, theirs) == merged
    assert merge3(base, theirs, ours) == merged


def test_replacements_are_small():
    old, new = list("abcdef"), list("abXdeYf")
    assert replacements(old, new) == [
        Replacement(2, 3, ("X",)),
        Replacement(5, 5, ("Y",)),
    ]
    assert replacements(old, old) == []


@pytest.mark.parametrize(
    ("start", "end", "text", "span"),
    [
        ((1, 0), (1, 0), "new\n", Span(1, 0, 1)),
        ((0, 1), (0, 1), "\nnew", Span(1, 0, 1)),
        ((1, 0), (2, 0), "", Span(1, 1, 0)),
        ((0, 1), (1, 1), "", Span(1, 1, 0)),
        ((1, 0), (1, 1), "x", Span(1, 1, 1)),
        ((0, 1), (1, 0), "", Span(0, 2, 1)),
        ((1, 0), (1, 0), "\n", Span(1, 0, 1)),
        ((2, 1), (2, 1), "\n", Span(2, 1, 2)),
    ],
)
def test_touched_rows(start, end, text, span):
    buffer = Buffer("a", "a\nb\nc")
    assert touched_span(buffer, buffer.replace(start, end, text)) == span


@pytest.mark.parametrize(
    ("span", "after"),
    [
        (Span(0, 1, 3), (7, 9, False)),
        (Span(5, 0, 2), (7, 9, False)),
        (Span(7, 0, 2), (5, 7, False)),
        (Span(7, 1, 0), (5, 7, False)),
        (Span(6, 0, 2), (5, 9, True)),
        (Span(5, 1, 2), (5, 8, True)),
        (Span(4, 2, 1), (4, 6, True)),
        (Span(6, 3, 1), (5, 7, True)),
        (Span(3, 9, 0), (3, 3, True)),
    ],
)
def test_row_ranges_move_with_changes(span, after):
    assert shifted(5, 7, span) == after


def test_rows():
    assert file_rows(Buffer("a", "")) == 0
    assert file_rows(Buffer("a", "x\n")) == 1
    assert file_rows(Buffer("a", "x\ny")) == 2
    assert [row_count(text) for text in ("", "x", "x\n", "x\ny")] == [0, 1, 1, 2]
    assert keep_ends("a\r\n\x0cb\u2028\nc") == ["a\r\n", "\x0cb\u2028\n", "c"]


def test_plain_text():
    assert plain("  \u201ca\u201d\u00a0\u2014 b\t") == '"a" - b'


def test_the_index_follows_changes():
    buffer = Buffer("a", "".join(f"{n % 7}\n" for n in range(50)))
    index = LineIndex(buffer)
    assert index.rows("3") == list(range(3, 50, 7))
    buffer.replace((3, 0), (4, 0), "new\n 3\n")
    buffer.replace((20, 0), (24, 0), "")
    buffer.replace((0, 0), (0, 0), "3\n")
    wanted = [row for row, line in enumerate(buffer.lines) if line.strip() == "3"]
    assert index.rows("3") == wanted


@pytest.mark.parametrize("torn", ["a\nb", "a\nB", "a"])
def test_lines_behind_a_line_without_its_newline_are_not_run_into_it(torn):
    assert merge3("a\nb\n", torn, "a\nb\nc\n") is None
    assert merge3("a\nb\n", "a\nb\nc\n", torn) is None
    assert merge3("a\nb\n", torn, "A\nb\n") in (None, torn.replace("a", "A"))


def test_a_file_of_which_every_second_line_changed_is_merged_at_once():
    """A formatter or a checkout does that to an open file: difflib took 2 s for 10,000 lines."""
    base = [f"line {row} of it\n" for row in range(10_000)]
    theirs = [line if row % 2 else f"    {line}" for row, line in enumerate(base)]
    mine = [line if row % 1000 != 1 else f"mine {line}" for row, line in enumerate(base)]
    began_s = process_time()
    merged = merge3("".join(base), "".join(mine), "".join(theirs))
    assert process_time() - began_s < 2
    assert merged is not None
    expected = [mine[row] if row % 2 else theirs[row] for row in range(10_000)]
    assert merged == "".join(expected)
