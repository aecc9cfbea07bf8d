"""Where a piece of Markdown ends: in which items and quotes, and whether within their code.

A long list item or quote is shown piece by piece. What comes next is read with lines before it
that open the same items and quotes again; of these lines nothing is shown.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MOST_NESTED = 100
"""Levels that the parser goes down; it leaves out what is deeper."""
_DEEPEST = 24
"""Levels that are opened again; what is deeper stands at the margin from there on."""
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])")
_QUOTE = re.compile(r"[ \t]*> ?")
_NOTHING = "```\n"
"""Opens or closes a fence with nothing in it, which keeps an item open and shows no row."""


@lru_cache(maxsize=1)
def parser() -> MarkdownIt:
    """CommonMark with tables; raw HTML is text, and so are the addresses of reference links.

    A definition may come long after its link, when the link's rows are settled: both are shown
    as they were written.
    """
    from markdown_it import MarkdownIt

    found = MarkdownIt("commonmark", {"html": False, "maxNesting": MOST_NESTED})
    return found.enable(["table", "strikethrough"]).disable("reference")


class Nest(NamedTuple):
    """The items and quotes that a text has left open, and their code."""

    source: str = ""
    """Markdown that opens them again."""
    inside: str = ""
    """What leads the lines within them."""
    coded: bool = False
    """The text ended within code that is fenced."""
    at: int = 0
    """The character of the whole text at which that code's line begins."""

    @property
    def lines(self) -> int:
        """How many lines of `source` show nothing."""
        return self.source.count("\n")


def nest_at_end(source: str, at: int, before: Nest | None = None) -> Nest | None:
    """The nest in which a text ends; None: it ends at the margin.

    ``at``: the character of the whole text with which ``source`` begins. ``before``: the nest in
    which the text begins.
    """
    before = before or Nest()
    tokens: list[Token] = []
    text = f"{before.source}{source}".replace("\r\n", "\n").replace("\r", "\n").rstrip()
    lines = text.split("\n")
    parser().block.parse(f"{text}\n", parser(), {}, tokens)
    reaching = [token for token in tokens if token.map and token.map[1] >= len(lines)]
    nest = [token for token in reaching if token.type in ("blockquote_open", "list_item_open")]
    fence = next((token for token in reaching if token.type == "fence"), None)
    if fence is not None and not _is_open(fence):
        fence = None
    if len(nest) > _DEEPEST or not (nest or fence):
        return None
    opening, inside = _opened(nest, lines)
    if fence is None:
        return Nest(opening, inside)
    begin = _first(fence)
    offset = before.at if begin < before.lines else at + _length(source, begin - before.lines)
    info = fence.info.replace("\n", " ")
    return Nest(f"{opening}{inside}{fence.markup}{info}\n", inside, coded=True, at=offset)


def _opened(nest: list[Token], lines: list[str]) -> tuple[str, str]:
    """Lines that open these items and quotes, and what leads the lines within them."""
    opening, leads = "", [""]
    last, col = -1, 0
    for number, token in enumerate(nest):
        if (first := _first(token)) != last:
            last, col = first, _led(lines[first], nest[:number], leads)
        line = lines[first].expandtabs(4)
        found = (_QUOTE if token.type == "blockquote_open" else _ITEM).match(line, col)
        mark, lead = found[0] if found is not None else "> ", "> "
        end = col + len(mark)
        if token.type == "blockquote_open":
            mark = lead
        else:
            blanks = len(line) - end - len(line[end:].lstrip(" "))
            wide = len(mark) + (blanks if 0 < blanks < 5 and line[end:].strip() else 1)
            mark, lead, end = mark.ljust(wide), " " * wide, col + wide
        outer, col = "".join(leads), end
        opening += f"{outer}{mark}{_NOTHING}{outer}{lead}{_NOTHING}"
        leads.append(lead)
    return opening, "".join(leads)


def _led(line: str, outer: list[Token], leads: list[str]) -> int:
    """The column behind what leads a line within these."""
    line, col = line.expandtabs(4), 0
    for token, lead in zip(outer, leads[1:], strict=False):
        if token.type == "blockquote_open":
            found = _QUOTE.match(line, col)
            col = found.end() if found is not None else col
        else:
            col += len(lead)
    return col


def _first(token: Token) -> int:
    return token.map[0] if token.map else 0


def _is_open(fence: Token) -> bool:
    """True if the fence goes on behind its last line."""
    first, behind = fence.map or (0, 0)
    return fence.content.count("\n") == behind - first - 1


def _length(source: str, lines: int) -> int:
    """Characters of so many lines."""
    at = 0
    for _ in range(lines):
        at = source.index("\n", at) + 1
    return at
