"""The budgets' own programs run and judge. Their figures count on a quiet machine, not here: the
bounds are ratios, and times that only something broken exceeds."""

from __future__ import annotations

import statistics

from tests.budgets import esc_cost, wire_cost

PATIENCE_MS = 100.0
"""Beyond this Esc waits for something that it must not wait for, however busy the machine is."""


async def test_our_road_costs_less_than_the_library_by_itself() -> None:
    cost = await wire_cost.receiving(5_000)
    assert cost[wire_cost.OURS] < cost[wire_cost.LIBRARY]


async def test_esc_reaches_the_wire_under_four_streams() -> None:
    presses, rate = await esc_cost.measure(5)
    assert len(presses) == 5
    assert rate > 0.3 * 10_000
    assert 0 <= statistics.median(press.written_ms for press in presses) < PATIENCE_MS
    assert 0 < statistics.median(press.read_ms for press in presses) < PATIENCE_MS


def test_a_percentile_is_one_of_the_values() -> None:
    assert esc_cost.percentile([3.0, 1.0, 2.0], 0.95) == 3.0
    assert esc_cost.percentile([float(number) for number in range(100)], 0.95) == 95.0
