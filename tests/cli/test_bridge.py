from __future__ import annotations

import pytest
from click.testing import CliRunner

from tui.bridge import __main__ as bridge_main
from tui.bridge.models import Rehearsal
from tui.cli.bridge import bridge_command

AGES: list[float | None] = []
"""What the last servers were told of the age of connections."""


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Rehearsal, int]]:
    calls: list[tuple[Rehearsal, int]] = []

    def fake(rehearsal: Rehearsal, port: int = 0, *, max_age_s: float | None = None) -> int:
        calls.append((rehearsal, port))
        AGES.append(max_age_s)
        return 1 if port == 1 else 0

    monkeypatch.setattr(bridge_main, "serve", fake)
    return calls


def test_flags_reach_the_rehearsal(served: list[tuple[Rehearsal, int]]) -> None:
    flags = [
        "--port",
        "8123",
        "--fast-rate",
        "20000",
        "--deep-rate",
        "50",
        "--seed",
        "0",
        "--mistakes",
        "0",
    ]
    assert CliRunner().invoke(bridge_command, flags).exit_code == 0
    rehearsal = Rehearsal(fast_tokens_s=20_000, deep_tokens_s=50, seed=0, mistakes=0)
    assert served == [(rehearsal, 8123)]
    assert CliRunner().invoke(bridge_command, []).exit_code == 0
    assert served[1] == (Rehearsal(), 0)
    assert AGES[-1] is None


def test_the_age_of_connections(served: list[tuple[Rehearsal, int]]) -> None:
    assert CliRunner().invoke(bridge_command, ["--max-age", "2.5"]).exit_code == 0
    assert AGES[-1] == 2.5


def test_a_failure_to_listen_is_an_exit_code(served: list[tuple[Rehearsal, int]]) -> None:
    assert CliRunner().invoke(bridge_command, ["--port", "1"]).exit_code == 1


@pytest.mark.parametrize(
    "flags",
    [
        ["--port", "70000"],
        ["--fast-rate", "0"],
        ["--mistakes", "2"],
        ["--max-age", "0"],
        ["--what"],
    ],
)
def test_wrong_flags_are_usage_errors(
    served: list[tuple[Rehearsal, int]], flags: list[str]
) -> None:
    assert CliRunner().invoke(bridge_command, flags).exit_code == 2
    assert served == []
