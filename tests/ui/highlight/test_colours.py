from __future__ import annotations

import pytest
from pygments.token import String

from tests.support.colour_samples import SAMPLES, settle, spans_of, whole, without_pauses
from tests.support.tables import each
from tui.core.text.buffer import Buffer
from tui.ui.highlight import colours as colours_module
from tui.ui.highlight.checkpoints import checkpointed
from tui.ui.highlight.colours import BufferColours, language


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    without_pauses(monkeypatch)


@pytest.mark.slow
@each("path", SAMPLES)
def test_a_first_pass_is_the_stock_lexers(path: str) -> None:
    buffer = Buffer(path, SAMPLES[path] * 20)
    colours = BufferColours(buffer)
    settle(colours, buffer)
    assert spans_of(colours, buffer) == whole(buffer)


@pytest.mark.parametrize(
    ("path", "text"), [("a.py", "x = 1\n"), ("a.html.j2", "<b>\n"), ("a.json", "1\n")]
)
def test_while_a_model_writes_only_repaints_colour_its_lines(
    path: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    buffer = Buffer(path, SAMPLES[path] * 100)
    colours = BufferColours(buffer)
    settle(colours, buffer)
    monkeypatch.setattr("tui.ui.highlight.incremental._QUIET_S", 60.0)
    monkeypatch.setattr("tui.ui.highlight.incremental._RESTART_S", 60.0)
    line = buffer.line_count // 2
    colours.advance(line + 20, 1.0, line - 20)
    for _ in range(10):
        buffer.replace((line, 0), (line, 0), text)
        assert colours.idle(1.0) is None, "the repaint of the same change would do it again"
        assert colours.advance(line + 20, 1.0, line - 20) is not None


@pytest.mark.slow
@each("path", ["a.py", "a.yaml"])
def test_what_is_typed_far_below_where_a_model_writes_has_its_own_colours(path: str) -> None:
    buffer = Buffer(path, SAMPLES[path] * 200)
    colours = BufferColours(buffer)
    settle(colours, buffer)
    line = buffer.line_count * 3 // 4
    for number in range(6):
        far = (line + number, 0)
        buffer.replace((20, 0), (20, 0), "x\n")  # out of sight, and it goes on
        buffer.replace(far, buffer.clamp((far[0], 2)), "    ")
        colours.advance(line + 40, 1.0, line - 10)
        seen = [colours.spans(row) for row in range(line - 10, line + 40)]
        assert seen == whole(buffer)[line - 10 : line + 40], number


def test_a_paint_never_loads_a_language(monkeypatch: pytest.MonkeyPatch) -> None:
    from tui.ui.highlight.colours import LexerLanguage

    monkeypatch.setattr(colours_module, "language", LexerLanguage)
    buffer = Buffer("a.rs", SAMPLES["a.rs"])
    colours = BufferColours(buffer)
    assert colours.advance(5, 1.0, 0) is None
    assert not colours.loaded
    assert colours.spans(0) == ()
    assert colours.pending
    assert colours.wait_s == 0
    slices = 0
    while not colours.loaded:
        done = colours.idle(0.0)
        slices += 1
    assert slices > 1
    assert done == (0, buffer.line_count), "wherever the view is, it is painted anew"
    assert colours.advance(5, 1.0, 0) is not None
    assert colours.spans(0) != ()


def test_what_looks_far_ahead_is_repaired_when_the_user_pauses() -> None:
    """A closing quote makes a docstring of what began 100 lines above (HIGHLIGHT.md)."""
    buffer = Buffer("a.py", 'x = 1\n\n  """a\n' + "word\n" * 100 + "\n")
    colours = BufferColours(buffer)
    settle(colours, buffer)
    assert (0, 4, String.Double) in colours.spans(50)
    buffer.replace((100, 4), (100, 4), '"')
    buffer.replace((100, 5), (100, 5), '"')
    colours.advance(102, 1.0, 60)
    buffer.replace((100, 6), (100, 6), '"')
    settle(colours, buffer)
    assert (0, 4, String.Doc) in colours.spans(50)
    assert spans_of(colours, buffer) == whole(buffer)


@each("name", ["Python", "C++", "Objective-C", "C#", "YAML", "Ruby", "Scheme", "EmacsLisp", "Lua"])
def test_lexers_with_methods_of_their_own_can_start_in_the_middle(name: str) -> None:
    """All 489 that are made of expressions can (Pygments 2.21)."""
    lexer_class = language(name).lexer_class()
    assert lexer_class is not None
    assert checkpointed(lexer_class) is not None
