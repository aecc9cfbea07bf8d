"""``--trace FILE`` without a screen; with one it is in ``tests/terminal/test_input.py``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import Duetto, clean_environment, sentence
from tui.cli import practice

pytestmark = pytest.mark.slow


@pytest.fixture
def duetto(tmp_path: Path) -> Duetto:
    practice.ensure(tmp_path / "home" / "data")
    return Duetto(tmp_path, clean_environment(tmp_path / "home"))


def test_a_turn_leaves_what_was_written_to_the_wire(duetto: Duetto, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    option = ["--trace", str(trace)]
    words = ["exec", "hello, my key is hunter2", "-C", str(tmp_path / "home" / "data" / "practice")]
    ran = duetto.run(*option, *words)
    assert ran.returncode == 0, ran.stderr
    stamps = [json.loads(line) for line in trace.read_text().splitlines()]
    assert stamps
    assert {stamp["name"] for stamp in stamps} == {"wire"}
    assert {stamp["detail"] for stamp in stamps} == {"response.create"}
    assert "hunter2" not in trace.read_text()


def test_what_is_there_is_not_written_over(duetto: Duetto, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_text("mine")
    said = sentence(duetto.run("exec", "hello", "--trace", str(trace)), 2)
    assert "it is there already; name another one" in said
    assert trace.read_text() == "mine"
