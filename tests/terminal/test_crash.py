"""A fault of ours: the terminal is restored, one sentence is shown, the traceback is in the log."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.support.terminal import Terminal


def test_a_crash_restores_the_terminal(environment: dict[str, str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.terminal.crashing"]
    with Terminal(command, env=environment, cwd=tmp_path) as term:
        term.wait_for("send")
        term.type("x")
        assert term.wait_exit() == 1
        assert term.trouble() == ""
        assert "internal error (ZeroDivisionError)" in term.text.replace("\n", " ")
        assert "Traceback" not in term.text
    log = next((tmp_path / "home").rglob("duetto.log")).read_text()
    assert "a fault of ours" in log
    assert "Traceback" in log
