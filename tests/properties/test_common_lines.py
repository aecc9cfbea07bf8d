"""Sections of lines that are all over a file are placed as if each place were looked at."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui.core.document.waiting_places import NEAREST, Places, kept, nearest
from tui.core.patches import placement
from tui.core.patches.candidates import Tier, line_tier
from tui.core.patches.placement import Locator, Miss, Search, Spot
from tui.core.text.buffer import Buffer
from tui.core.text.indent import indent_change
from tui.core.text.line_index import LineIndex, RowSet, bits_of, nearest_behind
from tui.core.text.rows import file_rows

LINES = st.sampled_from(["", " ", "a", " a", "a ", "\ta", "  a", "b", "a\u2013", "a-"])
PERIODS = st.lists(LINES, min_size=1, max_size=4).flatmap(
    lambda lines: st.integers(1, 9).map(lambda times: lines * times)
)
FILES = st.lists(PERIODS, min_size=1, max_size=4).map(lambda parts: [*chain.from_iterable(parts)])
CHANGES = st.lists(
    st.tuples(st.integers(0, 99), st.integers(0, 3), st.lists(LINES, max_size=3)), max_size=3
)


def by_hand(lines: Sequence[str], old: Sequence[str]) -> list[int]:
    """The rows where ``old`` fits best, found by looking at each."""
    tiers: dict[Tier, list[int]] = {tier: [] for tier in Tier}
    for row in range(len(lines) - len(old) + 1):
        pairs = zip(lines[row:], old, strict=False)
        tiers[max(line_tier(file, patch) for file, patch in pairs)].append(row)
    for tier in (Tier.STRIP, Tier.UNICODE):
        tiers[tier] = [
            row
            for row in tiers[tier]
            if indent_change(lines[row : row + len(old)], old) is not None
        ]
    return next((tiers[tier] for tier in Tier if tier < Tier.NONE and tiers[tier]), [])


def located(buffer: Buffer, index: LineIndex, old: Sequence[str], search: Search) -> Locator:
    found = Locator(buffer, index, search)
    for line in old:
        found.add_old(line, is_context=False)
    return found


@dataclass
class Finding:
    """Who looks for the places."""

    every_place: Callable[[], Sequence[int]]


@given(FILES, st.lists(LINES, min_size=1, max_size=5), CHANGES, st.sampled_from([0, 1, 3]))
@settings(max_examples=60)
def test_the_places_and_their_number_are_those_found_by_hand(lines, old, changes, common):
    """Also after the text changed, when what is known of its lines is moved with it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(placement, "_COMMON_ROWS", common)
        buffer = Buffer("a.txt", "".join(f"{line}\n" for line in lines))
        index = LineIndex(buffer)
        locator = located(buffer, index, old, Search())
        for at, gone, new in [(0, 0, []), *changes]:
            row = at % buffer.line_count
            last = min(row + gone, buffer.line_count - 1)
            buffer.replace((row, 0), (last, 0), "".join(f"{line}\n" for line in new))
            rows = by_hand(buffer.lines[: file_rows(buffer)], old)
            assert list(locator.places()) == rows or not rows
            places = kept(locator.places(), Finding(locator.places))
            if rows:
                assert len(places) == len(rows)
                assert nearest(places) == tuple(rows[:NEAREST])
                assert [places[number] for number in range(len(rows))] == rows


@given(
    FILES,
    st.lists(LINES, max_size=4),
    st.lists(st.sampled_from(["a", "b", "", "c"]), max_size=2),
    st.builds(Search, cursor=st.integers(0, 30), placed_before=st.booleans()),
    st.tuples(st.integers(0, 30) | st.none(), st.booleans()),
)
@settings(max_examples=60)
def test_how_common_its_lines_are_does_not_change_a_place(lines, old, anchors, search, told):
    decided: list[tuple[object, ...]] = []
    for common in (0, 1000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(placement, "_COMMON_ROWS", common)
            buffer = Buffer("a.txt", "".join(f"{line}\n" for line in lines))
            locator = located(buffer, LineIndex(buffer), old, search)
            locator.anchors += anchors
            locator.hint, locator.at_end = told
            painted = locator.tier, list(locator.rows()), locator.certain()
            found = locator.choose()
        if isinstance(found, Miss):
            assert list(locator.places()) == list(found.candidates) or not found.candidates
            decided.append((painted, found.reason, list(found.candidates), found.fuzzy))
        else:
            assert isinstance(found, Spot)
            decided.append((painted, found))
    assert decided[0] == decided[1]


ROWS = st.lists(st.integers(0, 5_000), unique=True).map(sorted)


@given(ROWS, ROWS, st.integers(-3, 5_003), st.integers(0, 1))
def test_a_set_of_rows_is_the_list_of_them(rows, starts, row, least):
    found = RowSet(bits_of(rows))
    assert list(found) == rows
    assert [found[at] for at in range(-len(rows), len(rows))] == rows * 2
    assert bisect_left(found, row) == bisect_left(rows, row)
    assert (row in found) == (row in rows)
    assert list(found[3:9]) == rows[3:9]
    assert list(found[:-2]) == rows[:-2]
    behind = (bisect_left(rows, start + least) for start in starts)
    wanted = sorted({rows[at] for at in behind if at < len(rows)})
    assert list(nearest_behind(starts, rows, least)) == wanted


def test_places_that_are_others_by_now_count_from_then_on():
    rows = list(range(10))
    places = kept(rows, Finding(lambda: rows))
    assert isinstance(places, Places)
    del rows[1]
    assert places[1] == 1  # kept, as the text was
    assert places[6] == 7
    assert (len(places), places[1]) == (9, 2)
    rows.clear()
    assert places[8] == nearest(places)[-1]  # none fits any more: choosing it says so
