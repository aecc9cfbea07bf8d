"""The tables and pictures that samples of a real model come to."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from tests.benchmarks.gap.checking import Judge
from tests.benchmarks.gap.curve import CHOOSERS, Chooser, Estimate, Try, estimate, law, mean
from tests.benchmarks.gap.sampling import Samples
from tests.benchmarks.gap.tasks import HARDEST, Task
from tests.support.charts import Chart, Line

KS = (1, 2, 3, 5, 10, 20, 50, 100, 200)
BUDGETS_S = (0.5, 1, 2, 5, 10, 30)
DELEGATE, THROTTLED = 50, (50, 150, 1_000, 4_000)
ANY, VERIFIED, SHORTEST = "any of k is right", "the verifier's choice", "the shortest"
Tries = Mapping[str, Sequence[Try]]


class Table(Struct, frozen=True):
    """A title, and rows of words."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    note: str = ""

    @property
    def text(self) -> str:
        """As Markdown, aligned."""
        widths = [max(map(len, column)) for column in zip(self.columns, *self.rows, strict=True)]

        def line(cells: Iterable[str]) -> str:
            padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
            return f"| {' | '.join(padded)} |"

        rule = "|".join("-" * (width + 2) for width in widths)
        lines = [line(self.columns), f"|{rule}|", *map(line, self.rows)]
        head = [f"**{self.title}**", *([self.note] if self.note else []), ""]
        return "\n".join(head + lines)


def judged(tasks: Sequence[Task], samples: Samples, judge: Judge) -> dict[str, list[Try]]:
    """All tries by task, judged; those with too few of them are left out."""
    named, found = {one.name: one for one in tasks}, defaultdict[str, list[Try]](list)
    for one in samples.tries():
        task = named[one.task]
        verdict = judge.verdict(task, one.text)
        size = len(task.source(one.text))
        found[one.task].append(Try(verdict.right, verdict.shown, size, one.tokens, verdict.seconds))
    return {name: found[name] for name in named if len(found[name]) > 1}


def over(tries: Tries, chooser: Chooser, k: int) -> Estimate:
    """The mean over tasks."""
    return mean(estimate(chooser, k, each) for each in tries.values())


def _at(tries: Tries, name: str, k: int) -> str:
    return over(tries, CHOOSERS[name], k).words if k < min(map(len, tries.values())) else ""


def curve(tries: Tries) -> Table:
    """What k tries come to, by who chooses."""
    least = min(map(len, tries.values()))
    rows = [
        (str(k), *(over(tries, chooser, k).words for chooser in CHOOSERS.values()))
        for k in KS
        if k < least
    ]
    points = [(k, over(tries, CHOOSERS[ANY], k).share) for k in KS if k < least]
    fitted = law(points)
    note = ""
    if fitted is not None:
        off = max(abs(fitted.at(k) - share) for k, share in points)
        note = (
            f"Any of k is right: exp({fitted.a:.2f} k^{fitted.b:.2f}) describes it within"
            f" {100 * off:.1f} points."
        )
    count = len(tries)
    title = f"Of k tries, the mean of {count} tasks with {least} tries or more"
    return Table(title, ("k", *CHOOSERS), rows, note)


def grades(tasks: Sequence[Task], tries: Tries) -> Table:
    """The same by grade."""
    rows = []
    for grade in sorted({one.grade for one in tasks}):
        own = {
            one.name: tries[one.name] for one in tasks if one.grade == grade and one.name in tries
        }
        if not own:
            continue
        least = min(map(len, own.values()))
        solved = sum(any(each.right for each in one) for one in own.values())
        rows.append(
            (
                str(grade),
                str(least),
                *(_at(own, ANY, k) for k in (1, 10, least // 2)),
                _at(own, VERIFIED, least // 2),
                f"{solved} of {len(own)}",
            )
        )
    columns = ("grade", "n", "pass@1", "pass@10", "pass@n/2", "the verifier's, n/2", "ever solved")
    return Table("By grade", columns, rows)


def hardest(tasks: Sequence[Task], tries: Tries) -> Table:
    """Task by task."""
    rows = []
    for one in tasks:
        if one.grade != HARDEST or one.name not in tries:
            continue
        own = tries[one.name]
        right, taken = sum(each.right for each in own), sum(each.shown for each in own)
        first, last = (estimate(CHOOSERS[ANY], k, own).words for k in (1, len(own) // 2))
        rows.append((one.name, str(len(own)), str(right), str(taken), first, last))
    columns = ("task", "n", "right", "the verifier takes", "pass@1", "pass@n/2")
    return Table("The ten hardest", columns, rows)


class Speed(Struct, frozen=True):
    """At which rate tries come, in all."""

    words: str
    tokens_s: float


def speeds(samples: Samples) -> list[Speed]:
    """Those that were measured, and those at which the clock is only computed."""
    alone = [one for one in samples.all if one.ms]
    found = []
    if alone:
        rate = sum(one.tokens for one in alone) / sum(one.ms for one in alone) * 1000
        found.append(Speed("one at a time, measured", rate))
    seconds = sum(one.seconds for one in samples.parts)
    if seconds:
        rate = sum(one.tokens for one in samples.parts) / seconds
        found.append(Speed("side by side, measured", rate))
    return found + [Speed("computed", float(rate)) for rate in THROTTLED]


def tries_in(seconds: float, rate: float, own: Sequence[Try]) -> int:
    """How many tries are answered and judged in a time, one verifier at work."""
    tokens = sum(one.tokens for one in own) / len(own)
    judging = sum(one.seconds for one in own) / len(own)
    return min(int(seconds / (tokens / rate + judging)), len(own))


def in_time(tries: Tries, rate: float, seconds: float) -> float:
    """The share of tasks that are right after a time, by the verifier's choice."""
    found = []
    for own in tries.values():
        k = tries_in(seconds, rate, own)
        found.append(CHOOSERS[VERIFIED](k, own) if k else 0.0)
    return sum(found) / len(found)


def clock(tries: Tries, samples: Samples) -> Table:
    """Against wall time."""
    rows = [
        (
            one.words,
            f"{one.tokens_s:,.0f}",
            *(f"{100 * in_time(tries, one.tokens_s, seconds):.1f} %" for seconds in BUDGETS_S),
        )
        for one in speeds(samples)
    ]
    columns = ("speed", "tokens/s", *(f"{seconds:g} s" for seconds in BUDGETS_S))
    note = (
        "The same tries everywhere, and no more than were made: where a speed is computed only the"
        " clock is. Judging is in it, one try after the other; reading the prompt is not."
    )
    return Table("Right by the verifier's choice after a time", columns, rows, note)


def beside_delegate(tries: Tries) -> Table:
    """Many quick tries in the time of one slow one, and whether they are better."""
    rows = []
    one_try = over(tries, CHOOSERS[ANY], 1)
    tokens = {name: sum(one.tokens for one in own) / len(own) for name, own in tries.items()}
    for rate in THROTTLED[1:]:
        counts = {
            name: max(1, min(tries_in(tokens[name] / DELEGATE, rate, own), len(own) - 1))
            for name, own in tries.items()
        }
        shares = [
            mean(estimate(CHOOSERS[name], counts[task], own) for task, own in tries.items())
            for name in (VERIFIED, SHORTEST)
        ]
        more = shares[0].share - one_try.share
        error = math.hypot(shares[0].error, one_try.error)
        told = "the tries win" if more > 2 * error else "they lose" if more < -2 * error else "even"
        rows.append(
            (
                f"{rate:,}",
                f"{sum(counts.values()) / len(counts):.0f}",
                *(share.words for share in shares),
                f"{100 * more:+.1f} ± {100 * error:.1f} points: {told}",
            )
        )
    seconds = sum(tokens.values()) / len(tokens) / DELEGATE
    note = (
        f"One try at {DELEGATE} tokens/s takes {seconds:.1f} s in the mean, and is right in"
        f" {one_try.words}. Judging the tries is in the time."
    )
    columns = ("tokens/s", "tries", VERIFIED, SHORTEST, "the verifier's against one try")
    return Table("In the time of one slow try of the same model", columns, rows, note)


def charts(tries: Tries, samples: Samples) -> dict[str, Chart]:
    """The pictures, by the names of their files."""
    least = min(map(len, tries.values()))
    ks = [k for k in range(1, least) if k < 20 or not k % 5]
    name = samples.starts[0].model.removesuffix(".gguf") if samples.starts else ""
    lines = []
    for words, chooser in CHOOSERS.items():
        points = [(k, over(tries, chooser, k)) for k in ks]
        lines.append(Line(words, [(k, 100 * one.share, 100 * one.error) for k, one in points]))
    times = [0.05 * 1.25**step for step in range(30)]
    return {
        "gap-tries": Chart(f"{name}: right, of {len(tries)} tasks", "tries (k)", lines),
        "gap-time": Chart(
            f"{name}: right by the verifier's choice",
            "seconds",
            [
                Line(f"{rate:,} tokens/s", [(s, 100 * in_time(tries, rate, s), 0.0) for s in times])
                for rate in reversed(THROTTLED)
            ],
        ),
    }


def machine(samples: Samples) -> list[str]:
    """What ran where, in sentences."""
    loads = [one.load for one in samples.parts] or [math.nan]
    count, tokens = sum(1 for _ in samples.tries()), sum(one.tokens for one in samples.tries())
    return [
        *(
            f"{one.model}, {one.date}, {one.machine}: temperature {one.temperature}, top_p"
            f" {one.top_p}, top_k {one.top_k}, {one.servers} servers of one thread and"
            f" {one.slots} slots; load {one.load} at the start."
            for one in samples.starts
        ),
        f"{count:,} tries of {tokens:,} tokens; load {min(loads):.1f} to {max(loads):.1f}"
        " meanwhile.",
    ]
