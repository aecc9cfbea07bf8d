"""The statistics in words, and from when on they are told."""

from __future__ import annotations

from datetime import datetime

import pytest

from tests.support.tables import case
from tui.core.cycles import Cycle, CycleReport, CycleTally, first_days, report
from tui.engine.stats_words import (
    SINCE_WORDS,
    as_lines,
    seconds,
    sections,
    since_asked,
    sparkline,
    times,
)

NOW = datetime(2026, 11, 29, 14, 30)


@pytest.mark.parametrize(
    ("words", "since"),
    [
        ("", datetime(2026, 11, 23)),
        ("7d", datetime(2026, 11, 23)),
        ("1D", datetime(2026, 11, 29)),
        ("2w", datetime(2026, 11, 16)),
        ("12h", datetime(2026, 11, 29, 2, 30)),
        ("today", datetime(2026, 11, 29)),
        (" 2026-11-01 ", datetime(2026, 11, 1)),
    ],
)
def test_from_when_on(words: str, since: datetime) -> None:
    assert since_asked(words, NOW) == int(since.timestamp() * 1000)


def test_a_wrong_time_says_what_can_be_said() -> None:
    assert since_asked("all", NOW) == 0
    for words in ("foo", "2026-02-31", "0d", "-3d", "7", "d", "99999d", "1e3h", "2026-11-30"):
        with case(words):
            said = since_asked(words, NOW)
            assert isinstance(said, str)
            assert said.endswith(f"say {SINCE_WORDS}.")


def place(ms: int) -> tuple[str, int]:
    """Days as they are in UTC."""
    return f"1970-01-{1 + ms // 86_400_000:02}", ms // 3_600_000 % 24


def cycle(number: int, hour: int, tokens_s: float = 1_000.0, *, waits: bool = False) -> Cycle:
    began = hour * 3_600_000 + number * 1000
    return Cycle(
        *(began, began + 2_000, "completed", "fast", "quick-1", "quick-1-june", "main", "priority"),
        *(1_000, 0.25, 0.1, tokens_s, 2.0, 0.1, 0.5, 3.0, began + 9_000, None),
        *(None if waits else began + 5_000, None if waits else began + 6_000, 2, 2 - 2 * waits, 0),
        *(1, 2, 0, 1, 1, number),
    )


def told(*cycles: Cycle, felt: float | None = None) -> CycleReport:
    answers = [] if felt is None else [(1_000, felt)]
    starts, days = first_days(1, 86_400_000 * 2 - 1, place)
    tally = CycleTally(starts, place)
    for one in cycles:
        tally.add(one)
    return report(tally, 1, 86_400_000 * 2 - 1, days, answers)


def test_of_years_of_answers_the_last_weeks_are_told() -> None:
    starts = [f"{1900 + n}-01-01" for n in range(100)]
    tally = CycleTally(starts, place)
    tally.add(cycle(1, 9))
    for period in tally.periods:
        period.felt = 2.0
    found = sections(report(tally, 1, 2, 7), 0)
    lines = next(one.lines for one in found if one.title == "How much faster it felt")
    assert len(lines) <= 25
    assert lines[0] == "1979-01-01: felt 2 times as fast"


def test_all_of_it_is_told_with_and_without_strips() -> None:
    cycles = [cycle(n, 9) for n in range(1, 4)] + [cycle(n, 14, 400.0) for n in range(4, 7)]
    found = told(*cycles, cycle(7, 30, waits=True), felt=2.0)
    drawn, plain = (as_lines(sections(found, width)) for width in (78, 0))
    for lines in (drawn, plain):
        text = "\n".join(lines)
        assert "7 turns since 1970-01-01: 7 completed" in text
        assert "12 of 14 hunks accepted, 0 rejected, 2 undecided" in text
        assert "7 interrupts, 14 redirects, 0 steers" in text
        assert "quick-1-june · main · priority: 7 turns, 7,000 tokens, $1.75" in text
        assert "slowest at 14:00: 400 tokens/s, 40% of the median" in text
        assert "1970-01-01: felt 2 times as fast, measured" in text
        assert all(len(line) <= 74 for line in lines), "it fits a narrow terminal"
    assert any("9:00 ▇" in line or "9:00 █" in line for line in drawn)
    assert not any(mark in line for line in plain for mark in "▁█▒░")
    assert any(line.startswith("  green") and "not measured yet" in line for line in drawn)


@pytest.mark.parametrize("width", [34, 40, 56, 64, 120])
def test_columns_that_a_narrow_screen_has_no_room_for_are_left_out(width: int) -> None:
    found = told(*(cycle(n, 9) for n in range(1, 20)))
    by_title = {one.title: one.lines for one in sections(found, width)}
    table = (*by_title["From the prompt to"], *by_title["Days"][:-1])
    assert max(map(len, table)) <= width
    assert table[0].startswith("first token        100 ms")
    assert table[0].endswith("19 turns") == (width >= 64)
    assert ("$4.75" in by_title["Days"][1]) == (width >= 64)
    assert "19" in by_title["Days"][1]


def test_of_few_turns_no_tenth_is_told() -> None:
    for count, said in ((1, ""), (10, "   at most 100 ms"), (11, "   a tenth over 100 ms")):
        found = sections(told(*(cycle(n, 9) for n in range(count))), 50)
        assert found[1].lines[0] == f"first token        100 ms{said}"
        plain = "\n".join(as_lines(sections(told(*(cycle(n, 9) for n in range(count))), 0)))
        assert f"first token: median 100 ms{said.replace('   ', ', ')}, {count} turn" in plain


def test_nothing_kept_is_one_sentence() -> None:
    assert as_lines(sections(told(), 78)) == [
        "Statistics",
        "  No turn was kept since 1970-01-01.",
    ]


def test_where_all_is_left_out_that_is_said() -> None:
    found = told()
    found.practice = 2
    assert as_lines(sections(found, 78)) == [
        "Statistics",
        "  No turn since 1970-01-01 counts.",
        "",
        "Not in the figures",
        "  2 turns of the practice or a rehearsal",
    ]


def test_what_is_left_out_is_said() -> None:
    found = told(cycle(1, 9)._replace(timed=0, decided_ms=1))
    found.ahead, found.practice = 2, 1
    lines = as_lines(sections(found, 0))
    assert lines[lines.index("Not in the figures") + 1 :] == [
        "  1 turn kept by an older duetto: without first token, first hunk and verdicts",
        "  1 interval of less than no time: the clock was set back",
        "  2 turns dated after now: the clock was ahead",
        "  1 turn of the practice or a rehearsal",
    ]


def test_figures_are_short() -> None:
    said = [seconds(one) for one in (None, 0.0, 0.084, 2.66, 14.2, 59.9)]
    assert said == ["unknown", "0 s", "84 ms", "2.7 s", "14 s", "1 min"]
    said = [seconds(one) for one in (84.2, 599.4, 599.6, 720.0, 7_500.0)]
    assert said == ["1 min 24 s", "9 min 59 s", "10 min", "12 min", "2 h 5 min"]
    said = [times(factor) for factor in (0.04, 0.5, 1.25, 2.0, 100.0)]
    assert said == ["0.04 times", "0.5 times", "1.2 times", "2 times", "100 times"]
    assert sparkline([0.0, 1.0, 4.0, 8.0]) == " ▂▅█"
    assert sparkline([0.0]) == ""
