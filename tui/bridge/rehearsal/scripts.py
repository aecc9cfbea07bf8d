"""What the rehearsal model knows of each exercise, read from `scripts/*.toml`; the workspace.

A script names *regions* of files and, for each, the *states* that its text may have: the original
and the ones that an answer leaves behind. A *version* of the answer says which state every region
shall be in. So an answer starts from whatever is there now: the original, half of an interrupted
patch, or an earlier version that a redirect replaces. Prompts are compared without regard to case,
typos and order.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

import msgspec

from tui.bridge.rehearsal import RECORD
from tui.core.typed_data import from_toml

_WORD = re.compile(r"[a-z0-9_]+")
_COMPARED_CHARS = 300
_TYPO_CHARS = 5
"""Shorter words must be spelled right: `fast` and `last` differ by one letter too."""
_TYPO_LIKENESS = 0.8


def words_of(text: str) -> list[str]:
    """The words in lower case without accents; `max_length` also counts as `max` and `length`."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    found: list[str] = []
    for word in _WORD.findall(plain):
        found.append(word)
        if "_" in word.strip("_"):
            found.extend(part for part in word.split("_") if part)
    return found


def likeness(text: str, wanted: str) -> float:
    """How much two sentences are alike, 0 to 1; typing errors cost little."""
    one = " ".join(words_of(text[:_COMPARED_CHARS]))
    other = " ".join(words_of(wanted[:_COMPARED_CHARS]))
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    if matcher.real_quick_ratio() < 0.5 or matcher.quick_ratio() < 0.5:
        return 0.0
    return matcher.ratio()


def has_all(words: Sequence[str], sets: Sequence[Sequence[str]]) -> bool:
    """Whether every set has one of its words among these, near misses of long words included."""
    return bool(sets) and all(_has_one(words, wanted) for wanted in sets)


def _has_one(words: Sequence[str], wanted: Sequence[str]) -> bool:
    if not set(words).isdisjoint(wanted):
        return True
    return any(
        SequenceMatcher(None, word, other, autojunk=False).ratio() >= _TYPO_LIKENESS
        for word in words
        if len(word) >= _TYPO_CHARS
        for other in wanted
        if len(other) >= _TYPO_CHARS and word[0] == other[0]
    )


SCHEMA = 1
ORIGINAL = "original"
_ALIKE = 0.8
_PROMPT_WORDS = 80
"""Keywords prove nothing in a text that is longer than this."""


class FileRegion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Some whole lines of a file that an answer changes."""

    path: str
    name: str
    """In words, for "I cannot find ..."."""
    states: dict[str, str]
    """State -> its text; an empty original means that the file does not exist yet."""


class Wish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A wish that a redirect may express."""

    words: list[list[str]]
    """One word of every set must be said."""
    example: str
    cancels: list[str] = []
    """Asks that this one takes back."""


class Version(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One way to answer."""

    states: list[str]
    """The wanted state of each region, in the order of the regions."""
    reasoning: list[str]
    """Paragraphs; the fast model thinks only the first."""
    prose: str
    asks: list[str] = []
    """The wishes that it fulfils."""


class Fix(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is said when the solution comes after a failed first try."""

    reasoning: list[str]
    prose: str


class Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One exercise."""

    schema: int
    order: int
    name: str
    title: str
    prompt: str
    """The prompt that is offered."""
    also: list[str]
    """Other ways to say it."""
    keywords: list[list[str]]
    """One word of every set makes a prompt mean this exercise."""
    test: str
    """Path of the test file that judges."""
    regions: list[FileRegion]
    versions: dict[str, Version]
    """``solution`` is right, ``slip`` is wrong in a plausible way; the rest answer redirects."""
    fix: Fix
    asks: dict[str, Wish] = {}

    @property
    def paths(self) -> list[str]:
        """The files that it changes, in order."""
        return list(dict.fromkeys(region.path for region in self.regions))

    def matches(self, text: str) -> float:
        """How well a prompt means this exercise; 0 if it does not."""
        alike = max(likeness(text, known) for known in [self.prompt, *self.also])
        words = words_of(text)
        if self.test in text or self.test.rpartition("/")[2].removesuffix(".py") in words:
            return 1 + alike
        if len(words) <= _PROMPT_WORDS and has_all(words, self.keywords):
            return 0.5 + alike
        return alike if alike >= _ALIKE else 0.0

    def asked(self, text: str, before: frozenset[str] = frozenset()) -> frozenset[str]:
        """The wishes that hold after a message, given those that held before it."""
        words = words_of(text)
        wishes = set(before)
        if len(words) > _PROMPT_WORDS:
            return before
        for name, ask in self.asks.items():
            if has_all(words, ask.words):
                wishes -= set(ask.cancels)
                wishes.add(name)
        return frozenset(wishes)

    def version_for(self, wishes: frozenset[str]) -> Version:
        """The version that fulfils most of the wishes and nothing else."""
        fitting = [v for v in self.versions.values() if v.asks and wishes.issuperset(v.asks)]
        return max(fitting, key=lambda v: len(v.asks), default=self.versions["solution"])


@cache
def load_scripts() -> tuple[Script, ...]:
    """All scripts, in the order in which they are offered."""
    folder = resources.files("tui.bridge.rehearsal").joinpath("scripts")
    found = [
        from_toml(entry.read_bytes(), Script)
        for entry in folder.iterdir()
        if entry.name.endswith(".toml")
    ]
    return tuple(sorted(found, key=lambda script: script.order))


SUFFIX = ".txt"
"""Of the files as they are shipped: they are data, not code of ours."""


def workspace_files() -> dict[str, bytes]:
    """Relative path -> content of a fresh practice workspace, the record included."""
    root = resources.files("tui.bridge.rehearsal").joinpath("workspace")
    files = dict(_walk(root, ""))
    files[RECORD] = json.dumps(_record(files), indent=1).encode() + b"\n"
    return files


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(SUFFIX):
            yield prefix + entry.name.removesuffix(SUFFIX), entry.read_bytes()


def _record(files: dict[str, bytes]) -> dict[str, object]:
    exercises = [
        {
            "name": script.name,
            "test": script.test,
            "files": {path: fingerprint(files.get(path)) for path in script.paths},
        }
        for script in load_scripts()
    ]
    return {"schema": 1, "exercises": exercises}


def fingerprint(content: bytes | None) -> str:
    """Of a file's content; empty for a file that is not there."""
    return "" if content is None else hashlib.sha256(content).hexdigest()
