from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.meter import Cost, Meter
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
