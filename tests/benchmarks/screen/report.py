"""The findings as text for a person and as JSON for a program."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import tui
from tests.benchmarks.screen.plan import FRESH, Findings, Spot
from tests.benchmarks.screen.targets import RATIO, Check, judged, missed
from tests.benchmarks.transport.report import COLUMNS, machine

METHOD = (
    "The real binary in a pseudo-terminal of 120x40 cells, truecolor, synchronized output, no"
    " Kitty keyboard; what it wrote is read afterwards by a terminal emulator. The replay server"
    " on loopback sends each token as an event of its own at its time.",
    "Paint lag: from the time at which a mark in the text is due to that at which it, or one behind"
    " it, is on the screen. Drain: from the last token to the painted end. CPU: of the program and"
    " all that it started, from Enter to the painted end.",
    "Key echo: from a key in the prompt to its character on the screen while an answer streams. Esc"
    " recognised, wire and frozen are stamps of --trace; still is the last new text on the screen.",
    "Loop block: how late the event loop comes to its turns (every 5 ms, --trace) while a patch"
    " streams into a coloured file. Start: from the process's start, while keys are pressed.",
    "All figures are medians over the runs; of Esc, over the presses.",
)
"""How the figures come about."""


def as_json(findings: Findings, found: list[Check]) -> dict[str, Any]:
    """Everything; the units are in the figures' names."""
    plan = asdict(findings.plan)
    plan["rates"] = list(findings.plan.rates)
    plan["peers"] = [name for name, _ in findings.plan.peers]
    return {
        "version": tui.__version__,
        "machine": machine(),
        "seconds": round(findings.seconds, 1),
        "load_before": round(findings.load, 2),
        "method": list(METHOD),
        "plan": plan,
        "figures": [_figure(findings, spot) for spot in findings.runs],
        "targets": [_rounded(asdict(check)) for check in found],
        "judged": len(judged(found)),
        "reached": len(judged(found)) - len(missed(found)),
        "missed": len(missed(found)),
        "troubles": findings.troubles,
    }


def as_text(findings: Findings, found: list[Check]) -> str:
    """Tables, then the targets."""
    lines = [*_tables(findings), *_targets(found)]
    lines += [f"trouble: {words}" for words in findings.troubles]
    place = machine()
    lines += [
        "",
        *(textwrap.fill(words, COLUMNS) for words in METHOD),
        f"{place['cores']} cores, {place['system']} {place['machine']}, Python {place['python']}, "
        f"{findings.seconds:.0f} s.",
        *_noise(findings),
    ]
    return "\n".join(lines)


def _noise(findings: Findings) -> Iterator[str]:
    cores = os.cpu_count() or 1
    if findings.load > cores / 4:
        yield (
            f"Load {findings.load:.1f} on {cores} cores before: waiting for a processor is in "
            "these figures."
        )


def _tables(findings: Findings) -> Iterator[str]:
    """A table a place; a column a client and rate."""
    for place in dict.fromkeys(spot.place for spot in findings.runs):
        spots = [spot for spot in findings.runs if spot.place == place]
        for rate in sorted({spot.rate for spot in spots}):
            here = [spot for spot in spots if spot.rate == rate]
            names = list(dict.fromkeys(spot.client for spot in here))
            title = f"{place}, {rate:,} tokens/s" if rate else place
            yield f"{title:<34}" + "".join(f"{name:>12}" for name in names)
            for figure in dict.fromkeys(spot.figure for spot in here):
                values = [findings.value(Spot(name, figure, rate, place)) for name in names]
                yield f"  {figure:<32}" + "".join(f"{_short(value):>12}" for value in values)
            yield ""


def _targets(found: list[Check]) -> Iterator[str]:
    """Each target; where a figure is compared with the fresh one, only what is not reached."""
    for check in found:
        if check.place == FRESH or check.verdict != "ok":
            yield _target(check)
    for place in dict.fromkeys(check.place for check in found if check.place != FRESH):
        here = judged([check for check in found if check.place == place])
        within = len(here) - len(missed(here))
        yield f"{place}: {within} of {len(here)} figures within {RATIO} times the fresh ones."
    of = len(judged(found))
    yield f"{of - len(missed(found))} of {of} targets that were measured are reached."


def _target(check: Check) -> str:
    mark = {"ok": "ok", "missed": "MISSED"}.get(check.verdict, "-")
    where = f", {check.where}" if check.where else ""
    bound = f"{'at least' if check.at_least else 'at most'} {_short(check.bound)}"
    note = f", {check.verdict}: {check.note}" if check.note else ""
    return f"{mark:<6}  {check.target}{where}: {_short(check.value)} ({bound}){note}"


def _figure(findings: Findings, spot: Spot) -> dict[str, Any]:
    runs = [round(value, 4) for value in findings.runs[spot]]
    value = findings.value(spot)
    return {**asdict(spot), "value": None if value is None else round(value, 4), "runs": runs}


def _short(value: float | None) -> str:
    if value is None:
        return "-"
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.3g}"


def _rounded(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        name: round(value, 4) if isinstance(value, float) else value
        for name, value in fields.items()
    }
