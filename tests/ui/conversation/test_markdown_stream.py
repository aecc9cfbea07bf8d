from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui.ui.conversation.markdown_stream import MarkdownStream
from tui.ui.rows import breaks

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


def streamed(text: str, size: int, width: int = 60) -> list[str]:
    stream = MarkdownStream(width)
    for at in range(0, len(text), size):
        stream.feed(text[at : at + size])
    stream.finish()
    return [row.rstrip() for row in rows_of(stream)]


LINES = [f"x{number} = '{'a' * 30}'  # **c** _d_" for number in range(400)]


@pytest.mark.parametrize(
    ("first", "lead", "shown"),
    [
        ("1. Do:\n   ```py", "   ", "    "),
        ("- ```py", "  ", "   "),
        ("> ```py", "> ", "▎  "),
        ("> 1. and\n>    - Do:\n>\n>      ~~~", ">      ", "▎       "),
    ],
)
def test_long_code_in_an_item_or_a_quote_stays_code(first: str, lead: str, shown: str) -> None:
    end = first.strip("-> pyDo1:.and\n")[-3:]
    text = "\n".join([first, *(lead + line for line in LINES), lead + end, f"{lead}to **it**"])
    for size in (90, 7000):
        rows = streamed(text, size, 80)
        code = [row for row in rows if "aaaa" in row]
        assert code[1:] == [f"{shown}{line}" for line in LINES[1:]]
        assert rows[-1].endswith("to it")
        assert rows.count("") <= 1


def test_an_item_goes_on_behind_its_long_code() -> None:
    code = "\n".join(f"   {line}" for line in LINES)
    text = f"1. Do:\n   ```\n{code}\n   ```\n   - so\n2. and that\n\nThe end.\n"
    assert streamed(text, 700, 80)[-4:] == ["   • so", "2. and that", "", "The end."]


def test_long_code_in_an_item_knows_where_it_begins() -> None:
    text = "- a\n\n  ```py\n" + "".join(f"  {line}\n" for line in LINES) + "  ```\n"
    stream = whole(text, 80)
    assert {line.target.line for line in stream.rows if line.target} == {text.index("  ```py")}


def test_code_in_an_item_streams_without_signs_that_are_not_in_it() -> None:
    stream, seen = MarkdownStream(60), set()
    for character in "- a\n  ```py\n  x = a ** b\n  ```\n  and **c**\n":
        stream.feed(character)
        seen.update(row for row in rows_of(stream) if "x =" in row)
        assert not any("`" in row for row in rows_of(stream) if "x" in row)
    assert "   x = a ** b" in seen
    assert not any("***" in row for row in seen)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("~~~py `a`\nx\n~~~\nafter", [" x", "", "after"]),
        ("```py\r\nx = 1\r\n```\r\nafter", [" x = 1", "", "after"]),
        ("```md\n- a\n\n      ```\n      x\n```\nafter", [" - a", "", "       ```", "       x"]),
        ("  ```\n  x\n\ny\n  ```\nafter", [" x", "", " y", "", "after"]),
        ("- a\n  ````\n  ```\n  x\n  ````\n- b", ["• a", "   ```", "   x", "• b"]),
        ("- a\n  ```\n  x\n```\nafter", ["• a", "   x", "", " after"]),
    ],
)
def test_a_fence_ends_where_it_should(text: str, rows: list[str]) -> None:
    for size in (1, 100):
        assert streamed(text, size)[: len(rows)] == rows


def test_a_long_line_of_code_is_wrapped_as_if_it_were_whole() -> None:
    line = '{"a": 1, "bb": "ccc"},' * 400
    whole = [f" {line[begin:end]}".rstrip() for begin, end in breaks(line, 58)]
    for size in (40, 9000):
        assert streamed(f"```json\n{line}\nx\n```\n", size) == [*whole, " x"]


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_chunking_gives_the_same_rows_in_the_end(data: st.DataObject) -> None:
    stream, at = MarkdownStream(40), 0
    while at < len(TEXT):
        size = data.draw(st.integers(1, 30))
        stream.feed(TEXT[at : at + size])
        at += size
    stream.finish()
    assert stream.rows == whole(TEXT).rows


def test_rows_before_the_reported_one_did_not_change() -> None:
    stream = MarkdownStream(40)
    before: list[object] = []
    for character in TEXT:
        first = stream.feed(character)
        assert stream.rows[:first] == before[:first]
        before = list(stream.rows)
    first = stream.finish()
    assert stream.rows[:first] == before[:first]


def test_what_is_settled_grows_with_the_text() -> None:
    stream = MarkdownStream(40)
    for number in range(50):
        stream.feed(f"Paragraph {number}.\n\n")
    assert stream.settled >= 2 * 48


def test_an_open_fence_shows_its_lines_at_once() -> None:
    stream = MarkdownStream(40)
    stream.feed("```python\nx = 1\ny")
    assert rows_of(stream) == [" x = 1", " y"]
    stream.feed("\n``")
    assert rows_of(stream) == [" x = 1", " y"]
    stream.feed("`\n\nafter")
    assert rows_of(stream) == [" x = 1", " y", "", "after"]


def test_a_fence_that_is_never_closed_is_kept() -> None:
    stream = MarkdownStream(40)
    stream.feed("```\na\nb")
    stream.finish()
    assert rows_of(stream) == [" a", " b"]


@pytest.mark.parametrize(
    "text",
    ["word " * 4000, "x" * 9000, "- item\n" * 2000],
    ids=["words", "word", "items"],
)
def test_an_endless_block_is_settled_piece_by_piece(text: str) -> None:
    stream = MarkdownStream(40)
    for at in range(0, len(text), 400):
        stream.feed(text[at : at + 400])
    stream.finish()
    shown = "".join(rows_of(stream)).replace(" ", "").replace("•", "")
    assert shown == text.replace(" ", "").replace("-", "").replace("\n", "")
    assert "" not in rows_of(stream)


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


def test_a_long_list_keeps_its_nesting() -> None:
    item = "- an item of some words\n  - one within it\n    1. and one in that\n"
    for size in (97, 5000):
        stream, text = MarkdownStream(40), item * 80
        for at in range(0, len(text), size):
            stream.feed(text[at : at + size])
        stream.finish()
        rows = rows_of(stream)
        assert (
            rows == ["• an item of some words", "  • one within it", "    1. and one in that"] * 80
        )


def test_a_fence_knows_where_it_begins() -> None:
    text = "x" * 5000 + " word\n\n1. a\n\n   ```sh\n   ls\n   ```\n\n```\ncode\n```\n"
    for size in (1, 13, 9000):
        stream = MarkdownStream(40)
        for at in range(0, len(text), size):
            stream.feed(text[at : at + size])
        stream.finish()
        found = sorted({line.target.line for line in stream.rows if line.target is not None})
        assert [text[at:].splitlines()[0].strip() for at in found] == ["```sh", "```"]


@pytest.mark.parametrize(
    "text",
    [
        "I guard **every one** of *these* with `a lock` and **so on**.",
        "- **first** of `them`\n- *second* one\n",
        "Use `a` and `b`, **not** a `dict` of *those*.",
    ],
)
def test_no_sign_is_seen_that_vanishes_when_its_end_comes(text: str) -> None:
    stream = MarkdownStream(80)
    signs = set()
    for character in text:
        stream.feed(character)
        shown = "".join(rows_of(stream))
        signs.update(sign for sign in ("`", " **", " *f", " *t", " *s") if sign in shown)
    assert signs == set()


@settings(max_examples=100, deadline=None)
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
