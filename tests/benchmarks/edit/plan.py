"""How much is measured."""

from __future__ import annotations

from dataclasses import dataclass

from tests.benchmarks.edit.samples import FORMATS
from tui.core.edit_stream.events import Notation

RATE = 10_000
"""Tokens a second that stream into the file on the screen."""
ROWS = 50
"""Of the terminal, which is 120 columns wide."""
LINES = 10_000
"""Of the file that is edited."""
SHORT_LINES = 1_000
"""Of the short one of the two files whose frames are compared."""


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
