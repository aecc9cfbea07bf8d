from __future__ import annotations

import pytest

from tui.core.meter import Cost, MeterView
from tui.ui.widgets.bar import fitting
from tui.ui.widgets.meter import context_group, cost_groups, dollars, meter_groups


def words(view: MeterView, width: int = 200) -> str:
    groups = [*meter_groups(view, width), context_group(view)]
    return "   ".join("".join(text for text, _ in group) for group in fitting(groups, width))


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
        "ghost 7%",
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


def test_the_rate_stays_when_there_is_little_room() -> None:
    assert words(STREAMING, 16) == "~1,043 tok/s"
    assert "├" in words(STREAMING, 70)
    assert "collaborate" not in words(STREAMING, 70)
    assert "reasoning" not in words(STREAMING, 70)


def test_eighty_cells_hold_the_scale_the_ghost_and_the_counts() -> None:
    shown = words(STREAMING, 72)
    for part in ("~1,043 tok/s", "◆", "ghost 7%", "ttft 84 ms", "~512 tok"):
        assert part in shown, part


def test_whether_reasoning_is_counted_is_said_beside_a_120_column_status_line() -> None:
    shown = words(STREAMING, 109)
    assert "+reasoning" in shown
    assert "▁▄█" in shown
    hidden = MeterView("done", 990.4, False, 1.25, 512, False, 1.5, reasoning="not counted")
    assert "−reasoning" in words(hidden, 109)


def priced(cost: Cost) -> str:
    groups = cost_groups(MeterView("done", cost=cost))
    return "   ".join("".join(text for text, _ in group) for _, group in groups)


def test_dollars_are_shown_where_they_are_known() -> None:
    assert priced(Cost()) == ""
    assert priced(Cost(0.0041, 0.1234)) == "$0.0041   Σ $0.123"
    assert priced(Cost(None, 12.3, session_whole=False)) == "Σ $12.30+"
    assert priced(Cost(0.5, 0.5, estimated=True)) == "~$0.500   Σ $0.500"


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
