"""The lines of what a dotted name names."""

from __future__ import annotations

from tests.support.tables import each
from tui.core.outline import extent

PYTHON = """import os

class Cache:
    def __init__(self):
        self.items = {}

    def put(self, key):
        self.items[key] = 1

        return key

    @property
    def size(self):
        return len(self.items)


def put(key):
    pass
""".splitlines()


@each(
    "name, rows",
    [
        ("Cache", (2, 13)),
        ("Cache.put", (6, 9)),
        ("put", (6, 9)),
        ("size", (12, 13)),
        ("Other.put", None),
        ("", None),
    ],
)
def test_extent(name: str, rows: tuple[int, int] | None) -> None:
    assert extent("a.py", PYTHON, name) == rows


def test_a_heading_ends_at_the_next_of_its_level() -> None:
    text = ["# One", "a", "## In it", "b", "", "# Two"]
    assert extent("a.md", text, "One") == (0, 3)
    assert extent("a.txt", text, "One") is None
