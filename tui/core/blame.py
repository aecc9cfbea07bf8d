"""Finds the smallest set of hunks that makes tests fail, or that cured them: delta debugging.

A run with some of the hunks is an `Outcome`. For each test that fails with all hunks, and not
without any, the distance between a set with which it passes and a larger one with which it fails
is halved until one hunk is left; then again with that hunk held, until what is held is enough.
A run that says nothing of the test (a syntax error, another failure) counts for neither side.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Literal

from msgspec import Struct, field

from tui.core.run_report import RunReport

Subset = frozenset[int]
"""Ids of the hunks that are there in a run."""
Side = Literal["has", "lacks", "unclear"]
"""Whether a run shows what is looked for: a failure, or its cure."""
MOST_SEARCHES = 8
"""Failures that are followed on their own; mostly one hunk has many."""
_RAISED = re.compile(r"([A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Warning))\b")
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d+")
THE_RUN = ""
"""The name of what failed where a run names no test."""


class Outcome(Struct, frozen=True):
    """What a run with some of the hunks said."""

    failed: Mapping[str, str] = field(default_factory=dict)
    """Each test that failed, and the reason as far as two runs can have it in common."""
    unclear: bool = False
    """It could not judge: something is missing, or it was stopped."""


def outcome_of(report: RunReport, *, passed: bool) -> Outcome:
    """What a run says by its exit status and its report."""
    if report.fault:
        return Outcome(unclear=True)
    failed = {one.name: reason_of(one.message) for one in report.failed}
    return Outcome(failed if failed or passed else {THE_RUN: ""})


def reason_of(message: str) -> str:
    """What two failures of one cause have in common: the exception, or words without numbers."""
    if found := _RAISED.match(message):
        return found[1].rpartition(".")[2]
    if message.startswith("assert "):
        return "AssertionError"
    return _NUMBER.sub("#", message)[:200]


class Trial(Struct, frozen=True):
    """A run that is wanted."""

    hunks: Subset
    again: bool = False
    """To see whether the verdict is the same: what is known of it is no answer."""


class Culprit(Struct, frozen=True):
    """Hunks that have something in common."""

    tests: tuple[str, ...]
    """Those that these hunks made fail, or cured."""
    hunks: Subset
    """Several: they do it together only."""
    needed: Subset = frozenset()
    """Without these nothing can be said of them."""


Trials = Generator[Sequence[Trial], Sequence[Outcome], None]


class Blame:
    """One search. Drive `trials`: it yields runs that may go side by side, and takes outcomes.

    What was found by then stands at any time, so it can be stopped whenever time is over.
    """

    def __init__(self, hunks: Iterable[int], width: int = 1, seen: Outcome | None = None) -> None:
        """``hunks`` in an order in which neighbours have most in common; ``width`` runs at once.

        ``seen`` is what a run with all of them said before.
        """
        self._order = tuple(hunks)
        self._seen = seen
        self._width = max(width, 1)
        self._known: dict[Subset, Outcome] = {}
        self._none: Subset = frozenset()
        self._all: Subset = frozenset(self._order)
        self.cured = False
        """It looks for what cured tests, as more failed without the hunks than with them."""
        self.culprits: list[Culprit] = []
        self.flaky: list[str] = []
        """Tests that failed in one of two equal runs."""
        self.before: tuple[str, ...] = ()
        """Tests that fail with and without the hunks."""
        self.left: tuple[str, ...] = ()
        """Tests that were not followed to the end."""
        self.among: Subset = self._all
        """Where the search of the first of `left` has come to."""
        self.unclear = False
        """The run with all hunks could not judge, or it passed and that without any could not."""

    def trials(self) -> Trials:
        """The runs that are wanted, batch by batch."""
        yield from self._ask([self._none, self._all])
        none, whole = self._known[self._none], self._known[self._all]
        self.unclear = whole.unclear or (none.unclear and not whole.failed)
        if self.unclear:
            return
        self.before = tuple(test for test in whole.failed if test in none.failed)
        failing = [test for test in whole.failed if test not in none.failed]
        self.cured = not failing
        self.left = tuple(failing or (test for test in none.failed if test not in whole.failed))
        if self._seen is not None:
            self._compare([*self.left, *self._seen.failed], whole, self._seen)
        elif self.left:
            yield from self._twice(self.left, [self._all])
        for _ in range(MOST_SEARCHES):
            if not self.left:
                break
            yield from self._search(self.left[0])

    def _search(self, test: str) -> Trials:
        held: Subset = frozenset()
        needed: Subset = frozenset()
        low, high, strict = self._none, self._all, False
        while True:
            low, high = yield from self._halve(test, low, high, strict=strict)
            last = high - low
            held, needed = (held, needed | last) if strict else (held | last, needed)
            low = held | needed
            yield from self._ask([low])
            side = self._side(test, low)
            if side == "has" or low == high:
                break
            strict = strict or side == "unclear"
        found = yield from self._thinned(test, held, needed)
        held, needed = held & found, needed & found
        rest = found - {min(held)}
        yield from self._ask([rest])
        yield from self._twice([test], [found, rest])
        if test not in self.left:
            return
        own = [one for one in self.left if one == test or self._explains(one, held, needed)]
        self.culprits.append(Culprit(tuple(own), held, needed))
        self.left = tuple(one for one in self.left if one not in own)
        self.among = self._all

    def _halve(
        self, test: str, low: Subset, high: Subset, *, strict: bool
    ) -> Generator[Sequence[Trial], Sequence[Outcome], tuple[Subset, Subset]]:
        """Two sets, one in the other, as near as can be, of which only the larger one has it.

        ``strict``: a run that says nothing counts as one that lacks it.
        """
        parts = 1
        while len(between := [one for one in self._order if one in high - low]) > 1:
            self.among = high - low if low == self._none else high
            if parts == 1:
                cuts = _even(len(between), self._width + 1)
                chain = [low | frozenset(between[:cut]) for cut in cuts]
                yield from self._ask(chain)
                nearer = self._nearest(test, [low, *chain, high], strict=strict)
                if nearer == (low, high):
                    parts = 4
                else:
                    low, high = nearer
                continue
            cuts = [0, *_even(len(between), parts), len(between)]
            pieces = [frozenset(between[a:b]) for a, b in pairwise(cuts)]
            nearer = yield from self._by_pieces(test, low, high, pieces)
            if nearer == (low, high):
                if parts >= len(between):
                    break
                parts *= 2
            low, high = nearer
        return low, high

    def _by_pieces(
        self, test: str, low: Subset, high: Subset, pieces: Sequence[Subset]
    ) -> Generator[Sequence[Trial], Sequence[Outcome], tuple[Subset, Subset]]:
        """Each piece put to the smaller set, and taken from the larger one, until one run tells."""
        wanted = [one for piece in pieces for one in (high - piece, low | piece)]
        for first in range(0, len(wanted), self._width):
            batch = wanted[first : first + self._width]
            yield from self._ask(batch)
            for one in batch:
                side = self._side(test, one)
                if side != "unclear":
                    return (low, one) if side == "has" else (one, high)
        return low, high

    def _nearest(
        self, test: str, chain: Sequence[Subset], *, strict: bool
    ) -> tuple[Subset, Subset]:
        """The nearest two of sets that grow, of which the larger has it, and the smaller not."""
        at = [0]  # the first one lacks it, and the last one has it, or it would not be looked for
        best = (0, len(chain) - 1)
        for number, subset in enumerate(chain[1:-1], 1):
            side = self._side(test, subset)
            if side == "has":
                best = min(best, (at[-1], number), key=lambda pair: pair[1] - pair[0])
                break
            if side == "lacks" or strict:
                at.append(number)
        else:
            best = (at[-1], len(chain) - 1)
        return chain[best[0]], chain[best[1]]

    def _thinned(
        self, test: str, held: Subset, needed: Subset
    ) -> Generator[Sequence[Trial], Sequence[Outcome], Subset]:
        """All of them but those that can go."""
        found = held | needed
        for one in (*sorted(needed), *(sorted(held) if len(held) > 1 else ())):
            yield from self._ask([found - {one}])
            if self._side(test, found - {one}) == "has" and held & found != {one}:
                found -= {one}
        return found

    def _explains(self, test: str, held: Subset, needed: Subset) -> bool:
        """True if another test comes and goes with the same hunks, as far as was seen."""
        found = held | needed
        if self._side(test, found) != "has":
            return False
        smaller = [one for one in self._known if one < found]
        return all(self._side(test, one) != "has" for one in smaller)

    def _side(self, test: str, subset: Subset) -> Side:
        """What a known run says of a test."""
        outcome = self._known[subset]
        usual = self._known[self._none if self.cured else self._all].failed
        other = self._known[self._all if self.cured else self._none].failed
        if test in outcome.failed:
            same = outcome.failed[test] == usual.get(test)
            return "unclear" if not same else "lacks" if self.cured else "has"
        if outcome.unclear or any(one not in usual and one not in other for one in outcome.failed):
            return "unclear"
        return "has" if self.cured else "lacks"

    def _ask(self, subsets: Iterable[Subset]) -> Trials:
        """Have these runs known."""
        new = [one for one in dict.fromkeys(subsets) if one not in self._known]
        for first in range(0, len(new), self._width):
            batch = new[first : first + self._width]
            outcomes = yield [Trial(one) for one in batch]
            self._known.update(zip(batch, outcomes, strict=True))

    def _twice(self, tests: Sequence[str], subsets: Iterable[Subset]) -> Trials:
        """Run these again, to see which tests are flaky."""
        new = list(dict.fromkeys(subsets))
        outcomes = yield [Trial(one, again=True) for one in new]
        for subset, outcome in zip(new, outcomes, strict=True):
            self._compare(tests, self._known[subset], outcome)

    def _compare(self, tests: Iterable[str], one: Outcome, other: Outcome) -> None:
        """Two equal runs: tests that failed in one of them are not followed."""
        if not (one.unclear or other.unclear):
            differ = [test for test in tests if (test in one.failed) != (test in other.failed)]
            self.flaky += [test for test in differ if test not in self.flaky]
            self.left = tuple(test for test in self.left if test not in self.flaky)


def _even(count: int, parts: int) -> list[int]:
    """Where to cut so many things into so many equal parts."""
    parts = min(parts, count)
    return [count * part // parts for part in range(1, parts)]
