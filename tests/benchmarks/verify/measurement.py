"""All that ``python -m tests.benchmarks verify`` measures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.findings import Bound, Findings, Spot, Tell
from tests.benchmarks.verify import blame_cost, shadow_cost


def measure(*, quick: bool, tell: Tell, projects: Sequence[Path] = ()) -> Findings:
    """A part after the other; with ``projects`` only blame in these."""
    found = Findings((*shadow_cost.METHOD, *blame_cost.METHOD), _bound, quick)
    with found.timed():
        if not projects:
            shadow_cost.measure(found, tell, quick=quick)
        blame_cost.measure(found, tell, quick=quick, projects=projects)
    return found


def _bound(spot: Spot) -> Bound | None:
    return shadow_cost.bound(spot) or blame_cost.bound(spot)
