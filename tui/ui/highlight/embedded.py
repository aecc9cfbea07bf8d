r"""Marks that a lexer gives in place of tokens: here begins text of another language.

A part of a document that is matched by one regular expression (a fence, a script, a docstring)
has no place inside where its lexer could start. The outer lexer gives one mark for all of it
instead, and the part gets lines of its own (`regions`).

Pygments has two forms of such rules. ``(r'.+?(?=<\s*/\s*script\s*>)', using(JavascriptLexer))`` is
a script or a style sheet; its end is looked for with a plain search, 20 times as fast as a lazy
repetition. A Markdown fence with a language is found line by line. Any other rule stays as it is:
the result is the same, only an edit inside costs the whole part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from pygments.lexer import Lexer
from pygments.token import String, Text, Whitespace

from tui.ui.highlight.guard import LexerTroubles
from tui.ui.highlight.lines import ColouredLines, TokenType


class LinesMaker(Protocol):
    """A language, as far as a region needs it (`languages.Language`)."""

    name: str

    @property
    def ready(self) -> bool:
        """Lines can be made at once."""

    def step(self, deadline: float) -> bool:
        """Get ready, for a while; true when there is nothing left to do."""

    def lines(self, lines: list[str], tail: str, troubles: LexerTroubles) -> ColouredLines:
        """Colours for these lines; ``tail`` is what follows the last one."""


class Embedded(tuple[str, ...]):
    """A mark in the place of a token type: text of another language, or of one kind."""

    maker: LinesMaker | None = None
    kind: TokenType | None = None
    """What all of the text is; None: a language's."""
    danger: re.Pattern[str] | None = None
    """Lines without this, old and new, cannot move the end of the text; None: any line can."""

    @property
    def same(self) -> tuple[object, object]:
        """Equal for marks whose lines can be taken over."""
        return (self.maker, self.kind)


def of_language(maker: LinesMaker, danger: re.Pattern[str] | None) -> Embedded:
    """A mark for text in a language."""
    mark = Embedded(("Embedded", maker.name))
    mark.maker, mark.danger = maker, danger
    return mark


_OPENERS = (
    (re.compile(r'\s*\w{0,2}"""'), re.compile(r'"""')),
    (re.compile(r"\s*\w{0,2}'''"), re.compile(r"'''")),
    (re.compile(r"\s*/[*]"), re.compile(r"[*]/|/[*]|[*]$|\\$")),
    (re.compile(r"\s*<!--"), re.compile(r"--")),
    (re.compile(r"\s*```"), re.compile(r"```")),
)
"""How a long text of one kind begins, and what its lines must not have to stay in it."""
_LINES = 8
_flat: dict[tuple[TokenType, int], Embedded] = {}


def flat(kind: TokenType, value: str) -> Embedded | None:
    """The mark for a long token of a known form; None if it is to be cut into lines as usual."""
    if kind[:1] not in (("Comment",), ("Literal",)) or value.count("\n") < _LINES:
        return None
    for index, (opener, danger) in enumerate(_OPENERS):
        if opener.match(value):
            mark = _flat.get((kind, index))
            if mark is None:
                mark = _flat[kind, index] = Embedded(("Embedded", *kind))
                mark.kind, mark.danger = kind, danger
            return mark
    return None


Token = tuple[int, Any, str]
Rule = tuple[Callable[..., Any], Any, Any]
MakerOf = Callable[[type[Lexer]], LinesMaker]
MakerNamed = Callable[[str], LinesMaker | None]

_UNTIL = re.compile(r"\.\+\?\(\?=(<\\s\*/\\s\*\w+\\s\*>)\)")
_CLOSES = re.compile(r"<\s*(?:/|$)")
_ANY = re.compile(r"\(\?:(?:\.\|\\n|\\n\|\.)\)\*\?")
_ANY_GROUP = re.compile(r"\((?:\?:)?(?:\.\|\\n|\\n\|\.)\)\*\?")
"""A lazily repeated ``(?:.|\\n)``; as a group only where no group is used."""
_TOKEN_TYPE = type(Text)
_FENCE_GROUPS = frozenset({"initial", "lang", "newline", "code", "terminator"})
_FENCE_HEAD = re.compile(
    r"^(?P<initial>\s*```)(?P<lang>[\w\-]+)"
    r"((?P<whitespace>[^\S\n]+)(?P<extra>.*))?(?P<newline>\n)",
    re.MULTILINE,
)
_FENCE = re.compile(r"```")
_FENCE_END = "```\n"


def embedding(
    states: Mapping[str, Sequence[Rule]], maker_of: MakerOf, named: MakerNamed
) -> dict[str, list[Rule]]:
    """The compiled states of a lexer, with marks for what is in other languages."""
    return {
        state: [_rule(rule, maker_of, named) for rule in rules] for state, rules in states.items()
    }


def others(states: Mapping[str, Sequence[Rule]]) -> list[type[Lexer]]:
    """The lexer classes that the rules hand text over to."""
    found: dict[type[Lexer], None] = {}
    left = [rule[1] for rules in states.values() for rule in rules]
    while left:
        action = left.pop()
        held = _held(action)
        left += [part for part in held.get("args", ()) if callable(part)]
        other = held.get("_other")
        if isinstance(other, type) and issubclass(other, Lexer):
            found[other] = None
    return list(found)


def _held(action: object) -> dict[str, Any]:
    """What a callback of Pygments holds on to, by name."""
    code, cells = getattr(action, "__code__", None), getattr(action, "__closure__", None)
    if code is None or not cells:
        return {}
    return {name: cell.cell_contents for name, cell in zip(code.co_freevars, cells, strict=True)}


def _rule(rule: Rule, maker_of: MakerOf, named: MakerNamed) -> Rule:
    match_at, action, new_state = rule
    pattern = getattr(match_at, "__self__", None)
    if not isinstance(pattern, re.Pattern):
        return rule
    if type(action) is _TOKEN_TYPE or not callable(action):
        return _plain(pattern.pattern, pattern.flags, _ANY_GROUP) or match_at, action, new_state
    held = _held(action)
    if (found := _UNTIL.fullmatch(pattern.pattern)) and pattern.flags & re.DOTALL:
        other = held.get("_other")
        if isinstance(other, type) and issubclass(other, Lexer) and not held.get("kwargs"):
            if held.get("gt_kwargs"):
                return rule
            closer = re.compile(found[1], pattern.flags)
            return _Until(closer, maker_of(other)).match, _until_tokens, new_state
    named_groups = pattern.groupindex.keys()
    if named_groups >= _FENCE_GROUPS and action.__name__ == "_handle_codeblock":
        return _Fences(named).match, _fence_tokens, new_state
    return _plain(pattern.pattern, pattern.flags, _ANY) or match_at, action, new_state


def _plain(pattern: str, flags: int, form: re.Pattern[str]) -> Callable[..., Any] | None:
    """The same expression with a repeated choice of any character written as a set.

    The choice costs 3 times the time, and memory for every character: a comment of a megabyte
    takes 100. None if there is none in it.
    """
    better, count = form.subn(r"[\\s\\S]*?", pattern)
    return re.compile(better, flags).match if count else None


class _Match:
    """As much of a match as the loops of `checkpoints` and the actions below need."""

    def __init__(self, start: int, end: int, tokens: list[Token]) -> None:
        self._start, self._end = start, end
        self.tokens = tokens

    def start(self) -> int:
        return self._start

    def end(self) -> int:
        return self._end


class _Until:
    """Text up to a closing tag."""

    def __init__(self, closer: re.Pattern[str], maker: LinesMaker) -> None:
        self._closer = closer
        self._mark = of_language(maker, _CLOSES)

    def match(self, text: str, pos: int, end: int | None = None) -> _Match | None:
        """At least one character, and the closing tag behind."""
        found = self._closer.search(text, pos + 1)
        if found is None:
            return None
        return _Match(pos, found.start(), [(pos, self._mark, text[pos : found.start()])])


def _until_tokens(lexer: object, match: _Match, ctx: Any = None) -> Iterator[Token]:
    yield from match.tokens


class _Fences:
    """A Markdown fence with a language."""

    def __init__(self, named: MakerNamed) -> None:
        self._named = named

    def match(self, text: str, pos: int, end: int | None = None) -> _Match | None:
        """The whole fence with its terminator."""
        head = _FENCE_HEAD.match(text, pos)
        close = _terminator(text, head.end()) if head else None
        if head is None or close is None:
            return None
        start, stop = close
        tokens: list[Token] = [
            (head.start("initial"), String.Backtick, head["initial"]),
            (head.start("lang"), String.Backtick, head["lang"]),
        ]
        if head["whitespace"] is not None:
            tokens.append((head.start("whitespace"), Whitespace, head["whitespace"]))
            tokens.append((head.start("extra"), Text, head["extra"]))
        tokens.append((head.start("newline"), Whitespace, "\n"))
        maker = self._named(head["lang"])
        kind = String if maker is None else of_language(maker, _FENCE)
        tokens.append((head.end(), kind, text[head.end() : start]))
        tokens.append((start, String.Backtick, text[start:stop]))
        return _Match(pos, stop, tokens)


def _fence_tokens(lexer: Any, match: _Match, ctx: Any = None) -> Iterator[Token]:
    yield from match.tokens


def _terminator(text: str, begin: int) -> tuple[int, int] | None:
    r"""Start and end of the first ``^\s*```$\n`` from a line start on."""
    at = text.find(_FENCE_END, begin)
    while at >= 0:
        blank = at
        while blank > begin and text[blank - 1].isspace():
            blank -= 1
        start = begin if blank == begin else text.find("\n", blank, at) + 1
        if start:
            return start, at + len(_FENCE_END)
        at = text.find(_FENCE_END, at + 1)
    return None
