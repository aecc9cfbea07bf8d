"""Code in fences: lexers that hang, run long or are slow stop neither a frame nor a key."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from time import process_time, thread_time
from typing import ClassVar

import pytest
from pygments.lexer import Lexer, RegexLexer
from pygments.token import Name, Text

from tests.support.scripted_app import running, settled
from tests.support.scripted_session import ScriptedSession
from tui.ui import theme
from tui.ui.conversation import fences
from tui.ui.conversation.fences import CodeRow, code_lines, code_rows, colours_for
from tui.ui.conversation.markdown import markdown_lines
from tui.ui.conversation.markdown_stream import MarkdownStream
from tui.ui.rows import Piece, Row


class Catastrophic(RegexLexer):
    tokens: ClassVar = {"root": [(r"(a+)+$", Name), (r".|\n", Text)]}


class Slow(Lexer):
    """A millisecond a line."""

    def get_tokens(self, text: str, unfiltered: bool = False) -> Iterator[tuple[object, str]]:
        for line in text.splitlines(keepends=True):
            until = thread_time() + 0.001
            while thread_time() < until:
                pass
            yield Name.Function, line


class Endless(Lexer):
    def get_tokens(self, text: str, unfiltered: bool = False) -> Iterator[tuple[object, str]]:
        while True:
            yield Name, ""


class Raising(Lexer):
    def get_tokens(self, text: str, unfiltered: bool = False) -> Iterator[tuple[object, str]]:
        yield Name, text[:3]
        raise ValueError("secret")


@pytest.fixture
def lexers(monkeypatch: pytest.MonkeyPatch) -> dict[str, Lexer]:
    found: dict[str, Lexer] = {
        "bad": Catastrophic(),
        "slow": Slow(),
        "endless": Endless(),
        "raising": Raising(),
    }
    monkeypatch.setattr(fences, "lexer_for", found.get)
    monkeypatch.setattr(fences, "_stopped", Counter())
    return found


def text_of(rows: list[list[Piece]]) -> list[str]:
    return ["".join(text for text, _ in row) for row in rows]


@pytest.mark.parametrize("language", ["bad", "endless", "raising"])
def test_a_lexer_that_fails_in_a_fence_is_stopped_and_the_text_is_plain(
    language: str, lexers: dict[str, Lexer]
) -> None:
    code = "some\n" + "a" * 60 + "!\nmore"
    with colours_for(0.05):
        began = process_time()
        assert text_of(code_rows(code, language)) == code.split("\n")
        assert process_time() - began < 0.3


def test_a_language_that_fails_again_and_again_is_not_tried_any_more(
    lexers: dict[str, Lexer], caplog: pytest.LogCaptureFixture
) -> None:
    began = process_time()
    for _ in range(200):
        code_rows("a" * 60 + "!", "bad")
    assert process_time() - began < 1.0
    assert len(caplog.records) == 1
    assert "aaa" not in caplog.text


def test_a_frame_colours_for_so_long_only_and_later_ones_go_on(lexers: dict[str, Lexer]) -> None:
    lines = code_lines("def f\n" * 60, "slow", 40)
    rows = [Row(line, 43) for line in lines]
    plain = theme.active().style("syntax-text")
    frames = 0
    while frames == 0 or any(row.waits for row in rows):
        with colours_for(0.008):
            styles = {s.style.color for row in rows for s in row.strip if s.style and "f" in s.text}
        frames += 1
        assert frames < 60
        if any(row.waits for row in rows):
            assert styles == {plain.color}
    assert frames >= 4
    assert plain.color not in styles


def test_a_closed_fence_keeps_the_colours_of_its_lines_until_it_has_others(
    lexers: dict[str, Lexer],
) -> None:
    stream = MarkdownStream(40)
    stream.feed("```slow\n'''one\ntwo'''\n")
    before = [list(line.pieces) for line in stream.rows]
    stream.feed("```\n")
    with colours_for(-1):
        assert [list(line.pieces) for line in stream.rows] == before
        assert all(isinstance(line.pieces, CodeRow) and line.pieces.waits for line in stream.rows)
    assert len(stream.rows) == 2


@pytest.mark.parametrize("source", ["> ```slow\n> x\n> ```", "- item\n\n  ```slow\n  x\n  ```"])
def test_code_in_lists_and_quotes_is_not_coloured_before_it_is_painted(
    source: str, lexers: dict[str, Lexer]
) -> None:
    line = markdown_lines(source, 40)[-1]
    assert isinstance(line.pieces, CodeRow)
    assert line.pieces.waits
    assert "".join(text for text, _ in line.pieces)[2:] == " x"


def test_a_fence_that_is_quadratic_for_its_lexer_costs_a_frame_little() -> None:
    stream = MarkdownStream(76)
    stream.feed("```java\n" + ("a " * 40 + "\n") * 150 + "end \\\n```\n")
    stream.finish()
    rows = [Row(line, 79) for line in stream.rows[:30]]
    began = process_time()
    with colours_for(0.008):
        assert all(row.strip for row in rows)
    assert process_time() - began < 0.15


async def test_rows_in_sight_get_their_colours_in_the_end(lexers: dict[str, Lexer]) -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        session.say("text", "```slow\n" + "def f\n" * 60 + "'''\n```\n", speaker="fast")
        await settled(session, pilot)
        pane = app.bench.transcript
        seen = [pane.rows.row(pane.top + y) for y in range(pane.size.height)]
        assert any("def f" in row.strip.text for row in seen if row)
        async with asyncio.timeout(10):
            while any(row.waits for row in seen if row):
                await pilot.pause(0.02)
        await pilot.pause(0.05)
        colour = theme.active().syntax_style(Name.Function).color
        assert any(
            segment.style and segment.style.color == colour
            for strip in pane.render_lines(pane.region.reset_offset)
            for segment in strip
        )
