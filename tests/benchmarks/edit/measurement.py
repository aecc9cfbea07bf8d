"""One run of the benchmark: what is measured, in which order."""

from __future__ import annotations

from tests.benchmarks.edit import core
from tests.benchmarks.edit.figures import FULL, METHOD, QUICK, Plan, bound
from tests.benchmarks.findings import Findings, Spot, Tell

__all__ = ["FULL", "QUICK", "measure"]


def measure(plan: Plan, tell: Tell) -> Findings:
    """Measure all that is planned; ``tell`` hears what is being measured.

    Raises DuettoError: there is no pyte to read a screen with. What fails later is told in
    `Findings.troubles`, and the rest is measured.
    """
    findings = Findings(METHOD, bound, quick=plan.quick)
    with findings.timed():
        if plan.screen:
            from tests.benchmarks.edit import screen_run

            screen_run.measure(plan, findings, tell)
        for figure, where, step in core.steps(plan):
            tell(f"{figure}, {where}")
            with findings.guarded(f"{figure}, {where}"):
                findings.add(Spot(figure, where), *step())
    return findings
