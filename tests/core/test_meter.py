from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.meter import Cost, Meter, scale
from tui.core.wire.events import Usage


def streamed(meter: Meter, *, count: int, every_s: float, chars: int = 4) -> float:
    """Deltas at a steady rate from t=1; returns the time of the last one."""
    now = 1.0
    for number in range(count):
        now = 1.0 + number * every_s
        meter.delta(now, chars)
    return now


def test_nothing_is_shown_that_was_not_measured() -> None:
    view = Meter().view(5.0)
    assert view.state == "idle"
    assert view.tokens_s is None
    assert view.ttft_s is None
    assert view.ghost == 0.0


def test_a_stream_is_estimated_until_usage_comes() -> None:
    meter = Meter()
    meter.start(0.9, "m")
    assert meter.view(0.95).state == "waiting"
    last = streamed(meter, count=2001, every_s=0.001)
    view = meter.view(last)
    assert view.state == "streaming"
    assert view.ttft_s == pytest.approx(0.1)
    assert view.tokens == 2001
    assert view.tokens_s == pytest.approx(1000, rel=0.12)
    assert view.estimated
    assert view.tokens_estimated
    meter.usage(last, Usage(50, 1000, 0, 0))
    meter.stop(last)
    view = meter.view(last + 9)
    assert view.state == "done"
    assert view.tokens == 1000
    assert view.tokens_s == pytest.approx(500)
    assert not view.estimated
    assert view.reasoning == "counted"
    assert view.seconds == pytest.approx(last - 0.9)
    assert view.context_tokens == 1050


def test_usage_calibrates_the_same_model_only() -> None:
    meter = Meter()
    meter.start(0.0, "wide")
    last = streamed(meter, count=100, every_s=0.01, chars=8)
    meter.usage(last, Usage(0, 100))
    meter.start(10.0, "wide")
    meter.delta(11.0, 80)
    assert meter.view(11.5).tokens == 10
    meter.start(20.0, "other")
    meter.delta(21.0, 80)
    assert meter.view(21.5).tokens == 20


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


def test_no_rate_from_a_single_burst() -> None:
    meter = Meter()
    meter.start(0.0)
    meter.delta(1.0, 4000)
    assert meter.view(1.01).tokens_s is None
    meter.stop(1.0)
    assert meter.view(1.0).tokens_s is None


def test_hidden_reasoning_is_not_counted_and_said_so() -> None:
    meter = Meter()
    meter.start(0.0)
    last = streamed(meter, count=101, every_s=0.01)
    meter.usage(last, Usage(10, 1100, 0, 1000))
    meter.stop(last)
    view = meter.view(last)
    assert view.reasoning == "not counted"
    assert view.tokens_s == pytest.approx(100)
    assert view.tokens == 1100


def test_unknown_reasoning_is_said_to_be_unknown() -> None:
    meter = Meter()
    meter.start(0.0)
    last = streamed(meter, count=10, every_s=0.1)
    meter.usage(last, Usage(10, 20, None, None))
    assert meter.view(last).reasoning == "unknown"


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
    assert view.ttft_s == pytest.approx(1.0)
    assert meter.total() == Usage(30, 200, 5, 0)


def test_the_ghost_is_as_far_as_fifty_tokens_a_second() -> None:
    meter = Meter()
    meter.start(0.0)
    last = streamed(meter, count=1001, every_s=0.001)
    meter.usage(last, Usage(10, 1000, 0, 0))
    meter.stop(last)
    assert meter.view(last).ghost == pytest.approx(0.05)


def test_the_scale_is_logarithmic() -> None:
    assert scale(None) == 0
    assert scale(20) == 0
    assert scale(5000) == 1
    assert scale(50_000) == 1
    assert scale(316.2) == pytest.approx(0.5, abs=0.01)


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


def test_dollars_are_shown_where_prices_are_known() -> None:
    meter = Meter()
    meter.start(0.0, "m")
    assert meter.view(0.1).cost == Cost()
    meter.delta(0.2, 40)
    meter.usage(0.3, Usage(100, 10))
    assert meter.view(0.4).cost == Cost()  # counted, not priced yet
    meter.paid(meter.responses, 0.25)
    assert meter.view(0.5).cost == Cost(0.25, 0.25)
    meter.start(1.0, "m", fresh=False)
    assert meter.view(1.1).cost.turn_usd == 0.25
    meter.usage(1.2, Usage(100, 10))
    assert meter.view(1.3).cost.turn_usd is None
    meter.paid(meter.responses, 0.5)
    assert meter.view(1.4).cost == Cost(0.75, 0.75)


def test_a_turn_with_an_unknown_price_has_none_and_the_session_has_the_least() -> None:
    meter = Meter()
    meter.start(0.0, "m")
    meter.usage(0.1, Usage(1, 1))
    meter.paid(1, 0.5)
    meter.start(1.0, "other", fresh=False)
    meter.usage(1.1, Usage(1, 1))
    meter.paid(2, None)
    assert meter.view(1.2).cost == Cost(None, 0.5, session_whole=False)


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
    assert meter.view(1.3).cost == Cost(None, 0.75)


def test_what_nobody_counted_is_an_estimate() -> None:
    meter = Meter()
    meter.start(0.0, "m")
    meter.delta(0.1, 40)
    meter.usage(0.2, Usage(100, 10, estimated=True))
    meter.paid(1, 0.1)
    view = meter.view(0.3)
    assert view.cost.estimated
    assert view.tokens_estimated


def test_a_rate_holds_only_what_came_whatever_the_server_produced() -> None:
    meter = Meter()
    meter.start(0.9, "m")
    last = streamed(meter, count=101, every_s=0.02)
    meter.usage(last, Usage(10, 140, 0, 0), cut=True)
    meter.stop(last)
    view = meter.view(last + 1)
    assert view.tokens_s == pytest.approx(50, rel=0.02)
    assert view.estimated
    assert (view.tokens, view.tokens_estimated) == (140, False)
    assert meter.chars_per_token == 4.0


def test_what_is_charged_for_at_an_unknown_price_is_said_of_turn_and_session() -> None:
    meter = Meter()
    meter.start(0.0, "m")
    meter.paid(meter.responses, 0.5)
    meter.start(1.0, "m", fresh=False)
    meter.paid(meter.responses, None, unknown=True)
    cost = meter.view(2.0).cost
    assert (cost.turn_usd, cost.unknown) == (None, True)
    assert (cost.session_usd, cost.session_whole, cost.session_unknown) == (0.5, False, True)
    meter.start(3.0, "m")
    meter.paid(1, None, unknown=True)
    cost = meter.view(4.0).cost
    assert (cost.unknown, cost.session_unknown) == (False, True), "that was a turn before"
    meter.start(5.0, "m")
    meter.paid(meter.responses, None)
    assert not meter.view(6.0).cost.unknown, "a server of one's own"
