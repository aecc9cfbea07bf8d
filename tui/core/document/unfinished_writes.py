"""Writes of several files that were cut short: what was old, what was to be new, what lies there.

EDITS.md section 7: on the next start ``disk == after`` is closed, ``disk == before`` is offered,
and for anything else there are three versions to choose from.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from tui.core.files import FileRead, first_of


class State(StrEnum):
    """How a file of an unfinished write is found."""

    NEW = "new"
    OLD = "old"
    TORN = "torn"
    """Half of it is new: it could only be written in place. Nobody else wrote it."""
    OTHER = "other"
    """Somebody else changed it since."""


class WriteStep(Struct, frozen=True):
    """One file that is made, changed or removed."""

    path: str
    before: bytes | None
    """What lay there; None: nothing."""
    after: bytes | None
    """What belongs there; None: nothing."""
    hunks: tuple[int, ...] = ()
    """Ids of the hunks whose acceptance it is; empty: a save."""
    folders: tuple[str, ...] = ()
    """Those that have to be made for it, outer ones first."""
    mode: int | None = None
    """Permissions that it has, or is moved with; None: the usual ones."""
    in_place: bool = False
    """It is written over, not replaced, so it can be found half written."""


class Unfinished(Struct, frozen=True):
    """Files that belong together, and were not all written."""

    name: str
    """Of the journal that it stands in."""
    steps: tuple[WriteStep, ...]
    mark: str = ""
    """What the names of its temporary files have in common."""
    again: bool = False
    """It was the settling of another one, which says all that there is to ask."""


class FoundStep(Struct, frozen=True):
    """A step and what lies on the disk now."""

    step: WriteStep
    state: State
    now: bytes | None


def found(steps: Sequence[WriteStep], reads: Sequence[FileRead]) -> list[FoundStep]:
    """How each step is found, given what was read of its file."""
    return [
        FoundStep(step, state_of(step, read), read.data)
        for step, read in zip(steps, reads, strict=True)
    ]


def state_of(step: WriteStep, read: FileRead) -> State:
    """How the file of a step is found; what cannot be read is somebody else's doing."""
    if read.refusal:
        return State.OTHER
    if read.data == step.after:
        return State.NEW
    if read.data == step.before:
        return State.OLD
    return State.TORN if step.in_place and is_torn(read.data, step) else State.OTHER


def is_torn(now: bytes | None, step: WriteStep) -> bool:
    """True if each byte is the old or the new one of its place.

    A file that is written in place is the old one with a beginning of the new one, more than once
    if putting the old one back was cut short too. Room for a longer text is made first, and is
    full of zeros until it is written.
    """
    old, new = step.before, step.after
    if now is None or old is None or new is None:
        return False
    size, longer = len(now), max(len(old), len(new))
    if not min(len(old), len(new)) <= size <= longer:
        return False
    return not _differs(now, old.ljust(size, b"\0")) & _differs(now, new.ljust(size, b"\0"))


_NOT_ZERO = bytes([0]) + bytes([255]) * 255


def _differs(one: bytes, other: bytes) -> int:
    """A number whose bits say at which bytes of the first text the two are not the same."""
    size = len(one)
    apart = int.from_bytes(one) ^ int.from_bytes(other[:size])
    return int.from_bytes(apart.to_bytes(size).translate(_NOT_ZERO))


def told(findings: Sequence[FoundStep]) -> str:
    """Which file is how, in words: ``a.py is new; b.py, c.py are old``."""
    parts = []
    for state, words in _WORDS.items():
        paths = [one.step.path for one in findings if one.state is state]
        if paths:
            parts.append(f"{first_of(paths, _NAMED)} {'are' if paths[1:] else 'is'} {words}")
    return "; ".join(parts)


_NAMED = 5
_WORDS = {
    State.NEW: "new",
    State.OLD: "old",
    State.TORN: "half written",
    State.OTHER: "neither, somebody changed it since",
}
