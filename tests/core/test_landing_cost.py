"""A token costs what it costs, however many hunks there are: ratios, not times."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.budgets.landing_cost import LIMIT, by_hunks, by_sections

_ATTEMPTS = 4
"""Another process may get in the way of one."""


@pytest.mark.parametrize(("cost", "few", "many"), [(by_hunks, 0, 1000), (by_sections, 50, 800)])
def test_the_cost_of_a_token_does_not_grow(
    cost: Callable[[int], float], few: int, many: int
) -> None:
    cheap, dear = cost(few), cost(many)
    for _ in range(_ATTEMPTS):
        if dear < LIMIT * cheap:
            break
        dear = min(dear, cost(many))
    assert dear < LIMIT * cheap
