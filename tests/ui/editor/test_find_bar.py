from __future__ import annotations

import pytest

from tui.ui.editor.find_bar import parse_place


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("12", (11, 0)),
        (" 3:5 ", (2, 4)),
        (":7", (6, 0)),
        ("0", (0, 0)),
        ("", None),
        ("a", None),
        ("3:x", None),
    ],
)
def test_places_are_counted_from_one(text: str, place: tuple[int, int] | None) -> None:
    assert parse_place(text) == place
