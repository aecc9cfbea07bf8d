"""The symbols of a text: functions, classes, headings, keys, as their lines name them.

Languages that are not in the table are left to who knows their syntax.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

_LONGEST = 1000
"""Characters of a line that are looked at."""
CHUNK = 100
NAME_CHARS = 120
MOST_SYMBOLS = 20_000


class Symbol(NamedTuple):
    """A place with a name."""

    name: str
    line: int
    col: int
    depth: int
    """Columns of indentation, or the level of a heading."""
    kind: str = ""
    """``class``, ``def``, ``fn``, ... as the file says it; empty: nothing."""


_JS = (
    r"^(?P<depth>\s*)(?:(?:export|default|async|declare|abstract)\s+)*(?:"
    r"(?P<kind>function|class|interface|enum|namespace|type)\b\s*\*?\s*(?P<name>[\w$]+)"
    r"|(?:const|let|var)\s+(?P<name2>[\w$]+)\s*(?::[^=]+)?=\s*(?:async\s*)?"
    r"(?:function\b|\([^()]*\)\s*(?::[^=]+)?=>|[\w$]+\s*=>|class\b)"
    r"|(?:(?:static|async|get|set|public|private|protected|readonly|override)\s+)*[*#]?"
    r"(?!(?:if|for|while|switch|catch|function|return|with|do|else)\b)(?P<name3>[\w$]+)"
    r"\s*\([^;]*\)\s*(?::[^{;]+)?\{\s*(?:\}|//.*)?$)"
)
_PATTERNS = {
    "py pyi pyx pxd pyw": r"^(?P<depth>[ \t]*)(?:async[ \t]+)?(?P<kind>def|class|cdef class)[ \t]+"
    r"(?P<name>\w+)",
    "js jsx mjs cjs ts tsx vue svelte": _JS,
    "go": r"^(?P<depth>)(?P<kind>func|type)\s+(?:\([^)]*\)\s*)?(?P<name>\w+)",
    "rs": r"^(?P<depth>\s*)(?:pub(?:\([^)]*\))?\s+)?(?:(?:default|async|const|unsafe"
    r"|extern(?:\s+\"[^\"]*\")?)\s+)*(?P<kind>fn|struct|enum|trait|union|mod|type|macro_rules!"
    r"|impl)\b\s*(?P<name>(?<=impl)\s*.*?(?=\s*(?:where\b|\{|$))|(?<=impl)<.*?(?=\s*(?:\{|$))|\w+)",
    "md markdown mdx": r"^(?P<depth>#{1,6})\s+(?P<name>.+?)\s*#*$",
    "yaml yml": r"^(?P<depth> {0,2})(?P<name>[\w\"'./][\w\"'./ -]*?)\s*:(?:\s|$)",
    "toml ini cfg conf editorconfig": r"^(?P<depth>)\[+\s*(?P<name>[^\]]+?)\s*\]+",
    "json jsonc json5": r"^(?P<depth> {0,4}|\t{1,2})\"(?P<name>(?:[^\"\\]|\\.)+)\"\s*:",
    "css scss less": r"^(?P<depth>\s*)(?P<name>[^\s{}/*;][^{};]*?)\s*\{",
    "html htm": r"^(?P<depth>\s*).*?<(?P<kind>h[1-6]|title|section|article|nav|main|form|template)"
    r"\b[^>]*>\s*(?P<name>[^<]*)",
    "clj cljs cljc lisp el scm rkt hy": r"^(?P<depth>\s*)\((?P<kind>def[\w-]*|ns)\s+(?:\^\S+\s+)*"
    r"\(?(?P<name>[^\s()]+)",
    "tex": r"^(?P<depth>\s*)\\(?P<kind>part|chapter|section|subsection|subsubsection|paragraph)\*?"
    r"\{(?P<name>[^}]*)",
    "sql": r"(?i)^(?P<depth>\s*)create\s+(?:or\s+replace\s+|temp(?:orary)?\s+|unique\s+)*"
    r"(?P<kind>table|view|function|procedure|index|trigger|type)\s+(?:if\s+not\s+exists\s+)?"
    r"(?P<name>[\w.\"`\[\]]+)",
    "sh bash zsh ksh fish": r"^(?P<depth>\s*)(?:(?P<kind>function)\s+(?P<name>[\w:.-]+)"
    r"|(?P<name2>[\w:.-]+)\s*\(\)\s*)",
    "lua": r"^(?P<depth>\s*)(?:local\s+)?(?P<kind>function)\s+(?P<name>[\w.:]+)",
    "ml mli": r"^(?P<depth>\s*)(?P<kind>let|module|type|class)\s+(?:rec\s+)?(?P<name>\w+)",
    "ex exs": r"^(?P<depth>\s*)(?P<kind>defmodule|defp?|defmacrop?)\s+(?P<name>[\w.?!]+)",
}
_BY_SUFFIX = {suffix: pattern for names, pattern in _PATTERNS.items() for suffix in names.split()}
_FENCE = ("```", "~~~")


def symbols(
    path: str, lines: Sequence[str], inside: Callable[[int, int], object]
) -> Iterator[Symbol | None]:
    """The symbols of a text from top to bottom; None again and again, for the clock.

    ``inside`` tells if a row and column are within a string or comment, as far as that is known.
    """
    pattern = _BY_SUFFIX.get(suffix_of(path))
    if pattern is None:
        return
    search, fenced = _compiled(pattern).match, False
    headings = pattern == _PATTERNS["md markdown mdx"]
    for row, line in enumerate(lines):
        if row % CHUNK == 0:
            yield None
        if headings and line.lstrip().startswith(_FENCE):
            fenced = not fenced
        if fenced or (found := search(line[:_LONGEST])) is None:
            continue
        groups = found.groupdict()
        key = next((key for key in ("name", "name2", "name3") if groups.get(key)), "")
        if key and not inside(row, found.start(key)):
            depth = len(groups["depth"].expandtabs(4))
            name = groups[key].strip()[:NAME_CHARS]
            yield Symbol(name, row, found.start(key), depth, groups.get("kind") or "")


def needs_colours(path: str) -> bool:
    """True if only the syntax colours know the symbols of such a file."""
    return suffix_of(path) not in _BY_SUFFIX


def extent(path: str, lines: Sequence[str], dotted: str) -> tuple[int, int] | None:
    """First and last row of what ``Class.method`` or ``name`` names; None: it is not there."""
    return extent_in(symbols(path, lines, lambda row, col: False), lines, dotted)


def extent_in(
    outline: Iterable[Symbol | None], lines: Sequence[str], dotted: str
) -> tuple[int, int] | None:
    """The same, where the symbols of the lines are known."""
    names, above = dotted.split("."), list[Symbol]()
    start: Symbol | None = None
    for symbol in outline:
        if symbol is None:
            continue
        if start is not None and symbol.depth <= start.depth:
            return start.line, max(_above_blank(lines, symbol.line), start.line)
        above = [*(one for one in above if one.depth < symbol.depth), symbol]
        if start is None and [one.name for one in above[-len(names) :]] == names:
            start = symbol
    return None if start is None else (start.line, _above_blank(lines, len(lines)))


def _above_blank(lines: Sequence[str], end: int) -> int:
    """The last row before ``end`` that says something; decorators belong to what follows."""
    while end > 0 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("@")):
        end -= 1
    return end - 1


def suffix_of(path: str) -> str:
    """The end of a file's name, in small letters; its name where it has none."""
    return path.rpartition("/")[2].rpartition(".")[2].lower()


@lru_cache(maxsize=4)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
