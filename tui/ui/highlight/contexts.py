"""Lexers with a context: what it holds is the state, so it is told and restored whole.

Callbacks of an `ExtendedRegexLexer` keep what they like in the context: YAML its indentation
levels, Ruby the heredocs that are open. All of it that is made of plain values can be kept for a
line and compared; a line where it holds something else (a match) has no state, and the lexer
starts at an earlier one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pygments.lexer import LexerContext
from pygments.token import Error, Text

from tui.ui.highlight.guard import MOST_EMPTY, LexerUnfit

_PLACE = frozenset({"text", "pos", "end"})
_PLAIN = (str, int, float, bool, type(None))
_TOKEN_TYPE = type(Error)
Kept = tuple[object, ...]


class _Unkept(ValueError):
    """A value that cannot be kept."""


def context_tokens(
    lexer: Any, begin: tuple[str, int, Kept, Callable[[int, Kept], None]], ctx: Any, known: Kept
) -> Iterator[tuple[int, Any, str]]:
    """The loop of `ExtendedRegexLexer`, from a position and what the context held there."""
    text, pos, _, report = begin
    if ctx is None:
        ctx = LexerContext(text, 0)
    _restore(ctx, known)
    ctx.pos = pos
    rules = lexer._tokens
    still = 0
    while True:
        still, pos = (still + 1 if ctx.pos == pos else 0), ctx.pos
        if still > MOST_EMPTY:
            raise LexerUnfit("it makes no progress")
        for match_at, action, new_state in rules[ctx.stack[-1]]:
            match = match_at(text, ctx.pos, ctx.end)
            if match is None:
                continue
            if action is not None:
                if type(action) is _TOKEN_TYPE:
                    yield ctx.pos, action, match.group()
                    ctx.pos = match.end()
                else:
                    yield from action(lexer, match, ctx)
            if new_state is not None:
                _enter(ctx.stack, new_state)
            break
        else:
            if ctx.pos >= min(ctx.end, len(text)):
                return
            if text[ctx.pos] == "\n":
                ctx.stack = ["root"]
                yield ctx.pos, Text, "\n"
            else:
                yield ctx.pos, Error, text[ctx.pos]
            ctx.pos += 1
        at_start = 0 < ctx.pos <= len(text) and text[ctx.pos - 1] == "\n"
        if at_start and ctx.end == len(text) and (kept := _kept(ctx)) is not None:
            report(ctx.pos, kept)


def _enter(stack: list[str], new_state: str | int | tuple[str, ...]) -> None:
    """Change the stack as `ExtendedRegexLexer` does."""
    if isinstance(new_state, tuple):
        for state in new_state:
            if state == "#pop":
                if len(stack) > 1:
                    stack.pop()
            else:
                stack.append(stack[-1] if state == "#push" else state)
    elif isinstance(new_state, int):
        if abs(new_state) >= len(stack):
            del stack[1:]
        else:
            del stack[new_state:]
    else:
        stack.append(stack[-1])


def _kept(ctx: object) -> Kept | None:
    """All that a context holds, as one value; None if some of it cannot be kept."""
    try:
        return tuple(
            (name, _frozen(value))
            for name, value in sorted(vars(ctx).items())
            if name not in _PLACE
        )
    except _Unkept:
        return None


def _restore(ctx: object, kept: Kept) -> None:
    for pair in kept:
        if isinstance(pair, tuple):
            name, value = pair
            setattr(ctx, name, _thawed(value))


def _frozen(value: object) -> object:
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, list | tuple):
        return (type(value), tuple(_frozen(part) for part in value))
    raise _Unkept


def _thawed(value: object) -> Any:
    if isinstance(value, tuple):
        kind, parts = value
        return kind(_thawed(part) for part in parts)
    return value
