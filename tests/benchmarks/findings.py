"""What a benchmark found, what it must reach, and both as text and as JSON."""

from __future__ import annotations

import contextlib
import os
import platform
import statistics
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

import tui
from tui.errors import DuettoError

DUETTO = "duetto"
COLUMNS = 100
Verdict = Literal["ok", "missed", "not judged"]
Tell = Callable[[str], None]
"""Hears what is being measured."""


@dataclass(frozen=True, slots=True)
class Spot:
    """What a value is of."""

    figure: str
    """Its name, with its unit."""
    place: str = ""
    """Under which circumstances, in words."""
    rate: int = 0
    """Tokens a second; 0: it does not depend on them."""
    client: str = DUETTO

    @property
    def where(self) -> str:
        """All of it but the figure, in words."""
        rate = f"{self.rate:,} tokens/s" if self.rate else ""
        return ", ".join(filter(None, (rate, self.place, self.client.replace(DUETTO, ""))))


class Bound(NamedTuple):
    """What a figure must reach."""

    value: float
    at_least: bool = False
    note: str = ""
    """Why it is not judged all the same."""


@dataclass(frozen=True, slots=True)
class Check:
    """One figure at one place, with its target if it has one."""

    figure: str
    where: str
    value: float
    target: float | None
    at_least: bool
    verdict: Verdict
    note: str = ""


@dataclass(slots=True)
class Findings:
    """All that one run found; figures are medians over what was added."""

    method: tuple[str, ...]
    """How the figures come about, a sentence or three each."""
    bound: Callable[[Spot], Bound | None]
    quick: bool = False
    runs: dict[Spot, list[float]] = field(default_factory=dict)
    bounds: dict[Spot, Bound] = field(default_factory=dict)
    """Targets that only this run knows."""
    troubles: list[str] = field(default_factory=list)
    """What could not be measured, and why."""
    seconds: float = 0.0
    load: float = field(default_factory=lambda: os.getloadavg()[0])
    """How many programs wanted a processor before it began."""

    def add(self, spot: Spot, *values: float | None) -> None:
        """Keep values of repeated runs; None was not measured."""
        known = [value for value in values if value is not None]
        if known:
            self.runs.setdefault(spot, []).extend(known)

    def value(self, spot: Spot) -> float | None:
        """The median over the runs, or None where no run gave a figure."""
        return statistics.median(self.runs[spot]) if spot in self.runs else None

    @contextlib.contextmanager
    def guarded(self, where: str) -> Iterator[None]:
        """One step: if it fails that is told, and the rest is measured."""
        try:
            yield
        except DuettoError as error:
            self.troubles.append(f"{where}: {error}")

    @contextlib.contextmanager
    def timed(self) -> Iterator[None]:
        """All of the run."""
        began_s = time.monotonic()
        yield
        self.seconds = time.monotonic() - began_s

    def checks(self) -> list[Check]:
        """All figures, in the order in which they were measured."""
        return [self._check(spot) for spot in self.runs]

    def _check(self, spot: Spot) -> Check:
        value, bound = statistics.median(self.runs[spot]), self.bounds.get(spot, self.bound(spot))
        if bound is None:
            return Check(spot.figure, spot.where, value, None, False, "not judged")
        reached = value >= bound.value if bound.at_least else value <= bound.value
        verdict: Verdict = "not judged" if bound.note else "ok" if reached else "missed"
        return Check(spot.figure, spot.where, value, *bound[:2], verdict, bound.note)

    @property
    def missed(self) -> bool:
        """A target was missed, or something could not be measured."""
        return bool(self.troubles) or any(one.verdict == "missed" for one in self.checks())


def as_json(found: Findings) -> dict[str, Any]:
    """Everything; the units are in the figures' names."""
    checks = found.checks()
    rows = zip(found.runs.items(), checks, strict=True)
    return {
        "version": tui.__version__,
        "machine": machine(),
        "seconds": round(found.seconds, 1),
        "load_before": round(found.load, 2),
        "quick": found.quick,
        "method": list(found.method),
        "figures": [
            {
                **asdict(spot),
                **asdict(check),
                "value": round(check.value, 4),
                "runs": [round(run, 4) for run in runs],
            }
            for (spot, runs), check in rows
        ],
        "judged": sum(one.verdict != "not judged" for one in checks),
        "reached": sum(one.verdict == "ok" for one in checks),
        "missed": sum(one.verdict == "missed" for one in checks),
        "troubles": found.troubles,
    }


def machine() -> dict[str, Any]:
    """What it ran on, without a name."""
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }


def machine_words() -> str:
    """The same in words."""
    place = machine()
    return f"{place['cores']} cores, {place['system']} {place['machine']}, Python {place['python']}"


def as_text(found: Findings) -> str:
    """A block a figure, then what was missed."""
    checks, cores = found.checks(), os.cpu_count() or 1
    lines: list[str] = []
    for figure in dict.fromkeys(one.figure for one in checks):
        lines += [figure, *(_row(one) for one in checks if one.figure == figure), ""]
    missed = [one for one in checks if one.verdict == "missed"]
    lines += [f"MISSED  {one.figure}, {one.where}: {_bound(one)}" for one in missed]
    lines += [f"trouble: {words}" for words in found.troubles]
    judged = sum(one.verdict != "not judged" for one in checks)
    lines += [f"{judged - len(missed)} of {judged} targets are reached.", ""]
    lines += [textwrap.fill(words, COLUMNS) for words in found.method]
    quick = ", quick" if found.quick else ""
    lines.append(f"{machine_words()}, {found.seconds:.0f} s{quick}.")
    if found.load > cores / 4:
        lines.append(
            f"Load {found.load:.1f} on {cores} cores before: waiting for a processor is in"
            " these figures."
        )
    return "\n".join(lines)


def _row(check: Check) -> str:
    mark = {"ok": "ok", "missed": "MISSED"}.get(check.verdict, check.note and f"- {check.note}")
    return f"  {check.where:<48} {_bound(check):<28} {mark}".rstrip()


def _bound(check: Check) -> str:
    if check.target is None:
        return _short(check.value)
    words = "at least" if check.at_least else "at most"
    return f"{_short(check.value)} ({words} {_short(check.target)})"


def _short(value: float) -> str:
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.3g}"
