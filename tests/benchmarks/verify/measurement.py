"""All that ``python -m tests.benchmarks verify`` measures."""

from __future__ import annotations

from tests.benchmarks.findings import Findings, Tell
from tests.benchmarks.verify import shadow_cost


def measure(*, quick: bool, tell: Tell) -> Findings:
    """A part after the other."""
    found = Findings(shadow_cost.METHOD, shadow_cost.bound, quick)
    with found.timed():
        shadow_cost.measure(found, tell, quick=quick)
    return found
