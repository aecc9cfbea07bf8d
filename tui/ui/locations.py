"""Places in files that a program's output names: tracebacks, pytest, compilers."""

from __future__ import annotations

import re
from typing import NamedTuple

_PYTHON = re.compile(r'File "([^"\n]+)", line (\d+)')
_COLONS = re.compile(
    r"(?<![\w/.:@-])((?:[A-Za-z]:)?(?:\.{0,2}/)?(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.[A-Za-z]\w*)"
    r":(\d+)(?::(\d+))?"
)
_PYTEST = re.compile(r"^(?:FAILED|ERROR)\s+((?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.py)(?:::\S+)?")


class Location(NamedTuple):
    """A place, and where in the text it is named (character offsets)."""

    start: int
    end: int
    path: str
    """Relative to the workspace where it lies in it."""
    line: int
    """0-based."""
    col: int


def find_location(text: str, root: str = "") -> Location | None:
    """The first place that one line of output names.

    Absolute paths are made relative to ``root``; those outside it are no place.
    """
    if match := _PYTHON.search(text):
        found = (match.start(1), match.end(2), match[1], int(match[2]), 1)
    elif match := _COLONS.search(text):
        found = (match.start(1), match.end(), match[1], int(match[2]), int(match[3] or 1))
    elif match := _PYTEST.search(text):
        found = (match.start(1), match.end(1), match[1], 1, 1)
    else:
        return None
    start, end, path, line, col = found
    prefix = root.rstrip("/") + "/"
    if root and path.startswith(prefix):
        path = path.removeprefix(prefix)
    path = path.removeprefix("./")
    if path.startswith(("/", "<", "../")) or re.match("[A-Za-z]:", path):
        return None
    return Location(start, end, path, max(line - 1, 0), max(col - 1, 0))
