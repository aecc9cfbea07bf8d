"""What the figures must reach (issue 5, Speed), and whether they do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tests.benchmarks.edit import figures
from tests.benchmarks.edit.figures import Findings, Spot
from tests.benchmarks.edit.samples import FORMATS

Verdict = Literal["ok", "missed", "not judged"]
AT_MOST = {
    figures.FRAME_P95: 8.0,
    figures.KEY_P95: 16.0,
    figures.KEY_MAX: 33.0,
    figures.LONG_FILE: 2.0,
    figures.LOCATE: 1.0,
    figures.FIRST: 1.0,
    figures.WORST: 1.0,
    figures.HUNKS: 2.0,
    figures.SECTIONS: 2.0,
    figures.DELTAS: 1.1,
    figures.TWICE: 2.2,
    figures.LINE: 2.5,
}
AT_LEAST = {figures.PARSE: 5.0, figures.SAME: 1.0, figures.KEYS: 100.0}
WHERE_AT_MOST = {
    (figures.APPLY, "5,000 hunks to 300 files"): 1.5,
    (figures.APPLY, "3,000 hunks to 200,000 lines"): 1.2,
    (figures.WAITING_MB, "200 over 150,000 lines"): 40.0,
    (figures.WAITING_S, "200 over 150,000 lines"): 1.0,
    (figures.WAITING_MB, "20,000 over 20,000 lines"): 150.0,
}
"""Of one place only."""
ONE_CHARACTER = "deltas of 1"
ONE_CHARACTER_MB_S = 2.0
"""No model streams single characters: a bound of our own."""


@dataclass(frozen=True, slots=True)
class Check:
    """One figure in one place, with its target if it has one."""

    figure: str
    where: str
    value: float | None
    target: float | None
    at_least: bool
    verdict: Verdict


def checks(findings: Findings) -> list[Check]:
    """All figures, in the order in which they were measured."""
    return [_check(findings, spot) for spot in findings.runs]


def missed(found: list[Check]) -> list[Check]:
    """Those that are not reached."""
    return [check for check in found if check.verdict == "missed"]


def judged(found: list[Check]) -> list[Check]:
    """Those that have a target."""
    return [check for check in found if check.verdict != "not judged"]


def _check(findings: Findings, spot: Spot) -> Check:
    value = findings.value(spot)
    at_least = spot.figure in AT_LEAST
    target = AT_LEAST.get(spot.figure, AT_MOST.get(spot.figure))
    if spot.figure == figures.PARSE and spot.where.endswith(ONE_CHARACTER):
        target = ONE_CHARACTER_MB_S
    if spot.figure == figures.FRAME_P95 and spot.where not in FORMATS:
        target = None  # the frames of files of other lengths are compared with each other
    target = WHERE_AT_MOST.get((spot.figure, spot.where), target)
    if value is None or target is None:
        return Check(spot.figure, spot.where, value, target, at_least, "not judged")
    reached = value >= target if at_least else value <= target
    return Check(spot.figure, spot.where, value, target, at_least, "ok" if reached else "missed")
