from __future__ import annotations

from time import process_time

import pytest
from pygments.token import Keyword, Literal, Name, String

from tests.support.colour_samples import SAMPLES, settle, spans_of, whole, without_pauses
from tui.core.text.buffer import Buffer
from tui.ui.highlight import colours as colours_module
from tui.ui.highlight.colours import BufferColours
from tui.ui.highlight.incremental import IncrementalLines
from tui.ui.highlight.lines import LONGEST_LINE
from tui.ui.highlight.runs import Run

PYTHON = 'def f(a):\n    """Doc\n    more."""\n    return f"{a!r}" + \'x\'  # note\n\n'


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    without_pauses(monkeypatch)


@pytest.mark.parametrize("path", SAMPLES)
def test_a_first_pass_is_the_stock_lexers(path: str) -> None:
    buffer = Buffer(path, SAMPLES[path] * 20)
    colours = BufferColours(buffer)
    settle(colours, buffer)
    assert spans_of(colours, buffer) == whole(buffer)


def test_visible_lines_come_first() -> None:
    buffer = Buffer("a.py", PYTHON * 400)
    colours = BufferColours(buffer)
    done = colours.advance(40, 1.0)
    assert done is not None
    assert 40 <= done[1] < 60
    assert colours.pending
    assert (0, 3, Keyword) in colours.spans(35)
    assert colours.spans(1000) == ()


def test_appending_to_a_long_file_lexes_a_few_lines() -> None:
    buffer = Buffer("a.py", PYTHON * 2000)
    colours = BufferColours(buffer)
    settle(colours, buffer)
    taken = []
    for _ in range(20):
        buffer.replace(buffer.end, buffer.end, "def g():\n")
        began = process_time()
        done = colours.advance(buffer.line_count, 1.0, buffer.line_count - 40)
        taken.append(process_time() - began)
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


def test_a_script_gets_its_language_when_its_first_line_is_written() -> None:
    buffer = Buffer("run", "\nif x:\n    pass\n")
    colours = BufferColours(buffer)
    assert not colours.pending
    buffer.replace((0, 0), (0, 0), "#!/usr/bin/env pytho")
    assert not colours.pending or colours.advance(3, 1.0) is None
    buffer.replace((0, 20), (0, 20), "n3")
    assert colours.pending
    settle(colours, buffer)
    assert colours.spans(1)[0] == (0, 2, Keyword)
    buffer.replace((1, 0), (1, 0), "x\n")
    settle(colours, buffer)
    assert colours.spans(2)[0] == (0, 2, Keyword)
    buffer.replace((0, 2), buffer.clamp((0, 99)), "/bin/sh")
    settle(colours, buffer)
    assert colours.spans(2)[0] == (0, 2, Keyword)
    assert (4, 8, Keyword) not in colours.spans(3)
    buffer.replace((0, 0), buffer.clamp((0, 99)), "")
    colours.advance(3, 1.0)
    assert colours.spans(2) == ()
    assert not colours.pending


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
    monkeypatch.setattr("tui.ui.highlight.whole._RESTART_S", 60.0)
    line = buffer.line_count // 2
    colours.advance(line + 20, 1.0, line - 20)
    for _ in range(10):
        buffer.replace((line, 0), (line, 0), text)
        assert colours.idle(1.0) is None, "the repaint of the same change would do it again"
        assert colours.advance(line + 20, 1.0, line - 20) is not None


def test_a_quote_closed_below_colours_the_docstring_above_and_nothing_beyond(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "x = 1\n" * 40
    buffer = Buffer("a.py", f'{text}def f():\n    """One.\n    two\n    three\n{text}')
    colours = BufferColours(buffer)
    settle(colours, buffer)
    begun = []
    begin = IncrementalLines._begin

    def noted(lines: IncrementalLines, *, whole: bool) -> Run:
        run = begin(lines, whole=whole)
        begun.append(run.line)
        return run

    monkeypatch.setattr(IncrementalLines, "_begin", noted)
    buffer.replace((44, 0), (44, 0), '    """\n')
    colours.advance(60, 1.0, 30)
    assert begun[0] == 41, "the line of the opening quote"
    assert colours.spans(42)[-1][2] is String.Doc
    settle(colours, buffer)
    begun.clear()
    buffer.replace((80, 0), (80, 0), 'y = """a"""\n')
    colours.advance(85, 1.0, 60)
    assert begun[0] == 79, "no quote is near"
    assert spans_of(colours, buffer) == whole(buffer)


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


def test_a_jump_into_a_cold_file_shows_colours_at_once_and_right_ones_later() -> None:
    buffer = Buffer("a.py", "x = 1\n" + '"""a\nb = 2\n"""\ndef f(): pass\n' * 10_000)
    colours = BufferColours(buffer)
    while not colours.loaded:
        colours.idle(0.01)
    began = process_time()
    done = colours.advance(40_040, 0.005, 39_990)
    assert process_time() - began < 0.05
    assert done is not None
    assert 39_900 < done[0] < done[1] <= 40_041
    assert any((0, 3, Keyword) in colours.spans(line) for line in range(40_000, 40_040))
    assert colours.spans(20_000) == ()
    settle(colours, buffer)
    assert spans_of(colours, buffer) == whole(buffer)


@pytest.mark.parametrize("path", ["a.py", "a.html.j2"])
def test_what_a_repaint_had_no_time_for_comes_first(path: str) -> None:
    buffer = Buffer(path, ("x = 1\n" if path == "a.py" else "<p>{{ x }}</p>\n") * 50_000)
    colours = BufferColours(buffer)
    while not colours.loaded:
        colours.idle(0.0)
    colours.advance(40_040, 0.0, 40_000)
    for _ in range(60):
        colours.idle(0.002)
    assert all(colours.spans(line) for line in range(40_000, 40_040))
    assert colours.pending


@pytest.mark.parametrize("path", ["a.py", "a.yaml", "a.rs", "a.html"])
def test_what_is_typed_far_below_where_a_model_writes_has_its_own_colours(path: str) -> None:
    buffer = Buffer(path, SAMPLES[path] * 200)
    colours = BufferColours(buffer)
    settle(colours, buffer)
    line = buffer.line_count * 3 // 4
    for number in range(20):
        far = (line + number, 0)
        buffer.replace((20, 0), (20, 0), "x\n")  # out of sight, and it goes on
        buffer.replace(far, buffer.clamp((far[0], 2)), "    ")
        colours.advance(line + 40, 1.0, line - 10)
        seen = [colours.spans(row) for row in range(line - 10, line + 40)]
        assert seen == whole(buffer)[line - 10 : line + 40], number


def test_a_paint_never_loads_a_language(monkeypatch: pytest.MonkeyPatch) -> None:
    from tui.ui.highlight.languages import Language

    monkeypatch.setattr(colours_module, "language", Language)
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


def test_a_batch_of_changes_is_one_edit() -> None:
    buffer = Buffer("a.py", PYTHON * 400)
    colours = BufferColours(buffer)
    settle(colours, buffer)
    place = (1000, 0)
    for token in ["    ", "value", " =", " ", "'a", "b'", "\n"] * 40:
        place = buffer.replace(place, place, token).new_end
    done = colours.advance(1045, 1.0, 995)
    assert done is not None
    assert 998 <= done[0] < done[1] <= 1042
    assert (12, 16, String.Single) in colours.spans(1020)
    settle(colours, buffer)
    assert spans_of(colours, buffer) == whole(buffer)


def test_thousands_of_changes_in_as_many_places_are_caught_up_with() -> None:
    buffer = Buffer("a.py", PYTHON * 400)
    colours = BufferColours(buffer)
    settle(colours, buffer)
    for line in range(0, 2000, 2):
        buffer.replace((line, 0), (line, 0), "# ")
    began = process_time()
    colours.advance(50, 0.005, 0)
    assert process_time() - began < 0.25
    settle(colours, buffer)
    assert spans_of(colours, buffer) == whole(buffer)


def test_a_reader_that_lags_too_far_behind_starts_over() -> None:
    buffer = Buffer("a.py", "x = 1\n")
    colours = BufferColours(buffer)
    settle(colours, buffer)
    for _ in range(5000):
        buffer.replace((0, 0), (0, 0), "y")
    settle(colours, buffer)
    assert spans_of(colours, buffer) == whole(buffer)


@pytest.mark.parametrize("text", ["x = 1\n" * 200_001, "x = '" + "y" * 9000 + "'\n", ""])
def test_files_that_are_too_long_are_plain(text: str) -> None:
    buffer = Buffer("a.py", text * 1000 if 0 < len(text) < 10_000 else text)
    colours = BufferColours(buffer)
    settle(colours, buffer)
    assert all(colours.spans(line) == () for line in range(0, buffer.line_count, 997))
    assert not colours.pending


def test_a_file_that_grows_too_long_becomes_plain() -> None:
    buffer = Buffer("a.py", "x = 1\n")
    colours = BufferColours(buffer)
    settle(colours, buffer)
    assert colours.spans(0) != ()
    buffer.replace((0, 0), (0, 0), ("x = '" + "y" * 5000 + "'\n") * 2000)
    settle(colours, buffer)
    assert colours.spans(2000) == ()
    assert not colours.pending


@pytest.mark.parametrize(
    ("rest", "end"),
    [("x = 1\n" * 201_000, (200_990, 0)), ("y" * (9 << 20) + "\nx = 1\n", (1, 9 << 20))],
    ids=["lines", "characters"],
)
def test_a_file_that_is_cut_down_gets_colours(rest: str, end: tuple[int, int]) -> None:
    buffer = Buffer("a.py", f"x = 1\n{rest}")
    colours = BufferColours(buffer)
    settle(colours, buffer)
    buffer.replace((1, 0), (1, 0), "z")
    settle(colours, buffer)
    assert colours.spans(0) == ()
    buffer.replace((1, 0), end, "")
    settle(colours, buffer)
    assert colours.spans(0) != ()
    assert spans_of(colours, buffer) == whole(buffer)


def test_nothing_is_done_when_nothing_changed() -> None:
    buffer = Buffer("a.py", PYTHON * 100)
    colours = BufferColours(buffer)
    settle(colours, buffer)
    assert colours.advance(buffer.line_count, 1.0) is None
    assert colours.advance(60, 1.0, 10) is None
    assert colours.idle(1.0) is None
    assert not colours.pending


def test_a_new_file_is_looked_over_only_after_it_was_edited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    buffer = Buffer("a.py", PYTHON * 100)
    colours = BufferColours(buffer)
    while not colours.loaded:
        colours.idle(0.0)
    colours.idle(5.0)
    assert not colours.pending
    buffer.replace((3, 0), (3, 0), "x")
    colours.advance(10, 1.0, 0)
    assert colours.pending
    assert 0.0 < colours.wait_s <= 0.5


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


def test_yaml_costs_the_lines_that_changed_too() -> None:
    """Its indentation levels are in the lexer's context: they are kept for each line."""
    buffer = Buffer("a.yaml", SAMPLES["a.yaml"] * 1000)
    colours = BufferColours(buffer)
    settle(colours, buffer)
    line = buffer.line_count // 2
    buffer.replace((line, 0), (line, 0), "zz: [1, two]\n")
    done = colours.advance(line + 40, 1.0, line - 10)
    assert done is not None
    assert done[1] - done[0] < 30
    assert any(kind in Literal or kind in Name for _, _, kind in colours.spans(line))


def test_a_json_line_has_its_colours_before_the_whole_file_was_looked_at() -> None:
    buffer = Buffer("a.json", "[\n" + '  {"a": 1},\n' * 5000 + "]\n")
    colours = BufferColours(buffer)
    settle(colours, buffer)
    buffer.replace((2500, 0), (2500, 0), '  {"new": true},\n')
    done = colours.advance(2520, 0.005, 2480)
    assert done is not None
    assert (3, 8, Name.Tag) in colours.spans(2500)
    assert colours.pending
    settle(colours, buffer)
    assert spans_of(colours, buffer) == whole(buffer)


def test_a_template_is_coloured_while_it_is_written() -> None:
    """Every frame changes it, and still a pass over the whole text comes to its end."""
    buffer = Buffer("a.html.j2", SAMPLES["a.html.j2"] * 60)
    colours = BufferColours(buffer)
    while not colours.loaded:
        colours.idle(0.01)
    for frame in range(60):
        buffer.replace((5, 0), (5, 0), f"<p>{frame}</p>\n")
        colours.idle(0.005)
    assert colours.spans(buffer.line_count - 3) != ()
    settle(colours, buffer)
    assert spans_of(colours, buffer) == whole(buffer)
