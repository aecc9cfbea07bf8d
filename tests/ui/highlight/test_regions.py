"""Fences, scripts and docstrings have lines of their own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.lexers import MarkdownLexer
from pygments.token import Name, String

from tests.support.colour_samples import settle, spans_of, stock_spans, whole, without_pauses
from tests.support.tables import each
from tui.core.text.buffer import Buffer
from tui.ui.highlight.colours import BufferColours, language

CODE = "def f(a):\n    # note\n    return {'a': 1}\n\n"
SCRIPT = "function f(a) {\n  // note\n  return `a\n  b`;\n}\n"
DOCUMENTS = {
    "a.md": ("# Title\n\n```python\n", CODE, "```\n\nText *a*\n", "x = 'new'"),
    "a.html": ("<p>\n<script>\n", SCRIPT, "</script>\n<p>b</p>\n", "let x = 1;"),
    "b.html": ("<style>\n", "a { color: red; }\n/* note\n */\n", "</style>\n", "b { top: 0 }"),
    "a.py": ('"""Doc\n', "words of it\nand more\n", '"""\nx = 1\n', "new words"),
    "a.c": ("/* Doc\n", " * words of it\n * and more\n", " */\nint x;\n", " * new words"),
}


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    without_pauses(monkeypatch)


def document(path: str, times: int) -> tuple[Buffer, BufferColours]:
    before, unit, after, _ = DOCUMENTS[path]
    buffer = Buffer(path, before + unit * times + after)
    colours = BufferColours(buffer)
    settle(colours, buffer)
    return buffer, colours


@each("path", DOCUMENTS)
@each("times", [1, 12])
def test_regions_come_and_go_with_their_ends(path: str, times: int) -> None:
    buffer, colours = document(path, times)
    before, _, after, _ = DOCUMENTS[path]
    head = before.count("\n")
    for row, text in [
        (head, "\n"),
        (head - 1, after.split("\n")[0] + "\n"),
        (head + 2, after.split("\n")[0] + "\n"),
        (head + 3, before),
        (head + 1, before),
        (buffer.line_count - 2, after),
    ]:
        buffer.replace((row, 0), (row, 0), text)
        colours.advance(row + 20, 1.0, max(row - 5, 0))
        assert len(spans_of(colours, buffer)) == buffer.line_count
        settle(colours, buffer)
        assert spans_of(colours, buffer) == whole(buffer, "x")
    while buffer.line_count > 3:
        buffer.replace((1, 0), (2, 0), "")
        colours.advance(20, 0.0, 0)
    settle(colours, buffer)
    assert spans_of(colours, buffer) == whole(buffer, "x")


def test_a_paint_does_not_load_the_languages_of_fences() -> None:
    buffer = Buffer("a.md", "# Title\n\n```zephir\nclass A {}\n```\n")
    colours = BufferColours(buffer)
    while not colours.loaded:
        colours.idle(0.0)
    fence = language("Zephir")
    fence.ready = False
    colours.advance(5, 1.0, 0)
    assert colours.spans(0) != ()
    assert not fence.ready
    assert colours.spans(3) == ()
    while colours.pending:
        colours.idle(0.002)
    assert colours.spans(3) != ()


def test_a_docstring_is_one_span_a_line() -> None:
    buffer, colours = document("a.py", 30)
    assert colours.spans(10) == ((0, 8, String.Doc),)
    buffer.replace((10, 0), (10, 0), "more ")
    colours.advance(20, 1.0, 0)
    assert colours.spans(10) == ((0, 13, String.Doc),)
    buffer.replace((10, 0), (10, 0), '"""\nclass A: pass\n')
    colours.advance(20, 1.0, 0)
    assert (6, 7, Name.Class) in colours.spans(11)


FENCES = st.lists(
    st.sampled_from(
        [
            "```python\n",
            "```\n",
            "  ```\n",
            "```` \n",
            "````\n",
            "\n",
            " \n",
            "x = '''a\n",
            "``` py extra\n",
            "```py x\n",
            "```nope\n",
            "\u3000```\n",
            "text\n",
            "\x1c\n",
            "a```\n",
            "```",
        ]
    ),
    max_size=14,
).map("".join)


@given(FENCES)
def test_fences_are_found_where_pygments_finds_them(text: str) -> None:
    buffer = Buffer("a.md", text)
    colours = BufferColours(buffer)
    settle(colours, buffer)
    stock = stock_spans(MarkdownLexer(), "\n".join(buffer.lines) + "\n")
    assert spans_of(colours, buffer) == stock[: buffer.line_count]
