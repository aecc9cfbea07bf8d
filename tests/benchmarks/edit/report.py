"""The findings as text for a person and as JSON for a program."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import tui
from tests.benchmarks.edit.figures import Findings, Spot
from tests.benchmarks.edit.plan import LINES, RATE, ROWS
from tests.benchmarks.edit.targets import Check, judged, missed
from tests.benchmarks.transport.report import COLUMNS, machine

METHOD = (
    f"On the screen: the real program in a pseudo-terminal of 120x{ROWS}, a replay server that"
    f" streams {RATE:,} tokens/s of a patch, each an event of its own, into a coloured Python file"
    f" of {LINES:,} lines. Work per frame is all processor time of the event loop's thread from"
    " one frame's end to the next one's (stamps of --trace). Keys are pressed in that file; their"
    " echo is what a terminal emulator reads. Then everything is accepted, and the file on the disk"
    " is compared with what the whole patch makes of it.",
    "Without a screen: processor time of this process, of tokens of 4 characters with a frame"
    " every 167 of them where nothing else is said. Times are medians of the runs, ratios compare"
    " the cheapest runs. Memory is what stays allocated while the edit waits in its buffer.",
)
"""How the figures come about."""


def as_json(findings: Findings, found: list[Check]) -> dict[str, Any]:
    """Everything; the units are in the figures' names."""
    return {
        "version": tui.__version__,
        "machine": machine(),
        "seconds": round(findings.seconds, 1),
        "load_before": round(findings.load, 2),
        "quick": findings.quick,
        "method": list(METHOD),
        "figures": [_figure(findings, check) for check in found],
        "judged": len(judged(found)),
        "reached": len(judged(found)) - len(missed(found)),
        "missed": len(missed(found)),
        "troubles": findings.troubles,
    }


def as_text(findings: Findings, found: list[Check], method: Sequence[str] = METHOD) -> str:
    """A block a figure, then what was missed."""
    lines = [*_blocks(found)]
    lines += [f"MISSED  {_name(check)}: {_bound(check)}" for check in missed(found)]
    lines += [f"trouble: {words}" for words in findings.troubles]
    of, place = len(judged(found)), machine()
    lines += [
        f"{of - len(missed(found))} of {of} targets are reached.",
        "",
        *(textwrap.fill(words, COLUMNS) for words in method),
        f"{place['cores']} cores, {place['system']} {place['machine']}, Python {place['python']}, "
        f"{findings.seconds:.0f} s.",
    ]
    cores = os.cpu_count() or 1
    if findings.load > cores / 4:
        lines.append(f"Load {findings.load:.1f} on {cores} cores before: times may be too long.")
    return "\n".join(lines)


def _blocks(found: list[Check]) -> Iterator[str]:
    for figure in dict.fromkeys(check.figure for check in found):
        here = [check for check in found if check.figure == figure]
        yield figure
        for check in here:
            mark = {"ok": "ok", "missed": "MISSED"}.get(check.verdict, "")
            yield f"  {check.where:<48} {_bound(check):<28} {mark}".rstrip()
        yield ""


def _name(check: Check) -> str:
    return f"{check.figure}, {check.where}" if check.where else check.figure


def _bound(check: Check) -> str:
    if check.target is None:
        return _short(check.value)
    words = "at least" if check.at_least else "at most"
    return f"{_short(check.value)} ({words} {_short(check.target)})"


def _figure(findings: Findings, check: Check) -> dict[str, Any]:
    runs = findings.runs[Spot(check.figure, check.where)]
    value = None if check.value is None else round(check.value, 4)
    return {**asdict(check), "value": value, "runs": [round(one, 4) for one in runs]}


def _short(value: float | None) -> str:
    if value is None:
        return "-"
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.3g}"
