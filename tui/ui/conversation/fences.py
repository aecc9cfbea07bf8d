"""Coloured code for the conversation's fences: Pygments, line by line or as a whole.

A model may write anything, and some of Pygments' lexers take minutes over some texts. So a
frame gives them a few milliseconds, what is left goes on in later ones and is shown as it was
until then, a single match that takes long is stopped, and a language that does so again and again
is not tried any more.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from math import inf
from time import thread_time
from typing import TYPE_CHECKING

from tui.ui import theme
from tui.ui.styled_text import Piece, RowTarget, StyledLine, breaks, cut, flat, inert

if TYPE_CHECKING:
    from pygments.lexer import Lexer

FRAME_S = 0.008
"""What a frame gives to colours, in time of this thread: a busy machine has colours too."""
LONGEST_LINE = 1000
"""Characters; a longer line is shown without colours."""
MOST_CHARS = 20_000
"""Of code that is coloured as a whole."""
MOST_S = 0.5
"""For one code, in all frames together."""
_TOKENS_A_LOOK = 16
"""So many tokens are taken between two looks at the clock, which costs as much as a token."""
MATCH_CPU_S = 0.1
"""A match that takes longer is stopped: several lexers are quadratic in a line's length."""
MOST_STOPPED = 3
"""So often a language may be stopped."""

_log = logging.getLogger("tui.conversation")
_stopped: Counter[str] = Counter()
"""Language -> how often one of its matches was stopped."""
_known: set[str] = set()
"""Languages whose lexers were loaded, or are none of Pygments'."""


class _Turn:
    """How long colours may be made now."""

    until = inf


@contextmanager
def colours_for(seconds: float) -> Iterator[None]:
    """What is painted in this context makes colours for so long at most, all rows together."""
    before, _Turn.until = _Turn.until, thread_time() + seconds
    try:
        yield
    finally:
        _Turn.until = before


@lru_cache(maxsize=64)
def lexer_for(language: str) -> Lexer | None:
    """The lexer of a fence's info string; None for one that Pygments does not know."""
    from pygments.lexers import get_lexer_by_name

    from tui.ui.highlight.checkpoints import quick
    from tui.ui.highlight.guard import BUILD_CPU_S, Guard

    if not language:
        return None
    with Guard(BUILD_CPU_S):  # most often ClassNotFound
        return quick(get_lexer_by_name(language, stripnl=False, ensurenl=False))
    return None


def code_rows(code: str, language: str) -> list[list[Piece]]:
    """Highlight code; one list of pieces a line, a trailing newline does not count."""
    return _Code(_shown(code), language).rows


def code_lines(
    code: str,
    language: str,
    width: int,
    before: Sequence[Iterable[Piece]] = (),
    target: RowTarget | None = None,
) -> list[StyledLine]:
    """Highlighted code on a panel, wrapped to ``width`` cells with one cell of padding.

    The colours are made when a row is painted: most of a quick answer never is. ``before``: what
    the rows show until then, if it is as many rows. The keys act on all of it as ``target``.
    """
    text = _shown(code)
    whole = _Code(text, language)
    rows = [
        CodeRow(whole, number, span)
        for number, line in enumerate(text.split("\n"))
        for span in breaks(line, width - 2)
    ]
    if len(rows) == len(before):
        for row, old in zip(rows, before, strict=True):
            row.before = old
    return [StyledLine(row, "panel", target) for row in rows]


class CodeRow:
    """The styled text of one row of code, looked up when it is painted."""

    __slots__ = ("_code", "_line", "_span", "before", "lead")

    def __init__(self, code: _Code, line: int, span: tuple[int, int]) -> None:
        self._code = code
        self._line = line
        self._span = span
        self.lead: tuple[Piece, ...] = ()
        """What stands before it: the bar of a quote, the indent of a list."""
        self.before: Iterable[Piece] | None = None
        """What is shown until the code has its colours."""

    @property
    def waits(self) -> bool:
        """Its colours are not all made."""
        return not self._code.done

    def __iter__(self) -> Iterator[Piece]:
        pieces = self._code.rows[self._line]
        if self.before is not None:
            if not self._code.done:
                return iter([*self.lead, *self.before])
            self.before = None
        padding = (" ", theme.active().style("syntax-text"))
        return iter([*self.lead, padding, *cut(pieces, *self._span)])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Iterable) and list(self) == list(other)


def led(lead: Piece, pieces: Iterable[Piece]) -> Iterable[Piece]:
    """The pieces behind another one; code makes its colours later all the same."""
    if not isinstance(pieces, CodeRow):
        return [lead, *pieces]
    pieces.lead = (lead, *pieces.lead)
    return pieces


class _Code:
    """Code whose lines are coloured together, once; plain until then."""

    def __init__(self, text: str, language: str) -> None:
        self.done = False
        """It has its colours, or never will."""
        self._text = text
        self._language = language
        self._rows: list[list[Piece]] | None = None
        self._new: list[list[Piece]] = [[]]
        self._tokens: Iterator[tuple[object, str]] | None = None
        self._took_s = 0.0

    @property
    def rows(self) -> list[list[Piece]]:
        """A list of pieces a line; what can be coloured now is coloured first."""
        if not self.done and (now := thread_time()) < _Turn.until:
            self._colour(now)
        if self._rows is None:
            plain = theme.active().style("syntax-text")
            self._rows = [[(line, plain)] for line in self._text.split("\n")]
        return self._rows

    def _colour(self, began: float) -> None:
        """Go on with the colours until they are made or the time is over; it is ``began`` now."""
        from tui.ui.highlight.guard import Guard

        if self._tokens is None:
            stopped = _stopped[self._language] >= MOST_STOPPED
            if not stopped and self._language not in _known:
                began += _load(self._language)
            lexer = None if stopped else lexer_for(self._language)
            if lexer is None or _is_long(self._text):
                self._end()
                return
            self._tokens = lexer.get_tokens(self._text)
        with Guard(MATCH_CPU_S) as guard:
            self._go_on(self._tokens, min(_Turn.until, began + MOST_S - self._took_s))
        if not self.done:
            self._took_s += thread_time() - began
        if guard.failure:
            _stopped[self._language] += 1
            if _stopped[self._language] == MOST_STOPPED:
                text = "%s: fences are shown without colours, the lexer failed (%s)"
                _log.warning(text, self._language, guard.failure)
        if guard.failure or self._took_s >= MOST_S:
            self._end()

    def _go_on(self, tokens: Iterator[tuple[object, str]], until: float) -> None:
        """Take tokens; the alarm that ends a match is set anew by each of some."""
        from tui.ui.highlight.guard import look

        new, missing = self._new, self._text.count("\n") + 1
        for count, (token, text) in enumerate(tokens):
            style = theme.active().syntax_style(token)
            if "\n" not in text:
                new[-1].append((text, style))
            else:
                head, *rest = text.split("\n")
                new[-1].append((head, style))
                new += [[(line, style)] for line in rest]
            if count % _TOKENS_A_LOOK == _TOKENS_A_LOOK - 1:
                look()
                if thread_time() > until:
                    return
        self._rows = [*new[:missing], *([] for _ in range(missing - len(new)))]
        self._end()

    def _end(self) -> None:
        self.done, self._tokens, self._new = True, None, []


def _load(language: str) -> float:
    """Load a lexer, which is no reason to show text without colours; how long it took."""
    began = thread_time()
    lexer_for(language)
    took_s = thread_time() - began
    _known.add(language)
    _Turn.until += took_s
    return took_s


def _shown(code: str) -> str:
    return flat(inert(code.removesuffix("\n")))


def _is_long(text: str) -> bool:
    return len(text) > MOST_CHARS or any(len(line) > LONGEST_LINE for line in text.split("\n"))
