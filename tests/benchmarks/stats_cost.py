"""What the statistics of a store of two years and a million rows cost.

Run ``python -m tests.benchmarks stats_cost [--quick]``. `BUDGETS` says what is allowed, for a week
(what ``/stats`` shows) and for all; exit status 1: something is beyond it. The query runs in a
thread: the longest pause of an event loop beside it is what the query worked between two of the
loop's turns, so that other programs of the machine are not in it. The figures of the weeks that are
over are made before, as a session's thread does behind its start; what that takes is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from tui.effects.store import cycles
from tui.effects.store.database import Database
from tui.effects.store.schema import FILE

BUDGETS = {
    "s of processor time of the statistics of a week": 0.3,
    "s of processor time of the statistics of two years": 0.3,
    "ms of the longest pause of the event loop beside a week's": 8.0,
    "ms of the longest pause of the event loop beside two years'": 8.0,
}
TURNS = 100_000
"""Beside each stand three hunks, four events and two verdicts: 1,000,000 rows."""
DAYS = 730
DAY_MS = 86_400_000
_COLUMNS = (
    "session, number, seq, began_ms, ended_ms, role, model, endpoint, outcome, tokens_in,"
    " tokens_out, usd, ttft_s, tokens_s, began, ended, served, tier, seconds, first_s, hunk_s,"
    " verify_s, verdict_ms, green_ms, decided_ms, accepted_ms, hunks, accepted, rejected,"
    " interrupts, redirects, steers, timed"
)


def made(folder: Path, turns: int) -> int:
    """A store with so many turns over two years, all of it as the intake writes it; its rows."""
    database, dice, now_ms = Database(folder), random.Random(5), int(time.time() * 1000)
    with database.changing() as base:
        base.executemany(
            "INSERT INTO sessions (n, id, kind) VALUES (?, ?, 'app')",
            ((n, f"{n:08}") for n in range(1, turns // 50 + 2)),
        )
        marks = ", ".join("?" * len(_COLUMNS.split(",")))
        base.executemany(
            f"INSERT INTO turns ({_COLUMNS}) VALUES ({marks})",
            (_turn(number, turns, now_ms, dice) for number in range(turns)),
        )
        base.executemany(
            "INSERT INTO hunks VALUES (?, ?, 1, ?, 'c', 'a.py', 'landed', 'accepted', '', '',"
            " 'user', 1, 2, 0, '')",
            ((n // 50 + 1, 3 * n + k, n % 50 + 1) for n in range(turns) for k in range(3)),
        )
        base.executemany(
            "INSERT INTO events VALUES (?, ?, ?, 1, 1.0, 'reserved', '0.1')",
            ((n // 50 + 1, 4 * n + k, n % 50 + 1) for n in range(turns) for k in range(4)),
        )
        base.executemany(
            "INSERT INTO verdicts VALUES (?, ?, ?, 1, 'pytest', 'passed', 1.0, NULL)",
            ((n // 50 + 1, 2 * n + k, n % 50 + 1) for n in range(turns) for k in range(2)),
        )
    database.close()
    with closing(sqlite3.connect(folder / FILE)) as base:
        tables = ("turns", "hunks", "events", "verdicts")
        return sum(base.execute(f"SELECT count(*) FROM {one}").fetchone()[0] for one in tables)


def _turn(number: int, turns: int, now_ms: int, dice: random.Random) -> tuple[object, ...]:
    began_ms = now_ms - (turns - number) * DAYS * DAY_MS // turns
    model = f"quick-{number * 8 // turns}"  # it is renamed every quarter of a year
    rate, seconds = dice.uniform(300, 1_500), dice.uniform(0.5, 20.0)
    served, tier = f"{model}-june", dice.choice(("", "priority"))
    return (
        *(number // 50 + 1, number % 50 + 1, 1, began_ms, began_ms + int(seconds * 1000)),
        *("fast", model, "main", "completed", 8_000, dice.randint(10, 3_000), 0.004),
        *(dice.uniform(0.05, 0.5), rate, '["TurnBegan",1,"do it"]', '["TurnEnded",1]'),
        *(served, tier, seconds, dice.uniform(0.1, 1.0), dice.uniform(0.2, 2.0), 1.5),
        *(began_ms + 30_000, began_ms + 60_000, began_ms + 25_000, began_ms + 40_000),
        *(3, 3, 0, dice.randint(0, 1), 0, 0, 1),
    )


def seconds_of(folder: Path, since_ms: int, rounds: int) -> float:
    """The median of so many."""
    taken = []
    for _ in range(rounds):
        began_s = time.process_time()
        found = cycles.measured(folder, since_ms)
        taken.append(time.process_time() - began_s)
        assert found.total.turns
    return statistics.median(taken)


async def longest_pause_ms(folder: Path, since_ms: int) -> float:
    """Of an event loop that has nothing else to do than to look at the clock."""
    query = asyncio.ensure_future(asyncio.to_thread(cycles.measured, folder, since_ms))
    longest, before = 0.0, time.process_time() - time.thread_time()
    while not query.done():
        await asyncio.sleep(0.001)
        now = time.process_time() - time.thread_time()
        longest, before = max(longest, now - before), now
    return 1000 * longest


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    quick = parser.parse_args(arguments).quick
    week_ms = int(time.time() * 1000) - 7 * DAY_MS
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        print(f"{made(folder, TURNS // 10 if quick else TURNS):,} rows", flush=True)
        began_s = time.process_time()
        with closing(Database(folder)) as database:
            cycles.keep_weeks(database, lambda: False)
        print(f"{time.process_time() - began_s:.1f} s for the weeks that are over, once")
        values = (
            seconds_of(folder, week_ms, 5),
            seconds_of(folder, 0, 3),
            *(
                statistics.median(asyncio.run(longest_pause_ms(folder, since)) for _ in range(5))
                for since in (week_ms, 0)
            ),
        )
    over = False
    for (name, most), value in zip(BUDGETS.items(), values, strict=True):
        over |= value > most
        print(f"{name}: {value:.3f} (at most {most:g}){'  BEYOND' * (value > most)}", flush=True)
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
