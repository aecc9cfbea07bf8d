"""What is painted on what, and how much contrast it needs; for tests and authors of themes.

``tests/ui/theming/test_contrast.py`` paints the app in a theme in which every name has a colour
of its own, reads the names back from the screen, and so notices a pair that is not in here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tui.ui.theming.contrast import MARK_RATIO, TEXT_RATIO, contrast, readable
from tui.ui.theming.palette import Palette
from tui.ui.theming.theme_file import MIXES

GROUNDS = ("background", "surface", "panel")
"""What lies under all kinds of text. A theme's own colours must read on them."""
OVER = (
    "selection",
    "raised",
    "line",
    *(name for name in MIXES if name.startswith("hunk-") and name.endswith(("-line", "-word"))),
)
"""What lies under a text now and then: there `Palette.legible` makes it read."""
MARKS = ("meter-spark", "meter-scale")
"""Drawings that say something: bars, rulers."""
STRUCTURE = ("line",)
"""Rules and borders: they part, and say nothing."""
LEAST_STRUCTURE = 1.25
"""Contrast of what only has to be seen."""
LEAST_GROUND = 1.15
"""Contrast of the selection with what it lies on."""
BLOCKS = ("accent", "cursor", "warning")
"""What text in the colour of the background is written on."""


def texts() -> list[str]:
    """The names of everything that is written in letters somewhere."""
    others = {*GROUNDS, *OVER, *MARKS, *STRUCTURE, "cursor"}
    return ["foreground", "accent", *(name for name in MIXES if name not in others)]


class LowContrast(NamedTuple):
    """A pair that cannot be read well enough."""

    colour: str
    back: str
    ratio: float
    least: float
    better: str
    """The nearest colour that can."""

    def __str__(self) -> str:
        return (
            f"{self.colour} on {self.back} has a contrast of {self.ratio:.2f}, less than"
            f" {self.least:g}; {self.better} would do"
        )


def findings(palette: Palette) -> Iterator[LowContrast]:
    """The pairs of a theme that do not read; the worst background of each colour only."""
    for names, least in ((texts(), TEXT_RATIO), (MARKS, MARK_RATIO), (STRUCTURE, LEAST_STRUCTURE)):
        for name in names:
            grounds = GROUNDS if least > LEAST_STRUCTURE else ("background",)
            if (found := _worst(palette, name, grounds, least)) is not None:
                yield found
    for block in BLOCKS:
        if (found := _worst(palette, block, ("background",), TEXT_RATIO)) is not None:
            yield found._replace(colour="background", back=block)
    if (found := _worst(palette, "foreground", ("selection",), TEXT_RATIO)) is not None:
        yield found
    if (found := _worst(palette, "selection", ("background",), LEAST_GROUND)) is not None:
        yield found


def least_contrast(palette: Palette) -> float:
    """The contrast of the text that is hardest to read on the common backgrounds."""
    return min(
        contrast(palette.colours[name], palette.colours[ground])
        for name in texts()
        for ground in GROUNDS
    )


def _worst(
    palette: Palette, name: str, grounds: tuple[str, ...], least: float
) -> LowContrast | None:
    colour = palette.colours[name]
    ratio, back = min((contrast(colour, palette.colours[back]), back) for back in grounds)
    if ratio >= least:
        return None
    return LowContrast(name, back, ratio, least, readable(colour, palette.colours[back], least))
