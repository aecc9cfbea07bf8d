"""A window whose edge is dragged while an answer streams: no crash, and the right picture."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest

from tests.support.terminal import Terminal

Start = Callable[..., Terminal]


def whole(text: str) -> bool:
    """The first row is the header, and nothing else is one; the last row is the footer."""
    rows = text.split("\n")
    headers = [row for row in rows if row.startswith(" duetto ")]
    return rows[0].startswith(" duetto ") and len(headers) == 1 and "F1" in rows[-1]


def test_a_hundred_sizes_in_a_second_while_it_streams(start: Start) -> None:
    chance = random.Random(1)
    term = start("practice", size=(120, 36))
    term.wait_for("Tab takes the suggestion")
    term.type("\t")
    term.type("\r")
    term.wait_for(lambda text: re.search(r"tok/s", text))
    for _ in range(100):
        term.resize(chance.randrange(20, 200), chance.randrange(5, 60))
        term.pump(0.01)
    term.resize(120, 36)
    term.wait_for(whole)
    shown = term.settle()
    assert whole(shown)
    term.type("still here")
    term.wait_for("❯ still here")


@pytest.mark.parametrize("size", [(20, 5), (500, 200)], ids=["20x5", "500x200"])
def test_the_smallest_and_the_largest_window(start: Start, size: tuple[int, int]) -> None:
    term = start("practice", size=(100, 30))
    term.wait_for("Tab takes the suggestion")
    term.resize(*size)
    shown = term.wait_for("duetto")
    assert all(len(row) <= size[0] for row in shown.split("\n"))
    term.resize(100, 30)
    term.wait_for(whole)
    term.type("and back")
    term.wait_for("❯ and back")
