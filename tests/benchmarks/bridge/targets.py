"""What the figures must reach, and whether they do."""

from __future__ import annotations

from tests.benchmarks.bridge import figures
from tests.benchmarks.edit.figures import Findings, Spot
from tests.benchmarks.edit.targets import Check


def checks(findings: Findings) -> list[Check]:
    """All figures, in the order in which they were measured."""
    return [_check(findings, spot) for spot in findings.runs]


def _check(findings: Findings, spot: Spot) -> Check:
    value = findings.value(spot)
    at_least = spot.figure in figures.AT_LEAST
    target = figures.AT_LEAST.get(spot.figure, figures.AT_MOST.get(spot.figure))
    if value is None or target is None:
        return Check(spot.figure, spot.where, value, target, at_least, "not judged")
    reached = value >= target if at_least else value <= target
    return Check(spot.figure, spot.where, value, target, at_least, "ok" if reached else "missed")
