from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.document.hunk import Decision, Hunk, Stage
from tui.core.meter import Cost, GhostStretch, Meter, Trail, TurnClocks, written
from tui.core.text.buffer import Mark
from tui.core.wire.events import Usage


def streamed(meter: Meter, *, count: int, every_s: float, chars: int = 4) -> float:
    """Deltas at a steady rate from t=1; returns the time of the last one."""
    now = 1.0
    for number in range(count):
        now = 1.0 + number * every_s
        meter.delta(now, chars)
    return now


def test_the_rate_falls_while_nothing_comes() -> None:
    meter = Meter()
    meter.start(0.5)
    last = streamed(meter, count=1000, every_s=0.001)
    flowing = meter.view(last).tokens_s
    stalled = meter.view(last + 0.7).tokens_s
    assert flowing is not None
    assert stalled is not None
    assert stalled < flowing / 2
    assert meter.view(last + 3).tokens_s == 0
    assert meter.view(last + 3).spark[-1] == 0


def test_rounds_of_a_turn_add_up_and_gaps_do_not_count() -> None:
    meter = Meter()
    meter.start(0.0)
    last = streamed(meter, count=101, every_s=0.01)
    meter.usage(last, Usage(10, 100, 0, 0))
    meter.start(50.0, fresh=False)
    assert meter.view(50.5).tokens_s == pytest.approx(100)
    for number in range(101):
        meter.delta(60.0 + number * 0.01, 4)
    meter.usage(61.0, Usage(20, 100, 5, 0))
    meter.stop(61.0)
    view = meter.view(61.0)
    assert view.tokens == 200
    assert view.tokens_s == pytest.approx(100)
    assert view.ttft_s == pytest.approx(10.0), "of the newest response"
    assert meter.total() == Usage(30, 200, 5, 0)


def test_time_to_first_token_is_of_the_newest_response_that_was_asked_for() -> None:
    meter = Meter()
    meter.start(0.0)
    meter.delta(0.5, 4)
    meter.tool(1.0, begins=True)
    meter.tool(9.0, begins=False)
    meter.start(9.0, fresh=False)
    assert meter.view(9.1).ttft_s == pytest.approx(0.5), "until the next one has begun"
    meter.delta(9.25, 4)
    assert meter.view(9.3).ttft_s == pytest.approx(0.25)
    meter.start(9.4, fresh=False, asked=False)
    meter.delta(9.41, 4)
    assert meter.view(9.5).ttft_s == pytest.approx(0.25), "nobody asked for a successor"


@given(
    st.lists(
        st.tuples(st.floats(0, 5), st.integers(0, 500), st.booleans()), min_size=1, max_size=60
    )
)
def test_views_are_always_in_range(steps: list[tuple[float, int, bool]]) -> None:
    meter = Meter()
    meter.start(0.0, "m")
    now = 0.0
    for wait, chars, reasoning in steps:
        now += wait
        meter.delta(now, chars, reasoning)
        view = meter.view(now)
        assert view.tokens >= 0
        assert 0 <= view.scale <= 1
        assert 0 <= view.ghost <= 1
        assert len(view.spark) <= 16
        assert all(0 <= height <= 1 for height in view.spark)
        assert view.tokens_s is None or view.tokens_s >= 0


def test_the_turns_clock_starts_with_the_prompt_and_never_goes_back() -> None:
    meter = Meter()
    meter.prompted(1.0, "m")
    assert meter.view(3.0).seconds == 2.0
    meter.start(3.0, "m")
    assert meter.view(3.0).seconds == 2.0
    meter.delta(3.5, 4)
    assert meter.view(3.5).ttft_s == 0.5, "counted from the request"
    meter.stop(4.0)
    meter.prompted(10.0, "m")
    meter.stop(11.0)
    meter.prompted(20.0, "m")
    assert meter.view(21.0).seconds == 1.0


def test_a_price_that_comes_late_belongs_to_its_own_turn() -> None:
    meter = Meter()
    meter.start(0.0, "m")
    meter.usage(0.1, Usage(1, 1))
    late = meter.responses
    meter.start(1.0, "m")
    meter.usage(1.1, Usage(1, 1))
    meter.paid(meter.responses, 0.5)
    meter.paid(late, 0.25)
    assert meter.view(1.2).cost == Cost(0.5, 0.75)
    meter.forget()
    meter.paid(late, None, unknown=True)
    assert meter.view(1.3).cost == Cost(None, 0.75, session_whole=False, session_unknown=True)


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


def test_the_share_from_the_cache_is_of_responses_whose_servers_count_it() -> None:
    meter = Meter()
    meter.start(0.0)
    meter.usage(1.0, Usage(1000, 10))
    assert meter.view(1.0).cached is None
    meter.start(2.0, fresh=False)
    meter.usage(3.0, Usage(2000, 10, 1800))
    assert meter.view(3.0).cached == 0.9
    meter.start(4.0, fresh=False)
    meter.usage(5.0, Usage(2000, 10, 0))
    assert meter.view(5.0).cached == 0.45


def test_a_race_asks_how_many_tokens_had_come_by_then() -> None:
    clocks = TurnClocks(
        100.0, stretches=(GhostStretch(101.0, 103.0, 40.0, 160), GhostStretch(105.0, 105.0, 2.0, 8))
    )
    assert [clocks.tokens_by(at) for at in (0.0, 1.0, 2.0, 3.0, 4.9, 5.0)] == [0, 0, 20, 40, 40, 42]
