"""Bytes of a row that keep their cells where terminals disagree about the width of a character.

Families, flags, skin tones and whatever was added to Unicode last are two cells in one
terminal and six in another. After such a piece the cursor is put where the next one
belongs, so the rest of the row stands right everywhere; at worst the piece itself is cut.
"""

from __future__ import annotations

import re
from functools import cache

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from textual.strip import Strip


@cache
def _unsure() -> re.Pattern[str]:
    """Combining marks, joiners, variation selectors, symbols with an emoji form, emoji."""
    return re.compile(
        "[\u0300-\u036f\u0483-\u0489\u0591-\u1cff\u200d\u20d0-\u20f0\u231a-\u23ff\u2600-\u27bf"
        "\u2b00-\u2bff\ufe00-\ufe0f\U0001f000-\U0001faff]"
    )


def steady_bytes(strip: Strip, x: int, console: Console) -> str:
    """The strip as it is written from column ``x`` of the screen on."""
    if strip._render_cache is not None or all(segment.text.isascii() for segment in strip):
        return strip.render(console)
    if not any(is_unsure(segment.text) for segment in strip):
        return strip.render(console)
    parts: list[str] = []
    piece: list[Segment] = []
    for segment in strip:
        piece.append(segment)
        x += cell_len(segment.text)
        if is_unsure(segment.text):
            parts.append(f"{Strip(piece).render(console)}\x1b[{x + 1}G")
            piece = []
    parts.append(Strip(piece).render(console))
    return "".join(parts)


def is_unsure(text: str) -> bool:
    """Terminals may disagree about its width."""
    return not text.isascii() and _unsure().search(text) is not None
