"""Signs for terminals without Unicode: as wide as those they stand for, whatever the text is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

import tui.ui
from tui.ui.painting.glyphs import Glyphs
from tui.ui.signs import SIGNS

TEXTS = st.text(
    st.sampled_from("ab é漢字─│▁█✓✗…→👍🏽👩\u200d👧🇩🇪e\u0301☁\ufe0f\u00a0ßЖאش")
    | st.characters(blacklist_categories=("Cc", "Cf", "Cs")),
    max_size=20,
)
NEVER_DRAWN = "�"


@pytest.mark.parametrize("kind", ["ascii", "console"])
@given(TEXTS)
@settings(max_examples=200, deadline=None)
def test_no_row_changes_its_width(kind: str, text: str) -> None:
    written = Glyphs(kind).text(text)
    if kind == "ascii":
        assert written.isascii()
        assert written.isprintable()
    assert cell_len(written) == sum(cell_len(piece) for piece in _pieces(text))


def _pieces(text: str) -> list[str]:
    """As they are laid out: what is drawn as one is measured as one."""
    run = "[\u200d\ufe00-\ufe0f\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff\u231a-\u23ff]{2,}|."
    return re.findall(run, text, re.DOTALL)


def test_what_the_house_draws_with_has_a_sign_of_its_own() -> None:
    """No question mark in our own drawing: every sign of the sources is in the table."""
    signs = set()
    for path in Path(tui.ui.__file__).parent.rglob("*.py"):
        if path.name != "glyphs.py":
            signs |= {sign for sign in path.read_text(encoding="utf-8") if ord(sign) > 127}
    table = Glyphs("ascii")
    lost = {sign for sign in signs - {NEVER_DRAWN} if table.text(sign) == "?"}
    assert lost <= {"⌕", "┆"}, "a place to look, a place to choose"


def test_letters_lose_their_accents_only() -> None:
    ascii_only, console = Glyphs("ascii"), Glyphs("console")
    assert ascii_only.text("déjà vu ─── ✓ 漢") == "deja vu --- + ??"
    assert console.text("déjà vu ─── ✓ 漢 Ж") == "déjà vu ─── + 漢 Ж"


def test_where_they_are_wide_only_signs_of_open_width_are_replaced() -> None:
    wide = Glyphs("unicode", wide_ambiguous=True)
    assert wide.text("─│●→… ✎ ✓ 漢 é Ж") == "-|*>~ ✎ ✓ 漢 é Ж"


def test_what_tells_states_apart_still_does() -> None:
    """The signs of one place, as the help explains them, are as many as before."""
    table = Glyphs("ascii")
    for place in ("left of a line", "behind a name", "before a name"):
        signs = [said.split()[0] for said, _ in SIGNS if said.endswith(place)]
        assert len({table.text(sign) for sign in signs}) == len(signs), place
    for signs in ("●◐○◌", "✓✗●"):
        assert len(set(table.text(signs))) == len(signs)
