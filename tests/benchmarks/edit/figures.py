"""What is found, and the names of all figures, with their units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

FRAME_P50, FRAME_P95 = "work per frame p50 ms", "work per frame p95 ms"
"""Processor time of the event loop's thread between two frames: wire, landing, colours, paint."""
PAINT_P95 = "taking up and painting per frame p95 ms"
"""The part of it that is the frame itself."""
FRAMES = "frames per s"
LATE_P95, LATE_MAX = "loop block p95 ms", "loop block max ms"
KEY_P50, KEY_P95, KEY_MAX = "key echo p50 ms", "key echo p95 ms", "key echo max ms"
"""From a key in the file that the model writes in to its character on the screen."""
KEYS = "keys echoed %"
SAME = "final text is the batch result"
"""1: the file that the app saved is, byte for byte, what the whole patch makes of it."""
LONG_FILE = "frame of a long file, times a short one's"
CPU = "CPU s per 1,000 tokens"
PARSE = "parsing MB/s"
LOCATE = "locating ms per context line"
"""From the first line of a section to its place or its refusal, with all that is reported."""
FIRST = "the first section, with the file's index, ms per context line"
WORST = "the dearest of the other sections, ms per context line"
HUNKS = "a token among many hunks, times among none"
SECTIONS = "a token of a patch of many sections, times of few"
TOKEN = "landing us per token"
MEMORY = "memory bytes per byte of the edit"
DELTAS = "memory in deltas of 1 character, times in 64"
TWICE = "memory of twice the edit, times of the edit"
LINE = "one long line, times one of half its length"
LINE_S = "one long line, CPU s"
APPLY = "applying a whole patch, CPU s"
WAITING_MB = "sections that fit at each of many equal lines, MB at most"
WAITING_S = "the same, CPU s"
Tell = Callable[[str], None]
"""Hears what is being measured."""


@dataclass(frozen=True, slots=True)
class Spot:
    """What a value is of."""

    figure: str
    where: str = ""
    """In which format and under which circumstances, in words."""


@dataclass(slots=True)
class Findings:
    """All that one run found."""

    quick: bool
    runs: dict[Spot, list[float]] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    """What could not be measured, and why."""
    seconds: float = 0.0
    load: float = 0.0
    """How many programs wanted a processor before it began."""

    def add(self, figure: str, where: str, *values: float) -> None:
        """Keep values of repeated runs."""
        self.runs.setdefault(Spot(figure, where), []).extend(values)

    def value(self, spot: Spot) -> float | None:
        """The middle one of the runs; None: there is none."""
        runs = sorted(self.runs.get(spot, ()))
        return runs[(len(runs) - 1) // 2] if runs else None


def ratio(many: Sequence[float], few: Sequence[float]) -> float:
    """How many times as dear: the cheapest of each, for what interferes only adds."""
    return min(many) / max(min(few), 1e-9)
