"""Whatever is edited, after an idle moment the colours are those of the stock lexer."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pygments.lexers import find_lexer_class, get_all_lexers

from tests.support.colour_samples import (
    PIECES,
    SAMPLES,
    look_on,
    mangle,
    settle,
    spans_of,
    stock_spans,
    whole,
    without_pauses,
)
from tests.support.tables import each
from tui.core.text.buffer import Buffer, LineChange
from tui.ui.highlight.colours import BufferColours, LexerLanguage, hunks

SEEDS = 1


@pytest.fixture(autouse=True, scope="module")
def hurried() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        without_pauses(patch)
        yield


@pytest.mark.slow
@each("path", SAMPLES)
def test_after_any_edits_batches_and_slices_the_colours_are_the_stock_lexers(path: str) -> None:
    for seed in range(SEEDS):
        chance = random.Random(f"{path}{seed}")
        buffer = Buffer(path, SAMPLES[path] * chance.choice([1, 3, 12]))
        colours = BufferColours(buffer)
        for _ in range(chance.randrange(1, 12)):
            mangle(buffer, chance)
            look_on(colours, buffer, chance)
        settle(colours, buffer)
        assert spans_of(colours, buffer) == whole(buffer), seed


EDITS = st.lists(
    st.tuples(
        st.integers(0, 80),
        st.integers(0, 30),
        st.integers(0, 4),
        st.integers(0, 30),
        st.sampled_from(PIECES),
        st.sampled_from([None, 0.0, 0.001]),
    ),
    max_size=8,
)


@pytest.mark.slow
@each("path", ["a.py", "a.md", "a.html", "a.yaml", "a.rb", "a.json"])
@given(edits=EDITS)
@settings(max_examples=6)
def test_any_edits(path: str, edits: list[tuple[int, int, int, int, str, float | None]]) -> None:
    buffer = Buffer(path, SAMPLES[path] * 3)
    colours = BufferColours(buffer)
    for line, col, height, end_col, text, budget_s in edits:
        start = buffer.clamp((line, col))
        buffer.replace(start, max(start, buffer.clamp((line + height, end_col))), text)
        if budget_s is not None:
            colours.advance(line + 10, budget_s, line)
            colours.idle(budget_s)
    settle(colours, buffer)
    assert spans_of(colours, buffer) == whole(buffer)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(8))
def test_every_lexer_of_pygments_reads_a_mixture_as_it_always_does(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All 602, each over text that is not in its language, with edits; some give up, none lies."""
    names = [name for name, *_ in get_all_lexers(plugins=False)][chunk::8]
    texts = list(SAMPLES.values())
    for name in names:
        chance = random.Random(name)
        buffer = Buffer("a.py", "".join(chance.choice(texts) for _ in range(2)))
        monkeypatch.setattr(
            "tui.ui.highlight.colours.candidates", lambda path, name=name: [(name, "*")]
        )
        monkeypatch.setattr("tui.ui.highlight.colours.language", LexerLanguage)
        colours = BufferColours(buffer)
        for _ in range(3):
            mangle(buffer, chance)
            look_on(colours, buffer, chance)
        settle(colours, buffer)
        lexer_class = find_lexer_class(name)
        if not colours.failed:
            text = "\n".join(buffer.lines) + "\n"
            stock = stock_spans(lexer_class(), text)[: buffer.line_count]
            assert spans_of(colours, buffer) == stock, name
        else:
            assert name == "MCSchema", "its stock lexer runs for ever on some texts"


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(1, 4), st.integers(1, 4)), max_size=60),
    st.integers(1, 40),
)
def test_a_batch_has_the_effect_of_its_changes(
    wanted: list[tuple[int, int, int]], count: int
) -> None:
    before = [f"old {number}" for number in range(count)]
    after = list(before)
    changes = []
    for row, n_old, n_new in wanted:
        row = min(row, len(after) - 1)
        n_old = min(n_old, len(after) - row)
        after[row : row + n_old] = [f"{len(changes)}.{index}" for index in range(n_new)]
        changes.append(LineChange(row, n_old, n_new))
    text = list(before)
    for row, n_old, first, last in hunks(changes):
        text[row : row + n_old] = after[first:last]
    assert text == after
