"""Bytes of a row that keep their cells where terminals disagree about the width of a character.

Families, flags, skin tones and whatever was added to Unicode last are two cells in one
terminal and six in another. After such a piece the cursor is put where the next one
belongs, so the rest of the row stands right everywhere; at worst the piece itself is cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from tui.ui.painting.codes import row_bytes
from tui.ui.painting.ink import ink


@cache
def _unsure() -> re.Pattern[str]:
    """Combining marks, joiners, variation selectors, symbols with an emoji form, emoji."""
    return re.compile(
        "[\u0300-\u036f\u0483-\u0489\u0591-\u1cff\u200d\u20d0-\u20f0\u231a-\u23ff\u2600-\u27bf"
        "\u2b00-\u2bff\ufe00-\ufe0f\U0001f000-\U0001faff]"
    )


def steady_bytes(strip: Strip, x: int) -> str:
    """The strip as it is written from column ``x`` of the screen on."""
    known = strip._render_cache
    if known is not None:
        return known
    segments = ink().written(strip)
    if not _is_steady(segments):
        return _pieces(segments, x)
    said = strip._render_cache = row_bytes(segments, ink())
    return said


def _is_steady(segments: Iterable[Segment]) -> bool:
    """All terminals agree about the width of each of its pieces."""
    return not any(not text.isascii() and is_unsure(text) for text, _, _ in segments)


def _pieces(segments: Iterable[Segment], x: int) -> str:
    """Piece by piece: behind one that is unsure the cursor is put where the next one belongs."""
    parts: list[str] = []
    piece: list[Segment] = []
    for segment in segments:
        piece.append(segment)
        x += cell_len(segment.text)
        if is_unsure(segment.text):
            parts.append(f"{row_bytes(piece, ink())}\x1b[{x + 1}G")
            piece = []
    parts.append(row_bytes(piece, ink()))
    return "".join(parts)


def is_unsure(text: str) -> bool:
    """Terminals may disagree about its width, or this one has another than the layout."""
    if text.isascii():
        return False
    return _unsure().search(text) is not None or ink().is_open(text)
