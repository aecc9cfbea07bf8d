"""Stamps of what happened when, so that a latency can be split (``--trace FILE``).

The names are the same wherever they are stamped: ``key`` (a key was recognised; detail: its name,
``character`` for what is typed as text, for a trace is no record of what somebody wrote), ``wire``
(an event was handed to the socket; detail: its type), ``frozen`` (an Esc closed the gate: nothing
lands any more; detail: the lane), ``frame`` (what was new has been taken up and painted; detail:
milliseconds of processor time of the loop's thread, for this alone and for everything since the
frame before), ``painted`` (a frame was written to the terminal; detail: its number), ``late`` (the
event loop had its turn, `BEAT_S` after the last; detail: by how many milliseconds too late, which
is how long something blocked it).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

Name = Literal["key", "wire", "frozen", "painted", "frame", "late"]
Stamp = Callable[[Name, str], None]
"""Name and detail; the time is taken by who keeps them (`effects.recorder`)."""
BEAT_S = 0.005
"""How often a traced event loop is looked at."""


def no_stamp(name: Name, detail: str) -> None:
    """Nobody asked for a trace."""
