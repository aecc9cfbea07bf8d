"""What ``duetto doctor`` says of the terminal, in words."""

from __future__ import annotations

from dataclasses import replace

from tui.cli.doctor_checks import background, signs
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
