from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from tui.ui.rows import (
    Line,
    Row,
    breaks,
    clip,
    clip_left,
    cut,
    inert,
    make_strip,
    one_line,
    spread,
    wrap,
)

NULL = Style.null()


@given(st.text())
def test_nothing_is_left_that_acts_on_a_terminal(text: str) -> None:
    shown = inert(text)
    for character in shown:
        assert character in "\n\t" or ord(character) >= 0x20
        assert not 0x7F <= ord(character) < 0xA0
        assert character not in "\u202a\u202e\u2066\u2069\u2028"
    shown.encode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred", "␛[31mred"),
        ("a\r\nb", "a\nb"),
        ("bell\x07", "bell␇"),
        ("\x9b2J", "�2J"),
        ("\u202eevil", "�evil"),
        ("\udc80", "?"),
        ("pass\u200bword\u2060s", "pass�word�s"),
        ("soft\u00adhyphen\U000e0041", "soft�hyphen�"),
        ("👨\u200d👩", "👨\u200d👩"),
    ],
)
def test_control_characters_become_pictures(text: str, shown: str) -> None:
    assert inert(text) == shown


def test_one_line_is_one_line() -> None:
    assert one_line("a\n\tb  c\x1b") == "a b c␛"


@given(st.text(alphabet="ab 日é\u0301", max_size=60), st.integers(1, 12))
def test_rows_fit_and_nothing_but_blanks_is_lost(text: str, width: int) -> None:
    spans = breaks(text, width)
    for start, end in spans:
        assert cell_len(text[start:end]) <= max(width, 2)
    kept = "".join(text[start:end] for start, end in spans)
    assert kept.replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "width", "rows"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("abcdefgh", 3, ["abc", "def", "gh"]),
        ("日本語", 4, ["日本", "語"]),
        ("", 5, [""]),
        ("a b", 1, ["a", "b"]),
    ],
)
def test_words_are_kept_whole(text: str, width: int, rows: list[str]) -> None:
    assert [text[a:b] for a, b in breaks(text, width)] == rows


def test_styles_survive_wrapping() -> None:
    bold = Style(bold=True)
    rows = wrap([("one ", NULL), ("two three\nfour", bold)], 7)
    assert rows == [[("one ", NULL), ("two", bold)], [("three", bold)], [("four", bold)]]


def test_cut_takes_the_middle() -> None:
    assert cut([("abc", NULL), ("def", NULL)], 2, 4) == [("c", NULL), ("d", NULL)]


def test_clipping_counts_cells() -> None:
    assert clip("日本語", 4) == "日…"
    assert clip("abc", 3) == "abc"
    assert clip_left("src/cache.py", 8) == "…ache.py"


def test_a_strip_is_exactly_as_wide_as_asked() -> None:
    for text in ("", "ab", "abcdefgh", "日本語日本語"):
        assert make_strip([(text, NULL)], 6, NULL).cell_length == 6


def test_what_is_flush_right_stays_when_the_left_is_cropped() -> None:
    pieces = spread([("a long name", NULL)], [("2/3", NULL)], 8)
    assert "".join(text for text, _ in pieces) == "a lo…2/3"


def test_a_row_has_margins_and_a_fill() -> None:
    row = Row(Line([("x", NULL)], "panel"), 20)
    assert row.strip.text == "  x" + " " * 17
    assert row.strip is row.strip
