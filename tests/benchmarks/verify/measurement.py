"""All that ``python -m tests.benchmarks verify`` measures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.findings import Bound, Findings, Spot, Tell
from tests.benchmarks.verify import blame_cost, fix_cost, live_cost, shadow_cost

PARTS = (shadow_cost, fix_cost, live_cost, blame_cost)


def measure(*, quick: bool, tell: Tell, projects: Sequence[Path] = (), times: int = 3) -> Findings:
    """A part after the other; with ``projects`` only blame in these."""
    method = tuple(words for part in PARTS for words in part.METHOD)
    found = Findings(method, _bound, quick)
    with found.timed():
        if not projects:
            shadow_cost.measure(found, tell, quick=quick)
            fix_cost.measure(found, tell, quick=quick)
            tell("live verification")
            with found.guarded("live verification"):
                live_cost.measure(found, tell, quick=quick)
        blame_cost.measure(found, tell, times=times, projects=projects)
    return found


def _bound(spot: Spot) -> Bound | None:
    return next(filter(None, (part.bound(spot) for part in PARTS)), None)
