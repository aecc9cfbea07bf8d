"""Attempts: many tries at one prompt. How they are asked for, ranked, and counted.

A verdict decides, never the model's word: what passes goes before what fails, then what breaks
less, then the smaller difference. Without a verdict there are candidates, and no winner.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import comb
from typing import Literal

from msgspec import Struct

from tui.core.files import first_of
from tui.core.wire.efforts import EFFORTS, Effort

MOST = 256
"""Attempts of one prompt."""
FEWEST = 2
DEFAULT = 5
_MOST_TEMPERATURE = 2.0
_MOST_NAMED = 2
"""Tests that a reason names."""
USAGE = "/attempts [N] [--models A,B] [--temperature T] [--all] PROMPT"
RACE = "/race [--models A,B] [--effort E,F] [--tier S,T] [--throttle off,50] PROMPT"
_NUMBER = re.compile(r"[+-]*[\d.,]*\d[\d.,]*(e\d+|[x×])?")
"""A first word that is meant as one, right or wrong."""
_TIER = re.compile(r"[\w.-]{1,40}")


class AttemptPlan(Struct, frozen=True):
    """What is to be tried."""

    count: int
    prompt: str
    """Empty: to mend what the last verdict found."""
    models: tuple[str, ...] = ()
    """Taken in turn; none: the model that answers now."""
    temperatures: tuple[float, ...] = ()
    """Taken in turn; none: the model's own."""
    all: bool = False
    """Go on behind the first that passes."""
    race: bool = False
    """Two side by side, by the clock: nothing of them comes home by itself."""
    efforts: tuple[Effort, ...] = ()
    """Taken in turn, as the next two; none: as the model is asked now."""
    tiers: tuple[str, ...] = ()
    throttles: tuple[float | None, ...] = ()
    """Tokens a second; None: as it comes."""

    def model(self, number: int) -> str:
        """Who makes the attempt of this number (from 1); empty: who answers now."""
        return self.models[(number - 1) % len(self.models)] if self.models else ""

    def side(self, number: int) -> tuple[Effort | None, str | None, float | None]:
        """Effort, tier and rate of this number; None: as they are."""
        at = number - 1
        return (
            self.efforts[at % len(self.efforts)] if self.efforts else None,
            self.tiers[at % len(self.tiers)] if self.tiers else None,
            self.throttles[at % len(self.throttles)] if self.throttles else None,
        )

    def temperature(self, number: int) -> float | None:
        """At which temperature; every model has each of them in turn."""
        if not self.temperatures:
            return None
        rounds = (number - 1) // max(len(self.models), 1)
        return self.temperatures[rounds % len(self.temperatures)]


def read_plan(argument: str) -> AttemptPlan | str:
    """What the words behind ``/attempts`` ask for; a str says what is wrong with them."""
    first, rest = _split(argument)
    count = DEFAULT
    if _NUMBER.fullmatch(first):
        if not re.fullmatch(r"[+-]?\d+", first):
            return f"{first} attempts cannot be made: ask for {FEWEST} to {MOST}."
        known = int(first) if len(first) < 10 else MOST + 1
        if problem := count_refusal(known):
            return problem
        count, argument = known, rest
    read = _options(argument, ("--models", "--temperature"), ("--all",), USAGE)
    if isinstance(read, str):
        return read
    values, prompt = read
    temperatures = _temperatures(values.get("--temperature", ()))
    if temperatures is None:
        return f"A temperature is a number from 0 to {_MOST_TEMPERATURE:g}, as in 0.8."
    models = values.get("--models", ())
    if len(models) > count:
        return f"{len(models)} models need at least as many attempts: /attempts {len(models)}."
    return AttemptPlan(count, prompt, models, temperatures, "--all" in values)


def read_race(argument: str) -> AttemptPlan | str:
    """What the words behind ``/race`` ask for; a str says what is wrong with them.

    The fast model against the deep one, unless something else differs.
    """
    read = _options(argument, ("--models", "--effort", "--tier", "--throttle"), (), RACE)
    if isinstance(read, str):
        return read
    values, prompt = read
    if not prompt:
        return f"A race needs a prompt: {RACE}."
    for name, given in values.items():
        if len(given) > 2:
            return f"A race has two sides: {name} takes one value for both, or two."
    differ = any(len(set(given)) == 2 for given in values.values())
    models = values.get("--models", () if differ else ("fast", "deep"))
    if not differ and len(set(models)) < 2:
        return f"Both sides would be the same: name two models, efforts, tiers or rates. {RACE}."
    efforts = tuple(one for given in values.get("--effort", ()) for one in EFFORTS if one == given)
    if len(efforts) != len(values.get("--effort", ())):
        return f"Effort is one of {', '.join(EFFORTS)}."
    tiers = values.get("--tier", ())
    if not all(map(_TIER.fullmatch, tiers)):
        return "A tier is one word, such as fast, priority or flex; off asks for none."
    throttles = _throttles(values.get("--throttle", ()))
    if throttles is None:
        return "The throttle is a number of tokens/s from 1 to 20000, or off."
    asked = tuple("" if one == "off" else one for one in tiers)
    return AttemptPlan(
        2,
        prompt,
        models,
        all=True,
        race=True,
        efforts=efforts,
        tiers=asked,
        throttles=throttles,
    )


def _options(
    argument: str, valued: Sequence[str], plain: Sequence[str], usage: str
) -> tuple[dict[str, tuple[str, ...]], str] | str:
    """The values of each option, and the prompt behind them; a str says what is wrong."""
    found: dict[str, tuple[str, ...]] = {}
    while argument.startswith("--"):
        option, argument = _split(argument)
        name, equals, value = option.partition("=")
        if name in plain:
            found[name] = ()
            continue
        if name not in valued:
            return f"There is no {name}: {usage}."
        if not equals:
            value, argument = _split(argument)
        found[name] = tuple(part.strip() for part in value.split(",") if part.strip())
        if not found[name]:
            return f"{name} needs a value: {usage}."
    return found, argument.strip()


def _throttles(parts: Sequence[str]) -> tuple[float | None, ...] | None:
    try:
        rates = tuple(None if part == "off" else float(part) for part in parts)
    except ValueError:
        return None
    return rates if all(rate is None or 1 <= rate <= 20_000 for rate in rates) else None


def count_refusal(count: int) -> str:
    """Why there can not be so many attempts; empty: there can."""
    if count < FEWEST:
        return f"Attempts are compared: ask for {FEWEST} to {MOST}. One is a prompt as any other."
    return f"There are at most {MOST} attempts of one prompt." if count > MOST else ""


def _split(text: str) -> tuple[str, str]:
    """The first word, and what follows it as it is written."""
    first, *rest = text.strip().split(maxsplit=1) or [""]
    return first, rest[0] if rest else ""


def _temperatures(parts: Sequence[str]) -> tuple[float, ...] | None:
    try:
        numbers = tuple(map(float, parts))
    except ValueError:
        return None
    return numbers if all(0 <= one <= _MOST_TEMPERATURE for one in numbers) else None


Verdict = Literal["", "passed", "same", "failed", "timeout", "error"]
"""As of a verification; empty: nothing judged."""
_ORDER: dict[Verdict, int] = {"passed": 0, "same": 1, "failed": 1, "timeout": 2, "error": 3, "": 4}


class Result(Struct, frozen=True):
    """An attempt that is over."""

    number: int
    verdict: Verdict = ""
    failed: tuple[str, ...] = ()
    """Tests that fail, and failed without it, too."""
    broke: tuple[str, ...] = ()
    """Tests that fail, and passed without it."""
    added: int = 0
    removed: int = 0
    """Lines."""
    texts: bytes = b""
    """A digest of what it leaves; empty: it changed nothing."""
    why: str = ""
    """Why it has no result, in words: ``the model answered nothing``."""
    uncounted: tuple[str, ...] = ()
    """Files that it changed and that judge it: it was judged without these changes."""

    @property
    def lines(self) -> int:
        """The size of the difference."""
        return self.added + self.removed

    @property
    def passes(self) -> bool:
        """It may win."""
        return self.verdict == "passed" and bool(self.texts)

    @property
    def _key(self) -> tuple[int, int, int, int, int, int]:
        changed = bool(self.texts)
        order, failed = _ORDER[self.verdict] if changed else 0, len(self.failed)
        return (not changed, order, len(self.broke), failed, self.lines, self.number)


class Ranked(Struct, frozen=True):
    """A place in the ranking."""

    result: Result
    reason: str
    """Why it stands where it stands, in words."""
    wins: bool = False


def ranked(results: Sequence[Result]) -> list[Ranked]:
    """All, the best one first. Only what passes wins; where nothing was judged nobody does."""
    found: list[Ranked] = []
    seen: dict[bytes, int] = {}
    for result in sorted(results, key=lambda one: one._key):
        before = found[-1].result if found else None
        words = result_words(result)
        if twin := seen.get(result.texts) if result.texts else None:
            words = f"the same text as {twin}"
        elif before is not None and result.texts and _level(before) == _level(result):
            words += _beside(before, result)
        seen.setdefault(result.texts, result.number)
        found.append(Ranked(result, words, result.passes and not found))
    return found


def _level(result: Result) -> tuple[int, ...]:
    """What goes before the size of the difference."""
    return result._key[:4]


def _beside(before: Result, result: Result) -> str:
    """What puts it behind another one that is as good."""
    if result.lines > before.lines:
        return f", with {result.lines} changed lines against {before.lines}"
    return f", the same size as {before.number}, which came first"


def result_words(result: Result) -> str:
    """What it came to."""
    if not result.texts:
        return result.why or "it changed nothing"
    broke, failed = len(result.broke), len(result.failed)
    told = {
        "passed": "passes",
        "same": f"breaks nothing, mends nothing: {_count(failed)} as before",
        "timeout": "did not come to an end in time",
        "error": "could not be judged",
        "": "not judged",
    }.get(result.verdict, "")
    if result.verdict == "failed":
        words = [f"breaks {first_of(result.broke, _MOST_NAMED)}"] if broke else []
        still = f"still fail{'s' * (failed == 1)}"
        words += [f"{first_of(result.failed, _MOST_NAMED)} {still}"] if failed else []
        told = " and ".join(words) or "fails"
    if result.uncounted:
        told += f", without its changes of {first_of(result.uncounted, _MOST_NAMED)}"
    return f"{told} ({result.why})" if result.why else told


def _count(failed: int) -> str:
    return f"{failed} test{'s fail' if failed != 1 else ' fails'}"


def passes_at(k: int, tried: int, green: int) -> float:
    """How likely one of ``k`` attempts passes, where ``green`` of ``tried`` did; unbiased."""
    if not 0 < k <= tried:
        raise ValueError(f"of {tried} attempts {k} cannot be drawn")
    return 1.0 - comb(tried - green, k) / comb(tried, k)


class JudgedRun(Struct, frozen=True):
    """The verdicts of one run of attempts."""

    greens: tuple[bool, ...]
    """Whether each one that was judged passes, in the order in which they were."""
    whole: bool
    """Nothing ended it before all were judged."""

    def at(self, k: int) -> float | None:
        """How likely one of ``k`` passes, as far as this run says; None: it says nothing.

        A run that ends at its first green one is looked at in its order only: shares of what it
        came to would favour the green ones.
        """
        if self.whole:
            return passes_at(k, len(self.greens), sum(self.greens)) if k <= self.count else None
        if any(self.greens[:k]):
            return 1.0
        return 0.0 if k <= self.count else None

    @property
    def count(self) -> int:
        """How many were judged."""
        return len(self.greens)


class Tally:
    """The runs of attempts of a session."""

    def __init__(self) -> None:
        self._runs: list[JudgedRun] = []

    def add(self, run: JudgedRun) -> None:
        """One more; one in which nothing was judged says nothing."""
        if run.greens:
            self._runs.append(run)

    def at(self, k: int) -> tuple[float, int]:
        """How likely one of ``k`` attempts passes, and how many runs say so; 0 runs: none does."""
        told = [share for run in self._runs if (share := run.at(k)) is not None]
        return (sum(told) / len(told) if told else 0.0, len(told))

    def words(self, count: int) -> str:
        """``pass@1 20 % · pass@5 67 % (3 runs)``; empty where nothing was judged."""
        told = []
        for k in (1, count):
            share, runs = self.at(k)
            if runs:
                plural = "" if runs == 1 else "s"
                told.append(f"pass@{k} {share:.0%} ({runs} run{plural})".replace("%", " %"))
        return " · ".join(told)
