from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.patches import Edit, edits_of
from tests.support.tables import each
from tui.core.text.carried import carried_over, carried_text, changed_only_at, row_in

BASE = "a\nb\nc\nd\n"


def carry(ours: str, theirs: str, base: str = BASE) -> tuple[str, list[str]]:
    """The text with all replacements, and what each says of others' changes."""
    clashes = [one.clash for one in carried_over(base, ours, theirs)]
    return carried_text(base, ours, theirs), clashes


@pytest.mark.parametrize(
    ("ours", "theirs", "merged", "clashes"),
    [
        ("a\nb\nc\nd\n", "a\nB\nc\nd\n", "a\nB\nc\nd\n", [""]),
        ("A\nb\nc\nd\n", "a\nb\nc\nD\n", "A\nb\nc\nD\n", [""]),
        ("a\nb\nc\nd\n", "a\nb\nc\nd\n", "a\nb\nc\nd\n", []),
        ("a\nB\nc\nd\n", "a\nB\nc\nD\n", "a\nB\nc\nD\n", [""]),
        ("a\nmine\nc\nd\n", "a\ntheirs\nc\nd\n", "a\ntheirs\nc\nd\n", ["replaces"]),
        ("a\nd\n", "a\nb\nC\nd\n", "a\nb\nC\nd\n", ["replaces"]),
        ("a\nb\nC\nd\n", "a\nd\n", "a\nd\n", ["replaces"]),
        ("a\nx\nb\nc\nd\n", "a\ny\nb\nc\nd\n", "a\nx\ny\nb\nc\nd\n", ["beside"]),
        ("a\nx\nb\nc\nd\n", "a\nx\ny\nb\nc\nd\n", "a\nx\ny\nb\nc\nd\n", [""]),
        ("a\nx\ny\nb\nc\nd\n", "a\nx\nb\nc\nd\n", "a\nx\ny\nb\nc\nd\n", []),
        ("a\nx\nb\nc\nd\n", "a\nB\nc\nd\n", "a\nx\nB\nc\nd\n", [""]),
        ("a\nb\nc\nd\nx", "a\nb\nc\nd\ny\n", "a\nb\nc\nd\nx\ny\n", ["beside"]),
        ("a\nb\nc\nD", "a\nb\nc\nd\ny\n", "a\nb\nc\nd\ny\n", ["replaces"]),
        ("", BASE + "e\n", "e\n", [""]),
        ("a\r\nb\nc\nd\n", "a\nb\nc\nD\n", "a\r\nb\nc\nD\n", [""]),
    ],
)
def test_each_change_is_there_once_and_says_what_it_meets(ours, theirs, merged, clashes):
    assert carry(ours, theirs) == (merged, clashes)


@st.composite
def authors(draw: st.DrawFn, *names: str) -> tuple[list[str], list[list[Edit]]]:
    """Lines that all differ, and edits of them by some authors, whose lines differ, too."""
    lines = [f"line {number}\n" for number in range(draw(st.integers(0, 14)))]
    return lines, [
        [
            Edit(
                one.first,
                one.last,
                tuple(f"{who} {number} {row}\n" for row, _ in enumerate(one.new)),
            )
            for number, one in enumerate(draw(edits_of(len(lines), apart=1)))
        ]
        for who in names
    ]


def edited(lines: list[str], edits: list[Edit]) -> str:
    """The text with the edits made."""
    new = [*lines]
    for one in reversed(edits):
        new[one.first : one.last] = one.new
    return "".join(new)


def meet(one: Edit, other: Edit) -> bool:
    """True if both are about the same lines, or the same place."""
    if one.first == one.last and other.first == other.last:
        return one.first == other.first
    return one.first < other.last and other.first < one.last


def plain_merge(ours: list[Edit], theirs: list[Edit]) -> list[Edit]:
    """Slowly: groups of edits that meet; in each of both theirs stand, or are behind ours."""
    groups = [([one], list[Edit]()) for one in ours] + [(list[Edit](), [one]) for one in theirs]
    while pair := next(
        (
            (group, other)
            for group in groups
            for other in groups
            if any(meet(a, b) for a in group[0] for b in other[1])
            if group is not other
        ),
        None,
    ):
        pair[0][0].extend(pair[1][0])
        pair[0][1].extend(pair[1][1])
        groups.remove(pair[1])
    found: list[Edit] = []
    for mine, others in groups:
        same_place = mine and others and all(one.first == one.last for one in [*mine, *others])
        if same_place:
            found.append(Edit(mine[0].first, mine[0].first, mine[0].new + others[0].new))
        else:
            found += others or mine
    return touching_as_one(found)


def touching_as_one(edits: list[Edit]) -> list[Edit]:
    """Edits in their order; two with nothing between them are one."""
    found: list[Edit] = []
    for one in sorted(edits, key=lambda edit: (edit.first, edit.last)):
        if found and found[-1].last == one.first:
            last = found.pop()
            one = Edit(last.first, one.last, last.new + one.new)
        found.append(one)
    return found


@given(authors("ours", "theirs"))
@example((["line 0\n"], [[Edit(0, 1, ())], [Edit(0, 0, ("theirs 0 0\n",))]]))
def test_two_authors_end_where_a_slow_plain_merge_does(written):
    lines, (ours, theirs) = written
    merged, _ = carry(edited(lines, ours), edited(lines, theirs), "".join(lines))
    assert merged == edited(lines, plain_merge(ours, theirs))


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
