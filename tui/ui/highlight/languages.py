"""The languages that Pygments knows: found by file name or alias, loaded in small steps.

Which language a file is in is looked up in a table of names, without loading any lexer. Loading
one means compiling up to 400 regular expressions, 2 to 30 ms: it is done a few at a time, in
idle moments, and the text is plain until then.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import translate
from functools import cache
from time import perf_counter
from typing import Any, NamedTuple

from pygments.lexer import DelegatingLexer, Lexer, RegexLexer, include
from pygments.lexers import find_lexer_class, get_all_lexers

from tui.ui.highlight.checkpoints import checkpointed, restarts
from tui.ui.highlight.first_characters import ByState
from tui.ui.highlight.guard import BUILD_CPU_S, Guard, LexerTroubles
from tui.ui.highlight.incremental import IncrementalLines
from tui.ui.highlight.lines import ColouredLines, NoLines
from tui.ui.highlight.regions import LinesMaker, embedding, others
from tui.ui.highlight.whole import WholeLines, sliced

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
