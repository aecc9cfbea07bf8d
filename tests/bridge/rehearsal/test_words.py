from __future__ import annotations

from tests.support.tables import each
from tui.bridge.rehearsal.scripts import likeness


@each("typed", ["Fix split, so that no cent gets LOST!", "fix spilt so that no cnet gets lost"])
def test_case_punctuation_and_typos_cost_little(typed: str) -> None:
    assert likeness(typed, "fix split so that no cent gets lost") > 0.85
