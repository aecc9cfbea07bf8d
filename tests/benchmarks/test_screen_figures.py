"""The arithmetic of the screen's benchmark: what was seen and sent in, figures and verdicts out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.benchmarks.screen import figures, plan, report, stamps, targets
from tests.benchmarks.screen.clients import DUETTO
from tests.benchmarks.screen.picture import Emulator, Picture
from tests.benchmarks.screen.plan import Findings, Spot
from tests.benchmarks.screen.replay_text import (
    MARK_TOKENS,
    Kind,
    Wanted,
    pieces,
    wanted,
)
from tests.benchmarks.screen.stand import Played, Sent

ASKED = Wanted(1_000, 400, 1234)


def played(lag_s: float, drain_s: float, cpu_s: float = 0.1) -> Played:
    """An answer whose first token came at 10 s, painted with one lag throughout."""
    tokens = pieces(ASKED)
    last_s = 10 + len(tokens) / 1_000
    marks = [int(number) for number in ASKED.mark.findall("".join(tokens))]
    picture = Picture(
        marks=[(10 + (mark + MARK_TOKENS - 1) / 1_000 + lag_s, mark) for mark in marks],
        seen={ASKED.end: last_s + drain_s},
        changes_s=[10.1, 10.2, 10.3],
    )
    sent = Sent("websocket", 9.9, 10.0, last_s, len(tokens), None, "", True)
    samples = [(9.8, 5.0), (last_s + drain_s + 1, 5.0 + cpu_s)]
    return Played(ASKED, 9.8, sent, picture, samples, 40_000)


# the text


@pytest.mark.parametrize("kind", get_args(Kind))
def test_marks_say_at_which_token_they_are(kind: Kind) -> None:
    asked = replace(ASKED, tokens=2_000, kind=kind)
    tokens = pieces(asked)
    marks = [int(number) for number in asked.mark.findall("".join(tokens))]
    assert len(marks) > 2_000 / 60
    assert all(
        "".join(tokens[mark : mark + MARK_TOKENS]) == f"{asked.letter}{mark:06d}" for mark in marks
    )
    assert "".join(tokens).count(asked.end) == 1
    assert 0.97 < len(tokens) / 2_000 < 1.06
    assert pieces(asked) == tokens


@given(
    rate=st.integers(1, 10**6),
    tokens=st.integers(1, 10**6),
    number=st.integers(0, 9999),
    line=st.integers(0, 10**6),
)
def test_a_go_word_says_it_all(rate: int, tokens: int, number: int, line: int) -> None:
    asked = Wanted(rate, tokens, number, "edit", line)
    assert wanted(f'{{"text":"old {ASKED.go_word}"}}, {asked.go_word} and more') == asked
    assert wanted("bench-r10-n1") is None
    assert not asked.mark.search(asked.go_word)


# figures


def test_a_stream_s_figures() -> None:
    found = dict(figures.stream(played(0.020, 0.012, 0.08)))
    assert found[figures.LAG_P50] == pytest.approx(20, abs=0.01)
    assert found[figures.LAG_MAX] == pytest.approx(20, abs=0.01)
    assert found[figures.DRAIN] == pytest.approx(12, abs=0.01)
    tokens = len(pieces(ASKED))
    assert found[figures.CPU] == pytest.approx(0.08 / tokens * 1_000)
    assert found[figures.PAINTED] == pytest.approx(1_000, rel=0.04)
    assert found[figures.BYTES] == pytest.approx(40_000 / tokens)


def test_a_mark_that_was_never_seen_counts_when_one_behind_it_is() -> None:
    one = played(0.020, 0.012)
    one.picture.marks = one.picture.marks[-1:]
    lags = figures.lags_s(one)
    assert len(lags) == len(figures.marks_of(one))
    assert lags == sorted(lags, reverse=True)
    assert lags[-1] == pytest.approx(0.020)
    assert lags[0] > 0.3


def test_an_end_that_was_not_painted_leaves_figures_out() -> None:
    one = played(0.020, 0.012)
    one.picture.seen = {}
    found = dict(figures.stream(one))
    assert found[figures.DRAIN] is None
    assert figures.CPU not in found


def test_keys_that_were_not_echoed_count() -> None:
    picture = Picture(seen={"Aq": 1.004, "Aqj": 2.010})
    found = dict(figures.keys([(1.0, "Aq"), (2.0, "Aqj"), (3.0, "Aqjv")], picture))
    assert found[figures.KEY_MAX] == pytest.approx(10)
    assert found[figures.KEYS] == pytest.approx(200 / 3)


def test_an_esc_is_split_by_the_trace(tmp_path: Path) -> None:
    file = tmp_path / "trace.jsonl"
    lines = [
        (9.0, "key", "escape"),
        (10.001, "key", "a"),
        (10.020, "key", "escape"),
        (10.021, "frozen", "main"),
        (10.022, "wire", "response.interrupt"),
        (10.027, "painted", "7"),
    ]
    file.write_text(
        "".join(
            json.dumps({"t_ns": int(at_s * 1e9), "name": name, "detail": detail}) + "\n"
            for at_s, name, detail in lines
        )
        + '{"t_ns": 1, "na'
    )
    sent = Sent("websocket", 9.0, 9.1, 10.0, 900, 10.0225, "response.interrupt", True)
    picture = Picture(marks=[(9.5, 400), (9.99, 800), (10.027, 900)])
    found = dict(figures.esc(10.0, sent, picture, stamps.read(file)))
    assert found[figures.PRESS_WIRE] == pytest.approx(22.5)
    assert found[figures.PRESS_STILL] == pytest.approx(27)
    assert found[figures.ESC_KEY] == pytest.approx(20)
    assert found[figures.ESC_WIRE] == pytest.approx(2)
    assert found[figures.ESC_FROZEN] == pytest.approx(1)
    assert found[figures.ESC_STILL] == pytest.approx(7)


def test_without_a_trace_an_esc_has_the_figures_from_outside(tmp_path: Path) -> None:
    sent = Sent("chat", 9.0, 9.1, 10.0, 900, 10.02, "close", True)
    trace = stamps.read(tmp_path / "none.jsonl")
    found = dict(figures.esc(10.0, sent, Picture(marks=[(9.5, 400)]), trace))
    assert found == {figures.PRESS_WIRE: pytest.approx(20), figures.PRESS_STILL: 0.0}


def test_only_turns_of_the_loop_while_the_patch_streams_count(tmp_path: Path) -> None:
    file = tmp_path / "trace.jsonl"
    first = 10_000_000_000
    stamped = [(first - 1, "90.0"), (first + 5, "1.5"), (first + 9, "7.0")]
    file.write_text(
        "".join(f'{{"t_ns":{t_ns},"name":"late","detail":"{ms}"}}\n' for t_ns, ms in stamped)
    )
    found = dict(figures.edit(played(0.020, 0.012), stamps.read(file)))
    assert found[figures.BLOCK_MAX] == 7.0
    assert found[figures.LANDED] == pytest.approx(12)


# the picture


def test_an_update_counts_when_it_is_shown_and_pieces_may_be_cut_anywhere() -> None:
    asked = Wanted(1_000, 100, 1234)
    frame = b"\x1b[?2026h\x1b[2;1H\x1b[38;2;1;2;3mhello m000120 w\xc3\xb6rld\x1b[0m\x1b[?2026l"
    frames = b"\x1b[>1u\x1b[?1049h" + frame.replace(b"m000120", f"{asked.letter}000120".encode())
    whole = Emulator().read([(1.0, frames)], ["wörld"], asked.mark)
    assert whole.seen == {"wörld": 1.0}
    for cut in range(1, len(frames)):
        emulator = Emulator()
        cuts = [(1.0, frames[:cut]), (2.0, frames[cut:])]
        picture = emulator.read(cuts, ["wörld"], asked.mark)
        assert picture.marks == [(2.0, 120)]
        assert picture.seen == {"wörld": 2.0}
        assert picture.last == whole.last
        assert emulator.text.split("\n")[1] == f"hello {asked.letter}000120 wörld"


def test_what_was_painted_before_is_not_looked_at() -> None:
    emulator = Emulator()
    emulator.read([(1.0, b"one\r\n")])
    picture = emulator.read(
        [(2.0, b"two\r\n"), (3.0, b"three\r\n")], ["one", "two", "three"], None, 2.5
    )
    assert picture.seen == {"three": 3.0}
    assert picture.last.split("\n")[:3] == ["one", "two", "three"]


# verdicts


def found_at(figure: str, value: float, rate: int = 0, place: str = plan.FRESH) -> Findings:
    findings = Findings(plan=replace(plan.QUICK, rates=(1_000,)))
    findings.add(Spot(DUETTO, figure, rate, place), value)
    return findings


def verdicts(findings: Findings) -> dict[str, str]:
    return {check.target: check.verdict for check in targets.checks(findings)}


def test_the_best_peer_is_the_bound_of_a_key() -> None:
    findings = found_at(figures.KEY_P95, 9.0, 1_000)
    findings.plan = replace(findings.plan, peers=(("codex", None), ("pi", None)))
    for peer, value in (("codex", 30.0), ("pi", 8.0)):
        findings.add(Spot(peer, figures.KEY_P95, 1_000), value)
    found = [check for check in targets.checks(findings) if "best peer" in check.where]
    assert [(check.bound, check.verdict) for check in found] == [(8.0, "missed")]


@pytest.mark.parametrize(
    ("fresh", "value", "verdict"),
    [(20.0, 30.0, "ok"), (20.0, 31.0, "missed"), (2.0, 5.0, "not judged"), (0.0, 50.0, "missed")],
)
def test_a_long_file_makes_nothing_half_as_bad_again(
    fresh: float, value: float, verdict: str
) -> None:
    findings = found_at(figures.LAG_P95, fresh, 1_000)
    findings.add(Spot(DUETTO, figures.LAG_P95, 1_000, "50,000-line file"), value)
    assert verdicts(findings)[f"{figures.LAG_P95}, times the fresh one"] == verdict


def test_a_report_says_all_of_it_twice() -> None:
    findings = found_at(figures.LAG_P95, 40.0, 1_000)
    findings.troubles.append("pi did not send the prompt")
    found = targets.checks(findings)
    text, data = report.as_text(findings, found), report.as_json(findings, found)
    assert "MISSED  paint lag p95 ms, 1,000 tokens/s: 40.0 (at most 33.0)" in text
    assert "trouble: pi did not send the prompt" in text
    assert max(map(len, text.splitlines())) <= 100
    assert json.loads(json.dumps(data)) == data
    assert (data["missed"], data["reached"], data["judged"]) == (1, 0, 1)
    (figure,) = data["figures"]
    assert (figure["figure"], figure["value"], figure["rate"]) == (figures.LAG_P95, 40.0, 1_000)


def test_the_stream_command_judges_what_it_measures() -> None:
    findings = Findings(plan=replace(plan.FULL, only_stream=True))
    named = {check.target for check in targets.checks(findings)}
    assert named == targets.STREAM_FIGURES
