"""Partners of brackets: over strings and comments, far away, while the text changes."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ui.editor.test_editor import desk
from tui.core.text.buffer import Buffer, Position
from tui.ui.editor.brackets import Brackets, bracket_at, next_bracket, partners
from tui.ui.editor.view import View


def coloured(path: str, text: str) -> View:
    view = View(Buffer(path, text))
    while view.colours.pending and view.colours.wait_s == 0:
        view.colours.idle(0.05)
    return view


def partner(view: View, at: Position) -> Position | None:
    found = [one for one in partners(view.buffer.lines, at, view.colours.spans) if one]
    return found[0] if found else None


@pytest.mark.parametrize(
    ("text", "at", "other"),
    [
        ("f(a, (b))\n", (0, 1), (0, 8)),
        ("f(a, (b))\n", (0, 5), (0, 7)),
        ('f(")", x)  # )\n', (0, 1), (0, 8)),
        ("x = [\n  1,  # ]\n  ']',\n]\n", (0, 4), (3, 0)),
        ("{\n(\n}\n", (0, 0), (2, 0)),
        ("(\n", (0, 0), None),
        (")\n", (0, 0), None),
        ('x = "(a)" + ")"\n', (0, 5), (0, 7)),
        ('f"{a(1)}" + ")"\n', (0, 2), (0, 7)),
    ],
)
def test_partners(text: str, at: Position, other: Position | None) -> None:
    view = coloured("a.py", text)
    assert partner(view, at) == other
    if other is not None:
        assert partner(view, other) == at


def test_the_bracket_under_the_cursor_comes_before_the_one_behind_it() -> None:
    buffer = Buffer("a", "()x (")
    assert bracket_at(buffer, (0, 1)) == (0, 1)
    assert bracket_at(buffer, (0, 2)) == (0, 1)
    assert bracket_at(buffer, (0, 3)) is None
    assert next_bracket(buffer, (0, 3)) == (0, 4)
    assert next_bracket(Buffer("a", "x"), (0, 1)) is None


@settings(max_examples=150, deadline=None)
@given(st.text("()x\n", max_size=60))
def test_as_a_stack_would_find_them(text: str) -> None:
    lines = text.split("\n")
    stack: list[Position] = []
    pairs: dict[Position, Position] = {}
    for row, line in enumerate(lines):
        for col, sign in enumerate(line):
            if sign == "(":
                stack.append((row, col))
            elif sign == ")" and stack:
                pairs[stack.pop()] = (row, col)
    both = pairs | {end: start for start, end in pairs.items()}
    for row, line in enumerate(lines):
        for col, sign in enumerate(line):
            if sign in "()":
                found = [one for one in partners(lines, (row, col), lambda line: ()) if one]
                assert (found[0] if found else None) == both.get((row, col))


def test_a_far_partner_comes_in_slices_and_edits_elsewhere_move_it() -> None:
    buffer = Buffer("a.py", "x\n{\n" + "    f(a, b, {1: (2)})  # x\n" * 50_000 + "}\nend\n")
    brackets = Brackets(buffer, lambda line: ())
    brackets.look((1, 0))
    slices = []
    while brackets.pending:
        started = time.process_time()
        brackets.advance(0.002)
        slices.append(time.process_time() - started)
    assert brackets.pair == ((1, 0), (50_002, 0))
    assert sorted(slices)[len(slices) // 2] < 0.008
    buffer.replace((50_003, 0), (50_003, 0), "more\n")
    brackets.look((1, 0))
    assert (brackets.pair, brackets.pending) == (((1, 0), (50_002, 0)), False)
    buffer.replace((0, 0), (0, 0), "above\n")
    brackets.look((2, 0))
    assert (brackets.pair, brackets.pending) == (((2, 0), (50_003, 0)), False)
    assert brackets.on_line(50_003) == [(0, 1, "bracket")]
    buffer.replace((5, 0), (5, 0), "}")
    brackets.look((2, 0))
    assert (brackets.pair, brackets.pending) == (((2, 0), (50_003, 0)), True)
    assert not brackets.advance(1.0)
    assert not brackets.advance(1.0, idle=True)
    assert brackets.advance(1.0, idle=True)
    assert brackets.pair == ((2, 0), (5, 0))
    brackets.look(None)
    assert brackets.on_line(1) == []


def test_a_stream_between_the_two_costs_no_search_until_it_is_over() -> None:
    buffer = Buffer("a", "(\n" + "f()\n" * 50_000 + ")\n")
    brackets = Brackets(buffer, lambda line: ())
    brackets.look((0, 0))
    assert brackets.advance(10.0)
    started = time.process_time()
    for row in range(200):
        buffer.replace((1, 0), (1, 0), "g(\n")
        brackets.look((0, 0))
        brackets.advance(0.001)
        brackets.advance(0.004, idle=True)
        assert brackets.pair == ((0, 0), (50_002 + row, 0))
    assert time.process_time() - started < 0.1
    while brackets.pending:
        brackets.advance(0.004, idle=True)
    assert (brackets.pair, brackets.pending) == (None, False)


def test_an_edit_during_the_search_begins_it_anew() -> None:
    buffer = Buffer("a", "(\n" + "f()\n" * 5000 + ")\n")
    brackets = Brackets(buffer, lambda line: ())
    brackets.look((0, 0))
    assert not brackets.advance(0.0)
    buffer.replace((1, 0), (2, 0), "")
    assert brackets.advance(5.0)
    assert brackets.pair == ((0, 0), (5000, 0))


def test_a_line_of_a_megabyte() -> None:
    buffer = Buffer("a.js", "(" + "f();" * 250_000 + ")")
    brackets = Brackets(buffer, lambda line: ())
    brackets.look((0, 0))
    started = time.process_time()
    assert not brackets.advance(0.001)
    assert time.process_time() - started < 0.02
    assert brackets.advance(10.0)
    assert brackets.pair == ((0, 0), (0, 1_000_001))


async def test_the_pair_is_shown_and_jumped_to() -> None:
    async with desk("f(\n  a)\nx\n") as d:
        await d.press("right")
        strips = [list(d.editor.render_line(y)) for y in (0, 1)]
        bold = [[part.text for part in row if part.style and part.style.bold] for row in strips]
        assert ")" in bold[1]
        await d.press("ctrl+right_square_bracket")
        assert d.cursor == (1, 3)
        await d.press("ctrl+right_square_bracket")
        assert d.cursor == (0, 1)
        await d.press("ctrl+end", "ctrl+right_square_bracket")
        assert d.cursor == (3, 0)


async def test_a_far_partner_is_jumped_to_without_a_wait() -> None:
    async with desk("(\n" + "f()\n" * 60_000 + ")\n") as d:
        await d.press("ctrl+right_square_bracket")
        for _ in range(200):
            if d.cursor != (0, 0):
                break
            await d.pilot.pause(0.02)
        assert d.cursor == (60_001, 0)


async def test_who_goes_elsewhere_is_not_taken_to_a_far_partner() -> None:
    async with desk("(\n" + "f()\n" * 60_000 + ")\n") as d:
        assert d.editor.jump_to_partner()
        assert "jump" in d.editor._repeats
        d.editor.go((5, 1))
        for _ in range(100):
            if "jump" not in d.editor._repeats:
                break
            await d.pilot.pause(0.02)
        assert d.cursor == (5, 1)


async def test_the_last_key_says_whose_partner_is_gone_to() -> None:
    async with desk("(\n" + "f()\n" * 60_000 + ")\n") as d:
        assert d.editor.jump_to_partner()
        assert "jump" in d.editor._repeats
        d.editor.go((5, 1))
        assert d.editor.jump_to_partner()
        assert d.cursor == (5, 2)
        for _ in range(100):
            if "jump" not in d.editor._repeats:
                break
            await d.pilot.pause(0.02)
        assert d.cursor == (5, 2)
