"""What the replay server streams: text that says of itself where it is, always the same.

A prompt holds a go-word, ``bench-r1000-n4000-e1234-ktext``: 4,000 tokens at 1,000 a second, of the
kind `text`, ending in ``end1234``. In between stand marks, ``m000120``: a mark is two tokens, its
number is the index of the first, and its letter is the answer's own, so that those of the answer
before, which may still be on the screen, are not taken for them.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

EditKind = Literal["edit", "blocks", "diff", "whole", "files"]
"""V4A, SEARCH/REPLACE, a unified diff, the file whole, and new files one behind the other."""


@dataclass(frozen=True, slots=True)
class Notation:
    """Lines that come into a file behind two that are there."""

    head: str
    prefix: str
    """Of an added line."""
    tail: str


NEW_FILE, FILE_TOKENS = "fresh{}.py", 400
_ADD = f"*** Add File: {NEW_FILE}\n"


def notation(kind: EditKind, path: str, first: str, second: str) -> Notation:
    """Lines behind ``first`` and ``second`` of a file; of a whole file, all lines are new."""
    if kind == "blocks":
        context = f"{first}\n{second}\n"
        head = f"{path}\n<<<<<<< SEARCH\n{context}=======\n{context}"
        return Notation(head, "", ">>>>>>> REPLACE\n")
    if kind == "diff":  # its end is not known yet: no counts, as models are asked to write it
        head = f"--- a/{path}\n+++ b/{path}\n@@ ... @@\n {first}\n {second}\n"
        return Notation(head, "+", "")
    if kind == "whole":
        return Notation(f"{path}\n```python\n", "", "```\n")
    if kind == "files":
        return Notation(f"*** Begin Patch\n{_ADD.format(0)}", "+", "*** End Patch\n")
    head = f"*** Begin Patch\n*** Update File: {path}\n@@\n {first}\n {second}\n"
    return Notation(head, "+", "*** End Patch\n")


Kind = Literal["text", "dense", "edit", "blocks", "diff", "whole", "files"]
"""``text``: Markdown with code, as a model writes it; ``dense``: a mark every fourth token, to see
where it stopped; the others: a patch of `EDITED` (`replay_edits.EditKind`)."""
EDITS: tuple[EditKind, ...] = get_args(EditKind)

EDITED = "long.py"
"""The file in the workspace that an ``edit`` changes."""
FUNCTION = (
    "def value_{0}(self, key: str, default: int = {0}) -> int:\n"
    '    """What is kept under a key; {0} if there is nothing."""\n'
    "    # look it up once\n"
    "    found = self._items.get(key)\n"
    "    return default if found is None else int(found) + {0}\n"
    "\n"
)
FUNCTION_LINES = 6
MARK_TOKENS = 2
EVERY: dict[Kind, int] = {kind: 4 if kind == "dense" else 40 for kind in get_args(Kind)}
"""So many tokens lie between two marks, or a line more."""
_GO = re.compile(rf"bench-r(\d+)-n(\d+)-e(\d{{4}})-k({'|'.join(get_args(Kind))})(?:-l(\d+))?")
_SIZES = (3, 4, 4, 4, 5)
_TAIL_TOKENS = 8
_WORDS = (
    *("session", "buffer", "token", "frame", "editor", "cursor", "window", "layout", "diff"),
    *("patch", "index", "cache", "render", "commit", "stream", "parser", "queue", "reader"),
    *("writer", "offset"),
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """One answer, as its prompt asks for it."""

    rate: int
    """Tokens a second."""
    tokens: int
    number: int
    """Of the answer, four digits: it ends in ``end`` and this."""
    kind: Kind = "text"
    line: int = 0
    """Where an edit begins, 0-based; of a whole file, how many lines it has."""

    @property
    def go_word(self) -> str:
        """What a prompt must hold."""
        where = f"-l{self.line}" if self.line else ""
        return f"bench-r{self.rate}-n{self.tokens}-e{self.number:04d}-k{self.kind}{where}"

    @property
    def end(self) -> str:
        """The last word of the answer."""
        return f"end{self.number:04d}"

    @property
    def letter(self) -> str:
        """What its marks begin with."""
        return chr(ord("a") + self.number % 26)

    @property
    def mark(self) -> re.Pattern[str]:
        """A mark, whose group is the number; a go-word on the screen holds none."""
        return re.compile(rf"(?<![\w-]){self.letter}(\d{{6}})\b")

    @property
    def lasts_s(self) -> float:
        """From the first token to the last."""
        return self.tokens / self.rate


def wanted(request: str) -> Wanted | None:
    """What the last go-word of a request asks for; None if there is none."""
    found = _GO.findall(request)
    if not found:
        return None
    rate, tokens, number, kind, line = found[-1]
    known: Kind = next(one for one in get_args(Kind) if one == kind)
    return Wanted(max(1, int(rate)), int(tokens), int(number), known, int(line or 0))


def long_file(lines: int) -> str:
    """Python of about so many lines, every one of which belongs to one function only."""
    return "".join(FUNCTION.format(number) for number in range(lines // FUNCTION_LINES))


def pieces(asked: Wanted) -> tuple[str, ...]:
    """The tokens, about as many as are asked for: the body's end is that of a line."""
    body = _body(asked.tokens - _TAIL_TOKENS, asked.kind, asked.letter, asked.line)
    writer = _Writer(0, asked.letter)
    if asked.kind == "text" or asked.kind == "dense":
        writer.put(f"\n\nAll done: {asked.end}\n")
    else:
        told = _told(asked.kind, asked.line)
        writer.put(f"{told.prefix}    # {asked.end}\n{told.tail}")
    return body + tuple(writer.tokens)


class _Writer:
    """Cuts text into tokens and sets marks."""

    def __init__(self, every: int, letter: str) -> None:
        self.tokens: list[str] = []
        self._letter = letter
        self._chance = random.Random(7)
        self._every = every
        self._next = every

    def put(self, text: str) -> None:
        at = 0
        while at < len(text):
            size = self._chance.choice(_SIZES)
            self.tokens.append(text[at : at + size])
            at += size

    def mark(self, before: str, behind: str) -> None:
        """Set a mark if one is due."""
        if len(self.tokens) < self._next:
            return
        self._next = len(self.tokens) + self._every
        self.put(before)
        mark = f"{self._letter}{len(self.tokens):06d}"
        self.tokens += [mark[:4], mark[4:]]
        self.put(behind)


@lru_cache(maxsize=32)
def _body(tokens: int, kind: Kind, letter: str, line: int) -> tuple[str, ...]:
    writer = _Writer(EVERY[kind], letter)
    if kind == "whole":
        steps = _whole(writer, line)
    elif kind == "text":
        steps = _markdown(writer)
    elif kind == "dense":
        steps = _dense(writer)
    elif kind == "files":
        steps = _files(writer)
    else:
        steps = _patch(writer, line, kind)
    for _ in steps:
        if len(writer.tokens) >= tokens:
            break
    return tuple(writer.tokens)


def _markdown(writer: _Writer) -> Iterator[None]:
    chance, number = random.Random(11), 0
    while True:
        a, b, c, d = (chance.choice(_WORDS) for _ in range(4))
        writer.put(f"## Step {number}: the {a} {b}\n\n")
        writer.put(f"We **rework** the `{a}_{b}` so that every {c} keeps its {d}. ")
        writer.put("It is safe to call it twice; the second call is a no-op.\n\n")
        writer.mark("", ".\n\n")
        yield
        writer.put("```python\n")
        for _ in range(chance.randint(2, 3)):
            number += 1
            for text in _function(number, chance):
                writer.put(text)
                writer.mark("    # ", "\n")
        writer.put("```\n\n")
        yield


def _function(number: int, chance: random.Random) -> Iterator[str]:
    a, b, c, d = (chance.choice(_WORDS) for _ in range(4))
    yield f'def {a}_{b}_{number}(self, {c}: int, {d}: str = "x") -> dict[str, int]:\n'
    yield f'    """Return the {c} of each {d}."""\n'
    yield "    out: dict[str, int] = {}\n"
    yield f"    for i, item in enumerate(self.{a}s):\n"
    yield f"        if item.{b} > {chance.randint(1, 999)} and not item.{d}:\n"
    yield f"            out[item.name] = {c} + i * {chance.randint(2, 99)}\n"
    yield "    return out\n\n"


def _dense(writer: _Writer) -> Iterator[None]:
    chance = random.Random(11)
    while True:
        for _ in range(6):
            writer.put(chance.choice(_WORDS) + " ")
            writer.mark("", " ")
        writer.put("\n\n")
        yield


def _told(kind: EditKind, line: int) -> Notation:
    first, second, *_ = FUNCTION.format(line // FUNCTION_LINES).splitlines()
    return notation(kind, EDITED, first, second)


def _patch(writer: _Writer, line: int, kind: EditKind) -> Iterator[None]:
    """Functions behind the first two lines of one that is there."""
    chance, number = random.Random(11), line // FUNCTION_LINES
    told = _told(kind, line)
    writer.put(told.head)
    yield
    while True:
        number += 1
        for text in _function(number, chance):
            for row in text.splitlines():
                writer.put(f"{told.prefix}    {row}\n" if row else f"{told.prefix}\n")
            writer.mark(f"{told.prefix}        # ", "\n")
            yield


def _files(writer: _Writer) -> Iterator[None]:
    """New files of functions."""
    chance, number = random.Random(11), 0
    writer.put(_told("files", 0).head)
    for file in itertools.count(1):
        while len(writer.tokens) < file * FILE_TOKENS:
            number += 1
            for text in _function(number, chance):
                rows = text.replace("(self, ", f"(self, n{number}_").splitlines()
                for row in rows:  # no argument twice
                    writer.put(f"+{row}\n")
                writer.mark("+    # ", "\n")
            yield
        writer.put(_ADD.format(file))


def _whole(writer: _Writer, line: int) -> Iterator[None]:
    """The file of so many lines again, with new ones in it; of 0 lines, one that never ends."""
    writer.put(_told("whole", 0).head)
    for number in range(line // FUNCTION_LINES) if line else itertools.count():
        for row in FUNCTION.format(number).splitlines():
            writer.put(f"{row}\n")
            writer.mark("        # ", "\n")
        if not line:
            yield
    yield
