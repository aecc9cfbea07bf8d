"""Commands, places in an output, and rows of text that cannot act."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from tests.support.tables import each
from tui.ui.conversation.tool_views import find_location
from tui.ui.styled_text import breaks, make_strip

ROOT = "/home/u/ledger"


@each(
    "text, path, line, col",
    [
        ('  File "/home/u/ledger/src/cache.py", line 12, in put', "src/cache.py", 11, 0),
        ('  File "src/cache.py", line 3', "src/cache.py", 2, 0),
        ("tests/test_cache.py:14: AssertionError", "tests/test_cache.py", 13, 0),
        ("src/main.rs:3:9: error: oops", "src/main.rs", 2, 8),
        ("./a.ts:1:2 - error", "a.ts", 0, 1),
        ("FAILED tests/test_a.py::test_b - assert 1 == 2", "tests/test_a.py", 0, 0),
        ("/home/u/ledger/a.py:7: in f", "a.py", 6, 0),
    ],
)
def test_places_are_found(text: str, path: str, line: int, col: int) -> None:
    found = find_location(text, ROOT)
    assert (found.path, found.line, found.col) == (path, line, col)
    assert text[found.start : found.end]


@each(
    "text",
    [
        "nothing here",
        'File "/usr/lib/python3.11/json/decoder.py", line 340, in decode',
        'File "<string>", line 1',
        "http://example.org:80/x",
        "12:30:45",
        "../outside.py:3",
        "took 1.5s: fine",
    ],
)
def test_what_is_no_place_in_the_workspace(text: str) -> None:
    assert find_location(text, ROOT) is None


NULL = Style.null()


@given(st.text(alphabet="ab 日é\u0301", max_size=60), st.integers(1, 12))
def test_rows_fit_and_nothing_but_blanks_is_lost(text: str, width: int) -> None:
    spans = breaks(text, width)
    for start, end in spans:
        assert cell_len(text[start:end]) <= max(width, 2)
    kept = "".join(text[start:end] for start, end in spans)
    assert kept.replace(" ", "") == text.replace(" ", "")


def test_a_strip_is_exactly_as_wide_as_asked() -> None:
    for text in ("", "ab", "abcdefgh", "日本語日本語"):
        assert make_strip([(text, NULL)], 6, NULL).cell_length == 6
