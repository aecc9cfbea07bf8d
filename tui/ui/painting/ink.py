"""What the terminal is written with: the one place where colours and signs become what it has.

Everything else draws with all colours of the theme and the Unicode signs of the house.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

if TYPE_CHECKING:
    from tui.ui.painting.glyphs import Glyphs
    from tui.ui.painting.shades import Shades

_MOST_STYLES = 20_000


class Ink:
    """One terminal's colours and signs; full ones, unless told otherwise."""

    def __init__(self) -> None:
        self._shades: Shades | None = None
        self._glyphs: Glyphs | None = None
        self._wide = False
        self._styles: dict[Style, Style] = {}

    def set_colours(self, depth: str, palette: Mapping[str, str], *, dark: bool) -> None:
        """``depth``: ``true``, ``256``, ``16`` or ``none``; ``palette`` is the theme's.

        ``dark``: the terminal's own background is.
        """
        self._styles.clear()
        self._shades = None
        if depth != "true":
            from tui.ui.painting.shades import Shades  # not where all colours are shown

            self._shades = Shades(depth, palette, dark=dark)

    def set_signs(self, kind: str, *, wide_ambiguous: bool = False) -> None:
        """``kind``: ``unicode``, ``console`` or ``ascii``.

        ``wide_ambiguous``: signs whose width Unicode leaves open take two cells.
        """
        self._wide = wide_ambiguous
        self._glyphs = None
        if kind != "unicode" or wide_ambiguous:
            from tui.ui.painting.glyphs import Glyphs  # rarely needed

            self._glyphs = Glyphs(kind, wide_ambiguous=wide_ambiguous)

    @property
    def all_colours(self) -> bool:
        """A style's own codes are what is written."""
        return self._shades is None

    def reduced(self, style: Style) -> Style:
        """The style in what the terminal has."""
        if self._shades is None:
            return style
        found = self._styles.get(style)
        if found is None:
            if len(self._styles) > _MOST_STYLES:
                self._styles.clear()
            found = self._styles[style] = self._shades.reduced(style)
        return found

    def codes(self, style: Style) -> str:
        """The numbers between ``ESC [`` and ``m``."""
        style = self.reduced(style)
        if style._ansi is not None:
            return style._ansi
        return Strip.render_ansi(style, ColorSystem.TRUECOLOR)

    def written(self, segments: Iterable[Segment]) -> Iterable[Segment]:
        """The segments in signs that there are, cell by cell."""
        if self._glyphs is None:
            return segments
        text = self._glyphs.text
        return [Segment(text(said), style) for said, style, control in segments if not control]

    def shows(self, sign: str) -> bool:
        """Whether it is written as it is, by no stand-in."""
        return self._glyphs is None or self._glyphs.text(sign) == sign

    def is_open(self, text: str) -> bool:
        """Whether something in it takes two cells here, and one in the layout."""
        return self._wide and any(unicodedata.east_asian_width(sign) == "A" for sign in text)


_now = Ink()


def ink() -> Ink:
    """What is written with now."""
    return _now
