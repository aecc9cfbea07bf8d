"""The algebra of changes, against plain strings: each law for any texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.records import composed
from tui.core.text.change_set import (
    Author,
    Change,
    ChangeSet,
    Position,
    change_at,
    end_of,
    offset_in,
)

TEXTS = st.text("ab\né", max_size=24)
START = (0, 0)


def position(text: str, offset: int) -> Position:
    return end_of(START, text[:offset])


@st.composite
def sets(draw: st.DrawFn, text: str) -> ChangeSet:
    """Changes of a text, apart from each other."""
    changes: list[Change] = []
    at = 0
    while at <= len(text) and draw(st.booleans()):
        first = draw(st.integers(at, len(text)))
        last = draw(st.integers(first, min(first + 4, len(text))))
        new = draw(st.text("ab\nx", max_size=4))
        if text[first:last] != new:
            changes.append(change_at(position(text, first), text[first:last], new))
        at = last + 1
    return ChangeSet(end_of(START, text), tuple(changes), Author.USER)


def by_hand(text: str, changes: ChangeSet) -> str:
    """What the changes make of a text, the last one first."""
    for change in reversed(changes.changes):
        low, high = (offset_in(text, START, at) for at in (change.start, change.old_end))
        assert text[low:high] == change.old_text
        text = text[:low] + change.new_text + text[high:]
    return text


@given(st.data(), TEXTS)
def test_what_is_applied_is_taken_back(data: st.DataObject, text: str) -> None:
    changes = data.draw(sets(text))
    after = changes.apply(text)
    assert after == by_hand(text, changes)
    assert changes.new_end == end_of(START, after)
    assert changes.invert().apply(after) == text
    assert changes.invert().invert() == changes


@given(st.data(), TEXTS)
def test_two_after_each_other_are_one(data: st.DataObject, text: str) -> None:
    one = data.draw(sets(text))
    middle = one.apply(text)
    other = data.draw(sets(middle))
    both = one.compose(other)
    assert both.apply(text) == other.apply(middle)
    assert both.author is Author.USER
    third = data.draw(sets(other.apply(middle)))
    assert both.compose(third).apply(text) == one.compose(other.compose(third)).apply(text)
    assert not one.compose(one.invert())
    gaps = zip(both.changes, both.changes[1:], strict=False)
    assert all(left.old_end < right.start for left, right in gaps)


@given(st.data(), TEXTS)
def test_one_by_one_is_the_same_as_all(data: st.DataObject, text: str) -> None:
    made: list[Change] = []
    now = text
    for _ in range(data.draw(st.integers(0, 7))):
        first = data.draw(st.integers(0, len(now)))
        last = data.draw(st.integers(first, len(now)))
        new = data.draw(st.text("ab\nx", max_size=4))
        made.append(change_at(position(now, first), now[first:last], new))
        now = now[:first] + new + now[last:]
    together = composed(end_of(START, text), made)
    assert together.apply(text) == now


@given(st.data(), TEXTS, st.booleans())
def test_positions_keep_the_text_beside_them(data: st.DataObject, text: str, right: bool) -> None:
    """Those in what is retained have the same characters beside them; the others are in order."""
    changes = data.draw(sets(text))
    after = changes.apply(text)
    inside = [(change.start, change.old_end) for change in changes.changes]
    found = []
    for offset in range(len(text) + 1):
        here = position(text, offset)
        there = changes.map(here, right=right)
        found.append(offset_in(after, START, there))
        assert there == end_of(START, after[: found[-1]])
        if not any(start <= here <= end for start, end in inside):
            assert after[found[-1] : found[-1] + 1] == text[offset : offset + 1]
            assert after[: found[-1]][-1:] == text[:offset][-1:]
    outside = [
        at
        for at, offset in zip(found, range(len(text) + 1), strict=True)
        if not any(start < position(text, offset) < end for start, end in inside)
    ]
    assert outside == sorted(outside)


@given(st.data(), TEXTS)
def test_a_side_is_chosen_where_text_is_put_in(data: st.DataObject, text: str) -> None:
    offset = data.draw(st.integers(0, len(text)))
    here = position(text, offset)
    changes = ChangeSet(end_of(START, text), (change_at(here, "", "new\n"),))
    assert changes.map(here) == here
    assert changes.map(here, right=True) == (here[0] + 1, 0)


@given(st.data(), TEXTS)
def test_both_sides_make_the_same_text_in_any_order(data: st.DataObject, text: str) -> None:
    """`over`: each carried over the other one, or neither."""
    mine, others = data.draw(sets(text)), data.draw(sets(text))
    carried, back = mine.over(others), others.over(mine)
    assert (carried is None) == (back is None)
    if carried is None or back is None:
        return
    merged = carried.apply(others.apply(text))
    assert merged == back.apply(mine.apply(text))
    assert not mine.over(mine)


def test_changes_of_another_text_are_refused() -> None:
    changes = ChangeSet((0, 3), (change_at((0, 0), "a", "b"),))
    for text in ("ab", "bbb"):
        try:
            changes.apply(text)
        except ValueError:
            continue
        raise AssertionError(text)
    try:
        changes.compose(ChangeSet((1, 0)))
    except ValueError:
        return
    raise AssertionError("a set that changes another text was put behind")
