"""The scripts: what the rehearsal model knows of each exercise, read from `scripts/*.toml`.

A script names *regions* of files and, for each, the *states* that its text may have: the original
and the ones that an answer leaves behind. A *version* of the answer says which state every region
shall be in. So an answer starts from whatever is there now: the original, half of an interrupted
patch, or an earlier version that a redirect replaces.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

import msgspec

from tui.bridge.rehearsal.words import has_all, likeness, words_of

SCHEMA = 1
ORIGINAL = "original"
_ALIKE = 0.8
_PROMPT_WORDS = 80
"""Keywords prove nothing in a text that is longer than this."""


class Region(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Some whole lines of a file that an answer changes."""

    path: str
    name: str
    """In words, for "I cannot find ..."."""
    states: dict[str, str]
    """State -> its text; an empty original means that the file does not exist yet."""


class Ask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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
    regions: list[Region]
    versions: dict[str, Version]
    """``solution`` is right, ``slip`` is wrong in a plausible way; the rest answer redirects."""
    fix: Fix
    asks: dict[str, Ask] = {}

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
        msgspec.toml.decode(entry.read_bytes(), type=Script)
        for entry in folder.iterdir()
        if entry.name.endswith(".toml")
    ]
    return tuple(sorted(found, key=lambda script: script.order))
