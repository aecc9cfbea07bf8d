"""Compares what people type with what the scripts know: case, typos and order do not matter."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher

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
