from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.ui.conversation.markdown import markdown_lines
from tui.ui.rows import Line


def plain(source: str, width: int = 40) -> list[str]:
    return [text_of(line) for line in markdown_lines(source, width)]


def text_of(line: Line) -> str:
    return "".join(text for text, _ in line.pieces).rstrip()


@pytest.mark.parametrize(
    ("source", "rows"),
    [
        ("# Title\n\ntext", ["Title", "", "text"]),
        ("one\ntwo", ["one two"]),
        ("- a\n- b\n  - c", ["• a", "• b", "  • c"]),
        ("3. a\n4. b", ["3. a", "4. b"]),
        ("> said", ["▎ said"]),
        ("a `b` **c** *d* ~~e~~", ["a b c d e"]),
        ("---", ["─" * 40]),
        ("```python\nx = 1\n\ny\n```", [" x = 1", "", " y"]),
        ("    indented", [" indented"]),
        ("<b>raw</b> html", ["<b>raw</b> html"]),
        ("[a](http://x.y)", ["a (http://x.y)"]),
        ("![cat](cat.png)", ["[image: cat (cat.png)]"]),
        ("![](cat.png)", ["[image: (cat.png)]"]),
        ('[a](x.y "why")', ['a (x.y "why")']),
        ("[a][d] and [b]\n\n[d]: http://x.y", ["[a][d] and [b]", "", "[d]: http://x.y"]),
        ("|a|b|\n|-|-|\n|1|2|3|", ["a │ b │", "──┼───┼──", "1 │ 2 │ 3"]),
        ("- |a|b|\n  |-|-|\n  |1|2|3|", ["• a │ b │", "  ──┼───┼──", "  1 │ 2 │ 3"]),
        ("> |a|\n> |-|\n> |1|", ["▎ a", "▎ ─", "▎ 1"]),
        ("hard  \nbreak", ["hard", "break"]),
        ("- [ ] to do\n- [x] done", ["[ ] to do", "[✓] done"]),
        ("9. a\n10. b", [" 9. a", "10. b"]),
        ("<http://x.y/ä>", ["http://x.y/ä"]),
        ("<me@x.y>", ["me@x.y"]),
        ("> - a\n>   > deep", ["▎ • a", "▎", "▎   ▎ deep"]),
    ],
)
def test_what_is_shown(source: str, rows: list[str]) -> None:
    assert plain(source) == rows


def test_emphasis_is_a_style() -> None:
    styles = dict(markdown_lines("**b** *i*", 20)[0].pieces)
    assert styles["b"].bold
    assert styles["i"].italic


def test_tables_are_aligned_by_cells() -> None:
    rows = plain("| a | b |\n|---|---|\n| 日本 | x |\n| y | z |")
    assert rows == ["a    │ b", "─────┼──", "日本 │ x", "y    │ z"]


def test_columns_are_aligned_as_the_table_says() -> None:
    rows = plain("| l | right | mid |\n|:--|--:|:-:|\n| a | 1 | x |\n| b | 22 | y |")
    assert rows == ["l │ right │ mid", "──┼───────┼────", "a │     1 │  x", "b │    22 │  y"]


def test_columns_give_way_without_cutting_words() -> None:
    source = "| what | why it is so |\n|---|---|\n| lock | guards every mutation of it |\n| b | c |"
    assert plain(source, 24) == [
        "what │ why it is so",
        "─────┼──────────────────",
        "lock │ guards every",
        "     │ mutation of it",
        "─────┼──────────────────",
        "b    │ c",
    ]


def test_a_table_that_is_too_wide_has_one_field_a_row() -> None:
    head = "|" + "|".join(f"name{n}" for n in range(9)) + "|"
    values = "|" + "|".join(f"value{n}" for n in range(9)) + "|"
    rows = plain(f"{head}\n|{'---|' * 9}\n{values}\n{values}", 40)
    assert rows[0] == "name0  value0"
    assert rows[9] == "─" * 40
    assert len(rows) == 19, "nothing is left out"


def test_a_cell_of_any_size_costs_little() -> None:
    word = "x" * 100_000
    start = time.process_time()
    plain(f"| a | b |\n|---|---|\n| {word} | {word} |")
    assert time.process_time() - start < 3


def test_what_is_nested_deep_is_not_left_out() -> None:
    nested = "".join("  " * depth + f"- item{depth}\n" for depth in range(30))
    assert "item29" in "".join(plain(nested, 80))
    for depth in (25, 200, 2000):
        assert "deep text" in "".join(plain(">" * depth + " deep text", 80)).replace("\n", "")


def test_wide_tables_shrink() -> None:
    source = "| a | b |\n|---|---|\n| " + "word " * 12 + "| x |"
    assert all(cell_len(row) <= 30 for row in plain(source, 30))


def test_nothing_in_a_text_is_active() -> None:
    lines = markdown_lines("&#27;[2J \x1b]8;;http://evil\x07x [bold]m[/] [a](javascript:x)", 80)
    text = "".join(text_of(line) for line in lines)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "[bold]m[/]" in text
    assert all(not style.link for line in lines for _, style in line.pieces)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="a*_`~#>-1.|[]()!\n \t日\x1b", max_size=120), st.integers(8, 40))
def test_any_text_fits_the_width(source: str, width: int) -> None:
    for line in markdown_lines(source, width):
        text = "".join(text for text, _ in line.pieces)
        assert "\x1b" not in text
        assert "\n" not in text


BLOCKS = st.sampled_from(
    ["> ", "- ", "1. ", "  ", "10. ", "```\n", "word ", "日本 ", "`x`", "\n", "|a|b|\n|-|-|\n"]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(BLOCKS, max_size=40).map("".join), st.integers(8, 60))
def test_no_row_is_wider_than_the_pane_however_it_is_nested(source: str, width: int) -> None:
    for line in markdown_lines(source, width):
        assert cell_len(text_of(line)) <= width
