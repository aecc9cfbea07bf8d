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

from tests.support.scripted_app import running, settled, until
from tests.support.scripted_session import ScriptedSession
from tui.ui import theme
from tui.ui.conversation import fences
from tui.ui.conversation.fences import code_rows, colours_for
from tui.ui.styled_text import Piece


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


async def test_rows_in_sight_get_their_colours_in_the_end(lexers: dict[str, Lexer]) -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        session.say("text", "```slow\n" + "def f\n" * 60 + "'''\n```\n", speaker="fast")
        await settled(session, pilot)
        pane = app.bench.transcript
        seen = [pane.rows.row(pane.viewport.top + y) for y in range(pane.size.height)]
        assert any("def f" in row.strip.text for row in seen if row)
        async with asyncio.timeout(60):
            while any(row.waits for row in seen if row):
                await pilot.pause(0.02)
        colour = theme.active().syntax_style(Name.Function).color
        await until(
            pilot,
            lambda: any(
                segment.style and segment.style.color == colour
                for strip in pane.render_lines(pane.region.reset_offset)
                for segment in strip
            ),
        )
