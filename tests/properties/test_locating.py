"""What makes locating fast finds what looking at every row finds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui.core.patches.candidates import Candidates, Tier, line_tier
from tui.core.text import line_index
from tui.core.text.buffer import Buffer
from tui.core.text.line_index import LineIndex, plain
from tui.core.text.rows import file_rows

LINES = st.sampled_from(
    ["", " ", "\u00a0", "a", " a", "a ", "\ta", "a-b", "a\u2013b ", "aa", "b a", "\u2026", "..."]
)


@given(
    st.lists(LINES, max_size=30),
    st.lists(
        st.tuples(st.integers(0, 40), st.integers(0, 9), st.lists(LINES, max_size=9), st.booleans())
    ),
    st.sampled_from([1, 2, 3]),
)
@settings(max_examples=80)
def test_the_index_follows_many_changes_at_once(lines, changes, block_rows):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_index, "_BLOCK_ROWS", block_rows)
        patch.setattr(line_index, "_BLOCKS_A_TIME", 1)
        buffer = Buffer("a.txt", "\n".join(lines))
        index = LineIndex(buffer)
        for at, gone, new, asked in [*changes, (0, 0, [], True)]:
            row = at % buffer.line_count
            last = min(row + gone, buffer.line_count - 1)
            buffer.replace((row, 0), (last, 0), "".join(f"{line}\n" for line in new))
            for wanted in ("a", "", "a-b") if asked else ():
                rows = range(file_rows(buffer))
                assert index.rows(wanted) == [
                    row for row in rows if plain(buffer.lines[row]) == wanted
                ]
                begun = [r for r in rows if wanted and plain(buffer.lines[r]).startswith(wanted)]
                assert index.begun(wanted, 100) == begun
            if asked:
                assert index.places("aa", 100) == [r for r in rows if "aa" in buffer.lines[r]]


@given(st.lists(LINES, max_size=14), st.lists(LINES, min_size=1, max_size=4))
@settings(max_examples=80)
def test_candidates_are_what_fits_line_by_line(file, section):
    found = Candidates(range(len(file)))
    for at, line in enumerate(section):
        found.narrow(file, len(file), at, line)
    tiers = {
        row: max(map(line_tier, file[row : row + len(section)], section))
        for row in range(len(file) - len(section) + 1)
    }
    for tier in Tier:
        if tier < Tier.NONE:
            assert found.on(tier) == [row for row, worst in tiers.items() if worst is tier]
    assert found.best == min(tiers.values(), default=Tier.NONE)
