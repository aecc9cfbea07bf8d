"""The ghost in the gutter, with the real binary: it walks after the answer, and goes with it."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.support.terminal import Terminal

ALT_A = "\x1ba"
MARKED = re.compile(r"▹ *(\d+) .*")


def line_of_ghost(text: str) -> int:
    found = MARKED.search(text)
    return 0 if found is None else int(found[1])


def test_it_walks_through_the_edit_until_all_is_decided(start: Callable[..., Terminal]) -> None:
    term = start("practice", size=(120, 36))
    term.wait_for("Tab takes the suggestion")
    term.type("\t")
    term.wait_for("❯ make the cache safe for threads")
    term.type("\r")
    term.wait_for("Done.")
    term.wait_for(re.compile(r"ghost \d+%(,| −)"))
    term.wait_for(MARKED)
    first = line_of_ghost(term.text)
    term.wait_for(lambda text: line_of_ghost(text) > first)
    term.type(ALT_A)
    term.wait_gone("▹")
