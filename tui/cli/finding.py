"""What one check of ``duetto doctor`` found."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from tui.core.inert_text import inert

State = Literal["ok", "note", "fix", "unreachable"]
_MARKS: dict[State, str] = {"ok": "✓", "note": "·", "fix": "✗", "unreachable": "✗"}
_INDENT = " " * 21
_LEAST_COLUMNS = 50
"""In a narrower terminal there is no room beside the names: it breaks the lines itself."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    check: str
    state: State
    text: str
    advice: str = ""
    """What to do, empty if nothing is to be done."""
    round_trip_ms: float | None = None
    facts: Mapping[str, object] | None = None
    """What is known of an endpoint, for programs."""

    def told(self, columns: int | None) -> str:
        """For people: what was found, and under it what to do, broken between words.

        ``columns`` of the terminal; None: it is none, and each is one line for grep.
        """
        told = _wrapped(f"{_MARKS[self.state]} {self.check:<18} ", inert(self.text), columns)
        advice = _wrapped(f"{_INDENT}→ ", inert(self.advice), columns) if self.advice else ""
        return f"{told}\n{advice}" if advice else told


def _wrapped(before: str, text: str, columns: int | None) -> str:
    if columns is None or columns < _LEAST_COLUMNS:
        return before + text
    return textwrap.fill(
        text,
        columns - 1,
        initial_indent=before,
        subsequent_indent=" " * max(len(before), len(_INDENT)),
        break_long_words=False,
        break_on_hyphens=False,
    )
