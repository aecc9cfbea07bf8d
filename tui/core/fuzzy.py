"""A few letters of a name, in their order: which names hold them, where, and how well.

A blank means *and*: each word is held by itself, wherever the others are.

Two steps, so that fifty thousand paths may be looked through between two frames: a `Sieve` finds
those that hold the letters, some thousands at a time; `best` looks closely at the most likely ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from heapq import nsmallest
from typing import NamedTuple

_CLOSELY = 200
"""Names that are looked at closely."""
_LETTER, _NEXT, _BEGINS, _IN_NAME, _WHOLE = 16, 12, 10, 24, 40
"""Points: for a letter; behind the one before; at the beginning of a word; for all of them in the
last part of a path; for all of them in one piece at its beginning."""
_MOST_GAP = 12
"""Points that letters between two found ones cost at most."""
_BETWEEN = "/\\_-. ()[]"
"""A word begins behind these, with a capital letter, and with a digit behind a letter."""


class FuzzyMatch(NamedTuple):
    """How a text holds the letters."""

    text: str
    score: int
    offsets: tuple[int, ...] = ()
    """Of the characters that are the letters."""


class Sieve:
    """Finds those of many texts that hold the letters in their order; case is one."""

    def __init__(self, letters: str, texts: Sequence[str]) -> None:
        self.letters = " ".join(folded(letters).split())
        self._texts = texts
        self._at = 0
        self._held: list[tuple[int, int, int]] = []
        """How likely it is (0 most), its length, its index."""
        self._likely: list[tuple[int, int, int]] = []
        """The most likely of these."""

    @property
    def done(self) -> bool:
        """All were looked at."""
        return self._at >= len(self._texts)

    @property
    def count(self) -> int:
        """How many hold the letters, of those that were looked at."""
        return len(self._held)

    @property
    def held(self) -> list[str]:
        """Those that hold the letters: whoever adds a letter looks for it in these."""
        return [self._texts[index] for *_, index in self._held]

    def step(self, count: int) -> bool:
        """Look at so many more; True when all were looked at."""
        words, texts = self.letters.split(), self._texts
        end, before = min(self._at + count, len(texts)), len(self._held)
        for index in range(self._at, end):
            text = folded(texts[index])
            if all(holds(word, text) for word in words):
                likely = sum(_likely(word, text) for word in words)
                self._held.append((likely, len(text), index))
        self._at = end
        self._likely = nsmallest(_CLOSELY, self._likely + self._held[before:])
        return self.done

    def best(self, count: int) -> list[FuzzyMatch]:
        """The best ones first."""
        words = self.letters.split()
        found = [fit_words(words, self._texts[index]) for *_, index in self._likely]
        found.sort(key=_rank)
        return found[:count]


def _rank(one: FuzzyMatch) -> tuple[int, int, int, str]:
    """The better one, then that with the shorter name, then that with the shorter path."""
    name = len(one.text) - one.text.rfind("/")
    return -one.score, name, len(one.text), one.text


def folded(text: str) -> str:
    """In lower case, one character for one."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(character.lower()[0] for character in text)


def holds(letters: str, text: str) -> bool:
    """Whether a text has the letters in their order; both are `folded`."""
    at = 0
    for letter in letters:
        at = text.find(letter, at) + 1
        if not at:
            return False
    return True


def fit(letters: str, text: str) -> FuzzyMatch:
    """How well a text holds the letters, which it does. ``letters`` are `folded`."""
    if not letters:
        return FuzzyMatch(text, 0)
    low, name = folded(text), text.rfind("/") + 1
    begins = _beginnings(text)
    tried = [_backward(letters, low), _by_words(letters, low, begins, 0)]
    if name:
        tried.append(_by_words(letters, low, begins, name))
    at = low.find(letters)
    while at >= 0:
        tried.append(tuple(range(at, at + len(letters))))
        at = low.find(letters, at + 1)
    return max(
        (FuzzyMatch(text, _score(one, begins, name), one) for one in tried if one),
        key=lambda one: (one.score, one.offsets),
        default=FuzzyMatch(text, 0),
    )


def fit_words(words: Sequence[str], text: str) -> FuzzyMatch:
    """How well a text holds each of several words, which it does; they are `folded`."""
    fits = [fit(word, text) for word in words]
    offsets = sorted({offset for one in fits for offset in one.offsets})
    return FuzzyMatch(text, sum(one.score for one in fits), tuple(offsets))


def _likely(letters: str, text: str) -> int:
    """A class that is quick to see: the less the better."""
    name = text.rfind("/") + 1
    if text.startswith(letters, name):
        return 0
    at = text.rfind(letters)
    if at >= name:
        return 1
    if at >= 0:
        return 2
    return 3 if name and holds(letters, text[name:]) else 4


@lru_cache(maxsize=1024)
def _beginnings(text: str) -> frozenset[int]:
    """Where words begin."""
    found = set()
    before = "/"
    for at, character in enumerate(text):
        if (
            before in _BETWEEN
            or (character.isupper() and not before.isupper())
            or (character.isdigit() and before.isalpha())
        ):
            found.add(at)
        before = character
    return frozenset(found)


def _backward(letters: str, low: str) -> tuple[int, ...]:
    """From the end: what is near the end of a path says most."""
    offsets, end = [], len(low)
    for letter in reversed(letters):
        end = low.rfind(letter, 0, end)
        if end < 0:
            return ()
        offsets.append(end)
    return tuple(reversed(offsets))


def _by_words(letters: str, low: str, begins: frozenset[int], start: int) -> tuple[int, ...]:
    """From ``start``: each letter right behind the last, else where a word begins, else next."""
    offsets: list[int] = []
    at = start
    for number, letter in enumerate(letters):
        first = low.find(letter, at)
        if first < 0:
            return ()
        chosen = first
        if not (offsets and first == at):
            rest = letters[number + 1 :]
            while first >= 0:
                if first in begins and holds(rest, low[first + 1 :]):
                    chosen = first
                    break
                first = low.find(letter, first + 1)
        offsets.append(chosen)
        at = chosen + 1
    return tuple(offsets)


def _score(offsets: Sequence[int], begins: frozenset[int], name: int) -> int:
    score = _LETTER * len(offsets)
    last = offsets[0] - 1
    for at in offsets:
        gap = at - last - 1
        score += _BEGINS if at in begins else 0
        score += _NEXT if not gap and at != offsets[0] else -min(gap, _MOST_GAP)
        last = at
    if offsets[0] >= name:
        score += _IN_NAME
        piece = offsets[-1] - offsets[0] == len(offsets) - 1
        score += _WHOLE if offsets[0] == name and piece else 0
    return score
