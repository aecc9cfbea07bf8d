"""What the store knows of the user's own cycles, for statistics; see `tui.core.cycles`."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tui.core.cycles import Cycle, CycleReport, Place, report
from tui.core.proposals import JudgedTurn, past_turn
from tui.effects.store.reading import open_store

_COLUMNS = ", ".join(Cycle._fields)
_QUERY = f"""
    SELECT {_COLUMNS} FROM turns WHERE began_ms >= ? AND began_ms <= ?
        ORDER BY began_ms, session, number
"""
_QUARTER_S = 900
"""Wherever one is, days and hours begin with a quarter of an hour."""
_MOST_PAST = 2000
"""Turns from which proposals are made."""
_FELT = """
    SELECT ms, detail FROM events WHERE what = 'felt' AND detail != '' AND ms BETWEEN ? AND ?
        ORDER BY ms
"""
_PRACTICE = ("practice", "rehearsal")


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
    now_ms = until_ms or _now_ms()
    with open_store(data_dir) as base:
        known = _OwnTurns(base)
        if since_ms <= 0:
            first = base.execute("SELECT min(began_ms) FROM turns WHERE began_ms > 0").fetchone()[0]
            since_ms = min(first or now_ms, now_ms)
        answers = base.execute(_FELT, (since_ms, now_ms)).fetchall()
        found = report(
            known.counted(since_ms, now_ms),
            since_ms,
            now_ms,
            _local_place(),
            [(ms, float(times)) for ms, times in answers],
        )
        found.practice = known.practice
        ahead = "SELECT count(*) FROM turns WHERE began_ms > ?"
        found.ahead = base.execute(ahead, (now_ms,)).fetchone()[0]
    return found


def felt_ms(data_dir: Path) -> int:
    """When the user was last told or asked how fast it felt; 0: never. Raises StoreRefused."""
    with open_store(data_dir) as base:
        row = base.execute("SELECT max(ms) FROM events WHERE what = 'felt'").fetchone()
        return row[0] or 0


class _OwnTurns:
    """Which turns count: none of the practice's, and of a fork only its own."""

    def __init__(self, base: sqlite3.Connection) -> None:
        self._base = base
        marks = ", ".join("?" * len(_PRACTICE))
        query = f"SELECT n FROM sessions WHERE kind IN ({marks})"
        self._practice = {n for (n,) in base.execute(query, _PRACTICE)}
        forks = "SELECT n, parent_turn FROM sessions WHERE parent != ''"
        self._taken_over: dict[int, int] = dict(base.execute(forks).fetchall())
        self.practice = 0

    def counted(self, since_ms: int, until_ms: int) -> Iterator[Cycle]:
        """Those from then to then, in the order in which they began."""
        practice, taken_over = self._practice, self._taken_over
        for one in map(Cycle._make, self._base.execute(_QUERY, (since_ms, until_ms))):
            if one.session in practice:
                self.practice += 1
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
