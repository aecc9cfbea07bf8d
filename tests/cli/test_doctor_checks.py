"""What the doctor says reads well in a terminal, and is one line each for programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tui.cli.doctor_checks import CheckResult, background, signs, tmux_findings
from tui.ui.terminal.facts import TerminalFacts, find

TOO_LONG = CheckResult(
    "tmux", "note", "extended-keys off, set-clipboard external", "set -s " + "x " * 40
)


def test_a_path_is_never_broken_and_a_pipe_gets_whole_lines() -> None:
    path = "/" + "folder/" * 20
    assert path in CheckResult("data folder", "ok", path).told(60)
    assert TOO_LONG.told(None).count("\n") == 1
    assert TOO_LONG.told(20) == TOO_LONG.told(None)


def test_facts_come_with_their_source() -> None:
    facts = find({"TERM": "linux", "LANG": "C"})
    assert signs(facts) == "ASCII only (LANG=C)"
    assert background(facts) == "dark (TERM=linux)"
    measured = replace(find({"LANG": "C.UTF-8"}), why_ambiguous="measured")
    assert signs(measured) == (
        "Unicode (LANG=C.UTF-8); signs of open width are one cell wide (measured)"
    )


def test_what_is_not_known_names_the_setting() -> None:
    assert "[screen] background" in background(TerminalFacts())


GOOD = {
    "escape-time": "10",
    "extended-keys": "on",
    "set-clipboard": "on",
    "allow-passthrough": "off",
    "focus-events": "on",
}
INSIDE = {"TMUX": "/tmp/tmux-0/default,1,0"}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, ""),
        ({"set-clipboard": "external", "allow-passthrough": "on"}, ""),
        ({"escape-time": "500"}, "set -s escape-time 10"),
        ({"extended-keys": "off"}, "set -s extended-keys on"),
        ({"focus-events": "off"}, "set -g focus-events on"),
        ({"set-clipboard": "external"}, "set -s set-clipboard on"),
    ],
)
def test_what_holds_duetto_up_is_told(changed: dict[str, str], told: str) -> None:
    (finding,) = tmux_findings(INSIDE, lambda name: (GOOD | changed)[name])
    assert finding.state == ("note" if told else "ok")
    assert told in finding.advice
    assert finding.text.isprintable()


def test_a_tmux_that_does_not_answer_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert list(tmux_findings(INSIDE)) == []


def test_tmux_is_asked_by_its_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "tmux"
    program.write_text('#!/bin/sh\n[ "$3" = escape-time ] && echo 500 || echo on\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    (finding,) = tmux_findings(INSIDE)
    assert finding.text == "escape-time 500 ms, extended-keys on, set-clipboard on"
    assert finding.state == "note"
