"""The symbols of a file: functions, classes, headings, keys, wherever its language names them.

Common languages are scanned line by line. Of all others the syntax colours are asked: what a
lexer calls the name of a function or class is one. Made in slices, so a long file freezes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from tui.core.text.buffer import Buffer
from tui.ui.editor.brackets import kind_at
from tui.ui.editor.cursor import indent_of

if TYPE_CHECKING:
    from tui.ui.editor.brackets import SpansOf
    from tui.ui.highlight.lines import Spans

_LONGEST = 1000
"""Characters of a line that are looked at."""
_CHUNK = 100
_NAME_CHARS = 120
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


def symbols(buffer: Buffer, spans: SpansOf) -> Iterator[Symbol | None]:
    """The symbols of a buffer from top to bottom; None again and again, for the clock.

    ``spans`` gives a line's syntax spans. The buffer must not change meanwhile.
    """
    suffix = buffer.path.rpartition("/")[2].rpartition(".")[2].lower()
    pattern = _BY_SUFFIX.get(suffix)
    found = _by_colours(buffer, spans) if pattern is None else _by_lines(buffer, spans, pattern)
    for count, symbol in enumerate(found):
        yield symbol
        if count > MOST_SYMBOLS * _CHUNK:
            return


def needs_colours(path: str) -> bool:
    """True if only the syntax colours know the symbols of such a file."""
    return path.rpartition("/")[2].rpartition(".")[2].lower() not in _BY_SUFFIX


def ranked(query: str, found: list[Symbol]) -> list[Symbol]:
    """The symbols with all letters of a query in their order; those that hold it as it is first."""
    words = query.replace(" ", "").lower()
    if not words:
        return found
    pattern = re.compile(".*?".join(map(re.escape, words)))
    fitting = [symbol for symbol in found if pattern.search(symbol.name.lower())]

    def rank(symbol: Symbol) -> tuple[int, int]:
        at = symbol.name.lower().find(words)
        return (2 if at < 0 else int(at > 0), symbol.line)

    return sorted(fitting, key=rank)


@lru_cache(maxsize=4)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _by_lines(buffer: Buffer, spans: SpansOf, pattern: str) -> Iterator[Symbol | None]:
    search, fenced = _compiled(pattern).match, False
    headings = pattern == _PATTERNS["md markdown mdx"]
    for row, line in enumerate(buffer.lines):
        if row % _CHUNK == 0:
            yield None
        if headings and line.lstrip().startswith(_FENCE):
            fenced = not fenced
        if fenced or (found := search(line[:_LONGEST])) is None:
            continue
        groups = found.groupdict()
        key = next((key for key in ("name", "name2", "name3") if groups.get(key)), "")
        if key and not kind_at(spans(row), found.start(key)):
            depth = len(groups["depth"].expandtabs(4))
            name = groups[key].strip()[:_NAME_CHARS]
            yield Symbol(name, row, found.start(key), depth, groups.get("kind") or "")


def _by_colours(buffer: Buffer, spans: SpansOf) -> Iterator[Symbol | None]:
    before = ""
    for row, line in enumerate(buffer.lines):
        if row % _CHUNK == 0:
            yield None
        found = _named(spans(row))
        if found is None:
            continue
        start, end = found
        name = line[start:end].strip()[:_NAME_CHARS]
        underline = not any(map(str.isalnum, name))
        if name and name != before and not underline:
            yield Symbol(name, row, start, indent_of(line))
        before = name


def _named(spans: Spans) -> tuple[int, int] | None:
    """The first name of a function, class or section in a line."""
    for start, end, token in spans:
        kind = tuple(token)[:2]
        if kind in (("Name", "Function"), ("Name", "Class"), ("Generic", "Heading")):
            return start, end
        if kind == ("Generic", "Subheading"):
            return start, end
    return None
