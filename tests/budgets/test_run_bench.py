"""The bench plays with duetto as its peer. What it measures is judged by `run_bench`, alone on a
quiet machine; here counts only that all of it is painted and that Esc reaches the server."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.support.sources import ROOT


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> dict[str, object]:
    """Figures of one run of the mode in the test's parameter."""
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "tests.budgets.run_bench", request.param),
            *("--rate", "500", "--tokens", "1000", "--json"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    lines = [line for line in ran.stdout.splitlines() if line.startswith("{")]
    assert lines, ran.stdout + ran.stderr
    found = json.loads(lines[0])
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("figures", ["stream"], indirect=True)
def test_a_stream_is_painted_to_its_end(figures: dict[str, object]) -> None:
    assert "error" not in figures
    assert figures["proto"] == "ws"
    painted, sent = str(figures["marks"]).split("/")
    assert int(painted) >= int(sent) - 2
    assert figures["drain"] is not None


@pytest.mark.parametrize("figures", ["esc"], indirect=True)
def test_esc_reaches_the_server(figures: dict[str, object]) -> None:
    assert "error" not in figures
    assert figures["cancel_how"] == "response.interrupt"
    assert isinstance(figures["sent"], int)
    assert figures["sent"] < 1000
