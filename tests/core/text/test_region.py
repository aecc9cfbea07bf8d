"""What was changed at one place, and what elsewhere."""

from __future__ import annotations

from tests.support.tables import each
from tui.core.text.region import changed_only_at, row_in

OLD = "a\nb\nc\nd\ne\nf\n"


@each(
    "new, rows, text, left_out",
    [
        ("a\nb\nC\nd\ne\nf\n", (2, 3), "a\nb\nC\nd\ne\nf\n", 0),
        ("A\nb\nC\nd\ne\nF\n", (2, 3), "a\nb\nC\nd\ne\nf\n", 2),
        ("a\nb\nC\nD\ne\nf\n", (2, 3), "a\nb\nC\nD\ne\nf\n", 0),  # goes on beside it
        ("a\nb\nx\nc\nd\ne\ny\nf\n", (2, 2), "a\nb\nx\nc\nd\ne\nf\n", 1),
        ("a\nb\nc\nd\ne\nf\nend", (6, 6), "a\nb\nc\nd\ne\nf\nend", 0),
        (OLD, (2, 3), OLD, 0),
        ("", (0, 6), "", 0),
    ],
)
def test_only_what_touches_the_rows_is_taken(
    new: str, rows: tuple[int, int], text: str, left_out: int
) -> None:
    assert changed_only_at(OLD, new, *rows) == (text, left_out)


def test_a_row_is_found_again_below_what_was_changed_above() -> None:
    assert row_in(OLD, "0\na\nb\nc\nd\ne\nf\n", 2) == 3
    assert row_in(OLD, "b\nc\nd\ne\nf\nmore\n", 2) == 1
    assert row_in(OLD, OLD, 2) == 2
