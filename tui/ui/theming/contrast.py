"""The arithmetic of colours: mixing, contrast as WCAG counts it, and what reads on what.

A colour is ``#rrggbb``. Lightness is moved in OKLab, which keeps the hue that people see.
"""

from __future__ import annotations

from functools import lru_cache

from tui.ui.theming import colour_space

TEXT_RATIO = 4.5
"""WCAG 2 AA: text of ordinary size on what lies under it."""
MARK_RATIO = 3.0
"""WCAG 2 AA: bars, rulers and other marks that say something."""
_STEPS = 20
"""Halvings of the search for a lightness: finer than 8 bits can show."""


def mixed(start: str, towards: str, share: float) -> str:
    """The colour on the way from one to another; share 0 is the first, 1 the second."""
    pairs = ((int(start[i : i + 2], 16), int(towards[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


@lru_cache(maxsize=1024)
def luminance(colour: str) -> float:
    """Relative luminance, 0 (black) to 1 (white)."""
    return colour_space.luminance(colour_space.rgb_of(colour))


def contrast(one: str, other: str) -> float:
    """The ratio of two colours, 1 to 21, whichever is the lighter."""
    a, b = luminance(one), luminance(other)
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)


@lru_cache(maxsize=2048)
def readable(colour: str, back: str, ratio: float = TEXT_RATIO) -> str:
    """The colour itself where it reads on ``back``; else the nearest lightness of it that does.

    Where even white or black does not reach the ratio, the one that comes nearer.
    """
    if contrast(colour, back) >= ratio:
        return colour
    end = "#ffffff" if contrast("#ffffff", back) > contrast("#000000", back) else "#000000"
    if contrast(end, back) <= ratio:
        return end
    lightness, a, b = colour_space.oklab(colour_space.rgb_of(colour))
    near, far = lightness, 1.0 if end == "#ffffff" else 0.0
    for _ in range(_STEPS):
        middle = (near + far) / 2
        if contrast(_of_lightness(middle, a, b), back) >= ratio:
            far = middle
        else:
            near = middle
    found = _of_lightness(far, a, b)
    return found if contrast(found, back) >= ratio else end


def _of_lightness(lightness: float, a: float, b: float) -> str:
    """That lightness with the same hue, and as much of the colour as the screen has there."""
    for share in (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1):
        light = colour_space.from_oklab(lightness, a * share, b * share)
        if all(-0.002 <= part <= 1.002 for part in light):
            return colour_space.hexed(light)
    return colour_space.hexed(colour_space.from_oklab(lightness, 0.0, 0.0))
