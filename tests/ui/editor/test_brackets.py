"""Partners of brackets: over strings and comments, far away, while the text changes."""

from __future__ import annotations

import time

from tests.support.tables import each
from tui.core.text.buffer import Buffer
from tui.core.text.change_set import Position
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


@each(
    "text, at, other",
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
