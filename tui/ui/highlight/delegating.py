"""Lexers of templates, which are two lexers on top of each other, made to work in slices.

Pygments' `DelegatingLexer` runs the template's lexer over the whole text before its first token.
Here it gives a sign of life now and then meanwhile, so that who asks can pause.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, cast

from pygments.lexer import DelegatingLexer, Lexer, LexerMeta, do_insertions

from tui.ui.highlight.guard import LexerUnfit
from tui.ui.highlight.lines import TokenType

WORKING: TokenType = type("Working", (tuple,), {})(("Working",))
"""In the place of a token type: nothing to show yet."""
_STUCK_TOKENS = 10_000


def _tokens(lexer: Any, text: str) -> Iterator[tuple[int, Any, str]]:
    """What `DelegatingLexer` does, with signs of life."""
    rest: list[str] = []
    length = reached = stuck = 0
    insertions: deque[tuple[int, list[tuple[int, Any, str]]]] = deque()
    between: list[tuple[int, Any, str]] = []
    for pos, kind, value in lexer.language_lexer.get_tokens_unprocessed(text):
        if kind is lexer.needle:
            if between:
                insertions.append((length, between))
                between = []
            rest.append(value)
            length += len(value)
        else:
            between.append((pos, kind, value))
        stuck = 0 if pos + len(value) > reached else stuck + 1
        reached = max(reached, pos + len(value))
        if stuck > _STUCK_TOKENS:
            raise LexerUnfit("it makes no progress")
        yield 0, WORKING, ""
    if between:
        insertions.append((length, between))
    tokens = lexer.root_lexer.get_tokens_unprocessed("".join(rest))
    yield from do_insertions(_taken(insertions), tokens)


def _taken(queue: deque[Any]) -> Iterator[Any]:
    """What is used is let go: to free 200,000 tokens at the end takes 20 ms."""
    while queue:
        yield queue.popleft()


_Sliced = LexerMeta("_Sliced", (DelegatingLexer,), {"get_tokens_unprocessed": _tokens})
_made: dict[type[Lexer], type[Lexer]] = {}


def sliced(lexer_class: type[Lexer]) -> type[Lexer]:
    """The class that gives signs of life; any other lexer as it is."""
    if not issubclass(lexer_class, DelegatingLexer):
        return lexer_class
    if lexer_class not in _made:
        name = f"Sliced{lexer_class.__name__}"
        _made[lexer_class] = cast("type[Lexer]", LexerMeta(name, (lexer_class, _Sliced), {}))
    return _made[lexer_class]
