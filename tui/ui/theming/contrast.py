"""The arithmetic of colours: mixing, contrast as WCAG counts it, and what reads on what.

A colour is ``#rrggbb``. Lightness is moved in OKLab, which keeps the hue that people see.
"""

from __future__ import annotations

from functools import lru_cache

TEXT_RATIO = 4.5
"""WCAG 2 AA: text of ordinary size on what lies under it."""
MARK_RATIO = 3.0
"""WCAG 2 AA: bars, rulers and other marks that say something."""
_STEPS = 20
"""Halvings of the search for a lightness: finer than 8 bits can show."""

Rgb = tuple[int, int, int]
Triple = tuple[float, float, float]


def rgb_of(colour: str) -> Rgb:
    """The parts of ``#rrggbb``."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def linear(colour: Rgb) -> Triple:
    """Red, green and blue as amounts of light, 0 to 1."""
    red, green, blue = (_light(part / 255) for part in colour)
    return red, green, blue


def rgb_luminance(colour: Rgb) -> float:
    """Relative luminance (WCAG 2), 0 (black) to 1 (white)."""
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def rgb_contrast(one: Rgb, other: Rgb) -> float:
    """The ratio of two colours (WCAG 2), 1 to 21, whichever is the lighter."""
    darker, lighter = sorted((rgb_luminance(one), rgb_luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def oklab(colour: Rgb) -> Triple:
    """OKLab: lightness 0 to 1, how green or red, how blue or yellow it is."""
    red, green, blue = linear(colour)
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    medium = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short,
    )


def from_oklab(lightness: float, a: float, b: float) -> Triple:
    """The amounts of light; below 0 or above 1 where no screen can show them."""
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )


def hexed(light: Triple) -> str:
    """The colour of these amounts of light, as near as the screen can show it."""
    parts = (_byte(min(max(part, 0.0), 1.0)) for part in light)
    return "#" + "".join(f"{part:02x}" for part in parts)


def _light(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


def _byte(light: float) -> int:
    part = light * 12.92 if light <= 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055
    return round(part * 255)


def mixed(start: str, towards: str, share: float) -> str:
    """The colour on the way from one to another; share 0 is the first, 1 the second."""
    pairs = ((int(start[i : i + 2], 16), int(towards[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


@lru_cache(maxsize=1024)
def luminance(colour: str) -> float:
    """Relative luminance, 0 (black) to 1 (white)."""
    return rgb_luminance(rgb_of(colour))


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
    lightness, a, b = oklab(rgb_of(colour))
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
        light = from_oklab(lightness, a * share, b * share)
        if all(-0.002 <= part <= 1.002 for part in light):
            return hexed(light)
    return hexed(from_oklab(lightness, 0.0, 0.0))
