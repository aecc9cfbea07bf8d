"""Text of strangers for a terminal or a log: nothing in it acts, nothing in it deceives."""

from __future__ import annotations

import unicodedata

PROSE = "\n\t\u200c\u200d"
"""What prose keeps: lines, tabs, and the joiners that emoji and some scripts are written with."""
_ACTING = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Control, format (bidirectional overrides, zero-width), lone surrogates, line separators."""


def inert(text: str, keep: str = "") -> str:
    """The text with what a terminal could obey, or an eye miss, written as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if _is_harmless(char, keep) else _escaped(char) for char in text)


def brief(text: str, most: int = 160) -> str:
    """The first words of a text, on one line."""
    line = " ".join(inert(" ".join(text[: 4 * most].split())).split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def _is_harmless(char: str, keep: str) -> bool:
    return char.isprintable() or char in keep or unicodedata.category(char) not in _ACTING


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode()
