"""What ``duetto doctor`` says of the terminal, in words."""

from __future__ import annotations

from dataclasses import replace

from tui.cli.doctor_terminal import background, findings, signs
from tui.settings import NotifySettings, ScreenSettings
from tui.ui.terminal.facts import TerminalFacts, find


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


def test_without_a_terminal_the_other_ways_are_named() -> None:
    (finding,) = findings({}, ScreenSettings(), NotifySettings())
    assert finding.state == "note"
    assert "duetto --linear" in finding.advice
