"""Colours of a diff come in slices, and in the end every line has them."""

from __future__ import annotations

from time import perf_counter

import pytest

from tests.support.review_screen import reviewing
from tui.ui.review import colours


async def test_a_line_whose_time_ran_out_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a busy machine it stayed plain until something else was painted."""
    async with reviewing() as (_, screen, pilot):
        file = screen.view.file
        assert file is not None
        assert file.buffer is not None
        row = next(at for at, line in enumerate(file.buffer.lines) if "monotonic" in line)
        made = colours.SideColours()
        made.take(file)
        for _ in range(20):
            made.idle(0.05)
            await pilot.pause()
        monkeypatch.setattr(colours, "_ROW_S", 1e-9)
        spans, late = made.spans(row, old=False, until=perf_counter() + 60)
        assert (spans, late) == ((), True)
        monkeypatch.setattr(colours, "_ROW_S", 5.0)
        spans, late = made.spans(row, old=False, until=perf_counter() + 60)
        assert spans
        assert not late
