from __future__ import annotations

import random
from time import perf_counter

import pytest
from pygments.lexers import find_lexer_class_for_filename
from pygments.token import Keyword, Name

from tui.core.buffer import Buffer
from tui.ui.highlight.colours import BufferColours
from tui.ui.highlight.lines import LONGEST_LINE, Spans, SpanWriter

SAMPLES = {
    "a.py": 'def f(a):\n    """Doc\n    more."""\n    return f"{a!r}" + \'x\'  # note\n\n',
    "a.c": '/* a\n b */\nint main(void) {\n  char *s = "x";\n  return 0;\n}\n',
    "a.rs": 'fn main() {\n    // note\n    let s = "a\n b";\n    println!("{}", s);\n}\n',
    "a.md": "# Title\n\nSome *text*\n\n```python\nx = 1\n```\n\n- item\n",
    "a.html": "<p class='a'>hi <b>you</b></p>\n<!-- a\n b -->\n",
    "a.toml": '[a]\nb = "c"\nd = [1,\n 2]\n',
    "a.sh": 'for x in a b; do\n  echo "$x"\ndone\n',
}


def whole(buffer: Buffer) -> list[Spans]:
    """The spans by the stock lexer over the whole text."""
    lexer = find_lexer_class_for_filename(buffer.path, "")()
    writer = SpanWriter(0, 0)
    found: list[Spans] = []
    for token in lexer.get_tokens_unprocessed("\n".join(buffer.lines) + "\n"):
        found += [spans for _, spans in writer.write(*token)]
    return found[: buffer.line_count]


def spans_of(colours: BufferColours, buffer: Buffer) -> list[Spans]:
    return [colours.spans(line) for line in range(buffer.line_count)]


def settle(colours: BufferColours, buffer: Buffer) -> None:
    while colours.pending:
        colours.advance(buffer.line_count, 1.0)


@pytest.mark.parametrize("path", SAMPLES)
def test_a_first_pass_is_the_stock_lexers(path: str) -> None:
    buffer = Buffer(path, SAMPLES[path] * 20)
    colours = BufferColours(buffer)
    settle(colours, buffer)
    assert spans_of(colours, buffer) == whole(buffer)


@pytest.mark.parametrize("path", SAMPLES)
@pytest.mark.parametrize("seed", range(12))
def test_after_any_edits_and_slices_the_colours_are_the_stock_lexers(path: str, seed: int) -> None:
    chance = random.Random(f"{path}{seed}")
    buffer = Buffer(path, SAMPLES[path] * 12)
    colours = BufferColours(buffer)
    for _ in range(8):
        start = buffer.clamp((chance.randrange(buffer.line_count), chance.randrange(30)))
        end = max(start, buffer.clamp((start[0] + chance.randrange(3), chance.randrange(30))))
        buffer.replace(start, end, chance.choice(["x", "\n", "/*", "*/", "(", "\n\nfoo\n", ""]))
        if chance.random() < 0.7:
            colours.advance(chance.randrange(buffer.line_count), chance.choice([0.0, 1.0]))
    settle(colours, buffer)
    assert spans_of(colours, buffer) == whole(buffer)


def test_visible_lines_come_first() -> None:
    buffer = Buffer("a.py", SAMPLES["a.py"] * 400)
    colours = BufferColours(buffer)
    done = colours.advance(40, 1.0)
    assert done is not None
    assert 40 <= done[1] < 60
    assert colours.pending
    assert (0, 3, Keyword) in colours.spans(35)
    assert colours.spans(1000) == ()


def test_appending_to_a_long_file_lexes_a_few_lines() -> None:
    buffer = Buffer("a.py", SAMPLES["a.py"] * 2000)
    colours = BufferColours(buffer)
    settle(colours, buffer)
    taken = []
    for _ in range(20):
        buffer.replace(buffer.end, buffer.end, "def g():\n")
        began = perf_counter()
        done = colours.advance(buffer.line_count, 1.0)
        taken.append(perf_counter() - began)
        assert done is not None
        assert done[1] - done[0] < 8
    assert (4, 5, Name.Function) in colours.spans(buffer.line_count - 2)
    assert min(taken) < 0.005


def test_old_colours_stay_until_the_new_ones_are_there() -> None:
    buffer = Buffer("a.json", '{"a": 1}\n')
    colours = BufferColours(buffer)
    settle(colours, buffer)
    before = colours.spans(0)
    buffer.replace((1, 0), (1, 0), "[]")
    assert colours.pending
    assert colours.spans(0) == before != ()


def test_an_unknown_language_is_plain() -> None:
    buffer = Buffer("notes.zzz", "def f(): pass\n")
    colours = BufferColours(buffer)
    assert not colours.pending
    assert colours.advance(1, 1.0) is None
    assert colours.spans(0) == ()


def test_a_very_long_line_is_neutral_and_the_next_one_is_not() -> None:
    buffer = Buffer("a.py", "x = '" + "y" * LONGEST_LINE + "'\ndef f(): pass\n")
    colours = BufferColours(buffer)
    settle(colours, buffer)
    assert colours.spans(0) == ()
    assert (0, 3, Keyword) in colours.spans(1)


def test_a_lexer_that_raises_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = Buffer("a.json", "{}\n")
    colours = BufferColours(buffer)

    def broken(*args: object) -> None:
        raise RecursionError

    monkeypatch.setattr("pygments.lexers.data.JsonLexer.get_tokens_unprocessed", broken)
    assert colours.advance(1, 1.0) == (0, 2)
    assert not colours.pending
