"""The budgets' own programs run and judge. Their figures count on a quiet machine, not here: the
bounds are ratios, and times that only something broken exceeds."""

from __future__ import annotations

import pytest

from tests.benchmarks import esc_cost, wire_cost

pytestmark = pytest.mark.slow

ESC_MS = 30.0
"""Ten times the budget: what other programs on the machine may add; 0.8 ms are measured alone."""
TRIES = 3
"""A machine that is busy for a while may not be so the next time; one that is fast is so once."""
PRESSES = 20


async def test_our_road_costs_less_than_the_library_by_itself() -> None:
    cost = await wire_cost.receiving(5_000)
    assert cost[wire_cost.OURS] < cost[wire_cost.LIBRARY]


async def test_esc_reaches_the_wire_under_four_streams() -> None:
    found: list[str] = []
    for _ in range(TRIES):
        presses, rate = await esc_cost.measure(PRESSES)
        assert len(presses) == PRESSES
        written_ms = esc_cost.percentile([press.written_ms for press in presses], 0.95)
        assert all(press.written_ms >= 0 and press.read_ms >= 0 for press in presses)
        if written_ms < ESC_MS and rate > esc_cost.LEAST_SHARE * 10_000:
            return
        found.append(f"{written_ms:.1f} ms at {rate:,.0f} tokens/s")
    raise AssertionError(f"Esc to the wire, p95 of {PRESSES}: {', '.join(found)}")


def test_a_percentile_is_one_of_the_values() -> None:
    assert esc_cost.percentile([3.0, 1.0, 2.0], 0.95) == 3.0
    assert esc_cost.percentile([float(number) for number in range(100)], 0.95) == 95.0
