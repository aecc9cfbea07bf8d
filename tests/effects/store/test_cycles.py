"""Statistics of stored turns: recomputed from the records by a second, naive implementation."""

from __future__ import annotations

import errno
import math
import os
import sqlite3
import statistics
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.tables import case
from tui.core import cycles as core_cycles
from tui.core.cycles import (
    LEAST_TOKENS,
    MOST_DAYS,
    PAUSE_S,
    CycleReport,
    Loop,
    Pace,
    Spread,
)
from tui.core.document.hunk import Decision, Kind, Stage
from tui.core.session_record import (
    Began,
    Happened,
    HunkGone,
    HunkMade,
    HunksAre,
    Judged,
    Record,
    SessionKind,
    StoredRecord,
    TurnBegan,
    TurnEnded,
    TurnFigures,
)
from tui.core.wire.endpoint_facts import REHEARSAL
from tui.effects.store import cycles
from tui.effects.store.database import Database
from tui.effects.store.schema import FILE, MIGRATIONS
from tui.engine.stats_words import as_lines, sections
from tui.errors import StoreRefused

NOW_MS = 1_764_465_400_000
DAY_MS = 86_400_000


class At(NamedTuple):
    """A record and when it was made."""

    ms: int
    record: Record


class Kept(NamedTuple):
    """A session's beginning, and what followed."""

    began: Began
    records: list[At]


def put(folder: Path, sessions: Iterable[Kept]) -> None:
    """A store of these."""
    database = Database(folder)
    for number, one in enumerate(sessions):
        first = At(one.records[0].ms if one.records else NOW_MS, one.began)
        rows = [
            StoredRecord(seq, at.ms, 1.0, at.record)
            for seq, at in enumerate([first, *one.records], 1)
        ]
        assert database.take(f"{number:08}", rows)
    database.close()


def day_of(ms: int) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(ms / 1000))


def monday_of(day: str) -> str:
    then = date.fromisoformat(day)
    return (then - timedelta(days=then.weekday())).isoformat()


def hunk(number: int, turn: int, decision: Decision = Decision.PENDING) -> HunkMade:
    return HunkMade(number, turn, "c", "a.py", Kind.EDIT, Stage.LANDED, decision, 1, "old\n", "n\n")


def decided(*numbers: int, decision: Decision = Decision.ACCEPTED, by: str = "user") -> HunksAre:
    return HunksAre(numbers, Stage.LANDED, decision, author="auto" if by == "auto" else "user")


def turn(number: int, model: str = "quick-1", tier: str = "", endpoint: str = "main") -> TurnBegan:
    return TurnBegan(number, "fix it", "fast", model, endpoint, tier=tier)


def session(*records: tuple[float, Record], kind: SessionKind = "app") -> Kept:
    """Seconds after a moment a day ago, and what happened."""
    at = [At(NOW_MS - DAY_MS + int(s * 1000), record) for s, record in records]
    return Kept(Began("/projects/one", kind, "1"), at)


def found(folder: Path, *sessions: Kept, since_ms: int = NOW_MS - 7 * DAY_MS) -> CycleReport:
    put(folder, sessions)
    return cycles.measured(folder, since_ms, NOW_MS)


FIGURES = TurnFigures(
    tokens_in=100,
    tokens_out=1000,
    usd=0.5,
    ttft_s=0.1,
    tokens_s=1000.0,
    seconds=1.2,
    first_s=0.1,
    hunk_s=0.4,
)


def test_a_cycle_is_told_from_prompt_to_green(tmp_path: Path) -> None:
    told = found(
        tmp_path,
        session(
            (0, turn(1)),
            (1.2, TurnEnded(1, "completed", "quick-1-june", "priority", FIGURES)),
            (1.2, hunk(1, 1)),
            (1.2, hunk(2, 1)),
            (4.0, decided(1)),
            (6.0, decided(2)),
            (9.0, Judged(1, "", "failed", 2.0)),
            (31.2, turn(2)),
            (32.0, Happened(2, "redirect", "no")),
            (33.2, TurnEnded(2, "completed", figures=FIGURES)),
            (40.0, Judged(2, "", "passed", 3.0)),
        ),
    )
    assert (told.total.turns, told.completed, told.redirects) == (2, 2, 1)
    assert (told.total.hunks, told.total.accepted) == (2, 2)
    assert (told.total.verdicts, told.total.greens) == (2, 1)
    assert told.loop.decision == Spread(1, 4.0, 4.0)
    assert told.loop.accepted == Spread(1, 6.0, 6.0)
    assert told.loop.verdict.count == 2
    assert told.loop.green == Spread(1, 8.8, 8.8)
    assert (told.total.waiting_s, told.total.verifying_s) == (2.4, 5.0)
    assert told.total.working_s == 28.0  # without the 2 s of the tests, which are told beside it
    assert [(one.model, one.tier, one.turns) for one in told.paces] == [
        ("quick-1", "", 1),
        ("quick-1-june", "priority", 1),
    ]
    assert told.total.slower_s == pytest.approx(2 * (20.0 - 1.0))


def test_a_decision_that_was_taken_back_does_not_count(tmp_path: Path) -> None:
    told = found(
        tmp_path,
        session(
            (0, turn(1)),
            (1, hunk(1, 1)),
            (1, hunk(2, 1)),
            (2, decided(1)),
            (3, decided(1, decision=Decision.PENDING)),
            (4, decided(2, by="auto")),
            (5, HunkGone(1)),
        ),
    )
    assert (told.total.hunks, told.total.accepted, told.total.rejected) == (1, 1, 0)
    assert told.loop.decision == Spread()  # nobody decided: duetto did
    assert told.loop.accepted.count == 1


def test_a_clock_that_went_back_makes_no_interval_and_is_told(tmp_path: Path) -> None:
    told = found(
        tmp_path,
        session(
            (100, turn(1)),
            (101, TurnEnded(1, "completed", figures=FIGURES)),
            (101, hunk(1, 1)),
            (40, decided(1)),
            (50, turn(2)),
        ),
    )
    assert told.loop.decision == told.loop.accepted == Spread()
    assert told.total.working_s == 0
    assert told.backwards == 3
    assert told.total.accepted == 1


def test_turns_dated_ahead_and_practice_are_in_no_figure_and_told(tmp_path: Path) -> None:
    told = found(
        tmp_path,
        session((2 * 86_400, turn(1))),
        session((0, turn(1)), kind="practice"),
        session((0, turn(1, endpoint=REHEARSAL)), kind="exec"),
    )
    assert (told.total.turns, told.ahead, told.practice) == (0, 1, 2)


def test_a_model_that_was_connected_in_a_rehearsal_counts_from_then_on(tmp_path: Path) -> None:
    both = (0, turn(1, endpoint=REHEARSAL)), (1, hunk(1, 1)), (2, turn(2)), (3, hunk(2, 2))
    told = found(tmp_path, session(*both, (4, decided(1, 2)), kind="rehearsal"))
    assert (told.total.turns, told.practice) == (1, 1)
    assert len(cycles.past_turns(tmp_path)) == 1


LAST_MS = 253_402_300_799_000
"""Of the year 9999."""
ODD: dict[str, tuple[object, ...]] = {
    "seconds": (math.inf, -1.0, 1e300, "soon", b"\0"),
    "first_s": (math.inf, -0.5),
    "hunk_s": (math.inf, "soon"),
    "verify_s": (math.inf, -2.0, ""),
    "ttft_s": (math.inf, -0.5),
    "tokens_s": (math.inf, -1000.0, "fast"),
    "usd": (math.inf, -1e300, "dear"),
    "tokens_out": (2**62, -1, "many", 0.5),
    "hunks": (2**62, -3, "few"),
    "steers": (2**62, "x"),
    "ended_ms": (LAST_MS, 2**63 - 1, -(2**63), "later", 0.5),
    "verdict_ms": (LAST_MS, 2**63 - 1, -1, "later"),
    "accepted_ms": (2**63 - 1, math.inf),
    "began_ms": (0, -1, -(2**63), 1_000, "then", b""),
    "model": (b"\xff\0",),
}


def test_a_turn_of_odd_values_is_in_no_figure_and_told(tmp_path: Path) -> None:
    one = session((0, turn(1)), (1, TurnEnded(1, "completed", figures=FIGURES)), (2, hunk(1, 1)))
    expected = found(tmp_path / "right", one)
    put(tmp_path, [one, one])
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as base:
        query = f"SELECT {', '.join(ODD)} FROM turns WHERE session = 2"
        usual = dict(zip(ODD, base.execute(query).fetchone(), strict=True))
        for column, value in ((name, value) for name, values in ODD.items() for value in values):
            change = f"UPDATE turns SET {column} = ? WHERE session = 2"
            base.execute(change, (value,))
            told = cycles.measured(tmp_path, NOW_MS - 7 * DAY_MS, NOW_MS)
            with case(f"{column} = {value!r}"):
                assert told == replace(expected, unusable=1)
                assert as_lines(sections(told, 78))[-1].strip() == (
                    "1 turn has no usable times or figures"
                )
                for since_ms in (0, 1):
                    assert cycles.measured(tmp_path, since_ms, NOW_MS).unusable == 1
                assert cycles.past_turns(tmp_path) == []
            base.execute(change, (usual[column],))
    assert cycles.measured(tmp_path, 0, NOW_MS).total.turns == 2


def test_an_answer_from_a_clock_ahead_does_not_end_the_questions(tmp_path: Path) -> None:
    put(tmp_path, [session((0, turn(1)), (-999 * 86_400, Happened(0, "felt", "2")))])
    asked_ms = cycles.felt_ms(tmp_path)
    assert asked_ms == NOW_MS - 1000 * DAY_MS
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as base:
        for seq, ms in enumerate((LAST_MS, 2**63 - 1, "later"), 10):
            base.execute("INSERT INTO events VALUES (1, ?, 1, ?, 1.0, 'felt', '2')", (seq, ms))
    assert cycles.felt_ms(tmp_path) == asked_ms


def test_a_rate_near_zero_makes_no_figure_without_end(tmp_path: Path) -> None:
    slow = replace(FIGURES, tokens_s=1e-300)
    told = found(tmp_path, session((0, turn(1)), (1, TurnEnded(1, "completed", figures=slow))))
    assert (told.total.turns, told.total.slower_s, told.paces[0].tokens_s.count) == (1, 0.0, 0)


def test_of_a_fork_only_its_own_turns_count(tmp_path: Path) -> None:
    fork = Began("/projects/one", "app", "1", "00000000", 1)
    one = session((0, turn(1)), (10, turn(2)))
    assert found(tmp_path, one, Kept(fork, one.records)).total.turns == 3


def test_an_empty_store_has_no_figures(tmp_path: Path) -> None:
    told = cycles.measured(tmp_path, NOW_MS - 7 * DAY_MS, NOW_MS)
    assert (told.total.turns, told.loop, told.paces) == (0, Loop(), [])
    assert len(told.periods) == 8
    assert cycles.measured(tmp_path, 0, NOW_MS).total.turns == 0


def test_a_store_that_is_damaged_is_named_and_the_next_look_finds_a_new_one(
    tmp_path: Path,
) -> None:
    (tmp_path / FILE).write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 40)
    with pytest.raises(StoreRefused, match="is damaged: it is kept as store"):
        cycles.measured(tmp_path, 0, NOW_MS)
    assert cycles.measured(tmp_path, 0, NOW_MS).total.turns == 0


def test_where_nothing_can_be_written_the_way_out_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> int:
        raise OSError(errno.EROFS, "Read-only file system")  # root may write anywhere else

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(StoreRefused, match=r"Read-only file system; set DUETTO_HOME to a folder"):
        cycles.measured(tmp_path, 0, NOW_MS)


def test_a_store_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / FILE)
    with pytest.raises(StoreRefused, match="it is not a file"):
        cycles.measured(tmp_path, 0, NOW_MS)


def test_two_years_are_told_by_weeks(tmp_path: Path) -> None:
    first = session((-729 * 86_400, turn(1)), (0, turn(2)))
    told = found(tmp_path, first, since_ms=0)
    assert (told.days, told.total.turns) == (7, 2)
    assert 104 <= len(told.periods) <= 106
    assert (told.periods[0].turns, told.periods[-1].turns + told.periods[-2].turns) == (1, 1)


def test_figures_of_weeks_are_kept_and_made_anew_where_their_turns_change(tmp_path: Path) -> None:
    first = session((-60 * 86_400, turn(1)), (-60 * 86_400 + 9, hunk(1, 1)), (0, turn(2)))
    other = session((-70 * 86_400, turn(1)), (-60 * 86_400, turn(2)))
    assert found(tmp_path, first, other, since_ms=0).total.turns == 4
    assert kept_weeks(tmp_path) == 9
    later = [*first.records, At(NOW_MS, decided(1))]
    assert found(tmp_path, Kept(first.began, later), other, since_ms=0).total.accepted == 1
    database = Database(tmp_path)
    database.forget("00000001")
    database.close()
    assert kept_weeks(tmp_path) == 8  # nothing of what is forgotten stays
    assert cycles.measured(tmp_path, NOW_MS - 71 * DAY_MS, NOW_MS).total.turns == 2
    assert kept_weeks(tmp_path) == 9


def test_figures_that_cannot_be_read_are_counted_again(tmp_path: Path) -> None:
    first = session((-60 * 86_400, turn(1)), (-40 * 86_400, turn(2)), (0, turn(3)))
    assert found(tmp_path, first, since_ms=0).total.turns == 3
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as base:
        base.execute("UPDATE weeks SET figures = x'00ff'")
    assert cycles.measured(tmp_path, 0, NOW_MS).total.turns == 3


def test_an_answer_that_is_no_number_of_times_is_passed_over(tmp_path: Path) -> None:
    said = ("abc", "nan", "-1", "1e999", "2", "0")
    answers = ((n, Happened(0, "felt", words)) for n, words in enumerate(said))
    assert found(tmp_path, session((0, turn(1)), *answers)).total.felt == 2


def test_figures_of_weeks_are_made_anew_in_another_time_zone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for zone in ("UTC", "Asia/Kathmandu", "America/Los_Angeles", "UTC"):
        with monkeypatch.context() as patched:
            patched.setenv("TZ", zone)
            time.tzset()
            told = found(tmp_path, session((-59.5 * 86_400, turn(1)), (0, turn(2))), since_ms=0)
            assert told.total.turns == 2
            assert told.periods[0].day == day_of(NOW_MS - int(60.5 * DAY_MS))
            assert 7 <= kept_weeks(tmp_path) <= 9
    time.tzset()


def kept_weeks(folder: Path) -> int:
    with closing(sqlite3.connect(folder / FILE)) as base:
        count: int = base.execute("SELECT count(*) FROM weeks").fetchone()[0]
        return count


def test_an_older_store_is_read_and_what_it_lacks_is_told(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as base:
        for script in MIGRATIONS[:2]:
            base.executescript(script)
        base.execute("PRAGMA user_version = 2")
        base.execute("INSERT INTO sessions (n, id) VALUES (1, 'older')")
        base.execute(
            "INSERT INTO turns (session, number, seq, began_ms, ended_ms, role, model, endpoint,"
            " outcome, tokens_out, tokens_s, began, ended) VALUES (1, 1, 2, ?, ?, 'fast',"
            " 'quick-1', 'main', 'completed', 900, 800.0, '[\"TurnBegan\",1,\"do it\"]', ?)",
            (
                NOW_MS - DAY_MS,
                NOW_MS - DAY_MS + 2000,
                '["TurnEnded",1,"completed","quick-1-june","flex",'
                "[10,900,0,false,null,0.2,800.0,1.5,0.0,1.4,910]]",
            ),
        )
        base.execute(
            "INSERT INTO hunks VALUES (1, 1, 3, 1, 'c', 'a.py', 'landed', 'accepted', '', '',"
            " 'user', ?1, ?1 + 500, 0, '')",
            (NOW_MS - DAY_MS + 1000,),
        )
        base.execute(
            "INSERT INTO events VALUES (1, 4, 1, ?, 1.0, 'interrupt', '')", (NOW_MS - DAY_MS,)
        )
    told = cycles.measured(tmp_path, NOW_MS - 7 * DAY_MS, NOW_MS)
    assert (told.total.turns, told.untimed, told.interrupts, told.total.accepted) == (1, 1, 1, 1)
    assert told.loop.decision == Spread(1, 1.5, 1.5)
    assert told.loop.first_hunk == Spread()
    assert told.total.waiting_s == 1.5
    assert [(one.model, one.tier) for one in told.paces] == [("quick-1-june", "flex")]
    assert [one.kind for one in cycles.past_turns(tmp_path)] == ["short prompts"]


KINDS = st.sampled_from(["app", "app", "linear", "exec", "practice"])
STEPS = st.integers(-20_000, 900_000)
"""Milliseconds to the next record: the clock may go back, the user may be away."""
TIMES = st.floats(0.01, 100.0).map(lambda s: round(s, 3))
MAYBE = st.none() | TIMES
LONGEST = 40
SPANS = st.sampled_from([7, 12, LONGEST])
"""Days; more than three weeks are told by weeks."""
RATES = st.none() | st.floats(1.0, 4_000.0).map(lambda rate: round(rate, 1))


@st.composite
def random_records(draw: st.DrawFn) -> Kept:
    """A session as no session is."""
    ms = NOW_MS - draw(st.integers(0, LONGEST * DAY_MS))
    records, hunks = list[At](), 0

    def then(record: Record) -> None:
        nonlocal ms
        ms += draw(STEPS)
        records.append(At(ms, record))

    for number in range(1, draw(st.integers(0, 4)) + 1):
        endpoint = draw(st.sampled_from(["main", "main", REHEARSAL]))
        then(turn(number, draw(st.sampled_from(["quick-1", "deep-1"])), "asked", endpoint))
        for _ in range(draw(st.integers(0, 5))):
            match draw(st.integers(0, 4)):
                case 0:
                    hunks += 1
                    then(hunk(hunks, draw(st.integers(1, number))))
                case 1 if hunks:
                    decision = draw(st.sampled_from(Decision))
                    by = draw(st.sampled_from(["user", "auto"]))
                    then(decided(draw(st.integers(1, hunks)), decision=decision, by=by))
                case 2:
                    what = draw(st.sampled_from(["interrupt", "redirect", "steer", "answer"]))
                    then(Happened(number, what, "some words"))
                case _:
                    verdict = draw(st.sampled_from(["passed", "failed", "same"]))
                    command = draw(st.sampled_from(["", "", "ruff check"]))
                    then(Judged(number, command, verdict, draw(TIMES)))
        if draw(st.booleans()):
            figures = TurnFigures(
                tokens_out=draw(st.integers(0, 3_000)),
                usd=draw(MAYBE),
                ttft_s=draw(MAYBE),
                tokens_s=draw(RATES),
                seconds=draw(TIMES),
                first_s=draw(MAYBE),
                hunk_s=draw(MAYBE),
            )
            outcome = draw(st.sampled_from(["completed", "interrupted", "failed"]))
            served = draw(st.sampled_from(["", "served-1"]))
            then(TurnEnded(number, outcome, served, draw(st.sampled_from(["", "flex"])), figures))
    return Kept(Began("/one", draw(KINDS), "1"), records)


class Naive:
    """The same figures, each looked for in all records by itself."""

    def __init__(self, sessions: list[Kept], since_ms: int) -> None:
        self.turns = [
            (one, at.record, at.ms)
            for one in sessions
            for at in one.records
            if isinstance(at.record, TurnBegan)
            and one.began.kind != "practice"
            and at.record.endpoint != REHEARSAL
            if since_ms <= at.ms <= NOW_MS
        ]
        self.backwards = 0

    def ended(self, one: Kept, number: int) -> tuple[TurnEnded, int] | None:
        for at in one.records:
            if isinstance(at.record, TurnEnded) and at.record.number == number:
                return at.record, at.ms
        return None

    def happened(self, what: str) -> int:
        """How often it did in these turns."""
        return sum(
            isinstance(at.record, Happened)
            and (at.record.what, at.record.turn) == (what, began.number)
            for one, began, _ in self.turns
            for at in one.records
        )

    def verified_s(self, turns: Iterable[tuple[Kept, TurnBegan, int]] = ()) -> float:
        return sum(
            at.record.seconds
            for one, began, _ in turns or self.turns
            for at in one.records
            if isinstance(at.record, Judged)
            and (at.record.turn, at.record.command) == (began.number, "")
        )

    def hunks(self, one: Kept, number: int) -> Iterator[tuple[Decision, str, int]]:
        """Decision, who made it, when."""
        for made in one.records:
            if isinstance(made.record, HunkMade) and made.record.turn == number:
                now, by, ms = made.record.decision, "", 0
                for at in one.records:
                    if isinstance(at.record, HunksAre) and made.record.id in at.record.ids:
                        now, by, ms = at.record.decision, at.record.author, at.ms
                yield now, by, ms

    def since_prompt(self, moments: Iterable[tuple[int, int]]) -> list[float]:
        found = [(then - ms) / 1000 for then, ms in moments]
        self.backwards += sum(s < 0 for s in found)
        return sorted(s for s in found if s >= 0)

    def decisions(self) -> Iterator[tuple[int, int]]:
        for one, began, ms in self.turns:
            by_user = [
                at
                for decision, by, at in self.hunks(one, began.number)
                if by == "user" and decision is not Decision.PENDING
            ]
            if by_user:
                yield min(by_user), ms

    def acceptances(self) -> Iterator[tuple[int, int]]:
        for one, began, ms in self.turns:
            taken = [at for d, _, at in self.hunks(one, began.number) if d is Decision.ACCEPTED]
            if taken:
                yield max(taken), ms

    def verdicts(self, wanted: tuple[str, ...]) -> Iterator[tuple[int, int]]:
        """The first of each turn."""
        for kept, began, ms in self.turns:
            found = [
                at.ms
                for at in kept.records
                if isinstance(at.record, Judged) and at.record.verdict in wanted
                if (at.record.turn, at.record.command) == (began.number, "")
            ]
            yield from ((then, ms) for then in found[:1])

    def worked_s(self) -> float:
        total = 0.0
        for one, began, ms in self.turns:
            for other, before, before_ms in self.turns:
                if other is one and before.number + 1 == began.number:
                    if day_of(before_ms) != day_of(ms):
                        continue
                    over = self.ended(one, before.number)
                    if before_ms > ms or (over is not None and over[1] > ms):
                        continue
                    if over is None:
                        continue
                    worked = (ms - over[1]) / 1000 - self.verified_s([(one, before, before_ms)])
                    total += worked if 0 <= worked <= PAUSE_S else 0
        return total

    def figures(self) -> list[tuple[TurnBegan, TurnEnded]]:
        over = [(began, self.ended(one, began.number)) for one, began, _ in self.turns]
        return [(began, ended[0]) for began, ended in over if ended is not None]

    def paces(self) -> dict[tuple[str, str], tuple[int, int, list[float]]]:
        found: dict[tuple[str, str], tuple[int, int, list[float]]] = {}
        for one, began, _ in self.turns:
            over = self.ended(one, began.number)
            if over is None:
                continue
            ended = over[0]
            key = (ended.served_model or began.model, ended.served_tier)
            turns, tokens, rates = found.get(key, (0, 0, []))
            rate, out = ended.figures.tokens_s, ended.figures.tokens_out
            rates = [*rates, rate] if rate and out >= LEAST_TOKENS else rates
            found[key] = turns + 1, tokens + out, rates
        return found


def about(values: list[float], told: Spread, *, low: bool = False) -> None:
    """The spread of these values."""
    assert told.count == len(values)
    if not values:
        assert told == Spread()
        return
    assert told.median == pytest.approx(statistics.median(values))
    assert told.slow is not None
    slower = sum(one < told.slow if low else one > told.slow for one in values)
    assert slower <= len(values) / 10
    assert told.slow in values


@given(st.lists(st.floats(0, 100) | st.sampled_from([1.0, 2.0])), st.booleans())
def test_many_values_lie_where_few_do_though_they_are_sorted_bit_by_bit(
    values: list[float], low: bool
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(core_cycles, "_SORTED_AT_ONCE", 3)
        about(values, core_cycles.spread(values, low=low), low=low)


@settings(max_examples=20, deadline=None)
@given(st.lists(random_records(), max_size=3), SPANS, st.floats(0, 1))
def test_all_figures_are_those_of_a_naive_count(
    tmp_path_factory: pytest.TempPathFactory, sessions: list[Kept], span: int, share: float
) -> None:
    """Also where a part of it is stored after the first question, which has weeks kept."""
    folder, since_ms = tmp_path_factory.mktemp("store"), NOW_MS - span * DAY_MS
    found(folder, *(Kept(b, r[: int(share * len(r))]) for b, r in sessions), since_ms=since_ms)
    told, naive = found(folder, *sessions, since_ms=since_ms), Naive(sessions, since_ms)
    over = naive.figures()
    loop = told.loop
    about([s for _, e in over if (s := e.figures.first_s) is not None], loop.first_token)
    about([s for _, e in over if (s := e.figures.hunk_s) is not None], loop.first_hunk)
    about([e.figures.seconds for _, e in over], loop.answered)
    about(naive.since_prompt(naive.decisions()), loop.decision)
    about(naive.since_prompt(naive.acceptances()), loop.accepted)
    about(naive.since_prompt(naive.verdicts(("passed", "failed", "same"))), loop.verdict)
    about(naive.since_prompt(naive.verdicts(("passed",))), loop.green)
    assert told.backwards >= naive.backwards
    total = told.total
    assert total.turns == len(naive.turns)
    assert [told.completed, told.interrupted, told.failed] == [
        sum(ended.outcome == outcome for _, ended in over)
        for outcome in ("completed", "interrupted", "failed")
    ]
    assert [told.interrupts, told.redirects, told.steers] == [
        naive.happened(what) for what in ("interrupt", "redirect", "steer")
    ]
    hunks = [one for kept, began, _ in naive.turns for one in naive.hunks(kept, began.number)]
    assert (total.hunks, total.accepted, total.rejected) == (
        len(hunks),
        sum(decision is Decision.ACCEPTED for decision, *_ in hunks),
        sum(decision is Decision.REJECTED for decision, *_ in hunks),
    )
    assert total.waiting_s == pytest.approx(sum(ended.figures.seconds for _, ended in over))
    assert total.verifying_s == pytest.approx(naive.verified_s())
    assert total.working_s == pytest.approx(naive.worked_s())
    assert total.usd == pytest.approx(sum(ended.figures.usd or 0 for _, ended in over))
    assert told.unpriced == sum(e.figures.usd is None and e.figures.tokens_out > 0 for _, e in over)
    by_day = {period.day: period.turns for period in told.periods if period.turns}
    first, days = day_of(since_ms), [day_of(ms) for *_, ms in naive.turns]
    if span > MOST_DAYS:
        days = [max(first, monday_of(day)) for day in days]
    assert by_day == {day: days.count(day) for day in days}
    paces = naive.paces()
    assert {(one.model, one.tier) for one in told.paces} == set(paces)
    for one in told.paces:
        turns, tokens, rates = paces[one.model, one.tier]
        assert (one.turns, one.tokens) == (turns, tokens)
        about(rates, one.tokens_s, low=True)
        assert sum(told.count for told in one.hours.values()) == len(rates)
    assert math.isfinite(total.slower_s)


def test_turns_of_models_are_told_slowest_hour_by_hour(tmp_path: Path) -> None:
    slow = TurnFigures(tokens_out=100, tokens_s=100.0, seconds=1.0)
    told = found(
        tmp_path,
        session(
            (0, turn(1)),
            (1, TurnEnded(1, "completed", figures=FIGURES)),
            (3 * 3600, turn(2)),
            (3 * 3600 + 1, TurnEnded(2, "completed", figures=slow)),
        ),
    )
    [pace] = told.paces
    assert isinstance(pace, Pace)
    hours = [time.localtime((NOW_MS - DAY_MS) / 1000 + s).tm_hour for s in (0, 3 * 3600)]
    assert {hour: one.median for hour, one in pace.hours.items()} == dict(
        zip(hours, (1000.0, 100.0), strict=True)
    )
