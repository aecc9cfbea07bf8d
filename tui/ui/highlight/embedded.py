"""Marks that a lexer gives in place of tokens: here begins text of another language.

A part of a document that is matched by one regular expression (a fence, a script, a docstring)
has no place inside where its lexer could start. The outer lexer gives one mark for all of it
instead, and the part gets lines of its own (`regions`).
"""

from __future__ import annotations

import re
from typing import Protocol

from tui.ui.highlight.guard import Troubles
from tui.ui.highlight.lines import Lines, TokenType


class LinesMaker(Protocol):
    """A language, as far as a region needs it (`languages.Language`)."""

    name: str

    @property
    def ready(self) -> bool:
        """Lines can be made at once."""

    def step(self, deadline: float) -> bool:
        """Get ready, for a while; true when there is nothing left to do."""

    def lines(self, lines: list[str], tail: str, troubles: Troubles) -> Lines:
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
