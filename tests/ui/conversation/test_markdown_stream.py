"""Markdown, and what a model thinks, whole and while they stream."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from tests.support.tables import each
from tui.ui.conversation import markdown_stream
from tui.ui.conversation.markdown import markdown_lines
from tui.ui.conversation.markdown_stream import MarkdownStream
from tui.ui.conversation.text_view import WrappedStream
from tui.ui.styled_text import StyledLine

TEXT = """# Title

A **bold** paragraph
over two lines.

- one
- two

  more of two

```python
def f():
    '''doc
    string'''
    return 1
```

> quoted

| a | b |
|---|---|
| 1 | 2 |

~~~
tilde ``` inside
~~~
The end, `code` and all.
"""


def rows_of(stream: MarkdownStream) -> list[str]:
    return ["".join(text for text, _ in line.pieces) for line in stream.rows]


def whole(text: str, width: int = 40) -> MarkdownStream:
    stream = MarkdownStream(width)
    stream.feed(text)
    stream.finish()
    return stream


@settings(max_examples=40)
@given(st.data())
def test_any_chunking_gives_the_same_rows_in_the_end(data: st.DataObject) -> None:
    stream, at = MarkdownStream(40), 0
    while at < len(TEXT):
        size = data.draw(st.integers(1, 30))
        stream.feed(TEXT[at : at + size])
        at += size
    stream.finish()
    assert stream.rows == whole(TEXT).rows


def test_a_long_table_stays_a_table() -> None:
    text = "| name | what it does |\n|---|--:|\n" + "| lock | guards it |\n" * 200 + "\nafter\n"
    for size in (97, 5000):
        stream = MarkdownStream(40)
        for at in range(0, len(text), size):
            stream.feed(text[at : at + size])
        stream.finish()
        rows = rows_of(stream)
        assert rows[0] == "name │ what it does"
        assert rows.count("lock │    guards it") == 200
        assert len(rows) == 204, "one head, one rule, an empty row and what is behind it"


@settings(max_examples=100)
@given(
    st.lists(
        st.sampled_from(
            [
                "**",
                "*",
                "`",
                "```",
                "\n",
                "\n\n",
                "- ",
                "> ",
                "| a |",
                "|-|",
                "[x](y)",
                "a b",
                "日",
                "\x1b",
            ]
        ),
        max_size=40,
    ),
    st.integers(1, 7),
)
def test_any_markdown_streams_in_any_pieces(parts: list[str], size: int) -> None:
    text = "".join(parts)
    stream = MarkdownStream(30)
    for at in range(0, len(text), size):
        stream.feed(text[at : at + size])
        assert not any("\x1b" in row or "\n" in row for row in rows_of(stream))
    stream.finish()
    assert stream.rows == whole(text, 30).rows


def plain(source: str, width: int = 40) -> list[str]:
    return [text_of(line) for line in markdown_lines(source, width)]


def text_of(line: StyledLine) -> str:
    return "".join(text for text, _ in line.pieces).rstrip()


@each(
    "source, rows",
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


def test_a_table_that_is_too_wide_has_one_field_a_row() -> None:
    head = "|" + "|".join(f"name{n}" for n in range(9)) + "|"
    values = "|" + "|".join(f"value{n}" for n in range(9)) + "|"
    rows = plain(f"{head}\n|{'---|' * 9}\n{values}\n{values}", 40)
    assert rows[0] == "name0  value0"
    assert rows[9] == "─" * 40
    assert len(rows) == 19, "nothing is left out"


def test_what_is_nested_deep_is_not_left_out() -> None:
    nested = "".join("  " * depth + f"- item{depth}\n" for depth in range(30))
    assert "item29" in "".join(plain(nested, 80))
    for depth in (25, 200, 2000):
        assert "deep text" in "".join(plain(">" * depth + " deep text", 80)).replace("\n", "")


BLOCKS = st.sampled_from(
    ["> ", "- ", "1. ", "  ", "10. ", "```\n", "word ", "日本 ", "`x`", "\n", "|a|b|\n|-|-|\n"]
)


@settings(max_examples=150)
@given(st.lists(BLOCKS, max_size=40).map("".join), st.integers(8, 60))
def test_no_row_is_wider_than_the_pane_however_it_is_nested(source: str, width: int) -> None:
    for line in markdown_lines(source, width):
        assert cell_len(text_of(line)) <= width


WIDTH = 20


PIECES = st.lists(
    st.sampled_from(["a", "word ", "\n", "\n\n", " ", "\t", "ü漢", "long" * 9, "\r\n"])
)


def wrapped(*pieces: str) -> list[str]:
    stream = WrappedStream(WIDTH, Style.null(), ("", Style.null()))
    for piece in pieces:
        first = stream.feed(piece)
        assert 0 <= first <= len(stream.rows)
    return [words(row) for row in stream.rows]


def words(row: StyledLine) -> str:
    return "".join(text for text, _ in row.pieces)


@given(PIECES)
def test_in_pieces_or_at_once(pieces: list[str]) -> None:
    assert wrapped(*pieces) == wrapped("".join(pieces))


@pytest.mark.parametrize("mark", ["- ", "> - ", "1. ", "- 1. > "])
def test_items_within_items_are_settled_before_they_are_many(
    monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    asked: list[str] = []

    def noted(source: str, *rest: Any) -> list[StyledLine]:
        asked.append(source)
        return markdown_lines(source, *rest)

    monkeypatch.setattr(markdown_stream, "markdown_lines", noted)
    stream = MarkdownStream(80)
    for _ in range(60):
        stream.feed(f"{mark * (40 // len(mark))}text\n")
    assert max(source.count(mark) for source in asked) < 100
