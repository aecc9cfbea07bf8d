"""Colours by a checkpointed lexer: an edit costs the lines that it changed.

After an edit the lexer starts at the nearest line above with a known state and stops as soon as a
later line is entered with the same state as before. Two things can deceive it: a rule that
looks further ahead than one line, and a lexer that keeps something back between lines. So half a
second after the last edit a pass over the whole text looks for lines that differ.

What is lexed before a repaint is what is seen: lines far below the last known state are coloured
as if the text began near them, until the lexer really gets there.

Colours by a lexer that can only begin at the top: a pass over the whole text, in slices. A pass
works on the text as it was when it began. Its findings go to the lines that are still there,
wherever they are now, so that a file which a model writes to gets its colours meanwhile. Lines
that changed since are coloured at once as if the text began a little above (JSON: with the line),
and looked at again by the next pass. The lexers of templates, which are two lexers on top of each
other, give signs of life meanwhile, so that a pass can pause in them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from itertools import accumulate, islice
from time import perf_counter
from typing import Any, cast

from pygments.lexer import DelegatingLexer, Lexer, LexerMeta, do_insertions

from tui.ui.highlight.checkpoints import ROOT, CheckpointLexer, Pass, State, Token
from tui.ui.highlight.guard import LexerTroubles, LexerUnfit, MatchProgress, look
from tui.ui.highlight.lines import ColouredLines, Range, Spans, SpanWriter, Store, TokenType
from tui.ui.highlight.regions import Embedded, Regions, flat

_CLOCK_EVERY = 64
"""Tokens between two looks at the clock."""
_LONG_TOKEN = 200
"""Characters; shorter ones are not worth a region."""


class RunOutcome(Enum):
    """Why a run stopped."""

    PAUSED = "paused"
    """No time left, or far enough for now: it can go on."""
    SETTLED = "settled"
    """From here on all is as it was."""
    WINDOW = "window"
    """It came near the end of what it was shown; begin anew from here."""
    END = "end"
    """The end of the text."""


class LexerRun:
    """A lexer on its way."""

    def __init__(
        self, lexer: CheckpointLexer, text: tuple[str, int, int], line: int, state: State
    ) -> None:
        """``text``: the text, the position of ``line`` in it, and where to stop in a window."""
        whole, pos, self.limit = text
        self._items = iter(Pass(lexer, whole, pos, state))
        self._progress = MatchProgress(len(whole))
        self._writer = SpanWriter(line, pos, whole)
        self._start = self.line = line
        """Where the last line begins whose state is known."""
        self._met: set[int] = set()
        self._tokens = 0

    def drive(self, owner: IncrementalLines, until: int, deadline: float) -> RunOutcome:
        """Go on until a line behind ``until`` begins, or the deadline, or the end."""
        count = len(owner.store.lines)
        for item in self._items:
            if len(item) == 3:
                self._take(item, owner)
                self._tokens += 1
                if not self._tokens % _CLOCK_EVERY and self._late(deadline):
                    return RunOutcome.PAUSED
                continue
            for line, spans in self._writer.skip(item[0]):
                owner.store.put(line, spans)
            line = self._writer.line
            if line >= count:
                break
            owner.passed(self.line + 1, line)
            self.line = line
            if owner.reached(self, line, item[1]):
                self._sweep(owner, line)
                return RunOutcome.SETTLED
            if line >= self.limit and self.limit < count:
                self._sweep(owner, line)
                return RunOutcome.WINDOW
            if line > until or perf_counter() > deadline:
                self._sweep(owner, line)
                return RunOutcome.PAUSED
        if self.limit < count:
            self._sweep(owner, self.line)
            return RunOutcome.WINDOW
        owner.store.put(*self._writer.rest())
        owner.passed(self.line + 1, count)
        self._sweep(owner, count)
        return RunOutcome.END

    def guess(self, store: Store, first: int, deadline: float) -> None:
        """Colour the lines from ``first`` to the limit, without keeping any state."""
        for count, item in enumerate(self._items):
            if not count % _CLOCK_EVERY and self._late(deadline):
                return
            if len(item) != 3:
                continue
            for line, spans in self._writer.write(*item):
                if line >= self.limit:
                    return
                if line >= first and not store.known[line]:
                    store.put(line, spans)

    def _take(self, token: Token, owner: IncrementalLines) -> None:
        pos, kind, value = token
        writer, store = self._writer, owner.store
        mark = kind if isinstance(kind, Embedded) else None
        if mark is None:
            if len(value) > _LONG_TOKEN:
                mark = flat(kind, value)
            if mark is None:
                for line, spans in writer.write(pos, kind, value):
                    store.put(line, spans)
                return
        for line, spans in writer.skip(pos):
            store.put(line, spans)
        start = (writer.line, writer.column)
        begun = writer.leap(pos + len(value))
        if begun is not None:
            store.put(*begun)
            store.blank(start[0] + 1, writer.line)
        region = owner.regions.met(mark, start, (writer.line, writer.column), value)
        self._met.add(id(region))

    def _sweep(self, owner: IncrementalLines, line: int) -> None:
        """Regions that were above and are not there any more go."""
        owner.regions.sweep(self._start, line, self._met)
        self._start = line

    def _late(self, deadline: float) -> bool:
        """Whether the time is over. Raises LexerUnfit if the lexer makes no progress."""
        self._progress.look(self._writer.at)
        return perf_counter() > deadline


_LOOKAHEAD_LINES = 20
"""Where a quote or fence was typed, whose rules look far ahead, the lexer begins at the nearest
one above, if that is so near."""
_FENCES = ('"""', "'''", "```", "~~~")
_WINDOW_LINES = 2_000
"""Lines that the lexer is shown after an edit; what looks further ahead is left to the repair."""
_WINDOW_CHARACTERS = 200_000
_REACH_LINES = 400
"""Lines above the view that may be worth a wait."""
_CONTEXT_LINES = 30
"""Lines above a guess, so that most strings and comments are begun there."""
_REPAIR_S = 0.5
"""After the last edit, for every 10,000 lines of the file: a long file's pass costs seconds."""
_REPAIR_LINES = 10_000
_QUIET_S = 0.1
"""Lines that nobody sees wait until nobody has edited for so long: what a model is writing
changes them again and again."""
_SAMPLES = 64


class IncrementalLines(ColouredLines):
    """Spans by a lexer that can start at any line."""

    def __init__(
        self, lexer: Lexer, lines: Sequence[str], tail: str, troubles: LexerTroubles
    ) -> None:
        """``tail`` is what follows the last line: a newline in a file, nothing in a region."""
        self._lexer = cast("CheckpointLexer", lexer)
        self._guesser = cast("CheckpointLexer", type(lexer)())
        self._tail = tail
        self._knows_quotes = "tdqs" in self._lexer._tokens
        self._store = Store(lines)
        self.regions = Regions(self._store, troubles)
        """The parts with lines of their own."""
        self._entry: list[State | None] = [None] * len(lines)
        self._entry[0] = ROOT
        self._dirty: int | None = 0
        self._settled = len(lines)
        """From this line on the entry states are those of before the edit."""
        self._island: Range | None = None
        """Lines between the two, without the last, which are as before the edit, too: the lexer
        had passed them on its way down."""
        self._leap_to: int | None = None
        """The lexer met an island: it goes on behind it."""
        self._back = 0
        self._narrow = False
        self._run: LexerRun | None = None
        """The lexer on its way down; it goes on where it stopped unless there is an edit."""
        self._repair: LexerRun | None = None
        self._repair_at_s: float | None = None
        """When to look over the whole text; None: nothing was edited since."""
        self._quiet_at_s = 0.0
        self._seen: Range = (0, 0)
        """First and last line of the last repaint."""

    @property
    def pending(self) -> bool:
        """True while some line may have other colours in the end."""
        return self._dirty is not None or self._repair_at_s is not None or self.regions.pending

    @property
    def wait_s(self) -> float:
        """Seconds until `idle` has something to do; 0: now."""
        now = perf_counter()
        if self._dirty is not None:
            return max(self._quiet_at_s - now, 0.0)
        waits = [self.regions.wait_s] if self.regions.pending else []
        if self._repair_at_s is not None:
            waits.append(max(self._repair_at_s - now, 0.0))
        return min(waits, default=0.0)

    @property
    def wide(self) -> bool:
        """The lexer is shown all of a long text at once."""
        return not self._narrow and len(self._entry) > _WINDOW_LINES

    def narrow(self) -> None:
        """From now on show it a window at a time."""
        self._narrow = True
        self._lexer, self._guesser = (type(self._lexer)(), type(self._lexer)())
        self._run = self._repair = None

    def spans(self, line: int) -> Spans:
        """The spans of a line."""
        store = self._store
        outer = store.spans[line] if line < len(store.spans) else ()
        return self.regions.spans(line, outer)

    def edit(self, row: int, n_old: int, new: Sequence[str]) -> None:
        """Lines ``row .. row + n_old`` became ``new``."""
        n_new = len(new)
        old = self._store.splice(row, n_old, new)
        first = self._entry[row] if row else ROOT
        self._entry[row : row + n_old] = [first] + [None] * (n_new - 1)
        self._run = self._repair = None
        now = perf_counter()
        pause_s = _REPAIR_S * max(len(self._entry) / _REPAIR_LINES, 1.0)
        self._repair_at_s, self._quiet_at_s = now + pause_s, now + _QUIET_S
        if not self.regions.at(row):
            # Their old colours do not fit them: where the lexer is far, a guess is better.
            self._store.known[row : row + n_new] = bytes(n_new)
        taken = self.regions.edit(row, old, self._store.lines[row : row + n_new])
        if self._dirty is None:
            if taken:
                return
            self._dirty, self._settled = row, row + n_new
        else:
            self._island = self._island_behind(row, n_old, n_new)
            below = self._dirty - n_old + n_new if self._dirty >= row + n_old else self._dirty
            shifted = self._settled - n_old + n_new if self._settled > row else row
            self._dirty, self._settled = min(below, row), max(shifted, row + n_new)
        self._back = max(self._back, 1)
        if any(fence in line for line in (*old, *new) for fence in _FENCES):
            # Python's open quotes are states: where none is open above, none can be closed here
            safe = self._knows_quotes and first == ROOT
            self._back = self._back if safe else _LOOKAHEAD_LINES

    def _island_behind(self, row: int, n_old: int, n_new: int) -> Range | None:
        """What an edit leaves of the lines that the lexer has passed below it."""
        dirty, island, stop = self._dirty or 0, self._island, row + n_old
        if stop <= dirty:
            island = (stop, dirty)
        if island is None or row >= island[1]:
            return island
        first, last = max(island[0], stop) + n_new - n_old, island[1] + n_new - n_old
        return (first, last) if first < last else None

    def advance(self, first: int, until: int, budget_s: float) -> Range | None:
        """Colour ``first .. until``: right where that is near, else by a guess."""
        deadline = perf_counter() + budget_s
        until = min(until, len(self._entry) - 1)
        self._seen = (first, until)
        dirty = self._dirty
        if dirty is not None and dirty <= until:
            if first - dirty <= _REACH_LINES or self._settled <= first:
                self._forward(until, deadline)
            if self._dirty is not None and self._dirty <= until:
                self._guess(max(first, self._dirty), until, deadline + budget_s / 2)
        self.regions.advance(first, until, deadline)
        return self._store.changed()

    def idle(self, budget_s: float) -> Range | None:
        """Colour on; when all is coloured and nobody edits, look for what is wrong."""
        deadline = perf_counter() + budget_s
        if self._dirty is not None and perf_counter() >= self._quiet_at_s:
            first, until = self._seen
            self._guess(max(first, self._dirty), min(until, len(self._entry) - 1), deadline)
            self._forward(len(self._entry), deadline)
        if self._dirty is None and perf_counter() < deadline:
            self.regions.idle(deadline)
            if self._repair_at_s is not None and perf_counter() >= self._repair_at_s:
                self._look_over(deadline)
        return self._store.changed()

    def _forward(self, until: int, deadline: float) -> None:
        """Lex on from the first line that is not settled."""
        while self._dirty is not None and self._dirty <= until:
            if self._run is None:
                self._run = self._begin(whole=False)
            run = self._run
            dirty = self._dirty
            outcome = run.drive(self, until, deadline)
            if outcome is RunOutcome.PAUSED:
                return
            self._run = None
            if outcome is not RunOutcome.WINDOW:
                self._dirty, self._leap_to, self._island = self._leap_to, None, None
            elif self._dirty == dirty and not self._narrow:
                self._run = self._begin(whole=True)
            elif self._dirty == dirty:
                self._dirty = self._leap(run)
                self._settled = max(self._settled, run.limit + 1)

    def reached(self, run: LexerRun, line: int, state: State) -> bool:
        """A run came to the start of a line; true if from here on all is as before."""
        if run is self._repair:
            self._entry[line] = state
            return False
        dirty = self._dirty or 0
        if line >= self._settled and line > dirty and self._entry[line] == state:
            return True
        island = self._island
        if island and dirty < line and island[0] <= line < island[1] and self._entry[line] == state:
            self._leap_to = island[1]
            return True
        self._entry[line] = state
        if line > dirty:
            self._dirty = line
            # The state is new, the spans from here on are old: a later edit above must not
            # take this line for one that it may stop at.
            self._settled = max(self._settled, line + 1)
        return False

    def passed(self, first: int, last: int) -> None:
        """No match ended at the start of these lines."""
        for line in range(first, min(last, len(self._entry))):
            self._entry[line] = None

    @property
    def store(self) -> Store:
        """The text and the spans."""
        return self._store

    def _begin(self, *, whole: bool) -> LexerRun:
        start = self._above(self._dirty or 0)
        while self._entry[start] is None:
            start -= 1
        self._back = 0
        # What was edited is looked over in the end; a first pass must be right by itself.
        first_pass = self._repair_at_s is None and self._settled - start > _WINDOW_LINES // 2
        last = self._window(start, wide=whole or first_pass)
        return LexerRun(self._lexer, self._text(start, last), start, self._entry[start] or ROOT)

    def _above(self, line: int) -> int:
        """The line above whose match an edit may have changed."""
        first, lines = max(line - self._back, 0), self._store.lines
        for above in range(line - 1, first, -1):
            if any(fence in lines[above] for fence in _FENCES):
                return above
        return max(line - 1, 0) if self._back > 1 else first

    def _window(self, start: int, *, wide: bool) -> int:
        """The line behind the last that the lexer is shown from ``start`` on."""
        lines = self._store.lines
        if wide and not self._narrow:
            return len(lines)
        sizes = [*map(len, lines[start : start + _WINDOW_LINES])]
        if sum(sizes) > _WINDOW_CHARACTERS:
            sizes = sizes[: max(bisect_left([*accumulate(sizes)], _WINDOW_CHARACTERS), 2)]
        return start + len(sizes)

    def _leap(self, run: LexerRun) -> int:
        """All of a window was one match: where to go on, although the state is not known there."""
        self._entry[run.limit] = ROOT
        return run.limit

    def _text(self, start: int, last: int) -> tuple[str, int, int]:
        """Text from the line above ``start``, the position of ``start``, and the last line.

        The last line is one in which a run over a window should stop; a run over
        all of the text has none.
        """
        lines = self._store.lines
        context = max(start - 1, 0)
        pos = len(lines[context]) + 1 if context < start else 0
        if last >= len(lines):
            return "\n".join(lines[context:]) + self._tail, pos, len(lines)
        return "\n".join(lines[context:last]) + "\n", pos, start + (last - start) // 2

    def _guess(self, first: int, until: int, deadline: float) -> None:
        """Colour lines that have no colours of their own from the nearest likely state above."""
        known = self._store.known
        unknown = known.find(0, first, until + 1)
        if unknown < 0:
            return
        start, state = self._likely(unknown)
        last = known.rfind(0, unknown, until + 1)
        text = "\n".join(self._store.lines[start : last + _CONTEXT_LINES]) + "\n"
        run = LexerRun(self._guesser, (text, 0, last + 1), start, state)
        run.guess(self._store, unknown, deadline)

    def _likely(self, line: int) -> tuple[int, State]:
        """Where to begin a guess: a line that had a state, or as if the text began there."""
        top = max(line - _CONTEXT_LINES, 0)
        for start in range(line, top - 1, -1):
            state = self._entry[start]
            if state is not None:
                return start, state
        lines = self._store.lines
        start = next((start for start in range(top, line) if lines[start][:1].strip()), top)
        return start, self._usual()

    def _usual(self) -> State:
        """The state in which most lines begin that are not indented, as far as is known."""
        dirty = self._dirty or 0
        step = max(dirty // _SAMPLES, 1)
        states = Counter(
            state
            for line in range(0, dirty, step)
            if (state := self._entry[line]) is not None and self._store.lines[line][:1].strip()
        )
        common = states.most_common(1)
        return common[0][0] if common else ROOT

    def _look_over(self, deadline: float) -> None:
        """A pass over the whole text, whose findings count."""
        line = 0
        while True:
            run = self._repair
            if run is None:
                text = self._text(line, self._window(line, wide=True))
                run = self._repair = LexerRun(self._lexer, text, line, self._entry[line] or ROOT)
            begun = run.line
            outcome = run.drive(self, len(self._entry), deadline)
            if outcome is RunOutcome.PAUSED:
                return
            self._repair = None
            if outcome is not RunOutcome.WINDOW:
                break
            line = run.line if run.line > begun else self._leap(run)
        self._repair_at_s = None


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


"""Tokens between two looks at the clock."""
_RESTART_S = 0.25
"""A pass is begun anew at most this often."""
_SHARE = 8
"""A pass that took long is begun anew after a pause of so many times its duration."""
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
