"""Coloured code for the conversation's fences: Pygments, line by line or as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from tui.ui import theme
from tui.ui.rows import Line, Piece, breaks, cut, flat, inert

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
    return _coloured(_shown(code), language)


def code_lines(code: str, language: str, width: int) -> list[Line]:
    """Highlighted code on a panel, wrapped to ``width`` cells with one cell of padding.

    The colours are made when a row is painted: most of a quick answer never is.
    """
    text = _shown(code)
    whole = _Code(text, language)
    return [
        Line(CodeRow(whole, number, span), "panel")
        for number, line in enumerate(text.split("\n"))
        for span in breaks(line, width - 2)
    ]


class CodeRow:
    """The styled text of one row of code, looked up when somebody wants it."""

    __slots__ = ("_code", "_line", "_span")

    def __init__(self, code: _Code, line: int, span: tuple[int, int]) -> None:
        self._code = code
        self._line = line
        self._span = span

    def __iter__(self) -> Iterator[Piece]:
        pieces = self._code.rows[self._line]
        return iter([(" ", theme.active().style("syntax-text")), *cut(pieces, *self._span)])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Iterable) and list(self) == list(other)


class _Code:
    """Code whose lines are coloured together, once."""

    def __init__(self, text: str, language: str) -> None:
        self._text = text
        self._language = language

    @cached_property
    def rows(self) -> list[list[Piece]]:
        """A list of pieces a line."""
        return _coloured(self._text, self._language)


def _shown(code: str) -> str:
    return flat(inert(code.removesuffix("\n")))


def _coloured(code: str, language: str) -> list[list[Piece]]:
    lexer = lexer_for(language)
    if lexer is None or any(len(line) > _LONGEST_LINE for line in code.split("\n")):
        plain = theme.active().style("syntax-text")
        return [[(line, plain)] for line in code.split("\n")]
    rows: list[list[Piece]] = [[]]
    for token, text in lexer.get_tokens(code):
        style = theme.syntax_style(token)
        if "\n" not in text:
            rows[-1].append((text, style))
            continue
        head, *rest = text.split("\n")
        rows[-1].append((head, style))
        rows += [[(line, style)] for line in rest]
    missing = code.count("\n") + 1 - len(rows)
    return rows + [[] for _ in range(missing)] if missing > 0 else rows[: code.count("\n") + 1]
