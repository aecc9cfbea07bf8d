"""Pygments lexers that can start in the middle: at any line whose entry state is known.

A `RegexLexer` knows only a position and a stack of states. Its loop is repeated here so that
it starts from both and reports the stack whenever a match ended exactly at a line start. The
loop is put *below* the lexer in the method resolution order, so lexers that post-process
their tokens through ``super()`` work unchanged; those that call ``RegexLexer`` by name get a
copy of that one method with the name bound to the loop.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType
from typing import Any, Protocol, cast

from pygments.lexer import DelegatingLexer, ExtendedRegexLexer, Lexer, RegexLexer, RegexLexerMeta
from pygments.token import Error, Whitespace

Stack = tuple[str, ...]
TokenType = tuple[str, ...]
"""Pygments' token types are tuples of names."""
Token = tuple[int, TokenType, str]
Report = Callable[[int, Stack], None]
Rule = tuple[Callable[[str, int], "re.Match[str] | None"], Any, Any]
_ROOT: Stack = ("root",)
_TOKEN_TYPE = type(Error)


class CheckpointLexer(Protocol):
    """A lexer that begins at a position with a stack, and reports line starts."""

    _tokens: Mapping[str, Sequence[Rule]]
    """The compiled states of Pygments."""
    checkpoint_start: tuple[int, Stack, Report] | None
    """Consumed by the outermost call, so that nested calls (`using(this)`) are untouched."""

    def get_tokens_unprocessed(self, text: str) -> Iterator[Token]:
        """Tokens as (position, type, text)."""


def _tokens(lexer: CheckpointLexer, text: str, stack: Stack = _ROOT) -> Iterator[Token]:
    begin, lexer.checkpoint_start = lexer.checkpoint_start, None
    if begin is None:
        yield from RegexLexer.get_tokens_unprocessed(lexer, text, stack)
        return
    pos, stack, report = begin
    states = list(stack)
    rules = lexer._tokens
    while True:
        for match_at, action, new_state in rules[states[-1]]:
            match = match_at(text, pos)
            if match is None:
                continue
            if action is not None:
                if type(action) is _TOKEN_TYPE:
                    yield pos, action, match.group()
                else:
                    yield from action(lexer, match)
            pos = match.end()
            if new_state is not None:
                _enter(states, new_state)
            break
        else:
            if pos >= len(text):
                return
            newline = text[pos] == "\n"
            if newline:
                states = ["root"]
            yield pos, Whitespace if newline else Error, text[pos]
            pos += 1
        if pos and text[pos - 1] == "\n":
            report(pos, tuple(states))


def _enter(states: list[str], new_state: str | int | tuple[str, ...]) -> None:
    """Change the stack as `RegexLexer` does."""
    if isinstance(new_state, tuple):
        for state in new_state:
            if state == "#pop":
                if len(states) > 1:
                    states.pop()
            elif state == "#push":
                states.append(states[-1])
            else:
                states.append(state)
    elif isinstance(new_state, int):
        if abs(new_state) >= len(states):
            del states[1:]
        else:
            del states[new_state:]
    else:
        states.append(states[-1])


Checkpointed = RegexLexerMeta(
    "Checkpointed",
    (RegexLexer,),
    {"get_tokens_unprocessed": _tokens, "checkpoint_start": None, "tokens": {"root": []}},
)


_made: dict[object, type[Lexer] | None] = {}


def checkpointed(lexer_class: type[Lexer]) -> type[Lexer] | None:
    """The class that can start at any line; None if the lexer's state is not its stack alone."""
    if lexer_class not in _made:
        _made[lexer_class] = _make(lexer_class)
    return _made[lexer_class]


def _make(lexer_class: type[Lexer]) -> type[Lexer] | None:
    if not issubclass(lexer_class, RegexLexer):
        return None
    if issubclass(lexer_class, ExtendedRegexLexer | DelegatingLexer):
        return None
    members: dict[str, object] = {}
    override = next(
        base.__dict__["get_tokens_unprocessed"]
        for base in lexer_class.__mro__
        if "get_tokens_unprocessed" in base.__dict__
    )
    code = override.__code__
    if override is not RegexLexer.get_tokens_unprocessed and "RegexLexer" in code.co_names:
        names = {**override.__globals__, "RegexLexer": Checkpointed}
        members["get_tokens_unprocessed"] = FunctionType(
            code, names, override.__name__, override.__defaults__, override.__closure__
        )
    name = f"Checkpointed{lexer_class.__name__}"
    return cast("type[Lexer]", RegexLexerMeta(name, (lexer_class, Checkpointed), members))


class Pass:
    """One run of a checkpointed lexer over a text: tokens and line starts, in order."""

    def __init__(self, lexer: CheckpointLexer, text: str, pos: int, stack: Stack) -> None:
        self._reported: deque[tuple[int, Stack]] = deque()
        lexer.checkpoint_start = (pos, stack, self._report)
        self._tokens = lexer.get_tokens_unprocessed(text)

    def _report(self, pos: int, stack: Stack) -> None:
        self._reported.append((pos, stack))

    def __iter__(self) -> Iterator[Token | tuple[int, Stack]]:
        """Tokens, and (position, stack) once all tokens before that line start have come."""
        reported = self._reported
        for token in self._tokens:
            while reported and reported[0][0] <= token[0]:
                yield reported.popleft()
            yield token
        yield from reported
