"""``edit``: the names of all figures, with their units, their targets, and how much is measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.benchmarks.edit.samples import FORMATS
from tests.benchmarks.findings import Bound, Spot
from tui.core.edit_stream.events import Notation

RATE = 10_000
"""Tokens a second that stream into the file on the screen."""
ROWS = 50
"""Of the terminal, which is 120 columns wide."""
LINES = 10_000
"""Of the file that is edited."""
SHORT_LINES = 1_000
"""Of the short one of the two files whose frames are compared."""
FRAME_P50, FRAME_P95 = "work per frame p50 ms", "work per frame p95 ms"
"""Processor time of the event loop's thread between two frames: wire, landing, colours, paint."""
KEY_P95, KEY_MAX = "key echo p95 ms", "key echo max ms"
"""From a key in the file that the model writes in to its character on the screen."""
KEYS = "keys echoed %"
SAME = "final text is the batch result"
"""1: the file that the app saved is, byte for byte, what the whole patch makes of it."""
LONG_FILE = "frame of a long file, times a short one's"
PARSE = "parsing MB/s"
LOCATE = "locating ms per context line"
"""From the first line of a section to its place or its refusal, with all that is reported."""
FIRST = "the first section, with the file's index, ms per context line"
WORST = "the dearest of the other sections, ms per context line"
HUNKS = "a token among many hunks, times among none"
SECTIONS = "a token of a patch of many sections, times of few"
DELTAS = "memory in deltas of 1 character, times in 64"
TWICE = "memory of twice the edit, times of the edit"
LINE = "one long line, times one of half its length"
APPLY = "applying a whole patch, CPU s"
WAITING_MB = "sections that fit at each of many equal lines, MB at most"
WAITING_S = "the same, CPU s"

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

AT_MOST = {
    FRAME_P95: 8.0,
    KEY_P95: 16.0,
    KEY_MAX: 33.0,
    LONG_FILE: 2.0,
    LOCATE: 1.0,
    FIRST: 1.0,
    WORST: 1.0,
    HUNKS: 2.0,
    SECTIONS: 2.0,
    DELTAS: 1.1,
    TWICE: 2.2,
    LINE: 2.5,
}
AT_LEAST = {PARSE: 5.0, SAME: 1.0, KEYS: 100.0}
WHERE_AT_MOST = {
    (APPLY, "5,000 hunks to 300 files"): 1.5,
    (APPLY, "3,000 hunks to 200,000 lines"): 1.2,
    (WAITING_MB, "200 over 150,000 lines"): 40.0,
    (WAITING_S, "200 over 150,000 lines"): 1.0,
    (WAITING_MB, "20,000 over 20,000 lines"): 150.0,
}
"""Of one place only."""
ONE_CHARACTER = "deltas of 1"
ONE_CHARACTER_MB_S = 2.0
"""No model streams single characters: a bound of our own."""


def bound(spot: Spot) -> Bound | None:
    """The target of a figure."""
    if spot.figure in AT_LEAST:
        single = spot.figure == PARSE and spot.place.endswith(ONE_CHARACTER)
        return Bound(ONE_CHARACTER_MB_S if single else AT_LEAST[spot.figure], at_least=True)
    if spot.figure == FRAME_P95 and spot.place not in FORMATS:
        return None  # the frames of files of other lengths are compared with each other
    value = WHERE_AT_MOST.get((spot.figure, spot.place), AT_MOST.get(spot.figure))
    return None if value is None else Bound(value)


@dataclass(frozen=True, slots=True)
class Plan:
    """What one run does."""

    quick: bool = False
    repeats: int = 3
    formats: tuple[Notation, ...] = FORMATS
    stream_s: float = 3.0
    """How long an edit streams on the screen."""
    screen: bool = True
    """With the real program in a pseudo-terminal."""
    long_lines: int = 100_000
    """Of the long file whose frames are compared; the program reads it through first."""
    parse_characters: int = 500_000
    sections: tuple[int, int] = (50, 1_500)
    hunks: int = 1_000
    added_lines: int = 600
    long_line: int = 400_000
    """Characters of the one long line."""
    memory_lines: int = 4_000


FULL = Plan()
QUICK = Plan(
    quick=True,
    repeats=1,
    stream_s=1.0,
    long_lines=10_000,
    parse_characters=150_000,
    sections=(50, 500),
    hunks=300,
    added_lines=300,
    memory_lines=1_000,
)
"""About half a minute, and rough."""


def ratio(many: Sequence[float], few: Sequence[float]) -> float:
    """How many times as dear: the cheapest of each, for what interferes only adds."""
    return min(many) / max(min(few), 1e-9)
