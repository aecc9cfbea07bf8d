"""What a user's own turns say of speed: figures over the cycles of some days or weeks.

A cycle is a turn with what followed it: prompt, first token, first hunk, decision, verdict. Where
two moments are apart in days the clock of the machine has measured it, which may have been set
back meanwhile: what would have taken less than no time is counted as that, and in no figure.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from operator import sub
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct, ValidationError, field

from tui.core.meter import GHOST_TOKENS_S
from tui.core.typed_data import typed

PAUSE_S = 600.0
"""Who does nothing for longer is away: that time is not counted as work."""
MOST_DAYS = 21
"""More are told by weeks."""
LEAST_TOKENS = 50
"""Shorter answers say nothing about tokens/s."""
EARLIEST_MS = 1_577_836_800_000
"""2020: no turn is older, and a clock that says so is wrong."""
_YEAR_S = 366 * 86_400.0
"""Nothing of a turn takes longer: another clock says so."""
_SORTED_AT_ONCE = 4_000
"""No other thread runs while some are sorted or given back."""

Moment = Annotated[int, Meta(ge=0)]
Count = Annotated[int, Meta(ge=0, le=1_000_000_000)]
Seconds = Annotated[float, Meta(ge=0, le=_YEAR_S)]
Rate = Annotated[float, Meta(ge=0, le=1e9)]
Place = Callable[[int], tuple[str, int]]
"""Milliseconds -> the day, as 2026-11-29, and the hour in which they are, where the user is."""


class Cycle(NamedTuple):
    """A turn and what came of it; times from the prompt on, None: it did not come, or unknown."""

    began_ms: Moment
    ended_ms: Moment | None
    """None: it runs, or duetto was killed in it."""
    outcome: str | None
    role: str
    model: str
    """As it was asked."""
    served: str
    """As the server named it; empty: it did not."""
    endpoint: str
    tier: str
    """As it was served."""
    tokens_out: Count | None
    usd: Rate | None
    ttft_s: Seconds | None
    """Of the newest response."""
    tokens_s: Rate | None
    seconds: Seconds | None
    first_s: Seconds | None
    hunk_s: Seconds | None
    verify_s: Seconds
    verdict_ms: Moment | None
    green_ms: Moment | None
    decided_ms: Moment | None
    accepted_ms: Moment | None
    """When the last hunk of those that are accepted was."""
    hunks: Count
    accepted: Count
    rejected: Count
    interrupts: Count
    redirects: Count
    steers: Count
    timed: int
    """0: an older version kept it, which did not measure all of this."""
    session: int
    number: int

    @classmethod
    def read(cls, row: Sequence[object]) -> Cycle | None:
        """A row as the store has it; None: a time or a figure in it cannot be."""
        try:
            one = typed(row, cls)
        except ValidationError:
            return None
        moments = (one.ended_ms, one.verdict_ms, one.green_ms, one.decided_ms, one.accepted_ms)
        latest_ms = one.began_ms + _YEAR_S * 1000
        return one if all(ms is None or ms <= latest_ms for ms in moments) else None


class Spread(Struct, frozen=True):
    """How something that was measured several times lies."""

    count: int = 0
    median: float | None = None
    slow: float | None = None
    """A tenth is beyond it: takes longer, or comes slower."""


class Loop(Struct, frozen=True):
    """Seconds from the prompt to each moment of the cycle."""

    first_token: Spread = Spread()
    first_hunk: Spread = Spread()
    answered: Spread = Spread()
    """The turn is over."""
    decision: Spread = Spread()
    accepted: Spread = Spread()
    verdict: Spread = Spread()
    green: Spread = Spread()


class Period(Struct):
    """A day, or the days of a week."""

    day: str
    """The first one, as 2026-11-29."""
    turns: int = 0
    waiting_s: float = 0.0
    """For the model."""
    verifying_s: float = 0.0
    working_s: float = 0.0
    """From the end of a turn to the next prompt of that day, without pauses and verifications."""
    hunks: int = 0
    accepted: int = 0
    rejected: int = 0
    verdicts: int = 0
    """Turns with one."""
    greens: int = 0
    usd: float = 0.0
    felt: float | None = None
    """So many times as fast as without duetto, as the user answered last."""
    times: float | None = None
    """So many times as fast as the same work with a model at 50 tokens/s, as measured."""
    slower_s: float = 0.0
    """So much longer such a model would have taken."""

    def measure(self) -> None:
        """Say how much faster it was."""
        took_s = self.waiting_s + self.verifying_s + self.working_s
        if took_s > 0 and self.slower_s:
            self.times = (took_s + self.slower_s) / took_s


class Pace(Struct, frozen=True):
    """How fast one model was, at one endpoint and tier."""

    model: str
    endpoint: str
    tier: str
    turns: int
    tokens: int
    usd: float
    tokens_s: Spread
    ttft_s: Spread
    hours: dict[int, Spread] = field(default_factory=dict)
    """Tokens/s by the hour of the day, 0 to 23."""


class CycleReport(Struct):
    """All of it."""

    since_ms: int
    until_ms: int
    periods: list[Period]
    """Days, or weeks where there are many; those without a turn, too."""
    days: int
    """That a span has."""
    total: Period
    loop: Loop
    paces: list[Pace]
    """Those with most turns first."""
    completed: int = 0
    interrupted: int = 0
    failed: int = 0
    interrupts: int = 0
    redirects: int = 0
    steers: int = 0
    unpriced: int = 0
    """Turns of which nobody knows the price."""
    backwards: int = 0
    """Intervals that would have taken less than no time."""
    untimed: int = 0
    """Turns that an older version kept: without the first hunk, verdicts and so on."""
    ahead: int = 0
    """Turns dated after now, which are in no figure."""
    unusable: int = 0
    """Turns with a time or a figure that cannot be, which are in no figure."""
    practice: int = 0
    """Turns of practice and rehearsal, which are in no figure."""


class ModelRates(Struct):
    """What was measured of one model, at one endpoint and tier; each list in any order."""

    model: str
    endpoint: str
    tier: str
    turns: int = 0
    tokens: int = 0
    usd: float = 0.0
    tokens_s: list[float] = field(default_factory=list)
    ttft_s: list[float] = field(default_factory=list)
    hours: dict[int, list[float]] = field(default_factory=dict)

    def pace(self) -> Pace:
        """What they come to."""
        return Pace(
            self.model,
            self.endpoint,
            self.tier,
            self.turns,
            self.tokens,
            self.usd,
            spread(self.tokens_s, low=True),
            spread(self.ttft_s),
            {hour: spread(self.hours[hour], low=True) for hour in sorted(self.hours)},
        )


class WeekFigures(Struct):
    """What the cycles of a week come to, in a form that can be kept and taken in again."""

    period: Period
    counts: dict[str, int]
    loop: dict[str, list[float]]
    rates: list[ModelRates]


class CycleTally:
    """Puts cycles together. An interval between two of them counts where both are of one day."""

    def __init__(self, starts: Sequence[str], place: Place) -> None:
        """``starts`` are the first days of the periods."""
        self.place, self.starts = place, starts
        self.periods = [Period(day) for day in starts]
        self.counts = dict.fromkeys(_COUNTS, 0)
        """Those of the report, by name."""
        self.loop: dict[str, list[float]] = {name: [] for name in Loop.__struct_fields__}
        self.rates: dict[tuple[str, str, str], ModelRates] = {}
        self._ends: dict[tuple[int, int, str], tuple[int | None, float]] = {}
        """Session, number and day of a turn -> when it ended, and seconds of its tests."""
        self._newest: dict[tuple[int, str], int] = {}

    def period(self, day: str) -> Period:
        """The one in which a day is."""
        return self.periods[max(bisect_right(self.starts, day) - 1, 0)]

    def add(self, one: Cycle) -> None:
        """Take one in; those of a session come in the order in which they began."""
        day, hour = self.place(one.began_ms)
        period, counts = self.period(day), self.counts
        period.turns += 1
        period.waiting_s += one.seconds or 0.0
        period.verifying_s += one.verify_s
        period.working_s += self._worked_s(one, day)
        period.hunks += one.hunks
        period.accepted += one.accepted
        period.rejected += one.rejected
        period.verdicts += one.verdict_ms is not None
        period.greens += one.green_ms is not None
        period.usd += one.usd or 0.0
        if one.outcome in _OUTCOMES:
            counts[one.outcome] += 1
        counts["interrupts"] += one.interrupts
        counts["redirects"] += one.redirects
        counts["steers"] += one.steers
        counts["unpriced"] += one.usd is None and bool(one.tokens_out)
        counts["untimed"] += not one.timed
        self._measure(one)
        self._rate(one, period, hour)

    def take(self, week: WeekFigures) -> None:
        """Take a whole week in."""
        period = self.period(week.period.day)
        for name in _SUMS:
            setattr(period, name, getattr(period, name) + getattr(week.period, name))
        for name in self.counts:
            self.counts[name] += week.counts.get(name, 0)
        for name, values in week.loop.items():
            self.loop[name] += values
        for one in week.rates:
            rates = self._rates(one.model, one.endpoint, one.tier)
            rates.turns += one.turns
            rates.tokens += one.tokens
            rates.usd += one.usd
            rates.tokens_s += one.tokens_s
            rates.ttft_s += one.ttft_s
            for hour, values in one.hours.items():
                rates.hours.setdefault(hour, []).extend(values)

    def week(self) -> WeekFigures:
        """All of it, where it is one week's; its values in order, which soon are many weeks'."""
        rates = [*self.rates.values()]
        for one in rates:
            for values in (one.tokens_s, one.ttft_s):
                values.sort()
        for values in self.loop.values():
            values.sort()
        return WeekFigures(self.periods[0], self.counts, self.loop, rates)

    def _worked_s(self, one: Cycle, day: str) -> float:
        """What the user did since the turn before it ended; the tests that ran then count once."""
        session, number = one.session, one.number
        self._ends[session, number, day] = (one.ended_ms, one.verify_s)
        newest = self._newest.get((session, day), 0)
        self._newest[session, day] = max(newest, number)
        ended_ms, verify_s = self._ends.get((session, number - 1, day), (None, 0.0))
        seconds = 0.0 if ended_ms is None else (one.began_ms - ended_ms) / 1000
        self.counts["backwards"] += newest > number or seconds < 0
        seconds -= verify_s
        return seconds if 0 <= seconds <= PAUSE_S else 0.0

    def _measure(self, one: Cycle) -> None:
        loop, began_ms = self.loop, one.began_ms
        for name, seconds in (
            ("first_token", one.first_s),
            ("first_hunk", one.hunk_s),
            ("answered", one.seconds),
        ):
            if seconds is not None:
                loop[name].append(seconds)
        for name, ms in (
            ("decision", one.decided_ms),
            ("accepted", one.accepted_ms),
            ("verdict", one.verdict_ms),
            ("green", one.green_ms),
        ):
            if ms is None:
                continue
            if ms < began_ms:
                self.counts["backwards"] += 1
            else:
                loop[name].append((ms - began_ms) / 1000)

    def _rates(self, model: str, endpoint: str, tier: str) -> ModelRates:
        key = (model, endpoint, tier)
        if (rates := self.rates.get(key)) is None:
            rates = self.rates[key] = ModelRates(*key)
        return rates

    def _rate(self, one: Cycle, period: Period, hour: int) -> None:
        if one.tokens_out is None and one.usd is None:
            return  # killed, or done by a lane: nothing was measured
        rates = self._rates(one.served or one.model, one.endpoint, one.tier)
        tokens = one.tokens_out or 0
        rates.turns += 1
        rates.tokens += tokens
        rates.usd += one.usd or 0.0
        if one.ttft_s is not None:
            rates.ttft_s.append(one.ttft_s)
        if one.tokens_s and LEAST_TOKENS <= tokens <= one.tokens_s * _YEAR_S:
            rates.tokens_s.append(one.tokens_s)
            rates.hours.setdefault(hour, []).append(one.tokens_s)
            period.slower_s += tokens / GHOST_TOKENS_S - tokens / one.tokens_s


def spread(values: list[float], *, low: bool = False) -> Spread:
    """Where they lie; ``low``: the slow ones are the small ones."""
    if not values:
        return Spread()
    count, step = len(values), _SORTED_AT_ONCE
    runs = [sorted(values[at : at + step]) for at in range(0, count, step)]
    median = (_nth(runs, (count - 1) // 2) + _nth(runs, count // 2)) / 2
    tenth = (count - 1) // 10
    return Spread(count, median, _nth(runs, tenth if low else count - 1 - tenth))


def _nth(runs: list[list[float]], place: int) -> float:
    """The value that would have this place, from 0 on, in all runs merged; each is in order."""
    lows, highs = [0] * len(runs), [len(run) for run in runs]
    while True:
        _, low, high, run = max(zip(map(sub, highs, lows), lows, highs, runs, strict=True))
        value = run[(low + high) // 2]
        below = [bisect_left(run, value) for run in runs]
        until = [bisect_right(run, value) for run in runs]
        if sum(below) > place:
            highs = [*map(min, highs, below)]
        elif sum(until) <= place:
            lows = [*map(max, lows, until)]
        else:
            return value


def first_days(
    since_ms: int, until_ms: int, place: Place, most: int = MOST_DAYS
) -> tuple[list[str], int]:
    """The first day of each span from then to then, and how many days a span has: 1 or 7.

    Weeks begin on Mondays. At most so many days are periods of their own.
    """
    first, last = (date.fromisoformat(place(ms)[0]) for ms in (since_ms, max(until_ms, since_ms)))
    count = (last - first).days + 1
    if count <= most:
        return [(first + timedelta(days=n)).isoformat() for n in range(count)], 1
    mondays = range(7 - first.weekday(), count, 7)
    return [(first + timedelta(days=n)).isoformat() for n in (0, *mondays)], 7


def report(
    tally: CycleTally,
    since_ms: int,
    until_ms: int,
    days: int,
    felt: Iterable[tuple[int, float]] = (),
) -> CycleReport:
    """What a tally comes to, whose periods have so many days; nothing can be added to it then."""
    for ms, times in felt:
        tally.period(tally.place(ms)[0]).felt = times
    total = Period(tally.starts[0])
    for period in tally.periods:
        period.measure()
        for name in _SUMS:
            setattr(total, name, getattr(total, name) + getattr(period, name))
    total.measure()
    told = [period.felt for period in tally.periods if period.felt is not None]
    total.felt = sum(told) / len(told) if told else None
    # what was measured goes bit by bit: no other thread runs while much of it is given back
    paces = [tally.rates.pop(key).pace() for key in [*tally.rates]]
    loop = {name: spread(tally.loop.pop(name)) for name in [*tally.loop]}
    return CycleReport(
        since_ms,
        until_ms,
        tally.periods,
        days,
        total,
        Loop(**loop),
        sorted(paces, key=lambda one: (-one.turns, one.model, one.endpoint, one.tier)),
        **tally.counts,
    )


_OUTCOMES = ("completed", "interrupted", "failed")
_COUNTS = (
    *_OUTCOMES,
    "interrupts",
    "redirects",
    "steers",
    "unpriced",
    "backwards",
    "untimed",
    "unusable",
    "practice",
)
_SUMS = (
    "turns",
    "waiting_s",
    "verifying_s",
    "working_s",
    "hunks",
    "accepted",
    "rejected",
    "verdicts",
    "greens",
    "usd",
    "slower_s",
)
