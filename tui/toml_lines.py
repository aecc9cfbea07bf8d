"""Where a key stands in a TOML text: tomllib says what is in a file, not on which line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence

_HEADER = re.compile(r"^\s*\[\[?\s*(?P<name>[^\]]+?)\s*\]\]?\s*(#.*)?$")
_NAME = r"""(?:[\w-]+|"[^"]*"|'[^']*')"""
_KEY = re.compile(rf"^\s*(?P<name>{_NAME}(?:\s*\.\s*{_NAME})*)\s*=")
_PART = re.compile(_NAME)
_LONG_NUMBER = re.compile(r"[\d_]{4300}")
"""Python reads none that is longer, for the time that it takes."""


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in _PART.findall(dotted))


def line_of(text: str, key: Sequence[str]) -> int:
    """The 1-based line on which ``key`` (a path of names) is set, or its nearest table's.

    Multi-line strings that look like keys may mislead it; it is for messages only.
    """
    wanted, table = tuple(key), tuple[str, ...]()
    best_line, best_length = 1, 0
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            here = table = _parts(header["name"])
        elif assignment := _KEY.match(line):
            here = table + _parts(assignment["name"])
        else:
            continue
        if here[: len(wanted)] == wanted:
            return number
        if len(here) > best_length and wanted[: len(here)] == here:
            best_line, best_length = number, len(here)
    return best_line


def syntax_trouble(text: str, error: ValueError) -> tuple[int, str]:
    """The 1-based line of a syntax error, and what is wrong without the place."""
    if not isinstance(error, tomllib.TOMLDecodeError):
        found = _LONG_NUMBER.search(text)
        return text.count("\n", 0, found.start() if found else 0) + 1, "a number is too long"
    message = str(error)
    if found := re.search(r"\s*\(at line (\d+), column (\d+)\)$", message):
        return int(found[1]), f"{message[: found.start()]} (column {found[2]})"
    what = re.sub(r"\s*\(at end of document\)$", "", message)
    return max(1, len(text.splitlines())), f"{what} at the end of the file"
