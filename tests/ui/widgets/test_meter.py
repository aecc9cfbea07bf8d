"""The status line: every figure in its place, and the least important ones go first."""

from __future__ import annotations

import pytest

from tui.core.meter import Cost, MeterView
from tui.engine.notices import Status
from tui.ui.widgets.line_fields import FIELDS, default_template
from tui.ui.widgets.line_layout import laid_out
from tui.ui.widgets.meter import dollars, span
from tui.ui.widgets.standing import Scene

READY = Status(connection="ready", round_trip_ms=3.0)


def words(view: MeterView, width: int = 200, status: Status = READY) -> str:
    return "".join(text for text, _ in laid_out(default_template(), Scene(status, view, 0), width))


STREAMING = MeterView(
    "streaming",
    1043.0,
    True,
    0.084,
    512,
    True,
    0.5,
    (0.1, 0.5, 1.0),
    0.75,
    0.07,
    9.5,
    "counted",
    12_000,
    128_000,
)


def test_everything_is_said() -> None:
    shown = words(STREAMING)
    for part in (
        "~1,043 tok/s",
        "▁▄█",
        "ttft 84 ms",
        "~512 tok",
        "0.5 s",
        "ghost 7%, 9.5 s behind",
        "+reasoning",
        "ctx 12k/128k",
        "delegate ├",
        "┤ collaborate",
    ):
        assert part in shown, part


def test_a_measured_rate_has_no_tilde() -> None:
    done = MeterView("done", 990.4, False, 1.25, 512, False, 1.5, (), 0.7, 0.9)
    shown = words(done)
    assert "990 tok/s" in shown
    assert "~" not in shown
    assert "ttft 1.2 s" in shown


def test_slow_rates_have_a_decimal() -> None:
    assert "~1.5 tok/s" in words(MeterView("streaming", 1.5, tokens=3))


def test_the_mark_moves_with_the_scale() -> None:
    low = words(MeterView("streaming", 50.0, scale=0.166, tokens=9))
    high = words(MeterView("streaming", 4000.0, scale=0.96, tokens=9))
    assert low.index("◆") < high.index("◆")


def test_idle_shows_no_invented_rate() -> None:
    shown = words(MeterView())
    assert "-- tok/s" in shown
    assert "◆" not in shown


@pytest.mark.parametrize(
    ("width", "there", "gone"),
    [
        (40, ("~1,043 tok/s", "~512 tok", "●"), ("ttft", "ghost")),
        (60, ("~1,043 tok/s", "~512 tok", "◆", "ghost 7%", "●"), ("reasoning", "ctx")),
        (
            80,
            ("◆", "ghost 7%", "ttft 84 ms", "~512 tok", "0.5 s", "● 3 ms"),
            ("collaborate", "ctx"),
        ),
        (120, ("+reasoning", "▁▄█", "9.5 s behind", "ctx 9%", "● 3 ms"), ("collaborate",)),
        (200, ("collaborate", "····", "9.5 s behind", "ctx 12k/128k"), ()),
    ],
)
def test_what_is_shown_at_a_width(
    width: int, there: tuple[str, ...], gone: tuple[str, ...]
) -> None:
    shown = words(STREAMING, width)
    assert len(shown) == width
    for part in there:
        assert part in shown, part
    for part in gone:
        assert part not in shown, part


@pytest.mark.parametrize("width", range(1, 251))
def test_a_line_is_as_wide_as_its_place_and_the_rate_is_last_to_go(width: int) -> None:
    busy = Status(connection="lost", verdict="failed", throttle=50, running="pytest -q " * 9)
    for status in (READY, busy, Status(stopped="stopped after 512 tokens, 3 ms", retry_s=7)):
        shown = words(STREAMING, width, status)
        assert len(shown) == max(width, 2)
        assert "~1,043 tok/s" in shown or width < 14 or (status.stopped and width < 40)


@pytest.mark.parametrize("width", range(56, 251))
def test_the_connection_is_said_in_words_before_details_come(width: int) -> None:
    shown = words(STREAMING, width)
    assert "● 3 ms" in shown or "● ok" in shown or not {"0.5 s", "reasoning"} & set(shown.split())


def test_a_wider_line_never_says_less() -> None:
    weights = sorted((field.weight, name) for name, field in FIELDS.items())
    assert weights[0] == (0, "news")
    before: set[str] = set()
    for width in range(40, 251):
        shown = words(STREAMING, width)
        found = {part for part in ("tok/s", "◆", "ghost", "ttft", "512", "ctx") if part in shown}
        assert before <= found, width
        before = found


def test_what_happens_now_is_said_in_whole_words_before_lesser_figures_come() -> None:
    status = Status(connection="ready", round_trip_ms=3.0, verdict="passed", throttle=200)
    shown = words(STREAMING, 120, status)
    assert "✓ tests passed  throttled 200/s  ● 3 ms" in shown
    assert "ttft 84 ms" in shown
    assert "ctx" not in shown
    stopped = Status(connection="ready", stopped="stopped after ~512 tokens, 0.1 ms", throttle=200)
    shown = words(STREAMING, 80, stopped)
    assert "■ stopped after ~512 tokens, 0.1 ms" in shown
    assert "throttled 200/s" in shown
    assert "■ stopped" in words(STREAMING, 40, stopped)
    waits = Status(connection="lost", retry_s=7)
    assert "◌ again in 7 s · Esc cancels" in words(STREAMING, 60, waits)


def test_whether_reasoning_is_counted_is_said() -> None:
    hidden = MeterView("done", 990.4, False, 1.25, 512, False, 1.5, reasoning="not counted")
    assert "−reasoning" in words(hidden, 109)
    assert "reasoning" not in words(MeterView("done", 990.4, tokens=4), 200)


def test_a_ghost_that_is_level_is_not_behind() -> None:
    assert "ghost 100%  " in words(MeterView("done", 40.0, tokens=9, ghost=1.0), 200)


def test_dollars_are_shown_where_they_are_known() -> None:
    def priced(cost: Cost) -> str:
        return words(MeterView("done", cost=cost), 200)

    assert "$" not in priced(Cost())
    assert "$0.0041  Σ $0.123" in priced(Cost(0.0041, 0.1234))
    assert "Σ $12.30+" in priced(Cost(None, 12.3, session_whole=False))
    assert "price unknown  Σ $12.30+" in priced(Cost(None, 12.3, False, unknown=True))
    assert "~$0.500  Σ $0.500" in priced(Cost(0.5, 0.5, estimated=True))


def test_long_turns_are_told_in_minutes_and_a_full_window_stands_out() -> None:
    view = MeterView("done", 50.0, tokens=9, seconds=754, context_tokens=1_900_000)
    shown = words(view)
    assert "12 min 34 s" in shown
    assert "ctx 1.9M" in shown
    assert span(0.0842) == "84 ms"


@pytest.mark.parametrize(
    ("usd", "words"),
    [
        (0.0, "$0.0000"),
        (0.00001, "<$0.0001"),
        (0.00005, "$0.0001"),
        (0.0123, "$0.012"),
        (1234.5, "$1,234.50"),
    ],
)
def test_how_dollars_are_written(usd: float, words: str) -> None:
    assert dollars(usd) == words
