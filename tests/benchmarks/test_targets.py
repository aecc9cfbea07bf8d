"""The arithmetic of the benchmark's report: figures in, verdicts out."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.benchmarks.transport import plan, report, targets
from tests.benchmarks.transport.measurement import medians
from tests.benchmarks.transport.plan import Findings, TokenFigures, Turn, TurnFigures


def figures(
    transport: str, ttft_ms: float, place: tuple[int, int, int], sent_bytes: int = 100_000
) -> TurnFigures:
    """``place``: round trip in ms, history in kB, idle in ms."""
    round_trip_ms, history_kb, idle_ms = place
    overhead_ms = ttft_ms - round_trip_ms
    where = (round_trip_ms, history_kb, idle_ms)
    return TurnFigures(*where, transport, 7, ttft_ms, overhead_ms, 1.0, sent_bytes)


def cell(
    place: tuple[int, int, int], ttft_ms: tuple[float, float, float], kept_bytes: int = 100_000
) -> list[TurnFigures]:
    """TTFT of a new connection, of a kept one, and ours."""
    new, kept, ours = ttft_ms
    return [
        figures(plan.SSE_NEW, new, place),
        figures(plan.SSE_KEPT, kept, place, kept_bytes),
        figures(plan.WS_INCREMENTAL, ours, place, 1_300),
    ]


def tokens(sse_us: float, own_us: float, rate: int = 0) -> list[TokenFigures]:
    cost = ((plan.SSE_KEPT, sse_us), (plan.WS_INCREMENTAL, own_us))
    return [TokenFigures(name, rate, 4000, 7, us, us) for name, us in cost]


def verdicts(turns: list[TurnFigures], read: list[TokenFigures]) -> dict[tuple[str, str], str]:
    found = targets.checks(Findings(tuple(turns), tuple(read), 1.0))
    return {(check.target, check.where): check.verdict for check in found}


def test_overhead_is_what_lies_beyond_one_round_trip() -> None:
    turns = [Turn(ttft_ms, 1.0, 1300, 0.0) for ttft_ms in (25.0, 21.0, 90.0)]
    found = medians((20, 100), 0, plan.WS_INCREMENTAL, turns)
    assert (found.ttft_ms, found.overhead_ms, found.turns) == (25.0, 5.0, 3)


@pytest.fixture
def findings() -> Findings:
    turns = [*cell((20, 100, 0), (130.0, 22.0, 24.0)), *cell((20, 100, 400), (130.0, 82.0, 21.5))]
    return Findings(tuple(turns), tuple(tokens(10.0, 4.0)), 12.34)


def test_the_text_names_every_target_with_its_figure(findings: Findings) -> None:
    text = report.as_text(findings, targets.checks(findings))
    assert "MISSED  TTFT against warm keep-alive SSE, 20 ms, 100 kB: 1.091 times" in text
    assert "ok      client CPU a token against SSE, without pace: 60.0 % less" in text
    assert "5 of 6 places that are judged are reached." in text
    assert "not judged" not in text
    assert "json.loads of each event" in text


def test_what_is_not_judged_is_counted_with_its_reason(findings: Findings) -> None:
    idle = cell((0, 100, 400), (6.0, 1.8, 0.5)) + cell((20, 10, 400), (60.0, 21.0, 22.0), 11_000)
    paced = tokens(50.0, 49.0, rate=1000)
    more = Findings(findings.turns + tuple(idle), findings.tokens + tuple(paced), 1.0)
    found = targets.checks(more)
    text = report.as_text(more, found)
    assert "5 of 6 places that are judged are reached." in text
    shown = report.as_json(more, found)
    assert (shown["judged"], len(shown["targets"])) == (6, 9)
    assert sorted(shown["not_judged"].values()) == [1, 1, 1]
    for reason, count in shown["not_judged"].items():
        assert f"{count} not judged: {reason}." in text
        assert f", not judged: {reason}" in text
    assert "20 ms, 10 kB: 100.0 % more (at least 80 %), not judged" in text


def test_every_place_that_the_issue_names_is_judged_or_told() -> None:
    places = [(way, kb, idle) for way in (0, 20, 80) for kb in (10, 100, 400) for idle in (0, 400)]
    turns = [one for place in places for one in cell(place, (900.0, 400.0, place[0] + 0.1))]
    found = targets.checks(Findings(tuple(turns), tuple(tokens(10.0, 4.0)), 1.0))
    count = Counter(check.target for check in found)
    assert sorted(count.values()) == [1, 3, 6, 9, 9, 9]
    assert {check.verdict for check in found} == {"ok", "not judged"}
    assert len(targets.judged(found)) == 37 - 3
    assert all(check.note for check in found if check.verdict == "not judged")
