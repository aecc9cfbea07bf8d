"""Rows of a view, whole or in slices, as they are painted."""

from __future__ import annotations

import random
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from pygments.token import Keyword, Name, String
from textual.strip import Strip

from tui.core.text.buffer import Buffer
from tui.ui import theme
from tui.ui.editor.cells import LONG, LineCells
from tui.ui.editor.paint import EditorRow, Overlay, RowFrame, RowPainter, gutter_width
from tui.ui.editor.view import View
from tui.ui.editor.wrapping import Slice, Wrapping, overlays_in, slices, spans_in
from tui.ui.highlight.lines import Spans

FAMILY = "👩\u200d👩\u200d👧"


PIECES = ("word ", "\t", "漢字", "e\u0301", FAMILY, "\x1b[0m", "x" * 30, "    ")


TOKENS = (Keyword, Name, String)


WIDTH, DIGITS = 60, 3


GUTTER = gutter_width(DIGITS)


def some_line(pick: random.Random, least: int) -> str:
    parts: list[str] = []
    while sum(map(len, parts)) <= least:
        parts.append(pick.choice(PIECES))
    return "".join(parts)


def decorated(pick: random.Random, line: str) -> tuple[Spans, list[Overlay]]:
    cells = LineCells(line)
    cuts = sorted({cells.snap(pick.randrange(len(line))) for _ in range(len(line) // 9)})
    spans = tuple((a, b, pick.choice(TOKENS)) for a, b in pairwise(cuts) if pick.random() < 0.7)
    places = sorted(pick.sample(cuts, 4)) if len(cuts) > 4 else [0, 1, 1, 2]
    cursor = cells.snap(pick.randrange(len(line)))
    return spans, [
        (places[0], places[1], "match"),
        (places[2], places[3], "selection"),
        (cursor, cursor + 1, "cursor"),
    ]


def row_of(line: str, part: Slice, spans: Spans, overlays: list[Overlay]) -> EditorRow:
    return EditorRow(
        line[part.start : part.end],
        1,
        spans=spans_in(spans, part, len(line)),
        overlays=tuple(overlays_in(overlays, part)),
        cell=part.cell,
        phase=part.phase,
        last=part.last,
    )


def styled(strip: Strip) -> list[tuple[str, object]]:
    """Each character right of the gutter with its style."""
    return [
        (character, part.style) for part in strip.crop(GUTTER, WIDTH) for character in part.text
    ]


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.floats(0, 1))
def test_a_window_of_a_long_line_looks_like_the_line(seed: int, share: float) -> None:
    pick = random.Random(seed)
    line = some_line(pick, LONG)
    spans, overlays = decorated(pick, line)
    painter = RowPainter(theme.active())
    left = int(share * LineCells(line).width)
    frame = RowFrame(WIDTH, left, DIGITS)
    layout = Wrapping(Buffer("a", line))
    (part,) = slices(layout, (0, 0), 1, (left, WIDTH - GUTTER))
    assert part.end - part.start < LONG // 2
    whole = EditorRow(line, 1, spans=spans, overlays=tuple(overlays))
    seen = painter.strip(row_of(line, part, spans, overlays), frame)
    assert styled(seen) == styled(painter.strip(whole, frame))


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(0, LONG * 2))
def test_wrapped_rows_one_after_the_other_look_like_the_line(seed: int, least: int) -> None:
    pick = random.Random(seed)
    line = some_line(pick, least)
    spans, overlays = decorated(pick, line)
    painter, layout = RowPainter(theme.active()), Wrapping(Buffer("a", line))
    layout.wrap(WIDTH - GUTTER)
    looks: list[tuple[str, object]] = []
    for part in slices(layout, (0, 0), 10**6, (0, WIDTH - GUTTER)):
        strip = painter.strip(row_of(line, part, spans, overlays), RowFrame(WIDTH, 0, DIGITS))
        wide = LineCells(line[part.start : part.end], part.phase).width
        text = strip.crop(GUTTER + part.cell, GUTTER + part.cell + wide)
        looks += [(character, piece.style) for piece in text for character in piece.text]
    frame = RowFrame(GUTTER + LineCells(line).width, 0, DIGITS)
    whole = painter.strip(EditorRow(line, 1, spans=spans, overlays=tuple(overlays)), frame)
    if len(line) <= LONG:  # tab stops begin anew in each block of a longer one
        full = whole.crop(GUTTER, frame.width)
        assert looks == [(character, part.style) for part in full for character in part.text]
    assert "".join(character for character, _ in looks).replace(" ", "") == (
        whole.text[GUTTER:].replace(" ", "")
    )


def test_a_view_that_is_closed_leaves_no_marks() -> None:
    buffer = Buffer("a", "one\ntwo\nthree\n")
    view = View(buffer)
    view.search.limit(((0, 0), (1, 2)))
    view.wrote(1)
    view.release()
    assert buffer._marks == []
