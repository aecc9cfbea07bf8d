"""What k tries come to, by what n of them came to: unbiased estimates and their errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from msgspec import Struct

from tui.core.attempts import passes_at


class Try(NamedTuple):
    """One try that was judged."""

    right: bool
    shown: bool
    """The verifier takes it."""
    size: int
    """Characters of the function."""
    tokens: int
    seconds: float
    """What it took to judge it."""


class Estimate(NamedTuple):
    """A share, and one standard error of it."""

    share: float
    error: float

    @property
    def words(self) -> str:
        """In per cent."""
        return f"{100 * self.share:.1f} ± {100 * self.error:.1f} %"


def pass_at(k: int, tries: Sequence[Try]) -> float:
    """How likely one of k is right: what could be had, if right ones were known."""
    return passes_at(k, len(tries), sum(one.right for one in tries))


def verified_at(k: int, tries: Sequence[Try]) -> float:
    """How likely what a verifier takes of k is right; where it takes none nothing is chosen."""
    taken = [one.right for one in tries if one.shown]
    return passes_at(k, len(tries), len(taken)) * sum(taken) / len(taken) if taken else 0.0


def random_at(_k: int, tries: Sequence[Try]) -> float:
    """How likely one that is drawn of k is right: as likely as one try."""
    return sum(one.right for one in tries) / len(tries)


def shortest_at(k: int, tries: Sequence[Try]) -> float:
    """How likely the shortest of k is right; of equally short ones one is drawn."""
    left, found = len(tries), 0.0
    whole = math.comb(left, k)
    for _, same in groupby(sorted(tries, key=lambda one: one.size), key=lambda one: one.size):
        group = list(same)
        behind = left - len(group)
        of_these = (math.comb(left, k) - math.comb(behind, k)) / whole
        found += of_these * sum(one.right for one in group) / len(group)
        left = behind
    return found


Chooser = Callable[[int, Sequence[Try]], float]
CHOOSERS: dict[str, Chooser] = {
    "any of k is right": pass_at,
    "the verifier's choice": verified_at,
    "the shortest": shortest_at,
    "a random one": random_at,
}


def estimate(chooser: Chooser, k: int, tries: Sequence[Try]) -> Estimate:
    """Of one task; the error is the jackknife's, which is rather too large than too small."""
    share, n = chooser(k, tries), len(tries)
    if k >= n:
        return Estimate(share, math.nan)
    without: dict[Try, float] = {}
    parts: list[float] = []
    for number, one in enumerate(tries):
        alike = one._replace(tokens=0, seconds=0.0)
        if alike not in without:
            without[alike] = chooser(k, [*tries[:number], *tries[number + 1 :]])
        parts.append(without[alike])
    mean = sum(parts) / n
    return Estimate(share, math.sqrt((n - 1) / n * sum((part - mean) ** 2 for part in parts)))


def mean(estimates: Iterable[Estimate]) -> Estimate:
    """Over tasks: these tasks, so that only the sampling is in its error."""
    known = list(estimates)
    share = sum(one.share for one in known) / len(known)
    return Estimate(share, math.sqrt(sum(one.error**2 for one in known)) / len(known))


class Law(Struct, frozen=True):
    """pass@k = exp(a k^b), as Large Language Monkeys describes coverage; a and b are negative."""

    a: float
    b: float

    def at(self, k: float) -> float:
        """The share at k."""
        return math.exp(self.a * k**self.b)


def law(points: Iterable[tuple[int, float]]) -> Law | None:
    """The law that fits best (least squares of both logarithms); None: fewer than two points."""
    known = [(math.log(k), math.log(-math.log(share))) for k, share in points if 0 < share < 1]
    if len(known) < 2:
        return None
    x, y = (sum(part) / len(known) for part in zip(*known, strict=True))
    spread = sum((one - x) ** 2 for one, _ in known)
    b = sum((one - x) * (other - y) for one, other in known) / spread
    return Law(-math.exp(y - b * x), b)
