"""What the transport has to reach, and whether it did: arithmetic over the figures of one run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tests.benchmarks.transport.congestion_window import INITIAL_BYTES
from tests.benchmarks.transport.plan import (
    SSE_KEPT,
    SSE_NEW,
    WS_INCREMENTAL,
    Findings,
    TokenFigures,
    TurnFigures,
)

LESS_OVERHEAD = 0.8
HALF = 0.5
AS_FAST = 1.05
FEWER_BYTES = 0.8
BYTES_AT_KB = 100
LESS_CPU = 0.3

Verdict = Literal["ok", "missed", "not judged"]
"""``not judged``: a figure that says nothing about us, with the reason in the check's note."""


@dataclass(frozen=True, slots=True)
class Check:
    """One target at one place."""

    target: str
    where: str
    kind: Literal["saved", "ratio"]
    """``saved``: the share that is saved, at least `bound`; ``ratio``: at most `bound`."""
    value: float
    bound: float
    verdict: Verdict
    note: str = ""


def checks(findings: Findings) -> list[Check]:
    """All targets, in the order of the issue that set them."""
    cells = _cells(findings)
    return [
        *_against_new(cells),
        *_against_kept(cells),
        *_after_idle(cells),
        *_per_token(findings.tokens),
    ]


def missed(found: list[Check]) -> list[Check]:
    """Those that are not reached."""
    return [check for check in found if check.verdict == "missed"]


def judged(found: list[Check]) -> list[Check]:
    """Those that are reached or missed."""
    return [check for check in found if check.verdict != "not judged"]


def spared(found: list[Check]) -> dict[str, int]:
    """Why the others are not judged, and how often."""
    return dict(Counter(check.note for check in found if check.verdict == "not judged"))


def saved(ours: float, theirs: float) -> float:
    """Which share of theirs we do without; 0 where they need nothing."""
    return 1 - ours / theirs if theirs > 0 else 0.0


@dataclass(frozen=True, slots=True)
class _Cell:
    """Our figures beside theirs, at one round trip, history and idle time."""

    ours: TurnFigures
    new: TurnFigures
    kept: TurnFigures

    @property
    def where(self) -> str:
        return f"{self.ours.round_trip_ms} ms, {self.ours.history_kb} kB"


def _cells(findings: Findings) -> list[_Cell]:
    by_cell: dict[tuple[int, int, int], dict[str, TurnFigures]] = {}
    for one in findings.turns:
        key = (one.round_trip_ms, one.history_kb, one.idle_ms)
        by_cell.setdefault(key, {})[one.transport] = one
    return [_Cell(cell[WS_INCREMENTAL], cell[SSE_NEW], cell[SSE_KEPT]) for cell in by_cell.values()]


def _against_new(cells: list[_Cell]) -> Iterator[Check]:
    busy = [cell for cell in cells if not cell.ours.idle_ms]
    for cell in busy:
        value = saved(cell.ours.overhead_ms, cell.new.overhead_ms)
        yield _saves("overhead a turn against a new connection", cell.where, value, LESS_OVERHEAD)
    for cell in busy:
        if cell.ours.round_trip_ms:
            value = cell.ours.ttft_ms / cell.new.ttft_ms
            yield _within("TTFT against a new connection", cell.where, value, HALF)


def _against_kept(cells: list[_Cell]) -> Iterator[Check]:
    busy = [cell for cell in cells if not cell.ours.idle_ms]
    for cell in busy:
        value = cell.ours.ttft_ms / cell.kept.ttft_ms
        yield _within("TTFT against warm keep-alive SSE", cell.where, value, AS_FAST)
    for cell in busy:
        if cell.ours.history_kb == BYTES_AT_KB:
            value = saved(cell.ours.sent_bytes, cell.kept.sent_bytes)
            yield _saves("bytes sent against keep-alive SSE", cell.where, value, FEWER_BYTES)


def _after_idle(cells: list[_Cell]) -> Iterator[Check]:
    """Judged where idle time costs keep-alive SSE anything: a shrunken window on a long way."""
    for cell in cells:
        if not cell.ours.idle_ms:
            continue
        target = f"overhead after {cell.ours.idle_ms} ms idle against keep-alive SSE"
        value = saved(cell.ours.overhead_ms, cell.kept.overhead_ms)
        note = ""
        if not cell.ours.round_trip_ms:
            note = "without a way there is no window that idle time could shrink"
        elif cell.kept.sent_bytes <= INITIAL_BYTES:
            note = "the history fits the first window, which idle time does not shrink"
        yield _saves(target, cell.where, value, LESS_OVERHEAD, note)


def _per_token(tokens: tuple[TokenFigures, ...]) -> Iterator[Check]:
    """Judged without pace: with it the system's waking up is most of it, and the same for all."""
    for rate in dict.fromkeys(one.rate for one in tokens):
        cost = {one.client: one.cpu_us for one in tokens if one.rate == rate}
        where = f"{rate:,} tokens/s" if rate else "without pace"
        note = "mostly the system's waking up, the same for both" if rate else ""
        value = saved(cost[WS_INCREMENTAL], cost[SSE_KEPT])
        yield _saves("client CPU a token against SSE", where, value, LESS_CPU, note)


def _saves(target: str, where: str, value: float, bound: float, note: str = "") -> Check:
    verdict: Verdict = "ok" if value >= bound else "missed"
    return Check(target, where, "saved", value, bound, "not judged" if note else verdict, note)


def _within(target: str, where: str, value: float, bound: float) -> Check:
    return Check(target, where, "ratio", value, bound, "ok" if value <= bound else "missed")
