"""What the figures must reach, and whether they do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from tests.benchmarks.screen import figures
from tests.benchmarks.screen.clients import DUETTO
from tests.benchmarks.screen.plan import FRESH, HIGHEST_KEY_RATE, Findings, Spot

Verdict = Literal["ok", "missed", "not measured", "not judged"]
CPU_BOUNDS = {1_000: 0.20, 4_000: 0.06, 10_000: 0.03}
SUSTAINED_RATE = 40_000
SUSTAINED = 0.97
"""Of the rate, from the first token sent to the last one painted."""
AT_EVERY_RATE = {
    figures.LAG_P95: 33.0,
    figures.DRAIN: 33.0,
    figures.KEY_P95: 16.0,
    figures.EDITOR_KEY_P95: 16.0,
    figures.ESC_WIRE: 3.0,
    figures.ESC_STILL: 16.0,
}
IN_ALL = {
    figures.FIRST_PAINT: 300.0,
    figures.FIRST_KEY: 400.0,
    figures.IDLE_CPU: 0.5,
    figures.IDLE_SOON: 0.5,
    figures.RSS_START: 80.0,
}
ELSEWHERE = (
    *(figures.CPU, figures.PAINTED, figures.BLOCK_P95),
    *(figures.PRESS_WIRE, figures.PRESS_STILL),
)
"""What else must be no worse at a long file or in a long conversation; Esc without a trace there,
whose beats would count as idle time."""
RSS_LONG_MB = 110.0
BLOCK_MS = 8.0
RATIO = 1.5
"""No worse at a long file or in a long conversation."""
GRAIN = {
    figures.CPU: 0.01,
    figures.IDLE_CPU: 0.1,
    figures.IDLE_SOON: 0.1,
    figures.RSS_START: 5.0,
}
"""A difference as small as this says nothing of a figure, whatever the ratio."""
GRAIN_MS = 4.0
"""The same for what is in ms: the timers of the system, and where in a frame it begins."""


@dataclass(frozen=True, slots=True)
class Check:
    """One target at one place."""

    target: str
    where: str
    value: float | None
    bound: float
    at_least: bool
    verdict: Verdict
    note: str = ""
    place: str = FRESH


def checks(findings: Findings) -> list[Check]:
    """All targets, in the order of the issue that set them."""
    return [*_streams(findings), *_rest(findings), *_peers(findings), *_ratios(findings)]


def missed(found: list[Check]) -> list[Check]:
    """Those that are not reached."""
    return [check for check in found if check.verdict == "missed"]


def judged(found: list[Check]) -> list[Check]:
    """Those that are reached or missed."""
    return [check for check in found if check.verdict in ("ok", "missed")]


def _streams(findings: Findings) -> Iterator[Check]:
    """What holds at every rate."""
    for rate in findings.plan.rates:
        where = f"{rate:,} tokens/s"
        if rate == SUSTAINED_RATE:
            value = findings.value(Spot(DUETTO, figures.PAINTED, rate))
            yield _check(figures.PAINTED, where, value, SUSTAINED * rate, at_least=True)
        if rate > HIGHEST_KEY_RATE:
            continue
        bounds = dict(AT_EVERY_RATE)
        if rate in CPU_BOUNDS:
            bounds[figures.CPU] = CPU_BOUNDS[rate]
        for figure, bound in bounds.items():
            if findings.plan.only_stream and figure not in STREAM_FIGURES:
                continue
            yield _check(figure, where, findings.value(Spot(DUETTO, figure, rate)), bound)


def _rest(findings: Findings) -> Iterator[Check]:
    """What holds once."""
    plan = findings.plan
    if plan.only_stream:
        return
    for figure, bound in IN_ALL.items():
        yield _check(figure, "", findings.value(Spot(DUETTO, figure)), bound)
    value = findings.value(Spot(DUETTO, figures.BLOCK_P95, plan.edit_rate))
    where = f"{plan.edit_rate:,} tokens/s into {plan.edit_lines:,} lines"
    yield _check(figures.BLOCK_P95, where, value, BLOCK_MS)
    value = findings.value(Spot(DUETTO, figures.RSS_LONG))
    where = f"{plan.long_tokens:,} tokens" if plan.long_tokens else "only with --long"
    yield _check(figures.RSS_LONG, where, value, RSS_LONG_MB)


def _peers(findings: Findings) -> Iterator[Check]:
    """Key echo is under the best peer's of the same run."""
    names = [name for name, _ in findings.plan.peers]
    for rate in findings.plan.rates:
        theirs = [findings.value(Spot(name, figures.KEY_P95, rate)) for name in names]
        known = [value for value in theirs if value is not None]
        if known and rate <= HIGHEST_KEY_RATE:
            value = findings.value(Spot(DUETTO, figures.KEY_P95, rate))
            where = f"{rate:,} tokens/s, the best peer"
            yield _check(figures.KEY_P95, where, value, min(known))


def _ratios(findings: Findings) -> Iterator[Check]:
    """How much worse it gets at a long file or in a long conversation."""
    bounded = {*AT_EVERY_RATE, *IN_ALL, *ELSEWHERE}
    for spot in findings.runs:
        if spot.place == FRESH or spot.figure not in bounded:
            continue
        if spot.figure == figures.PAINTED and spot.rate < SUSTAINED_RATE:
            continue
        fresh = findings.value(Spot(spot.client, spot.figure, spot.rate))
        value = findings.value(spot)
        if fresh is None or value is None:
            continue
        where = f"{spot.rate:,} tokens/s, {spot.place}" if spot.rate else spot.place
        yield replace(_ratio(spot.figure, where, value, fresh), place=spot.place)


def _ratio(figure: str, where: str, value: float, fresh: float) -> Check:
    target = f"{figure}, times the fresh one"
    if figure == figures.PAINTED:
        value, fresh = fresh, value
    ratio = value / max(fresh, 1e-6)
    grain = GRAIN.get(figure, GRAIN_MS)
    if ratio > RATIO and value - fresh <= grain:
        note = f"{value:.2f} for {fresh:.2f}: too small a difference"
        return Check(target, where, ratio, RATIO, False, "not judged", note)
    return _check(target, where, ratio, RATIO)


def _check(
    target: str, where: str, value: float | None, bound: float, at_least: bool = False
) -> Check:
    verdict: Verdict = "not measured"
    if value is not None:
        reached = value >= bound if at_least else value <= bound
        verdict = "ok" if reached else "missed"
    return Check(target, where, value, bound, at_least, verdict)


STREAM_FIGURES = frozenset({figures.LAG_P95, figures.DRAIN, figures.CPU, figures.PAINTED})
"""What ``stream`` measures of them."""
