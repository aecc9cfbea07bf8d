"""The status line's template and its fields: what stands in it, in which order, what goes first.

``{rate} tok/s  [ttft {ttft}]{fill}{connection}``: a name in braces is a figure, brackets go when
all figures in them are empty, two blanks part what goes together, ``{fill}`` parts left from
right. ``{{``, ``}}``, ``[[`` and ``]]`` are the characters themselves. What is wrong is told, with
the line, and the rest is shown. `DEFAULT` is the line that duetto comes with.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import NamedTuple

from tui.core.meter import MeterView
from tui.core.text.patterns import pattern
from tui.engine.intents import Role
from tui.ui.styled_text import pictures
from tui.ui.widgets import figures
from tui.ui.widgets.figures import Forms, StatusFacts

FILL = "fill"
MOST_CHARS = 1000
_TOKEN = pattern(
    r"(?P<twice>\{\{|\}\}|\[\[|\]\])"
    r"|\{(?P<field>[^{}\[\]\n]*)\}"
    r"|(?P<sign>[\[\]{}])"
    r"|(?P<gap>[ \t]*\n\s*|[ \t]{2,})"
    r"|(?P<text>[^{}\[\]\n \t]+|[ \t])"
)
_GAP = 2
_DEEPEST = 8
"""Brackets within each other: what reads them calls itself for each."""
_NESTED = 2
"""Open lists of parts from which on a bracket stands within another one."""


class Text(NamedTuple):
    """The user's own words."""

    text: str


class Figure(NamedTuple):
    """A field: its name, and what it is asked for."""

    name: str
    """Empty: there is no such field, it is never anything."""
    option: str = ""
    kept: bool = False
    """``{name!}``: it is the last to go."""
    line: int = 0
    """Of the template, from 0."""


class Bracket(NamedTuple):
    """What stands in brackets."""

    parts: tuple[Part, ...]


Part = Text | Figure | Bracket


class Chunk(NamedTuple):
    """What goes together, or not at all."""

    gap: int
    """Blanks before it."""
    parts: tuple[Part, ...]

    def figures(self) -> Iterator[Figure]:
        """All fields in it."""
        yield from _figures(self.parts)


class LineTemplate(NamedTuple):
    """A line in two halves."""

    left: tuple[Chunk, ...] = ()
    right: tuple[Chunk, ...] = ()

    def names(self) -> set[str]:
        """The fields that it has."""
        return {one.name for chunk in (*self.left, *self.right) for one in chunk.figures()}


class TemplateProblem(NamedTuple):
    """What is wrong in a template."""

    line: int
    """Of the template, from 0."""
    words: str


def parsed(
    text: str, known: Collection[str], default: LineTemplate
) -> tuple[LineTemplate, list[TemplateProblem]]:
    """The template of a text, and what is wrong with it.

    A half of which nothing is left that could be shown is as in ``default``.
    """
    if len(text) > MOST_CHARS:
        words = f"is longer than {MOST_CHARS} characters; the line is as it comes with duetto"
        return default, [TemplateProblem(0, words)]
    reading = _Reading(known)
    reading.take(text)
    left, right = (tuple(half) for half in reading.halves)
    if reading.complaints:
        left = left if _says(left) else default.left
        right = right if _says(right) or not reading.filled else default.right
    elif not left and not right:
        return default, [TemplateProblem(0, "is empty; leave it out for the line that duetto has")]
    return LineTemplate(left, right), reading.complaints


def _says(chunks: Collection[Chunk]) -> bool:
    return any(one.name for chunk in chunks for one in chunk.figures())


class _Reading:
    """Reads one template."""

    def __init__(self, known: Collection[str]) -> None:
        self.halves: tuple[list[Chunk], list[Chunk]] = ([], [])
        self.complaints: list[TemplateProblem] = []
        self.filled = False
        self._known = known
        self._line = 0
        self._gap = 0
        self._open: list[list[Part]] = [[]]
        """The parts of this chunk, and of each bracket that is open in it."""
        self._too_deep = 0
        """Brackets that are open beyond the deepest: they are left out."""

    def take(self, text: str) -> None:
        """All of it."""
        for token in _TOKEN.finditer(text):
            if (twice := token["twice"]) is not None:
                if twice == "]]" and len(self._open) > _NESTED:
                    self._sign("]")
                    self._sign("]")
                else:
                    self._say(twice[0])
            elif (name := token["field"]) is not None:
                self._field(name)
            elif (sign := token["sign"]) is not None:
                self._sign(sign)
            elif (gap := token["gap"]) is not None:
                self._part(gap)
                self._line += gap.count("\n")
            else:
                self._say(token["text"])
        self._too_deep = 0
        while len(self._open) > 1:
            self._complain("a [ has no ]")
            self._sign("]")
        self._end()

    def _say(self, text: str) -> None:
        parts = self._open[-1]
        if parts and isinstance(parts[-1], Text):
            parts[-1] = Text(parts[-1].text + pictures(text))
        else:
            parts.append(Text(pictures(text)))

    def _field(self, written: str) -> None:
        name, _, option = written.strip().partition(":")
        kept = name.endswith("!")
        name = name.removesuffix("!").strip()
        if name == FILL:
            if self.filled or len(self._open) > 1:
                where = "stands within [ ]" if len(self._open) > 1 else "stands there twice"
                self._complain(f"{{{FILL}}} {where}; one of them parts left from right")
                return
            self._end()
            self.filled = True
        elif name in self._known:
            self._open[-1].append(Figure(name, option.strip(), kept, self._line))
        else:
            near = get_close_matches(name, self._known, 1, 0.5)
            hint = f"did you mean {{{near[0]}}}?" if near else "docs/meter.md has all of them"
            self._complain(f"there is no field {{{pictures(name)[:40]}}}; {hint}")
            self._open[-1].append(Figure(""))

    def _sign(self, sign: str) -> None:
        if sign == "[" and len(self._open) > _DEEPEST:
            if not self._too_deep:
                self._complain(f"more than {_DEEPEST} [ are within each other; take some away")
            self._too_deep += 1
        elif sign == "]" and self._too_deep:
            self._too_deep -= 1
        elif sign == "[":
            if len(self._open) == 1:
                self._end()
            self._open.append([])
        elif sign == "]" and len(self._open) > 1:
            parts = tuple(self._open.pop())
            if not any(True for _ in _figures(parts)):
                if any(parts):
                    self._complain("no field between [ and ]: it is always shown")
                self._open[-1].extend(parts)
            else:
                self._open[-1].append(Bracket(parts))
            if len(self._open) == 1:
                self._end()
        else:
            self._complain(f"a {sign} stands alone; write {sign}{sign} for the character")
            self._say(sign)

    def _part(self, gap: str) -> None:
        """Two blanks or more, or a new line: another chunk begins."""
        if len(self._open) > 1:
            self._say(" " if "\n" in gap else gap)
        else:
            self._end()
            self._gap = _GAP if "\n" in gap else len(gap.expandtabs(_GAP))

    def _end(self) -> None:
        parts = tuple(self._open[0])
        self._open[0] = []
        if any(not isinstance(part, Text) or part.text.strip() for part in parts):
            self.halves[self.filled].append(Chunk(self._gap, parts))
            self._gap = 0

    def _complain(self, words: str) -> None:
        self.complaints.append(TemplateProblem(self._line, words))


def _figures(parts: tuple[Part, ...]) -> Iterator[Figure]:
    for part in parts:
        if isinstance(part, Figure):
            yield part
        elif isinstance(part, Bracket):
            yield from _figures(part.parts)


DEFAULT = (
    "{news}  {rate} tok/s  {spark}  {scale}  [ghost {ghost}]  [ttft {ttft}]  [{tokens} tok]"
    "  {seconds}  [tools {tools}]  {reasoning}  [ctx {context}]  [cached {cached}]  {cost}"
    "  [Σ {session_cost}]{fill}{running}  {verdict}  {throttle}"
    "  {served}  {tier}  {limits}  {connection}"
)


STATES = 5
"""Below that weight: what happens now, which is said in whole words before others come."""
EXTRA = 16
"""Figures of that weight and more are shown where all others have all the room that they want."""
_STANDS_OUT = 4


class LineField(NamedTuple):
    """One figure."""

    weight: int
    """The higher, the sooner it goes where there is no room; 0 is the last to go."""
    forms: Callable[[StatusFacts, str], Forms]
    options: tuple[str, ...] = ()
    """What can be asked for behind a colon; ``cells`` is a number."""
    follows_time: bool = False
    """It changes while nothing else does."""
    stands_out: Callable[[StatusFacts], bool] = lambda facts: False
    """What it says now is no matter of course: it goes late."""

    def weight_in(self, facts: StatusFacts) -> int:
        """Its weight for what it says now."""
        return _STANDS_OUT if self.stands_out(facts) else self.weight


def _metered(forms: Callable[[MeterView], Forms]) -> Callable[[StatusFacts, str], Forms]:
    return lambda facts, _: forms(facts.view)


def _said(forms: Callable[[StatusFacts], Forms]) -> Callable[[StatusFacts, str], Forms]:
    return lambda facts, _: forms(facts)


def _asked(facts: StatusFacts, by_role: Mapping[Role, str | None]) -> Forms:
    return figures.plain(by_role.get(facts.status.role) or "")


def _transport(facts: StatusFacts) -> Forms:
    over_http = facts.status.transport == "http"
    return figures.plain("HTTP", "warning") if over_http else figures.plain("WebSocket")


def _trip(facts: StatusFacts) -> Forms:
    trip_ms = facts.status.round_trip_ms
    return [] if trip_ms is None else figures.plain(f"{trip_ms:.0f} ms")


def _queue(facts: StatusFacts) -> Forms:
    count = len(facts.status.queued)
    return figures.plain(f"{count} queued", "foreground") if count else []


FIELDS: dict[str, LineField] = {
    "news": LineField(0, _said(figures.news)),
    "rate": LineField(1, _metered(figures.rate)),
    "connection": LineField(5, _said(figures.connection), stands_out=figures.away),
    "verdict": LineField(3, _said(figures.verdict)),
    "running": LineField(3, _said(figures.running)),
    "limits": LineField(4, figures.limits, ("all",), follows_time=True),
    "tokens": LineField(5, _metered(figures.tokens)),
    "scale": LineField(
        6, lambda facts, option: figures.scale(facts.view, option), ("words", "plain", "cells")
    ),
    "ghost": LineField(7, _metered(figures.ghost)),
    "ttft": LineField(8, _metered(figures.ttft)),
    "throttle": LineField(4, _said(figures.throttle)),
    "served": LineField(16, _said(figures.served), stands_out=figures.other_model),
    "seconds": LineField(10, _metered(figures.seconds)),
    "tools": LineField(11, _metered(figures.tools)),
    "reasoning": LineField(11, _metered(figures.reasoning)),
    "cost": LineField(12, _metered(figures.cost)),
    "spark": LineField(13, lambda facts, option: figures.spark(facts.view, option), ("cells",)),
    "context": LineField(14, _metered(figures.context)),
    "cached": LineField(16, _metered(figures.cached)),
    "session_cost": LineField(15, _metered(figures.session_cost)),
    "tier": LineField(17, _said(figures.tier), stands_out=figures.other_tier),
    "role": LineField(10, _said(figures.role)),
    "model": LineField(11, lambda facts, _: _asked(facts, facts.status.models)),
    "effort": LineField(
        16, lambda facts, _: figures.plain(facts.status.effort_words(facts.status.role))
    ),
    "endpoint": LineField(16, lambda facts, _: figures.plain(facts.status.endpoint)),
    "transport": LineField(16, _said(_transport)),
    "trip": LineField(16, _said(_trip)),
    "queue": LineField(10, _said(_queue)),
    "path": LineField(12, _said(figures.path)),
    "workspace": LineField(14, lambda facts, _: figures.plain(facts.workspace, "foreground")),
    "branch": LineField(14, lambda facts, _: figures.plain(facts.branch)),
    "clock": LineField(15, lambda facts, _: figures.plain(facts.clock), follows_time=True),
}


def template_of(text: str) -> tuple[LineTemplate, list[TemplateProblem]]:
    """The template of a text, and what is wrong with it; empty: the default."""
    default = default_template()
    if not text:
        return default, []
    template, complaints = parsed(text, FIELDS, default)
    return template, [*complaints, *_wrong_options(template)]


@lru_cache(maxsize=1)
def default_template() -> LineTemplate:
    """The line as it comes with duetto."""
    return parsed(DEFAULT, FIELDS, LineTemplate())[0]


def _wrong_options(template: LineTemplate) -> list[TemplateProblem]:
    """What is asked of fields that they do not know: they are shown as ever."""
    found = []
    for chunk in (*template.left, *template.right):
        for figure in chunk.figures():
            options = FIELDS[figure.name].options if figure.name else ()
            number = "cells" in options and figure.option.isdecimal()
            if not figure.name or not figure.option or figure.option in options or number:
                continue
            known = [one for one in options if one != "cells"]
            known += ["a number of cells"] if "cells" in options else []
            step = f"it knows {' or '.join(known)}" if known else "it knows no option"
            words = f"{{{figure.name}}} does not know {figure.option[:40]!r}; {step}"
            found.append(TemplateProblem(figure.line, words))
    return found
