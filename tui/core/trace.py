"""Stamps of what happened when, so that a latency can be split (``--trace FILE``).

The names are the same wherever they are stamped: ``key`` (a key was recognised; detail: its
name), ``wire`` (an event was handed to the socket; detail: its type), ``frozen`` (an Esc closed the
gate: nothing lands any more; detail: the lane), ``painted`` (a frame was written to the terminal;
detail: its number).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

Name = Literal["key", "wire", "frozen", "painted"]
Stamp = Callable[[Name, str], None]
"""Name and detail; the time is taken by who keeps them (`effects.tracer`)."""


def no_stamp(name: Name, detail: str) -> None:
    """Nobody asked for a trace."""
