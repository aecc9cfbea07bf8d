"""Coloured code for the conversation's fences: Pygments, line by line or as a whole."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from tui.ui import theme
from tui.ui.rows import Line, Piece, flat, inert, wrap

if TYPE_CHECKING:
    from pygments.lexer import Lexer

_LONGEST_LINE = 2000
"""Characters; a longer line is shown without colours."""


@lru_cache(maxsize=64)
def lexer_for(language: str) -> Lexer | None:
    """The lexer of a fence's info string; None for one that Pygments does not know."""
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    if not language:
        return None
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def code_rows(code: str, language: str) -> list[list[Piece]]:
    """Highlight code; one list of pieces a line, a trailing newline does not count."""
    code = flat(inert(code.removesuffix("\n")))
    lexer = lexer_for(language)
    if lexer is None or any(len(line) > _LONGEST_LINE for line in code.split("\n")):
        plain = theme.active().style("syntax-text")
        return [[(line, plain)] for line in code.split("\n")]
    rows: list[list[Piece]] = [[]]
    for token, text in lexer.get_tokens(code):
        style = theme.syntax_style(token)
        head, *rest = text.split("\n")
        rows[-1].append((head, style))
        rows += [[(line, style)] for line in rest]
    missing = code.count("\n") + 1 - len(rows)
    return rows + [[] for _ in range(missing)] if missing > 0 else rows[: code.count("\n") + 1]


def code_lines(code: str, language: str, width: int) -> list[Line]:
    """Highlighted code on a panel, wrapped to ``width`` cells with one cell of padding."""
    null = theme.active().style("syntax-text")
    return [
        Line([(" ", null), *row], "panel")
        for pieces in code_rows(code, language)
        for row in wrap(pieces, width - 2)
    ]
