"""A line that is not whole yet is painted, unless it may become a marker (EDITS.md section 3)."""

from __future__ import annotations

import pytest

from tests.support.tables import each
from tui.core.edit_stream import Format, parser_for
from tui.core.edit_stream.events import Partial

DIFF = "--- a/f.py\n+++ b/f.py\n"
BEFORE: dict[str, tuple[Format, str]] = {
    "whole": ("whole_file", "a.py\n```\none\n"),
    "block": ("search_replace", "a.py\n<<<<<<< SEARCH\nold\n=======\n"),
    "v4a": ("apply_patch", "*** Begin Patch\n*** Update File: f.py\n@@\n-a\n"),
    "diff": ("unified_diff", f"{DIFF}@@ -1,2 +1,2 @@\n a\n-b\n"),
    "whole diff": ("unified_diff", f"{DIFF}@@ -1,2 +1,2 @@\n a\n-b\n+B\n"),
    "diff without counts": ("unified_diff", f"{DIFF}@@ ... @@\n a\n--- b\n"),
    "diff without hunk": ("unified_diff", DIFF),
}
SHOWN = {
    "whole": ("x = ", "a`"),
    "block": ("new te", "  >>> x", "- item"),
    "v4a": (),
    "diff": ("+B", "+"),
}
HIDDEN = {
    "whole": ("`", "``` ", "  `", "~", ""),
    "block": (">", ">>>", ">>>>>>> REP", "===", "+++++++ REP", "+", "+>>>>>>> REP", "<<<<", ""),
    "v4a": ("@", "*", "***", " ", " x", "-", "-x", "*** End Pa", "x"),
    "diff": ("-b", " b"),
    "whole diff": ("+++ b/g",),
    "diff without counts": ("+++ b",),
    "diff without hunk": ("+",),
}


@pytest.mark.case("A16")
@each("before, pending", [(name, one) for name, some in SHOWN.items() for one in some])
def test_it_is_painted(before: str, pending: str) -> None:
    assert tail(before, pending) == [
        Partial(pending.removeprefix("+") if "diff" in before else pending)
    ]


@pytest.mark.case("A16")
@each("before, pending", [(name, one) for name, some in HIDDEN.items() for one in some])
def test_what_may_be_a_marker_is_not(before: str, pending: str) -> None:
    assert tail(before, pending) == []


def tail(before: str, pending: str) -> list[object]:
    fmt, text = BEFORE[before]
    parser = parser_for(fmt, "text" if fmt in ("whole_file", "search_replace") else "custom")
    parser.feed(text)
    parser.feed(pending)
    shown = parser.tail()
    assert parser.tail() == shown, "looking changes nothing"
    return [*shown]
