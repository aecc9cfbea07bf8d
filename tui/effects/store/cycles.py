"""What the store knows of the user's own cycles, for statistics; see `tui.core.cycles`.

Of each week that is over its figures are kept, so that years are not read again for each question.
What changes a turn, or deletes it, takes the figures of its week out: triggers of the schema do.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from tui.core.cycles import (
    EARLIEST_MS,
    Cycle,
    CycleReport,
    CycleTally,
    Place,
    WeekFigures,
    first_days,
    report,
)
from tui.core.proposals import JudgedTurn, past_turn
from tui.core.typed_data import msgpack_decoder
from tui.core.wire.endpoint_facts import REHEARSAL
from tui.effects.store.database import Database
from tui.effects.store.reading import open_store
from tui.errors import StoreRefused

_COLUMNS = ", ".join(Cycle._fields)
_QUERY = f"""
    SELECT {_COLUMNS} FROM turns WHERE began_ms >= ? AND began_ms <= ?
        ORDER BY began_ms, session, number
"""
_AHEAD = "SELECT count(*) FROM turns WHERE began_ms > ? AND began_ms < ''"
"""As SQLite sorts, numbers are before texts."""
_UNDATED = f"SELECT count(*) FROM turns WHERE began_ms < {EARLIEST_MS} OR began_ms >= ''"
_QUARTER_S = 900
"""Wherever one is, days and hours begin with a quarter of an hour."""
_MOST_PAST = 2000
"""Turns from which proposals are made."""
_FELT = """
    SELECT ms, CAST(detail AS REAL) FROM events WHERE what = 'felt' AND ms BETWEEN ? AND ?
        AND CAST(detail AS REAL) BETWEEN 0.01 AND 100 ORDER BY ms
"""
_KEEPING_S = 0.2
"""So long other duettos may wait while figures of weeks are made."""
_packing, _unpacking = msgspec.msgpack.Encoder(), msgpack_decoder(WeekFigures)


class _Week(NamedTuple):
    """From a Monday to the next one, as milliseconds of when they begin here."""

    day: str
    began_ms: int
    until_ms: int


def past_turns(data_dir: Path) -> list[JudgedTurn]:
    """The newest turns that somebody or something judged, the newest first. Raises StoreRefused."""
    with open_store(data_dir) as base:
        newest = "SELECT began_ms FROM turns ORDER BY began_ms DESC LIMIT 1 OFFSET ?"
        row = base.execute(newest, (_MOST_PAST,)).fetchone()
        text = "SELECT json_extract(began, '$[2]') FROM turns WHERE session = ? AND number = ?"
        role = "SELECT detail FROM events WHERE what = 'proposed' AND session = ? AND turn = ?"
        found = list[JudgedTurn]()
        for one in _OwnTurns(base).counted(row[0] if row else 0, _now_ms()):
            if one.hunks or one.verdict_ms is not None:
                place = (one.session, one.number)
                prompt, advice = (base.execute(query, place).fetchone() for query in (text, role))
                if turn := past_turn(one, prompt[0] or "", advice[0] if advice else ""):
                    found.append(turn)
        return found[::-1]


def measured(data_dir: Path, since_ms: int, until_ms: int = 0) -> CycleReport:
    """The statistics from then on, for a thread. Raises StoreRefused."""
    now_ms, place = until_ms or _now_ms(), _local_place()
    with open_store(data_dir) as base:
        since_ms = max(since_ms, EARLIEST_MS) if since_ms > 0 else _first_ms(base, now_ms)
        starts, days = first_days(since_ms, now_ms, place)
        weeks = _whole_weeks(starts, since_ms, now_ms, place) if days > 1 else []
        missing = _missing(base, weeks)
    if missing:
        with suppress(StoreRefused), closing(Database(data_dir)) as database:
            _keep(database, missing, place)
    with open_store(data_dir) as base:
        base.execute("BEGIN")  # what follows is of one moment
        known, tally, at_ms = _OwnTurns(base), CycleTally(starts, place), since_ms
        for week in weeks:
            if (kept := _kept(base, week)) is not None:
                known.add(tally, at_ms, week.began_ms - 1)
                tally.take(kept)
                at_ms = week.until_ms
        known.add(tally, at_ms, now_ms)
        felt = base.execute(_FELT, (since_ms, now_ms)).fetchall()
        found = report(tally, since_ms, now_ms, days, felt)
        found.ahead = base.execute(_AHEAD, (now_ms,)).fetchone()[0]
        found.unusable += base.execute(_UNDATED).fetchone()[0]
    return found


def keep_weeks(database: Database, enough: Callable[[], bool]) -> None:
    """Make the figures of all weeks that are over, until it is enough. Raises StoreRefused."""
    now_ms, place = _now_ms(), _local_place()
    with database.changing() as base:
        starts, days = first_days(_first_ms(base, now_ms), now_ms, place)
        missing = _missing(base, _whole_weeks(starts, 0, now_ms, place) if days > 1 else [])
    _keep(database, missing, place, enough)


def _first_ms(base: sqlite3.Connection, now_ms: int) -> int:
    first = f"SELECT min(began_ms) FROM turns WHERE began_ms >= {EARLIEST_MS}"
    return min(base.execute(first).fetchone()[0] or now_ms, now_ms)


def _whole_weeks(starts: list[str], since_ms: int, until_ms: int, place: Place) -> list[_Week]:
    """Those that begin with these days, as far as they lie between then and then."""
    found = []
    for first in map(date.fromisoformat, starts):
        began, until = (_midnight_ms(first + timedelta(days=n), place) for n in (0, 7))
        if began and until and since_ms <= began and until <= until_ms and first.weekday() == 0:
            found.append(_Week(first.isoformat(), began, until))
    return found


def _midnight_ms(day: date, place: Place) -> int:
    """When a day begins here; 0: it does not do so with a quarter of an hour."""
    ms = int(time.mktime(day.timetuple()) * 1000)
    return ms if place(ms - 1)[0] < day.isoformat() == place(ms)[0] else 0


def _missing(base: sqlite3.Connection, weeks: list[_Week]) -> list[_Week]:
    there = set(base.execute("SELECT began_ms, until_ms FROM weeks")) if weeks else set()
    return [one for one in weeks if one[1:] not in there]


def _keep(
    database: Database,
    weeks: list[_Week],
    place: Place,
    enough: Callable[[], bool] = lambda: False,
) -> None:
    """Make the figures of these weeks."""
    waiting = weeks[::-1]
    while waiting and not enough():
        with database.changing() as base:
            known, until_s = _OwnTurns(base), time.monotonic() + _KEEPING_S
            while waiting and time.monotonic() < until_s:
                week = waiting.pop()
                tally = CycleTally([week.day], place)
                known.add(tally, week.began_ms, week.until_ms - 1)
                overlap = "DELETE FROM weeks WHERE began_ms < ? AND until_ms > ?"  # other zones'
                base.execute(overlap, (week.until_ms, week.began_ms))
                row = (week.began_ms, week.until_ms, _packing.encode(tally.week()))
                base.execute("INSERT INTO weeks VALUES (?, ?, ?)", row)


def _kept(base: sqlite3.Connection, week: _Week) -> WeekFigures | None:
    query = "SELECT figures FROM weeks WHERE began_ms = ? AND until_ms = ?"
    row = base.execute(query, week[1:]).fetchone()
    try:
        return _unpacking.decode(row[0]) if row else None
    except (msgspec.MsgspecError, TypeError):
        return None  # damaged: its turns are counted


def felt_ms(data_dir: Path) -> int:
    """When the user was last told or asked how fast it felt; 0: never. Raises StoreRefused."""
    with open_store(data_dir) as base:
        query = "SELECT max(ms) FROM events WHERE what = 'felt' AND ms BETWEEN 0 AND ?"
        return base.execute(query, (_now_ms(),)).fetchone()[0] or 0


class _OwnTurns:
    """Which turns count: none of the practice or a rehearsal, and of a fork only its own."""

    def __init__(self, base: sqlite3.Connection) -> None:
        self._base = base
        query = "SELECT n FROM sessions WHERE kind = 'practice'"
        self._practice = {n for (n,) in base.execute(query)}
        forks = "SELECT n, parent_turn FROM sessions WHERE parent != ''"
        self._taken_over: dict[int, int] = dict(base.execute(forks).fetchall())
        self._passed_over = dict.fromkeys(("practice", "unusable"), 0)

    def add(self, tally: CycleTally, since_ms: int, until_ms: int) -> None:
        """Those from then to then."""
        for one in self.counted(since_ms, until_ms):
            tally.add(one)
        for name, count in self._passed_over.items():
            tally.counts[name] += count

    def counted(self, since_ms: int, until_ms: int) -> Iterator[Cycle]:
        """Those from then to then, in the order in which they began."""
        practice, taken_over = self._practice, self._taken_over
        self._passed_over = passed_over = dict.fromkeys(("practice", "unusable"), 0)
        for one in map(Cycle.read, self._base.execute(_QUERY, (since_ms, until_ms))):
            if one is None:
                passed_over["unusable"] += 1
            elif one.session in practice or one.endpoint == REHEARSAL:
                passed_over["practice"] += 1
            elif one.number > taken_over.get(one.session, 0):
                yield one


def _local_place() -> Place:
    """Days and hours by the clock of this machine."""

    @cache
    def of_quarter(quarter: int) -> tuple[str, int]:
        then = time.localtime(quarter * _QUARTER_S)
        return time.strftime("%Y-%m-%d", then), then.tm_hour

    return lambda ms: of_quarter(ms // (_QUARTER_S * 1000))


def _now_ms() -> int:
    return int(time.time() * 1000)
