r"""The parts of a document that have lines of their own: fences, scripts, docstrings.

Such a part is matched by one regular expression, inside of which its lexer could not start.
The outer lexer gives one mark in place of its tokens (`Embedded`). Pygments has two forms of such
rules. ``(r'.+?(?=<\s*/\s*script\s*>)', using(JavascriptLexer))`` is a script or a style sheet; its
end is looked for with a plain search, 20 times as fast as a lazy repetition. A Markdown fence with
a language is found line by line. Any other rule stays: the result is the same, only an edit
inside costs the whole part.

Each `EmbeddedRegion` is a text with its own colours. An edit inside that cannot move the region's
end is taken by the region alone: it costs the same in a script of ten lines and of ten thousand.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any, Protocol

from pygments.lexer import Lexer
from pygments.token import String, Text, Whitespace

from tui.ui.highlight.guard import LexerTroubles
from tui.ui.highlight.lines import (
    ColouredLines,
    FlatLines,
    NoLines,
    Range,
    Span,
    Spans,
    Store,
    TokenType,
)


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
            return _Until(closer, maker_of(other)).match, _tokens_of, new_state
    named_groups = pattern.groupindex.keys()
    if named_groups >= _FENCE_GROUPS and action.__name__ == "_handle_codeblock":
        return _Fences(named).match, _tokens_of, new_state
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


def _tokens_of(lexer: object, match: _Match, ctx: Any = None) -> Iterator[Token]:
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


Place = tuple[int, int]
"""Line and column."""


class EmbeddedRegion:
    """A part of a document, and its colours once its language is ready."""

    def __init__(self, mark: Embedded, start: Place, end: Place, lines: list[str]) -> None:
        self.mark = mark
        self.first, self.first_col = start
        self.last = end[0]
        """The line in which it ends."""
        self.lines = lines
        """Its text."""
        self.inner: ColouredLines | None = None
        self.planned = False
        """It stands among those that may have work."""
        self.gone = False
        if mark.kind is not None:
            self.inner = FlatLines(mark.kind, lines)

    @property
    def start(self) -> Place:
        """Where it begins."""
        return (self.first, self.first_col)

    @property
    def pending(self) -> bool:
        """There is something left to do."""
        return not self.gone and (self.inner is None or self.inner.pending)

    def spans(self, line: int) -> Spans:
        """The spans of a line of the document, as far as they are the region's."""
        if self.inner is None:
            return ()
        spans = self.inner.spans(line - self.first)
        if line == self.first and (col := self.first_col):
            return tuple((start + col, end + col, kind) for start, end, kind in spans)
        return spans

    def takes(self, row: int, n_old: int, texts: Sequence[str]) -> bool:
        """An edit is inside, and none of these old, new and neighbouring lines moves the end."""
        first = self.first + (self.first_col > 0)
        if row < first or row + n_old > self.last - 1 or self.mark.danger is None:
            return False
        search = self.mark.danger.search
        return not any(search(text) for text in texts)

    def edit(self, row: int, n_old: int, new: Sequence[str]) -> None:
        """Lines of the document that are inside became others."""
        row -= self.first
        self.lines[row : row + n_old] = new
        if self.inner is not None:
            self.inner.edit(row, n_old, new)

    def become(self, lines: list[str]) -> None:
        """The text is another one: what is equal at both ends keeps its colours."""
        old = self.lines
        top, most = 0, min(len(old), len(lines))
        while top < most and old[top] == lines[top]:
            top += 1
        if top == len(old) == len(lines):
            return
        # An edit always has a line before and after, as those of a buffer do.
        top = min(top, most - 1)
        most -= top + 1
        below = 0
        while below < most and old[-1 - below] == lines[-1 - below]:
            below += 1
        self.lines = lines
        if self.inner is not None:
            self.inner.edit(top, len(old) - below - top, lines[top : len(lines) - below])

    def get_ready(self, troubles: LexerTroubles) -> bool:
        """Make the colours if the language is there; false if it is not yet."""
        maker = self.mark.maker
        if self.inner is not None or maker is None:
            return True
        if not maker.ready:
            return False
        self.inner = (
            NoLines()
            if maker.name in troubles.languages
            else maker.lines(list(self.lines), "", troubles)
        )
        return True


class Regions:
    """The regions of one document, in order."""

    def __init__(self, store: Store, troubles: LexerTroubles) -> None:
        self._store = store
        self._troubles = troubles
        self._list: list[EmbeddedRegion] = []
        self._due: deque[EmbeddedRegion] = deque()
        """Those that may have work."""

    @property
    def pending(self) -> bool:
        """There is something left to do in some region."""
        while self._due and not self._due[0].pending:
            self._due.popleft().planned = False
        return bool(self._due)

    @property
    def wait_s(self) -> float:
        """Seconds until there is."""
        waits = [0.0 if one.inner is None else one.inner.wait_s for one in self._due if one.pending]
        return min(waits, default=0.0)

    def at(self, line: int) -> list[EmbeddedRegion]:
        """The regions that have a part of this line."""
        if not self._list:
            return []
        found = []
        index = bisect_right(self._list, line, key=lambda region: region.first) - 1
        while index >= 0 and self._list[index].last >= line:
            found.append(self._list[index])
            index -= 1
        return found[::-1]

    def spans(self, line: int, outer: Spans) -> Spans:
        """The spans of a line: the document's own, and those of its regions."""
        found = self.at(line)
        if not found:
            return outer
        if len(found) == 1 and not outer:
            return found[0].spans(line)
        return _joined(sorted([*outer, *(span for one in found for span in one.spans(line))]))

    def edit(self, row: int, old: Sequence[str], new: Sequence[str]) -> bool:
        """Lines changed; true if a region took it and the document need not look at it."""
        delta = len(new) - len(old)
        above = self._store.lines[row - 1 : row] if row else []
        taken = False
        for region in self.at(row):
            if region.takes(row, len(old), [*above, *old, *new]):
                region.edit(row, len(old), new)
                region.last += delta
                self._plan(region)
                taken = True
            else:
                region.last = max(region.first, region.last + delta)
        for region in self._list[bisect_right(self._list, row, key=lambda one: one.first) :]:
            region.first = max(row, region.first + delta)
            region.last = max(region.first, region.last + delta)
        return taken

    def met(self, mark: Embedded, start: Place, end: Place, text: str) -> EmbeddedRegion:
        """The lexer came upon a region: take over the one that is there, or make one."""
        lines = text.split("\n")
        index = bisect_left(self._list, start, key=lambda region: region.start)
        found = self._list[index] if index < len(self._list) else None
        if found is not None and found.start == start and found.mark.same == mark.same:
            found.mark = mark
            found.last = end[0]
            found.become(lines)
        else:
            found = EmbeddedRegion(mark, start, end, lines)
            self._list.insert(index, found)
        self._store.touch(start[0], end[0] + 1)
        self._plan(found)
        return found

    def sweep(self, first: int, last: int, met: set[int]) -> None:
        """The lexer went through ``first .. last``: regions that begin there and were not met go.

        ``met`` has their `id`.
        """
        low = bisect_left(self._list, first, key=lambda region: region.first)
        high = bisect_left(self._list, last, key=lambda region: region.first)
        kept = [region for region in self._list[low:high] if id(region) in met]
        if len(kept) < high - low:
            for region in self._list[low:high]:
                region.gone = id(region) not in met
            self._list[low:high] = kept

    def advance(self, first: int, until: int, deadline: float) -> None:
        """Colour what is between two lines."""
        for region in self._between(first, until):
            if region.pending and region.get_ready(self._troubles) and region.inner is not None:
                start = max(first - region.first, 0)
                left_s = max(deadline - perf_counter(), 0.0)
                self._run(region, region.inner.advance, start, until - region.first, left_s)

    def idle(self, deadline: float) -> None:
        """Colour on wherever there is something to do."""
        for _ in range(len(self._due)):
            region = self._due[0]
            maker = region.mark.maker
            if maker is not None and not region.get_ready(self._troubles):
                if not maker.step(deadline):
                    return
                region.get_ready(self._troubles)
                self._store.touch(region.first, region.last + 1)
                return
            if region.inner is not None and region.inner.pending and not region.inner.wait_s:
                self._run(region, region.inner.idle, max(deadline - perf_counter(), 0.0))
            if not region.pending:
                self._due.popleft().planned = False
            else:
                self._due.rotate(-1)
            if perf_counter() > deadline:
                return

    def _run(
        self, region: EmbeddedRegion, call: Callable[..., Range | None], *arguments: float
    ) -> None:
        """Let a region's lexer work; one that fails is dropped for this file."""
        name = region.mark.maker.name if region.mark.maker else ""
        inner = region.inner or NoLines()
        changed, failure = self._troubles.step(name, inner, call, *arguments)
        if failure:
            region.inner = NoLines()
            self._troubles.add(name, failure)
            changed = (0, region.last - region.first + 1)
        if changed is not None:
            self._store.touch(region.first + changed[0], region.first + changed[1])

    def _between(self, first: int, until: int) -> Iterator[EmbeddedRegion]:
        if not self._list:
            return
        yield from self.at(first)
        index = bisect_right(self._list, first, key=lambda region: region.first)
        while index < len(self._list) and self._list[index].first <= until:
            yield self._list[index]
            index += 1

    def _plan(self, region: EmbeddedRegion) -> None:
        if region.pending and not region.planned:
            region.planned = True
            self._due.append(region)


def _joined(spans: list[Span]) -> Spans:
    """Neighbours of one kind become one span, as when one lexer had seen them all."""
    joined: list[Span] = []
    for span in spans:
        if joined and joined[-1][1] == span[0] and joined[-1][2] is span[2]:
            joined[-1] = (joined[-1][0], span[1], span[2])
        else:
            joined.append(span)
    return tuple(joined)
