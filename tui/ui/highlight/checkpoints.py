"""Pygments lexers that can start in the middle: at any line whose entry state is known.

A `RegexLexer` knows only a position and a stack of states. Its loop is repeated here so that
it starts from both and reports the stack whenever a match ended exactly at a line start. The
loop is put *below* the lexer in the method resolution order, so lexers that post-process
their tokens through ``super()`` work unchanged; those that call ``RegexLexer`` by name get a
copy of that one method with the name bound to the loop.

The state of an `ExtendedRegexLexer` is all that its context holds: YAML keeps indentation levels
there, Ruby open heredocs. Where that is no plain value (a match) the line has no state.

Which rules of a lexer can match at a character, so that the others are not tried there. A state
of Python's lexer has 40 rules; five of them can match where a name begins. What a match can begin
with is read from the parsed expression, on the safe side: a rule that is left out surely does not
match. The parser is Python's own, by a private name: without it all rules are tried.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import islice
from types import CellType, FunctionType
from typing import Any, Protocol, cast

from pygments.lexer import (
    DelegatingLexer,
    ExtendedRegexLexer,
    Lexer,
    LexerContext,
    RegexLexer,
    RegexLexerMeta,
)
from pygments.token import Error, Text, Whitespace

from tui.ui.highlight.guard import MOST_EMPTY, LexerUnfit
from tui.ui.highlight.lines import TokenType

try:
    sre: Any = import_module("re._parser")
except ImportError:  # another Python
    sre = None

ASCII = 128
_ALL = frozenset(range(ASCII))
_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
}
_MEMBERS = {
    name: frozenset(code for code in _ALL if re.match(pattern, chr(code)))
    for name, pattern in _CATEGORIES.items()
}

_LONGEST = 2_000
"""Characters of an expression; longer ones, lists of words, take milliseconds to parse."""
Rule = tuple[Callable[..., Any], Any, Any]


ByCharacter = tuple[dict[str, Sequence[Rule]], Sequence[Rule]]
"""The rules of a state that can match at an ASCII character; all of them, for any other place."""


class ByState(dict[str, ByCharacter]):
    """The rules of each state of a lexer by character, made when they are asked for."""

    def __init__(self, states: Mapping[str, Sequence[Rule]]) -> None:
        super().__init__()
        self._states = states
        self._known: dict[object, frozenset[int]] = {}

    def __missing__(self, state: str) -> ByCharacter:
        """Those of a state; takes some milliseconds where it has many rules."""
        rules, known = self._states[state], self._known
        patterns = [getattr(match_at, "__self__", None) for match_at, _, _ in rules]
        known |= {one: _first(one) for one in patterns if one not in known}
        first = [known[one] for one in patterns]
        fitting = {code: tuple(code in codes for codes in first) for code in _ALL}
        kept = {
            fits: [rule for rule, fit in zip(rules, fits, strict=True) if fit]
            for fits in set(fitting.values())
        }
        made = self[state] = ({chr(code): kept[fits] for code, fits in fitting.items()}, rules)
        return made


def _first(pattern: object) -> frozenset[int]:
    """ASCII characters that a match can begin with; all of them, if that is not known."""
    if sre is None or not isinstance(pattern, re.Pattern) or len(pattern.pattern) > _LONGEST:
        return _ALL
    try:
        parsed = sre.parse(pattern.pattern, pattern.flags)
    except (re.error, RecursionError):
        return _ALL
    codes, empty = _of_sequence(parsed, bool(pattern.flags & re.IGNORECASE))
    return _ALL if empty else codes


def _of_sequence(items: Iterable[Any], folds: bool) -> tuple[frozenset[int], bool]:
    """What a sequence can begin with, and whether it can match nothing."""
    found: frozenset[int] = frozenset()
    for op, value in items:
        codes, empty = _of_item(str(op), value, folds)
        found |= codes
        if not empty:
            return found, False
    return found, True


def _of_item(op: str, value: Any, folds: bool) -> tuple[frozenset[int], bool]:
    if op in ("AT", "ASSERT", "ASSERT_NOT"):
        return frozenset(), True
    if op == "LITERAL":
        return _folded(frozenset({value}), folds), False
    if op == "NOT_LITERAL":
        return (_ALL if folds else _ALL - {value}), False
    if op == "IN":
        return _of_set(value, folds), False
    if op in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        codes, empty = _of_sequence(value[2], folds)
        return codes, empty or not value[0]
    if op == "ATOMIC_GROUP":
        return _of_sequence(value, folds)
    if op == "SUBPATTERN":
        return _of_sequence(value[3], folds or bool(value[1] & re.IGNORECASE))
    if op == "BRANCH":
        parts = [_of_sequence(part, folds) for part in value[1]]
        return frozenset().union(*(codes for codes, _ in parts)), any(e for _, e in parts)
    return _ALL, op != "ANY"  # what refers to a group may be empty


def _of_set(members: Sequence[tuple[Any, Any]], folds: bool) -> frozenset[int]:
    found: set[int] = set()
    for op, value in members:
        if str(op) == "LITERAL":
            found.add(value)
        elif str(op) == "RANGE":
            found.update(range(value[0], min(value[1], ASCII) + 1))
        elif str(op) == "CATEGORY":
            found |= _MEMBERS.get(str(value), _ALL)
    codes = _folded(frozenset(found), folds)
    if str(members[0][0]) == "NEGATE":
        return _ALL if folds else _ALL - codes
    return codes


def _folded(codes: frozenset[int], folds: bool) -> frozenset[int]:
    """With the other case of each; signs beyond ASCII may be another case of a letter."""
    if folds and any(code >= ASCII for code in codes):
        return _ALL
    if not folds:
        return codes & _ALL
    both = {ord(other) for code in codes for other in (chr(code).lower(), chr(code).upper())}
    return frozenset(both) & _ALL


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
    states = _by_character(lexer)
    still = 0
    while True:
        still, pos = (still + 1 if ctx.pos == pos else 0), ctx.pos
        if still > MOST_EMPTY:
            raise LexerUnfit("it makes no progress")
        fitting, rules = states[ctx.stack[-1]]
        for match_at, action, new_state in fitting.get(text[pos : pos + 1], rules):
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
    """Change the stack as Pygments does."""
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


State = tuple[object, ...]
"""What a lexer knows at a line start: its stack, or all that its context holds."""
Token = tuple[int, TokenType, str]
Report = Callable[[int, State], None]
Start = tuple[str, int, State, Report]
"""Text, position, state and whom to tell of line starts."""
ROOT: State = ("root",)
"""The state at the start of a text."""


class CheckpointLexer(Protocol):
    """A lexer that begins at a position with a state, and reports line starts."""

    _tokens: Mapping[str, Sequence[Rule]]
    """The compiled states of Pygments."""
    by_character: Mapping[str, ByCharacter] | None
    """The same by what they can match at; None: not known yet."""
    checkpoint_start: Start | None
    """Consumed by the outermost call, so that nested calls (`using(this)`) are untouched."""

    def get_tokens_unprocessed(self, text: str) -> Iterator[Token]:
        """Tokens as (position, type, text)."""


def _tokens(
    lexer: CheckpointLexer, text: str, stack: tuple[str, ...] = ("root",)
) -> Iterator[Token]:
    begin = lexer.checkpoint_start
    if begin is None or begin[0] is not text:
        begin = (text, 0, ROOT, _told)
    else:
        lexer.checkpoint_start = None
    _, pos, known, report = begin
    states = list(stack) if known is ROOT else list(cast("tuple[str, ...]", known))
    known_states = _by_character(lexer)
    still = 0
    while True:
        fitting, rules = known_states[states[-1]]
        for match_at, action, new_state in fitting.get(text[pos : pos + 1], rules):
            match = match_at(text, pos)
            if match is None:
                continue
            if action is not None:
                if type(action) is _TOKEN_TYPE:
                    yield pos, action, match.group()
                else:
                    yield from action(lexer, match)
            end = match.end()
            still = still + 1 if end == pos else 0
            if still > MOST_EMPTY:
                raise LexerUnfit("it makes no progress")
            pos = end
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


def _told(pos: int, state: State) -> None:
    """Nobody asked for line starts."""


def _by_character(lexer: CheckpointLexer) -> Mapping[str, ByCharacter]:
    if lexer.by_character is None:  # by itself, as in tests
        lexer.by_character = {state: ({}, rules) for state, rules in lexer._tokens.items()}
    return lexer.by_character


def _extended_tokens(
    lexer: CheckpointLexer, text: str | None = None, context: Any = None
) -> Iterator[Token]:
    begin = lexer.checkpoint_start
    if begin is None or begin[0] is not (context.text if context else text):
        yield from ExtendedRegexLexer.get_tokens_unprocessed(lexer, text, context)
        return
    lexer.checkpoint_start = None
    yield from context_tokens(lexer, begin, context, () if begin[2] is ROOT else begin[2])


_OWN: dict[str, Any] = {"checkpoint_start": None, "by_character": None, "tokens": {"root": []}}
Checkpointed = RegexLexerMeta(
    "Checkpointed",
    (RegexLexer,),
    {"get_tokens_unprocessed": _tokens, **_OWN},
)
CheckpointedExtended = RegexLexerMeta(
    "CheckpointedExtended",
    (ExtendedRegexLexer,),
    {"get_tokens_unprocessed": _extended_tokens, **_OWN},
)


_MOST_STATES = 10_000
_states: dict[State, State] = {}
"""Equal states are one object: a file of 50,000 lines has few."""
_made: dict[object, type[Lexer] | None] = {}


def checkpointed(lexer_class: type[Lexer]) -> type[Lexer] | None:
    """The class that can start at any line, if `restarts`; None if it has no such state."""
    if lexer_class not in _made:
        _made[lexer_class] = _make(lexer_class)
    return _made[lexer_class]


def quick(lexer: Lexer) -> Lexer:
    """The same lexer, but of its rules only those are tried that can match where it is."""
    made = _make(type(lexer))
    if made is None or issubclass(made, ExtendedRegexLexer):
        return lexer
    found = made(**lexer.options)
    made.by_character = ByState(found._tokens)
    return found


def _make(lexer_class: type[Lexer]) -> type[Lexer] | None:
    if not issubclass(lexer_class, RegexLexer) or issubclass(lexer_class, DelegatingLexer):
        return None
    extended = issubclass(lexer_class, ExtendedRegexLexer)
    below = CheckpointedExtended if extended else Checkpointed
    stock = ExtendedRegexLexer if extended else RegexLexer
    members: dict[str, object] = {}
    owner = next(base for base in lexer_class.__mro__ if "get_tokens_unprocessed" in base.__dict__)
    if owner is not stock:
        members["get_tokens_unprocessed"] = _rebound(owner, stock, below)
    name = f"Checkpointed{lexer_class.__name__}"
    return cast("type[Lexer]", RegexLexerMeta(name, (lexer_class, below), members))


def _rebound(owner: type, stock: type[Lexer], below: type[Lexer]) -> FunctionType:
    """A copy of a class's method in which the bases that it calls by name have checkpoints."""
    override = owner.__dict__["get_tokens_unprocessed"]

    def instead(value: object) -> object:
        if value is stock:
            return below
        if isinstance(value, type) and value in owner.__mro__[1:] and issubclass(value, stock):
            return checkpointed(value) or value
        return value

    names = dict(override.__globals__)
    for name in override.__code__.co_names:
        if name in names:
            names[name] = instead(names[name])
    cells = tuple(CellType(instead(cell.cell_contents)) for cell in override.__closure__ or ())
    return FunctionType(override.__code__, names, override.__name__, override.__defaults__, cells)


def restarts(lexer_class: type[Lexer]) -> bool:
    """Whether a class really can start at any line: a lexer may have a loop of its own."""
    lexer = cast("CheckpointLexer", lexer_class())
    text = "\n\n"
    deque(islice(Pass(lexer, text, 0, ROOT), MOST_EMPTY), maxlen=0)
    return lexer.checkpoint_start is None


class Pass:
    """One run of a checkpointed lexer over a text: tokens and line starts, in order."""

    def __init__(self, lexer: CheckpointLexer, text: str, pos: int, state: State) -> None:
        self._reported: deque[tuple[int, State]] = deque()
        self._lexer = lexer
        self._pos = pos
        lexer.checkpoint_start = (text, pos, state, self._report)
        self._tokens = lexer.get_tokens_unprocessed(text)

    def _report(self, pos: int, state: State) -> None:
        if len(_states) > _MOST_STATES:
            _states.clear()
        self._reported.append((pos, _states.setdefault(state, state)))

    def __iter__(self) -> Iterator[Token | tuple[int, State]]:
        """Tokens, and (position, state) once all tokens before that line start have come.

        Raises:
            LexerUnfit: the lexer began at the top although it was to begin further down.
        """
        reported = self._reported
        for token in self._tokens:
            if self._pos and self._lexer.checkpoint_start is not None:
                raise LexerUnfit("it cannot start in the middle")
            while reported and reported[0][0] <= token[0]:
                yield reported.popleft()
            yield token
        yield from reported
