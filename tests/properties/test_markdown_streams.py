"""For any Markdown, in any pieces: nothing is lost, the rows are the same, a piece costs little."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.style import Style

from tui.ui.conversation import markdown_stream
from tui.ui.conversation.markdown_stream import MarkdownStream
from tui.ui.styled_text import StyledLine

WIDTH = 60
_WORD = re.compile(r"w\d+w")
MAKERS: list[Callable[[list[str]], list[str]]] = [
    lambda w: [" ".join(w)],
    lambda w: [f"# {w[0]}", " ".join(w[1:])],
    lambda w: ["```py", *(f"x = '{word}'  # **c**" for word in w), "```"],
    lambda w: ["~~~py `a`", *w, "~~~"],
    lambda w: ["```", *w],
    lambda w: [f"    {word} _a_" for word in w],
    lambda w: [f"- {word}" for word in w],
    lambda w: [f"{number}. {word}" for number, word in enumerate(w, 8)],
    lambda w: [f"[{w[0]}]: http://x/{w[1]} '{w[2]}'", f"see [{w[3]}][{w[0]}]"],
    lambda w: [f"![{w[0]}](http://x/{w[1]} '{w[2]}') [{w[3]}](http://y/{w[4]} '{w[5]}')"],
    lambda w: [f"| {w[0]} | {w[1]} |", "|-|-|", f"| {w[2]} | {w[3]} | {w[4]} |", w[5]],
    lambda w: [f"<b>{w[0]}</b> <!-- {w[1]} -->", *(f"**{word}** `{word}`" for word in w[2:])],
    lambda w: ["[" * 40 + word for word in w],
]


def quoted(lines: list[str]) -> list[str]:
    return [f"> {line}" for line in lines]


def listed(lines: list[str]) -> list[str]:
    return [f"{'- ' if number == 0 else '  '}{line}" for number, line in enumerate(lines)]


def counted(lines: list[str]) -> list[str]:
    return [f"{'10. ' if number == 0 else '    '}{line}" for number, line in enumerate(lines)]


@st.composite
def markdown(draw: st.DrawFn) -> str:
    """Blocks within each other, of any length, all words of them different."""
    lines: list[str] = []
    word = 0
    for _ in range(draw(st.integers(1, 4))):
        many = draw(st.sampled_from([6, 6, 9, 30, 300]))
        words = [f"w{number}w" for number in range(word, word + many)]
        word += many
        block = draw(st.sampled_from(MAKERS))(words)
        if draw(st.booleans()):
            block = [f"w{word}w", *([""] if draw(st.booleans()) else []), *block]
            word += 1
        for nest in draw(st.lists(st.sampled_from([quoted, listed, counted]), max_size=3)):
            block = nest(block)
        if draw(st.booleans()):
            block = [" ".join(block)] if many > 9 and block[0][0] == "w" else block
        lines += [*block, *[""] * draw(st.integers(0, 2))]
    return draw(st.sampled_from(["\n", "\n", "\r\n"])).join(lines)


def texts(lines: list[StyledLine]) -> list[str]:
    return ["".join(text for text, _ in line.pieces) for line in lines]


def streamed(text: str, size: int) -> MarkdownStream:
    stream = MarkdownStream(WIDTH)
    for at in range(0, len(text), size):
        stream.feed(text[at : at + size])
    stream.finish()
    return stream


@pytest.mark.slow
@settings(max_examples=4)
@given(markdown(), st.integers(100, 3000))
def test_every_word_is_on_the_screen_and_pieces_make_no_difference(text: str, size: int) -> None:
    stream = streamed(text, size)
    shown = "".join(texts(stream.rows))
    assert set(_WORD.findall(text)) <= set(_WORD.findall(shown))
    assert texts(stream.rows) == texts(streamed(text, len(text) + 1).rows)


NASTY = {
    "code in an item": "- do\n  ```py\n" + "  x = compute(y, 'some words')\n" * 400,
    "code in a quote": "> ```py\n" + "> x = compute(y, 'some words')\n" * 400,
    "one line of code": "```json\n" + '{"a": 1},' * 2000,
    "one line of code in an item": "- ```\n  " + '{"a": 1},' * 2000,
    "brackets": "[" * 9000,
    "emphasis": "**a* " * 2000,
    "links": "[a](http://x/y) " * 600,
    "an item": "- " + "some words " * 900,
    "rows": "|a|b|\n|-|-|\n" + "|some|words|\n" * 600,
    "short lines": "a\n" * 4000,
    "definitions": "[a]: http://x/y\n" * 600,
}


@pytest.mark.parametrize("name", NASTY)
def test_a_piece_of_an_answer_costs_little_however_long_it_is(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent = 0

    def counting(source: str, *args: object) -> list[StyledLine]:
        nonlocal spent
        spent += len(source) + 20 * source.count("[") + 9 * source.count("\n")
        return [StyledLine([(source, Style())])]

    monkeypatch.setattr(markdown_stream, "markdown_lines", counting)
    monkeypatch.setattr(markdown_stream, "code_lines", counting)
    stream, most = MarkdownStream(WIDTH), 0
    for at in range(0, len(NASTY[name]), 40):
        spent = 0
        stream.feed(NASTY[name][at : at + 40])
        most = max(most, spent)
    assert most < 12_000
