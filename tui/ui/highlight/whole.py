"""Colours by a lexer that can only begin at the top: a pass over the whole text, in slices.

A pass works on the text as it was when it began. Its findings go to the lines that are still
there, wherever they are now, so that a file which a model writes to gets its colours meanwhile.
Lines that changed since are coloured at once as if the text began a little above (JSON: with
the line), and looked at again by the next pass. The lexers of templates, which are two lexers
on top of each other, give signs of life meanwhile, so that a pass can pause in them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from time import perf_counter
from typing import Any, cast

from pygments.lexer import DelegatingLexer, Lexer, LexerMeta, do_insertions

from tui.ui.highlight.checkpoints import Token
from tui.ui.highlight.guard import LexerUnfit, MatchProgress, look
from tui.ui.highlight.lines import ColouredLines, Range, Spans, SpanWriter, Store, TokenType

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


_CLOCK_EVERY = 64
"""Tokens between two looks at the clock."""
_RESTART_S = 0.25
"""A pass is begun anew at most this often."""
_SHARE = 8
"""A pass that took long is begun anew after a pause of so many times its duration."""
_CONTEXT_LINES = 30
_SMALL_LINES = 300
"""A file that is lexed before the first repaint."""


class WholeLines(ColouredLines):
    """Spans by any lexer."""

    def __init__(
        self, make: Callable[[], Lexer], lines: Sequence[str], tail: str, context_lines: int | None
    ) -> None:
        """``context_lines``: how many a guess needs above; None: as usual."""
        self._make = make
        self._tail = tail
        self._context = _CONTEXT_LINES if context_lines is None else context_lines
        self._store = Store(lines)
        self._lexer, self._guesser = make(), make()
        self._tokens: Iterator[Token] | None = None
        self._writer = SpanWriter(0, 0)
        self._progress = MatchProgress(0)
        self._segments: list[tuple[int, int, int]] = []
        """First line and line behind the last as the pass saw them, and where they are now."""
        self._seen: Range = (0, 0)
        """First and last line of the last repaint."""
        self._due_at_s = 0.0
        self._cost_s = 0.0
        self._quiet_at_s = 0.0
        self._edited = False
        """The text is another one than the pass works on."""
        self._pending = True

    @property
    def pending(self) -> bool:
        """True while a pass is under way or due."""
        return self._pending

    @property
    def wait_s(self) -> float:
        """Seconds until `idle` has something to do."""
        if self._tokens is not None:
            return 0.0
        return max(self._due_at_s - perf_counter(), 0.0)

    def spans(self, line: int) -> Spans:
        """The spans of a line as far as they are known."""
        store = self._store
        return store.spans[line] if line < len(store.spans) else ()

    def edit(self, row: int, n_old: int, new: Sequence[str]) -> None:
        """Lines ``row .. row + n_old`` became ``new``: old spans stay, a new pass is due."""
        self._store.splice(row, n_old, new)
        self._store.known[row : row + len(new)] = bytes(len(new))
        last, delta = row + n_old, len(new) - n_old
        segments = []
        for first, behind, now in self._segments:
            end = now + behind - first
            if now < row:
                segments.append((first, min(behind, first + row - now), now))
            if end > last:
                cut = max(last - now, 0)
                segments.append((first + cut, behind, now + cut + delta))
        self._segments = segments
        now_s = perf_counter()
        self._quiet_at_s = now_s + _RESTART_S
        if not self._pending or self._tokens is None:
            self._due_at_s = now_s + max(_RESTART_S, _SHARE * self._cost_s)
        self._pending = True
        self._edited = True

    def advance(self, first: int, until: int, budget_s: float) -> Range | None:
        """Colour ``first .. until`` by a guess where nothing better is known."""
        deadline = perf_counter() + budget_s
        store = self._store
        if self._pending and len(store.lines) <= _SMALL_LINES and not self.wait_s:
            self._go_on(deadline)
        self._seen = (first, until)
        self._guess_seen(deadline + budget_s / 2)
        return store.changed()

    def idle(self, budget_s: float) -> Range | None:
        """Go on with the pass."""
        deadline = perf_counter() + budget_s
        if self._pending and perf_counter() >= self._quiet_at_s:
            # Before that the repaint of an edit does it.
            self._guess_seen(deadline)
        if self._pending and not self.wait_s:
            self._go_on(deadline)
        return self._store.changed()

    def _guess_seen(self, deadline: float) -> None:
        first, until = self._seen
        unknown = self._store.known.find(0, first, until + 1)
        if unknown >= 0:
            self._guess(unknown, min(until, len(self._store.lines) - 1), deadline)

    def _go_on(self, deadline: float) -> None:
        began = perf_counter()
        if self._tokens is None:
            self._begin()
        tokens = self._tokens
        while tokens is not None:
            few = list(islice(tokens, _CLOCK_EVERY))
            for token in few:
                for line, spans in self._writer.write(*token):
                    self._put(line, spans)
            if len(few) < _CLOCK_EVERY:
                self._put(*self._writer.rest())
                self._end(perf_counter() - began)
                return
            self._progress.look(self._writer.at, working=few[-1][1] is WORKING)
            if perf_counter() > deadline:
                break
        self._cost_s += perf_counter() - began

    def _begin(self) -> None:
        lines = self._store.lines
        text = "\n".join(lines) + self._tail
        self._progress = MatchProgress(len(text))
        self._writer = SpanWriter(0, 0, text)
        self._segments = [(0, len(lines), 0)]
        self._tokens = iter(self._lexer.get_tokens_unprocessed(text))
        self._cost_s = 0.0
        self._edited = False

    def _end(self, last_s: float) -> None:
        self._tokens = None
        self._segments = []
        self._cost_s += last_s
        self._pending = self._edited
        self._due_at_s = perf_counter() + max(_RESTART_S, _SHARE * self._cost_s)

    def _put(self, line: int, spans: Spans) -> None:
        for first, behind, now in self._segments:
            if first <= line < behind:
                self._store.put(now + line - first, spans)
                return

    def _guess(self, first: int, until: int, deadline: float) -> None:
        """Colour lines that have no colours of their own yet."""
        store = self._store
        if not self._context:
            for line in range(first, until + 1):
                if not store.known[line]:
                    self._write_guess((line, line, line), deadline)
                    if perf_counter() > deadline:
                        return
            return
        last = store.known.rfind(0, first, until + 1)
        self._write_guess((max(first - self._context, 0), first, last), deadline)

    def _write_guess(self, place: tuple[int, int, int], deadline: float) -> None:
        """Lex from a line; those from a second to a third that are not known get it."""
        store = self._store
        start, first, last = place
        text = "\n".join(store.lines[start : last + 1]) + "\n"
        writer = SpanWriter(start, 0, text)
        tokens = cast("Iterator[Token]", self._guesser.get_tokens_unprocessed(text))
        for count, token in enumerate(tokens):
            if not count % _CLOCK_EVERY:
                look()
                if perf_counter() > deadline:
                    return
            for line, spans in writer.write(*token):
                if first <= line <= last and not store.known[line]:
                    store.put(line, spans)
