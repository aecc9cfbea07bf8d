"""The ghost writes at 50 tokens/s what the model wrote, and is never ahead of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.document.hunk import Decision, Hunk, Stage
from tui.core.ghost import GhostStretch, Trail, written
from tui.core.meter import Meter
from tui.core.text.buffer import Mark
from tui.core.wire.events import Usage


def hunk(first: int, last: int, path: str = "cache.py") -> Hunk:
    found = Hunk(1, 1, "call-1", path, stage=Stage.LANDING)
    found.start, found.end = Mark(first), Mark(last)
    return found


@given(
    st.lists(st.tuples(st.floats(0, 9), st.floats(0, 9), st.integers(0, 900)), max_size=8),
    st.lists(st.floats(0, 60), min_size=2, max_size=9),
)
def test_it_never_goes_back_nor_beyond_what_was_written(
    answers: list[tuple[float, float, int]], times: list[float]
) -> None:
    stretches, at = [], 0.0
    for pause, span, tokens in answers:
        stretches.append(GhostStretch(at + pause, at + pause + span, tokens, 4 * tokens))
        at += pause + span
    before = 0.0
    for now in sorted(times):
        found = written(stretches, now)
        assert before - 1e-6 <= found.tokens <= sum(one.tokens for one in stretches) + 1e-6
        assert found.chars == pytest.approx(4 * found.tokens)
        assert found.left_s >= 0
        before = found.tokens


def test_it_stands_where_the_model_was_after_as_many_characters() -> None:
    trail, here = Trail(), hunk(10, 40)
    assert not trail
    trail.wrote(100, here, 10)
    trail.wrote(200, here, 12)
    trail.wrote(600, here, 20)
    assert trail.at(99) == ("cache.py", None), "it still writes the words before the edit"
    assert trail.at(100) == ("cache.py", 10)
    assert trail.at(210) == ("cache.py", 12)
    assert trail.at(400) == ("cache.py", 16), "lines that came within one frame are shared out"
    assert trail.at(9000) == ("cache.py", 20)
    trail.clear()
    assert trail.at(9000) is None


def test_edits_above_carry_it_along_and_a_rejected_hunk_has_no_ghost() -> None:
    trail, here = Trail(), hunk(10, 14)
    trail.wrote(10, here, 12)
    assert here.start is not None
    assert here.end is not None
    here.start.line, here.end.line = 30, 34
    assert trail.at(10) == ("cache.py", 32)
    here.end.line = 31
    assert trail.at(10) == ("cache.py", 30), "never beyond the hunk"
    here.decision = Decision.REJECTED
    assert trail.at(10) is None


def test_the_steps_behind_it_are_forgotten() -> None:
    trail, here = Trail(), hunk(0, 5000)
    for line in range(5000):
        trail.wrote(line * 40, here, line)
        trail.at(line * 40 - 400)
    assert len(trail._steps) < 20


def test_the_meter_says_where_it_is_until_it_is_there() -> None:
    meter, here = Meter(), hunk(0, 100)
    assert meter.ghost_place(0.0) is None
    assert not meter.ghost_walks(0.0)
    meter.start(0.0, "m")
    for number in range(1000):
        now = 1.0 + number / 1000
        meter.delta(now, 4)
        if number % 10 == 9:
            meter.wrote(here, number // 10)
    place = meter.ghost_place(2.0)
    assert place is not None
    assert place == ("cache.py", 4)
    meter.usage(2.0, Usage(10, 1000, 0, 0))
    meter.stop(2.0)
    shown = meter.view(99.0)
    assert shown.ghost == pytest.approx(0.05, abs=0.01), "the figure stands when the turn does"
    assert shown.ghost_left_s == pytest.approx(19.0, abs=0.1)
    assert meter.ghost_place(11.0) == ("cache.py", 49)
    assert meter.ghost_walks(20.9)
    assert meter.ghost_place(21.1) is None
    assert not meter.ghost_walks(21.1)
    meter.prompted(30.0, "m")
    assert not meter.ghost_walks(30.0)
