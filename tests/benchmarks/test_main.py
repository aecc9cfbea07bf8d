"""``transport`` as a command: it measures, and judges what it measured."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.benchmarks.__main__ import bench
from tests.benchmarks.transport import measurement
from tests.benchmarks.transport.plan import Findings, Plan, TokenFigures
from tests.benchmarks.transport.worker import Worker
from tests.support.commands import BENCH, Duetto, clean_environment
from tui.errors import DuettoError


@pytest.fixture
def duetto(tmp_path: Path) -> Duetto:
    return Duetto(tmp_path, clean_environment(tmp_path / "home"), command=BENCH)


@pytest.mark.slow
def test_a_quick_run_measures_every_transport(duetto: Duetto) -> None:
    arguments = ("--quick", "--json", "--rtt", "20", "--history", "100")
    ran = duetto.run("transport", *arguments, timeout_s=100)
    assert (ran.returncode, ran.stderr) == (0, b"")
    shown = json.loads(ran.stdout)
    turns = {(one["transport"], one["idle_ms"]): one for one in shown["turns"]}
    assert len(turns) == 8
    new, kept = turns["sse-new", 0], turns["sse-keepalive", 0]
    full, incremental = turns["ws-full", 0], turns["ws-incremental", 0]
    # connect, TLS, request and slow start against one round trip
    assert new["ttft_ms"] >= 100
    assert incremental["ttft_ms"] >= 20
    for whole in (new, kept, full):
        assert 100_000 < whole["sent_bytes"] < 110_000
    assert 900 < incremental["sent_bytes"] < 3_000
    assert turns["sse-keepalive", 400]["overhead_ms"] >= 20
    assert all(one["cpu_ms"] > 0 for one in turns.values())
    assert {("ws-incremental", 0), ("sse-keepalive", 0)} <= {
        (one["client"], one["rate"]) for one in shown["tokens"]
    }
    assert shown["quick"] is True
    assert {check["verdict"] for check in shown["targets"]} <= {"ok", "missed", "not judged"}


def measured(cpu_us: float) -> Callable[[Plan, measurement.Tell], Findings]:
    """A measurement that found this for our own wire, and 10 us for SSE."""

    def measure(plan: Plan, tell: measurement.Tell) -> Findings:
        tell("nothing")
        rows = (("sse-keepalive", 10.0), ("ws-incremental", cpu_us))
        tokens = tuple(TokenFigures(name, 0, 4000, 7, us, us) for name, us in rows)
        return Findings((), tokens, 1.0)

    return measure


@pytest.mark.parametrize(
    ("cpu_us", "arguments", "status"),
    [(9.0, [], 0), (9.0, ["--check"], 1), (5.0, ["--check"], 0), (9.0, ["--check", "--json"], 1)],
)
def test_a_missed_target_fails_only_where_that_is_asked(
    cpu_us: float, arguments: list[str], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measurement, "measure", measured(cpu_us))
    ran = CliRunner().invoke(bench, ["transport", *arguments])
    assert ran.exit_code == status
    assert "client CPU a token against SSE" in ran.output


def test_cells_are_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Plan] = []

    def measure(plan: Plan, tell: measurement.Tell) -> Findings:
        asked.append(plan)
        return Findings((), (), 0.0)

    monkeypatch.setattr(measurement, "measure", measure)
    arguments = ["--rtt", "80", "--rtt", "5", "--rtt", "5", "--history", "40"]
    assert CliRunner().invoke(bench, ["transport", *arguments]).exit_code == 0
    assert (asked[0].round_trips_ms, asked[0].histories_kb) == ((5, 80), (40,))


def test_without_trustme_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from tests.benchmarks.transport import certificates

    monkeypatch.setitem(sys.modules, "trustme", None)
    with pytest.raises(DuettoError, match=r"^[^\n]*pip install trustme\.$"):
        certificates.make(tmp_path)


def test_a_process_that_breaks_is_one_sentence() -> None:
    with pytest.raises(DuettoError, match=r"^The benchmark's server ended \([^\n]+\)\.$"):
        Worker("tests.benchmarks.transport.server", ["/nowhere/at/all.pem"])


def test_an_answer_may_be_a_failure() -> None:
    figures: dict[str, Any] = {"do": "tokens", "client": "sse-keepalive", "tokens": 1, "rate": 0}
    worker = Worker("tests.benchmarks.transport.far_network", ["1", "0"])
    try:
        with pytest.raises(DuettoError, match=r"^The benchmark's far network ended \(KeyError"):
            worker.ask(port=1, **figures)
    finally:
        worker.close()
