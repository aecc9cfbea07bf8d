"""``stream`` and ``ui``: they measure, and say so.

How fast it is is judged on a quiet machine, not here.
"""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.benchmarks.__main__ import bench
from tests.benchmarks.screen import figures, measurement, plan
from tests.benchmarks.screen.clients import DUETTO
from tests.benchmarks.screen.plan import Findings, Plan, Spot
from tests.support.commands import BENCH, Duetto, clean_environment
from tests.support.sources import ROOT
from tui.errors import DuettoError


@pytest.fixture
def duetto(tmp_path: Path) -> Duetto:
    return Duetto(tmp_path, clean_environment(tmp_path / "home"), command=BENCH)


@pytest.fixture
def plain_client(tmp_path: Path) -> Path:
    """A client of another make, as a program."""
    program = tmp_path / "plain"
    client = ROOT / "tests/support/plain_client.py"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{client}"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def values(shown: dict[str, Any], client: str = DUETTO) -> dict[str, float]:
    return {one["figure"]: one["value"] for one in shown["figures"] if one["client"] == client}


@pytest.mark.slow
def test_a_quick_run_measures_all_that_a_person_feels(duetto: Duetto) -> None:
    ran = duetto.run("ui", "--quick", "--json", timeout_s=100)
    assert (ran.returncode, ran.stderr) == (0, b"")
    shown = json.loads(ran.stdout)
    assert shown["troubles"] == []
    found = values(shown)
    for check in shown["targets"]:
        if check["target"] == figures.RSS_LONG:
            assert check["verdict"] == "not measured"
            continue
        assert check["verdict"] in ("ok", "missed"), check
    assert found[figures.KEYS] == 100
    assert found[figures.FIRST_PAINT] < found[figures.FIRST_KEY]
    assert found[figures.ESC_FROZEN] <= found[figures.ESC_WIRE]
    assert found[figures.LAG_P50] <= found[figures.LAG_P95] <= found[figures.LAG_MAX]
    assert found[figures.RSS_START] > 20
    assert found[figures.BLOCK_P95] <= found[figures.BLOCK_MAX]
    assert not list((duetto.folder / "home").glob("**/*.jsonl"))


@pytest.mark.slow
def test_a_client_of_another_make_is_measured_beside_us(duetto: Duetto, plain_client: Path) -> None:
    peer = ("--peer", "pi", "--peer-path", plain_client)
    ran = duetto.run("stream", "--quick", "--json", *peer, timeout_s=100)
    assert (ran.returncode, ran.stderr) == (0, b"")
    shown = json.loads(ran.stdout)
    assert shown["troubles"] == []
    ours, theirs = values(shown), values(shown, "pi")
    assert set(ours) == set(theirs)
    assert theirs[figures.CPU] > 0
    assert shown["plan"]["peers"] == ["pi"]
    assert str(plain_client) not in ran.stdout.decode()


@pytest.mark.parametrize(
    ("arguments", "words", "code"),
    [
        ("stream --peer codex", "codex is not installed", 1),
        ("ui --peer pi --peer-path /none", "is no program", 1),
        ("ui --peer pi --peer codex --peer-path x", "give --peer once", 1),
        ("stream --rate 0", "--rate", 2),
    ],
)
def test_what_cannot_be_measured_is_said(
    arguments: str, words: str, code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    ran = CliRunner().invoke(bench, arguments.split())
    assert words in (ran.output if code == 2 else str(ran.exception))
    assert ran.exit_code == code


def test_without_pyte_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyte", None)
    with pytest.raises(DuettoError, match=r"^[^\n]*pip install 'duetto\[bench\]'$"):
        measurement.measure(plan.QUICK, lambda words: None)


def measured(lag_ms: float, trouble: str = "") -> Callable[[Plan, measurement.Tell], Findings]:
    """A measurement that found this paint lag and no more."""

    def measure(asked: Plan, tell: measurement.Tell) -> Findings:
        findings = Findings(plan=asked, troubles=[trouble] * bool(trouble))
        findings.add(Spot(DUETTO, figures.LAG_P95, asked.rates[0]), lag_ms)
        return findings

    return measure


@pytest.mark.parametrize(
    ("lag_ms", "trouble", "arguments", "status"),
    [
        (40.0, "", [], 0),
        (40.0, "", ["--check"], 1),
        (30.0, "", ["--check"], 0),
        (30.0, "pi has ended by itself", ["--check"], 1),
        (40.0, "", ["--check", "--json"], 1),
    ],
)
def test_a_missed_target_fails_only_where_that_is_asked(
    lag_ms: float,
    trouble: str,
    arguments: list[str],
    status: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measurement, "measure", measured(lag_ms, trouble))
    ran = CliRunner().invoke(bench, ["stream", *arguments])
    assert ran.exit_code == status
    assert figures.LAG_P95 in ran.output
    assert trouble in ran.output


def test_rates_are_chosen_and_a_long_session_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Plan] = []

    def measure(plan: Plan, tell: measurement.Tell) -> Findings:
        asked.append(plan)
        return Findings(plan=plan)

    monkeypatch.setattr(measurement, "measure", measure)
    rates = ["--rate", "4000", "--rate", "500", "--rate", "500"]
    assert CliRunner().invoke(bench, ["ui", "--long", *rates]).exit_code == 0
    assert CliRunner().invoke(bench, ["stream"]).exit_code == 0
    assert [one.rates for one in asked] == [(500, 4000), plan.FULL.rates]
    assert [one.long_tokens for one in asked] == [plan.LONG_TOKENS, 0]
    assert [one.only_stream for one in asked] == [False, True]
