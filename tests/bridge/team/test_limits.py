from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.bridge.team.limits import SPAN_S, Limits, RateWindow, whole_seconds


def test_a_users_own_limits_stand_over_the_defaults() -> None:
    defaults = Limits(connections=4, in_flight=8)
    own = Limits(in_flight=2, tokens_minute=1000)
    assert own.over(defaults) == Limits(connections=4, in_flight=2, tokens_minute=1000)


def test_a_window_opens_when_the_oldest_is_a_minute_old() -> None:
    window = RateWindow()
    for at_s in (0.0, 10.0, 20.0):
        assert window.pause_s(3, at_s) == 0
        window.take(1, at_s)
    assert window.pause_s(3, 30) == 30
    assert window.pause_s(3, 59.9) == pytest.approx(0.1)
    assert window.pause_s(3, 60) == 0
    window.take(1, 60)
    assert window.pause_s(3, 61) == pytest.approx(9)
    assert window.pause_s(None, 61) == 0


def test_one_large_answer_is_waited_out() -> None:
    window = RateWindow()
    window.take(10, 0)
    window.take(5000, 30)
    assert window.pause_s(1000, 31) == pytest.approx(59)
    assert window.pause_s(1000, 91) == 0


def test_seconds_of_a_pause_are_whole_and_enough() -> None:
    assert [whole_seconds(pause) for pause in (0.01, 1, 1.2, 59.9)] == [1, 1, 2, 60]


@given(
    st.lists(st.tuples(st.floats(0, 5), st.integers(1, 50)), max_size=80),
    st.integers(1, 200),
)
def test_no_minute_has_more_than_the_limit_and_one_more(
    steps: list[tuple[float, int]], limit: int
) -> None:
    """Whatever is asked when: what was let in before the last of any minute is below the limit."""
    window, now_s = RateWindow(), 0.0
    taken: list[tuple[float, int]] = []
    for later_s, amount in steps:
        now_s += later_s
        pause_s = window.pause_s(limit, now_s)
        in_span = sum(n for at_s, n in taken if at_s > now_s - SPAN_S)
        if pause_s == 0:
            assert in_span < limit
            window.take(amount, now_s)
            taken.append((now_s, amount))
        else:
            assert 0 < pause_s <= SPAN_S + 1e-6
            assert copy.deepcopy(window).pause_s(limit, now_s + pause_s + 1e-6) == 0
