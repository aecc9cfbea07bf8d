"""The stamps of ``--trace``, as the benchmark reads them: seconds of CLOCK_MONOTONIC."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec


class _Line(msgspec.Struct):
    t_ns: int
    name: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Stamp:
    """Something happened."""

    at_s: float
    name: str
    """See `tui.core.stamping`."""
    detail: str


@dataclass(frozen=True, slots=True)
class Press:
    """An Esc inside the program; times are None where there is no stamp."""

    key_s: float | None
    """It was recognised."""
    frozen_s: float | None
    """Nothing lands any more."""
    wire_s: float | None
    """The server is being told."""
    still_s: float | None
    """The first frame behind it was written: that is how the text stays."""


def read(file: Path) -> tuple[Stamp, ...]:
    """All stamps, oldest first; a line that was cut is left out."""
    if not file.exists():
        return ()
    found = []
    for line in file.read_bytes().splitlines():
        with contextlib.suppress(msgspec.MsgspecError):
            stamp = msgspec.json.decode(line, type=_Line)
            found.append(Stamp(stamp.t_ns / 1e9, stamp.name, stamp.detail))
    return tuple(sorted(found, key=lambda stamp: stamp.at_s))


def press(stamps: Sequence[Stamp], pressed_s: float, within_s: float = 1.0) -> Press:
    """What became of an Esc that was pressed then."""
    near = [stamp for stamp in stamps if pressed_s <= stamp.at_s <= pressed_s + within_s]
    key_s = _first(near, "key", pressed_s, "escape")
    if key_s is None:
        return Press(None, None, None, None)
    frozen_s = _first(near, "frozen", key_s)
    still_s = None if frozen_s is None else _first(near, "painted", frozen_s)
    return Press(key_s, frozen_s, _first(near, "wire", key_s), still_s)


def late_ms(stamps: Sequence[Stamp], first_s: float, last_s: float) -> list[float]:
    """How late the event loop came to its turns between two times, in ms."""
    return [
        float(stamp.detail)
        for stamp in stamps
        if stamp.name == "late" and first_s <= stamp.at_s <= last_s
    ]


def _first(
    stamps: Sequence[Stamp], name: str, since_s: float, detail: str | None = None
) -> float | None:
    fitting: Iterator[float] = (
        stamp.at_s
        for stamp in stamps
        if stamp.name == name and stamp.at_s >= since_s and detail in (None, stamp.detail)
    )
    return next(fitting, None)
