"""The statistics in words: for ``/stats``, ``--linear`` and ``duetto stats``; and from when on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from tui.core.cycles import PAUSE_S, CycleReport, Pace, Period, Spread
from tui.core.files import counted
from tui.core.meter import GHOST_TOKENS_S, dollars

WEEK = "7d"
"""From so many days ago on, unless somebody says otherwise."""
SINCE_WORDS = "a day (2026-11-01), a time back (12h, 7d, 4w), today, or all"
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_MOST_BACK = 9_999
_SPARKS = "▁▂▃▄▅▆▇█"
_STRIP = (("█", "working"), ("▒", "tests"), ("░", "waiting for the model"))
_STRIP_CELLS, _DAY, _TURNS = 12, 12, 7
_MOST_PERIODS = 21
_MOST_PACES = 6
_FEW = 10
"""Of so many none is a tenth."""
_MANY = 3
"""An hour with fewer turns says nothing about load."""
_LOOP = (
    ("first_token", "first token"),
    ("first_hunk", "first hunk"),
    ("answered", "end of the turn"),
    ("decision", "first decision"),
    ("accepted", "all accepted"),
    ("verdict", "first verdict"),
    ("green", "green"),
)


class StatsSection(NamedTuple):
    """Some lines under a title."""

    title: str
    lines: tuple[str, ...]


def since_asked(words: str, now: datetime | None = None) -> int | str:
    """Unix milliseconds from which on is told; 0: all. A str says what is wrong."""
    words, now = words.strip().lower() or WEEK, now or datetime.now()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    number, unit = words[:-1], words[-1]
    try:
        if words == "all":
            return 0
        if words == "today":
            since = midnight
        elif unit == "h" and number.isdecimal() and int(number) <= _MOST_BACK:
            since = now - int(number) * _UNITS[unit]
        elif unit in _UNITS and number.isdecimal() and 0 < int(number) <= _MOST_BACK:
            since = midnight - int(number) * _UNITS[unit] + _UNITS["d"]
        else:
            since = datetime.strptime(words, "%Y-%m-%d")
        since_ms = int(since.timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return f"Statistics cannot begin at {words}: say {SINCE_WORDS}."
    if since > now:
        return f"{words} is still to come: say {SINCE_WORDS}."
    return max(since_ms, 1)


def sections(report: CycleReport, width: int) -> list[StatsSection]:
    """All of it, in columns of so many cells with strips and sparklines; 0: in sentences."""
    total, left_out = report.total, StatsSection("Not in the figures", tuple(_left_out(report)))
    if not total.turns:
        span = _span(report)
        empty = f"No turn {span} counts." if left_out.lines else f"No turn was kept {span}."
        found = [StatsSection("Statistics", (empty,)), left_out]
        return [one for one in found if one.lines]
    found = [
        StatsSection("Turns", tuple(_turns(report))),
        StatsSection("From the prompt to", tuple(_loop(report, width))),
        StatsSection("Waiting and working", tuple(_times(total))),
        StatsSection("Weeks" if report.days > 1 else "Days", tuple(_periods(report, width))),
        StatsSection("Speed", tuple(_speeds(report, width))),
        StatsSection("How much faster it felt", tuple(_felt(report))),
        left_out,
    ]
    return [one for one in found if one.lines]


def _span(report: CycleReport) -> str:
    return f"since {report.periods[0].day}"


def _turns(report: CycleReport) -> Iterator[str]:
    total = report.total
    ends = [
        f"{count:,} {word}"
        for count, word in (
            (report.completed, "completed"),
            (report.interrupted, "interrupted"),
            (report.failed, "failed"),
        )
        if count
    ]
    said = f": {', '.join(ends)}" if ends else ""
    yield f"{counted(total.turns, 'turn')} {_span(report)}{said}"
    steering = ((report.interrupts, "interrupt"), (report.redirects, "redirect"))
    yield ", ".join(counted(n, word) for n, word in (*steering, (report.steers, "steer")))
    open_hunks = total.hunks - total.accepted - total.rejected
    decided = f"{total.rejected:,} rejected, {open_hunks:,} undecided"
    hunks = f"{total.accepted:,} of {counted(total.hunks, 'hunk')} accepted, {decided}"
    yield hunks if total.hunks else "no hunk"
    green = f"{total.greens:,} of {counted(total.verdicts, 'verified turn')} became green"
    yield green if total.verdicts else "no verified turn"
    unpriced = f"; {counted(report.unpriced, 'turn')} without a known price"
    yield f"{dollars(total.usd)} spent{unpriced if report.unpriced else ''}"


def _loop(report: CycleReport, width: int) -> Iterator[str]:
    rows = [(words, getattr(report.loop, name)) for name, words in _LOOP]
    for words, one in rows:
        if not one.count:
            yield f"{words:<16}  not measured yet" if width else f"{words}: not measured yet"
            continue
        median, slow, count = seconds(one.median), _slow(one, seconds), counted(one.count, "turn")
        if width:
            yield _fitting(width, f"{words:<16}{median:>9}", f"   {slow:<24}", f" {count}")
        else:
            yield ", ".join(filter(None, (f"{words}: median {median}", slow, count)))


def _fitting(width: int, *columns: str) -> str:
    """As many of the columns as there is room for, and the first one."""
    row = columns[0]
    for column in columns[1:]:
        if len(row) + len(column.rstrip()) > width:
            break
        row += column
    return row.rstrip()


def _slow(one: Spread, say: Callable[[float | None], str], *, low: bool = False) -> str:
    """What the slow ones are like; of a few there is no tenth, and of one nothing to say."""
    if one.count == 1:
        return ""
    few, many = ("at least", "a tenth under") if low else ("at most", "a tenth over")
    return f"{few if one.count <= _FEW else many} {say(one.slow)}"


def _times(total: Period) -> Iterator[str]:
    whole = total.waiting_s + total.verifying_s + total.working_s
    for words, value in (
        ("waiting for the model", total.waiting_s),
        ("running the tests", total.verifying_s),
        ("working", total.working_s),
    ):
        share = f" ({value / whole:.0%})" if whole else ""
        yield f"{words} {seconds(value)}{share}"
    yield f"working: turn to next prompt, without tests; a pause if over {PAUSE_S / 60:.0f} min"


def _periods(report: CycleReport, width: int) -> Iterator[str]:
    shown = report.periods[-_MOST_PERIODS:]
    if len(shown) < len(report.periods):
        turns, most = [float(one.turns) for one in report.periods], min(width - 14, 60)
        yield f"the last {len(shown)} of {len(report.periods)} weeks"
        if most > 0:
            yield f"turns a week: {sparkline(turns[-most:])}"
    most_s = max(one.waiting_s + one.verifying_s + one.working_s for one in shown)
    if width:
        space = " " * (_DAY + _strip_cells(width))
        yield _fitting(width, f"{space}  turns", "   accepted", "     green", "      cost")
    for one in shown:
        if width:
            yield _row(one, most_s, width)
        elif not one.turns:
            yield f"{one.day}: no turn"
        else:
            green = f"{one.greens:,} of {one.verdicts:,} green" if one.verdicts else "no verdict"
            said = (f"{one.accepted:,} of {counted(one.hunks, 'hunk')} accepted", green)
            yield f"{one.day}: {', '.join((counted(one.turns, 'turn'), *said, dollars(one.usd)))}"
    if width and most_s:
        yield ", ".join(f"{mark} {words}" for mark, words in _STRIP)


def _row(one: Period, most_s: float, width: int) -> str:
    first = f"{one.day:<{_DAY}}{_strip(one, most_s, _strip_cells(width))}"
    if not one.turns:
        return f"{first}{'-':>{_TURNS}}"
    accepted = f"{one.accepted:,}/{one.hunks:,}"
    green = f"{one.greens:,}/{one.verdicts:,}" if one.verdicts else "-"
    first += f"{one.turns:>{_TURNS},}"
    return _fitting(width, first, f"{accepted:>11}", f"{green:>10}", f"{dollars(one.usd):>10}")


def _strip_cells(width: int) -> int:
    """How many there is room for beside the day and its turns."""
    return max(min(_STRIP_CELLS, width - _DAY - _TURNS), 0)


def _strip(one: Period, most_s: float, width: int) -> str:
    parts = (one.working_s, one.verifying_s, one.waiting_s)
    strip, ends = "", 0.0
    for (mark, _), value in zip(_STRIP, parts, strict=True):
        ends += value
        cells = round(ends / most_s * width) if most_s else 0
        strip += mark * (cells - len(strip))
    return f"{strip:<{width}}"


def _speeds(report: CycleReport, width: int) -> Iterator[str]:
    for one in report.paces[:_MOST_PACES]:
        where = " · ".join(filter(None, (one.model, one.endpoint, one.tier)))
        said = [counted(one.turns, "turn"), counted(one.tokens, "token"), dollars(one.usd)]
        yield f"{where}: {', '.join(said)}"
        yield f"  {_rates(one.tokens_s)}; {_firsts(one.ttft_s)}"
        yield from _load(one, drawn=width > 0)
    if len(report.paces) > _MOST_PACES:
        more = counted(len(report.paces) - _MOST_PACES, "other model")
        yield f"and {more}: duetto stats --json has all"


def _rates(spread: Spread) -> str:
    if spread.median is None:
        return "tokens/s not measured"
    slow = _slow(spread, lambda rate: f"{rate or 0:,.0f}", low=True)
    return ", ".join(filter(None, (f"{spread.median:,.0f} tokens/s", slow)))


def _firsts(spread: Spread) -> str:
    if spread.median is None:
        return "TTFT not measured"
    return ", ".join(filter(None, (f"TTFT {seconds(spread.median)}", _slow(spread, seconds))))


def _load(pace: Pace, *, drawn: bool) -> Iterator[str]:
    """Whether the rate held at all hours, where there are some to compare."""
    told = {
        hour: one.median
        for hour, one in pace.hours.items()
        if one.count >= _MANY and one.median is not None
    }
    if len(told) < 2 or not pace.tokens_s.median:
        return
    slowest = min(told, key=lambda hour: told[hour])
    share = told[slowest] / pace.tokens_s.median
    yield f"  slowest at {slowest}:00: {told[slowest]:,.0f} tokens/s, {share:.0%} of the median"
    if drawn:
        first, last = min(told), max(told)
        marks = sparkline([told.get(hour, 0.0) for hour in range(first, last + 1)])
        yield f"  by the hour: {first}:00 {marks} {last}:00"


def _felt(report: CycleReport) -> Iterator[str]:
    total = report.total
    for one in report.periods[-_MOST_PERIODS:]:
        if one.felt is not None:
            measured = "" if one.times is None else f", measured {times(one.times)}"
            yield f"{one.day}: felt {times(one.felt)} as fast{measured}"
    if total.times is not None:
        yield (
            f"measured: {times(total.times)} as fast as the same work with a model at"
            f" {GHOST_TOKENS_S:g} tokens/s"
        )


def _left_out(report: CycleReport) -> Iterator[str]:
    if report.untimed:
        words = "kept by an older duetto: without first token, first hunk and verdicts"
        yield f"{counted(report.untimed, 'turn')} {words}"
    if report.backwards:
        words = "less than no time: the clock was set back"
        yield f"{counted(report.backwards, 'interval')} of {words}"
    if report.ahead:
        yield f"{counted(report.ahead, 'turn')} dated after now: the clock was ahead"
    if report.unusable:
        have = "has" if report.unusable == 1 else "have"
        yield f"{counted(report.unusable, 'turn')} {have} no usable times or figures"
    if report.practice:
        yield f"{counted(report.practice, 'turn')} of the practice or a rehearsal"


def sparkline(values: Sequence[float]) -> str:
    """Bars from 0 to the highest."""
    most = max(values, default=0.0)
    if not most:
        return ""
    marks = (_SPARKS[min(int(one / most * 8), 7)] if one else " " for one in values)
    return "".join(marks)


def times(factor: float) -> str:
    """``1.3 times``, ``2 times``, ``0.05 times``."""
    return f"{factor:.{1 if factor >= 0.095 else 2}f}".removesuffix(".0") + " times"


def seconds(value: float | None) -> str:
    """``84 ms``, ``2.7 s``, ``14 s``, ``1 min 24 s``, ``12 min``, ``2 h 5 min``."""
    if value is None:
        return "unknown"
    if not value:
        return "0 s"
    if value < 0.9995:
        return f"{value * 1000:.0f} ms"
    if value < 59.5:
        return f"{value:.1f} s" if value < 9.95 else f"{value:.0f} s"
    if (whole := round(value)) < 600:
        return f"{whole // 60} min" + f" {whole % 60} s" * (whole % 60 > 0)
    minutes = round(value / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def as_lines(found: Iterable[StatsSection]) -> list[str]:
    """For a terminal: titles, and what is under them indented."""
    lines: list[str] = []
    for one in found:
        lines += [one.title, *(f"  {line}" for line in one.lines), ""]
    return lines[:-1]
