"""Syntax colours for buffers: Pygments per line, never the whole file before a repaint.

`BufferColours` follows one buffer. It costs what changed: lines above the edit keep their
spans, lines below are lexed until the lexer is in the state it was in before. What is not seen
is done in slices when nobody needs the processor. A lexer that raises, hangs or eats memory is
dropped for that file, and the text stays plain.

The languages that Pygments knows: found by file name or alias, loaded in small steps. Which
language a file is in is looked up in a table of names, without loading any lexer. Loading one
means compiling up to 400 regular expressions, 2 to 30 ms: it is done a few at a time, in idle
moments, and the text is plain until then.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import translate
from functools import cache
from time import perf_counter
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from pygments.lexer import DelegatingLexer, Lexer, RegexLexer, include
from pygments.lexers import find_lexer_class, get_all_lexers

from tui.core.text.buffer import Buffer, LineChange
from tui.ui.highlight.checkpoints import ByState, checkpointed, restarts
from tui.ui.highlight.guard import BUILD_CPU_S, Guard, LexerTroubles
from tui.ui.highlight.incremental import IncrementalLines, WholeLines, sliced
from tui.ui.highlight.lines import ColouredLines, NoLines, Range, Spans
from tui.ui.highlight.regions import LinesMaker, embedding, others

_WILD = re.compile(r"[*?\[]")
_SHEBANG = re.compile(r"#!\s*\S*?/?(?:env\s+(?:-\S+\s+)*)?([\w+]+?)[\d.]*(?:\s|$)")
_INTERPRETERS = {"node": "javascript", "bun": "javascript", "deno": "typescript"}
_EXPLICIT_BONUS = 0.5
"""What Pygments gives a pattern without a wildcard."""


_MORE = {
    "*.astro": "HTML",
    "*.csproj": "XML",
    "*.cts": "TypeScript",
    "*.ejs": "RHTML",
    "*.erb": "ERB",
    "*.geojson": "JSON",
    "*.html.erb": "RHTML",
    "*.ipynb": "JSON",
    "*.j2": "Django/Jinja",
    "*.jinja": "Django/Jinja",
    "*.jsonc": "JSON",
    "*.mdx": "Markdown",
    "*.mts": "TypeScript",
    "*.plist": "XML",
    "*.svelte": "HTML",
    "*.tfvars": "Terraform",
    "*.webmanifest": "JSON",
    ".env": "Bash",
    "Cargo.lock": "TOML",
    "Containerfile": "Docker",
    "poetry.lock": "TOML",
    "uv.lock": "TOML",
}
"""Of names that Pygments has nothing for: the lexer that reads such a file best."""


class _Table(NamedTuple):
    """Names and patterns of files, and the lexers they belong to."""

    endings: dict[str, list[tuple[str, str]]]
    """``".py"``: lexer name and pattern."""
    others: list[tuple[re.Pattern[str], str, str]]
    aliases: dict[str, str]


class LexerLanguage:
    """One lexer: not loaded, being loaded, ready, or found unfit."""

    def __init__(self, name: str, lexer_class: type[Lexer] | None = None) -> None:
        """``name`` is Pygments' name of the lexer."""
        self.name = name
        self.ready = False
        """Lines can be made at once."""
        self._class = lexer_class
        self._made: type[Lexer] | None = None
        """The class that can start at any line; None: it cannot."""
        self._failed = False
        self._steps = self._load()

    def step(self, deadline: float) -> bool:
        """Load on, for a while; true when there is nothing left to do."""
        if self.ready:
            return True
        with Guard(BUILD_CPU_S) as guard:
            for _ in self._steps:
                if perf_counter() > deadline:
                    return False
        self.ready = True
        if guard.failure:
            self._failed = True
            LexerTroubles("any file").add(self.name, guard.failure)
        return True

    def lines(self, lines: Sequence[str], tail: str, troubles: LexerTroubles) -> ColouredLines:
        """Colours for these lines; ``tail`` is what follows the last one."""
        if self._failed or self._class is None or self.name in troubles.languages:
            return NoLines()
        if self._made is not None:
            return IncrementalLines(self._made(), lines, tail, troubles)
        # A string of JSON ends with its line: a line tells nearly all about itself.
        by_line = 0 if any(base.__name__ == "JsonLexer" for base in self._class.__mro__) else None
        return WholeLines(sliced(self._class), lines, tail, by_line)

    def lexer_class(self) -> type[Lexer] | None:
        """The stock class; loads its module."""
        if self._class is None:
            self._class = find_lexer_class(self.name)
        return self._class

    def _load(self) -> Iterator[None]:
        lexer_class = self.lexer_class()
        yield
        if lexer_class is None:
            return
        made = checkpointed(lexer_class)
        yield from _compiled(lexer_class if made is None else made)
        yield
        if made is None or not restarts(made):
            for part in _parts(lexer_class):
                yield from _compiled(part)
            return
        states = made.__dict__.get("_tokens")
        if states:
            for other in others(states):
                yield from _compiled(other)
            made._tokens = embedding(states, language_of, by_alias)
            made.by_character = found = ByState(made._tokens)
            for state in made._tokens:
                yield
                found[state]
        self._made = made


def language(name: str) -> LexerLanguage:
    """The language of that name."""
    return _language(name)


def language_of(lexer_class: type[Lexer]) -> LinesMaker:
    """The language of a lexer class."""
    found = _language(lexer_class.name)
    return (
        found
        if found.lexer_class() is lexer_class
        else LexerLanguage(lexer_class.name, lexer_class)
    )


@cache
def _language(name: str) -> LexerLanguage:
    return LexerLanguage(name)


def by_first_line(line: str) -> LexerLanguage | None:
    """The language of a script whose name says nothing: ``#!/usr/bin/env python3``."""
    found = _SHEBANG.match(line)
    return None if found is None else by_alias(_INTERPRETERS.get(found[1], found[1]))


def by_alias(alias: str) -> LexerLanguage | None:
    """The language that a fence names."""
    name = _table().aliases.get(alias.strip().lower())
    return None if name is None else language(name)


def candidates(path: str) -> list[tuple[str, str]]:
    """Name and pattern of the lexers that a file's name fits, as Pygments has them.

    Where it has none, there may be one of `_MORE`: the longest pattern counts.
    """
    table = _table()
    name = path.rpartition("/")[2]
    found = [*table.endings.get(name, ())]
    at = name.find(".")
    while at >= 0:
        found += table.endings.get("*" + name[at:], ())
        at = name.find(".", at + 1)
    found += [(lexer, glob) for pattern, lexer, glob in table.others if pattern.match(name)]
    return found or _more(name)


def _more(name: str) -> list[tuple[str, str]]:
    ends = [name] + ["*" + name[at:] for at, char in enumerate(name) if char == "."]
    return [(_MORE[end], end) for end in ends if end in _MORE][:1]


def choice(found: Iterable[tuple[str, str]], sample: str) -> Iterator[LexerLanguage | None]:
    """The language that fits a sample best, as Pygments chooses; None a step before it is known."""
    rated = []
    for name, glob in found:
        lexer_class = language(name).lexer_class()
        if lexer_class is not None:
            bonus = 0.0 if "*" in glob else _EXPLICIT_BONUS
            rating = lexer_class.analyse_text(sample) if sample else lexer_class.priority
            rated.append((rating + bonus, lexer_class.__name__, name))
        yield None
    yield language(max(rated)[2]) if rated else None


@cache
def _table() -> _Table:
    table = _Table({}, [], {})
    for name, aliases, filenames, _ in get_all_lexers(plugins=False):
        for alias in aliases:
            table.aliases.setdefault(alias, name)
        for glob in filenames:
            if not _WILD.search(glob) or (glob[:2] == "*." and not _WILD.search(glob[1:])):
                table.endings.setdefault(glob, []).append((name, glob))
            else:
                table.others.append((re.compile(translate(glob)), name, glob))
    return table


def _compiled(lexer_class: type[Lexer]) -> Iterator[None]:
    """Do what Pygments does when a lexer is first made, an expression at a time.

    A compiled expression waits in the cache of `re` for the state that it belongs to. It is done
    for the class with checkpoints, which nobody else has: another thread may make the stock one.
    """
    cls: Any = lexer_class
    if not issubclass(lexer_class, RegexLexer) or "_tokens" in cls.__dict__:
        return
    if getattr(cls, "token_variants", False):
        cls()
        return
    cls._all_tokens, cls._tmpname = {}, 0
    states = cls.get_tokendefs()
    done: dict[str, Any] = {}
    cls._all_tokens[""] = done
    for state in list(states):
        seen = set(done)
        for regex in _expressions(states, state, seen):
            cls._process_regex(regex, cls.flags, state)
            yield
        cls._process_state(states, done, state)
    if "_tokens" not in cls.__dict__:
        cls._tokens = done


def _expressions(states: Mapping[str, Any], state: str, seen: set[str]) -> Iterator[Any]:
    if state in seen:
        return
    seen.add(state)
    for rule in states[state]:
        if isinstance(rule, include):
            yield from _expressions(states, str(rule), seen)
        elif type(rule) is tuple:
            yield rule[0]


def _parts(lexer_class: type[Lexer]) -> list[type[Lexer]]:
    """The lexers that a lexer makes when it is made: those its `__init__` names."""
    if not issubclass(lexer_class, DelegatingLexer):
        return []
    function = lexer_class.__init__
    named = [function.__globals__.get(name) for name in function.__code__.co_names]
    return [part for part in named if isinstance(part, type) and issubclass(part, Lexer)]


_MOST = 32
"""More places than these are taken for one long one."""
Hunk = tuple[int, int, int, int]
"""Row and number of the old lines; first line and line behind the last of what they became."""


def hunks(changes: Iterable[LineChange]) -> Iterator[Hunk]:
    """Edits that together have the effect of the changes, last lines first.

    Applied in this order, rows count in the text as it is then; the lines that they became are
    those of the text after all changes.
    """
    found: list[list[int]] = []  # row now, lines now, lines before; in order, disjoint
    for row, n_old, n_new in changes:
        _merge(found, row, n_old, n_new)
        if len(found) > _MOST:
            first, end = found[0][0], found[-1][0] + found[-1][1]
            growth = sum(now - before for _, now, before in found)
            found = [[first, end - first, end - first - growth]]
    above = sum(now - before for _, now, before in found)
    for row, now, before in reversed(found):
        above -= now - before
        yield row - above, before, row, row + now


def _merge(found: list[list[int]], row: int, n_old: int, n_new: int) -> None:
    """Take a change, in the text as the ones before left it, into the disjoint ones."""
    end = row + n_old
    low = 0
    while low < len(found) and found[low][0] + found[low][1] < row:
        low += 1
    high = low
    grown = 0
    first, last = row, end
    while high < len(found) and found[high][0] <= end:
        start, now, before = found[high]
        first, last = min(first, start), max(last, start + now)
        grown += now - before
        high += 1
    delta = n_new - n_old
    found[low:high] = [[first, last - first + delta, last - first - grown]]
    for one in found[low + 1 :]:
        one[0] += delta


MOST_LINES = 200_000
MOST_CHARACTERS = 8 * 2**20
"""Longer files are not coloured."""
_FEW_LINES = 2_000
"""So many lines are measured at once."""
_SAMPLE_LINES = 40
_SAMPLE_COLUMNS = 1_000
"""What is shown to Pygments where a file name fits several languages."""
_troubles: WeakKeyDictionary[Buffer, LexerTroubles] = WeakKeyDictionary()
"""What failed in a file is not tried again when it is shown again."""


class BufferColours:
    """The spans of one buffer's lines."""

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer
        self._revision = buffer.revision
        self._troubles = _troubles.setdefault(buffer, LexerTroubles(buffer.path))
        self._language: LexerLanguage | None = None
        self._choice: Iterator[LexerLanguage | None] = iter(())
        self._lines: ColouredLines | None = None
        """None until the language is loaded."""
        self._first_line: str | None = None
        """What the language was known by; None: by the file's name."""
        self._endless = False
        """The file is too long for colours now."""
        self._choose()

    @property
    def pending(self) -> bool:
        """True while there is work left for idle moments."""
        behind = self._revision != self._buffer.revision
        return self._lines is None or self._lines.pending or behind

    @property
    def loaded(self) -> bool:
        """The language is known and loaded; until then the text is plain."""
        return self._lines is not None

    @property
    def failed(self) -> bool:
        """A lexer was dropped for this file: the file is plain, or some part of it."""
        return bool(self._troubles.languages)

    @property
    def wait_s(self) -> float:
        """Seconds until `idle` has something to do; 0: now."""
        if self._lines is None or self._revision != self._buffer.revision:
            return 0.0
        return self._lines.wait_s

    def spans(self, line: int) -> Spans:
        """The spans of a line, as far as they are known."""
        return () if self._lines is None else self._lines.spans(line)

    def advance(self, until: int, budget_s: float, first: int | None = None) -> Range | None:
        """Catch up with the buffer and colour lines ``first .. until``.

        With ``first`` only what a repaint of these lines needs is done, and text whose language
        is not loaded stays plain. Without it all lines from the top are meant, and what
        is left of ``budget_s`` (seconds) goes to what `idle` does.

        Returns the range of lines whose spans may have changed.
        """
        deadline = perf_counter() + budget_s
        self._catch_up()
        if first is None:
            self._get_ready(deadline)
        elif self._lines is None and self._language is not None and self._language.ready:
            self._make()
        lines = self._lines
        if lines is None:
            return None
        left_s = max(deadline - perf_counter(), 0.0)
        done = self._guarded(lines.advance, first or 0, until, left_s)
        if first is None and until >= self._buffer.line_count - 1 and self._lines is lines:
            done = _both(done, self._guarded(lines.idle, max(deadline - perf_counter(), 0.0)))
        return done

    def idle(self, budget_s: float) -> Range | None:
        """Load the language, colour the rest, then repair, for ``budget_s`` (seconds).

        Returns the range of lines whose spans may have changed.
        """
        deadline = perf_counter() + budget_s
        self._catch_up()
        if self._lines is None:
            # From here on a repaint colours what it shows, wherever that is.
            return (0, self._buffer.line_count) if self._get_ready(deadline) else None
        return self._guarded(self._lines.idle, max(deadline - perf_counter(), 0.0))

    def _choose(self) -> None:
        """Which language it is, as far as the name tells."""
        self._lines = None
        self._language = self._first_line = None
        self._endless = _too_long(self._buffer)
        if self._endless:
            self._lines = NoLines()
            return
        found = candidates(self._buffer.path)
        if not found:
            self._first_line = self._buffer.lines[0]
            self._language = by_first_line(self._first_line)
            self._lines = NoLines() if self._language is None else None
        elif len(found) == 1:
            self._language = language(found[0][0])
        else:
            lines = self._buffer.lines[:_SAMPLE_LINES]
            sample = "\n".join(line[:_SAMPLE_COLUMNS] for line in lines)
            self._choice = choice(found, sample)

    def _get_ready(self, deadline: float) -> bool:
        """Load the language, for a while; true when the lines are there."""
        if self._lines is not None:
            return True
        if self._language is None and not self._decide(deadline):
            return False
        if self._language is not None and not self._language.step(deadline):
            return False
        self._make()
        return True

    def _decide(self, deadline: float) -> bool:
        """Go on to choose among several languages."""
        with Guard(BUILD_CPU_S) as guard:
            for found in self._choice:
                self._language = found
                if perf_counter() > deadline:
                    return found is not None
        if guard.failure:
            self._troubles.add("a", guard.failure)
        return True

    def _make(self) -> None:
        self._lines = NoLines()
        with Guard() as guard:
            if self._language is not None:
                self._lines = self._language.lines(self._buffer.lines, "\n", self._troubles)
        if guard.failure:
            self._drop(guard.failure)

    def _guarded(self, call: Callable[..., Range | None], *arguments: float) -> Range | None:
        if self._lines is None or isinstance(self._lines, NoLines):
            return None
        done, failure = self._troubles.step("", self._lines, call, *arguments)
        if failure:
            self._drop(failure)
            return (0, self._buffer.line_count)
        return done

    def _drop(self, failure: str) -> None:
        self._lines = NoLines()
        self._troubles.add(self._language.name if self._language else "", failure)

    def _catch_up(self) -> None:
        buffer = self._buffer
        if buffer.revision == self._revision:
            return
        changes = buffer.changes_since(self._revision)
        self._revision = buffer.revision
        renamed = self._first_line not in (None, buffer.lines[0])
        if renamed and by_first_line(buffer.lines[0]) is not self._language:
            self._choose()
            return
        if self._endless:
            if changes is None or buffer.line_count < _FEW_LINES or _shorter(changes):
                self._choose()
            return
        if isinstance(self._lines, NoLines):
            return
        if changes is None:
            self._choose()
            return
        if self._lines is None:
            return
        if _too_long(buffer, changes[-1].n_new):
            self._lines, self._endless = NoLines(), True
            return
        for row, n_old, first, last in hunks(changes):
            self._lines.edit(row, n_old, buffer.lines[first:last])


def _too_long(buffer: Buffer, new: int | None = None) -> bool:
    """Whether a file is too long for colours; ``new``: after so many lines came."""
    if buffer.line_count > MOST_LINES:
        return True
    if new is not None and new < _SAMPLE_LINES:
        return False
    return sum(map(len, buffer.lines)) > MOST_CHARACTERS


def _shorter(changes: Sequence[LineChange]) -> bool:
    """Whether lines were taken out."""
    return sum(change.n_new - change.n_old for change in changes) < 0


def _both(one: Range | None, other: Range | None) -> Range | None:
    if one is None or other is None:
        return one or other
    return min(one[0], other[0]), max(one[1], other[1])
