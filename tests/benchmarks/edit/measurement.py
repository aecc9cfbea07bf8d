"""One run of the benchmark: what is measured, in which order."""

from __future__ import annotations

import os
import time

from tests.benchmarks.edit import core_run
from tests.benchmarks.edit.figures import Findings, Tell
from tests.benchmarks.edit.plan import Plan
from tui.errors import DuettoError


def measure(plan: Plan, tell: Tell) -> Findings:
    """Measure all that is planned; ``tell`` hears what is being measured.

    Raises DuettoError: there is no pyte to read a screen with. What fails later is told in
    `Findings.troubles`, and the rest is measured.
    """
    findings = Findings(plan.quick, load=os.getloadavg()[0])
    began_s = time.monotonic()
    if plan.screen:
        from tests.benchmarks.edit import screen_run

        screen_run.measure(plan, findings, tell)
    for figure, where, step in core_run.steps(plan):
        tell(f"{figure}, {where}")
        try:
            findings.add(figure, where, *step())
        except DuettoError as error:
            findings.troubles.append(f"{figure}, {where}: {error}")
    findings.seconds = time.monotonic() - began_s
    return findings
