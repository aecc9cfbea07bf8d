"""Colours as light: what WCAG calls luminance and contrast, and OKLab, where distances are seen.

A colour is red, green and blue, 0 to 255 each.
"""

from __future__ import annotations

Rgb = tuple[int, int, int]
Triple = tuple[float, float, float]


def rgb_of(colour: str) -> Rgb:
    """The parts of ``#rrggbb``."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def linear(colour: Rgb) -> Triple:
    """Red, green and blue as amounts of light, 0 to 1."""
    red, green, blue = (_light(part / 255) for part in colour)
    return red, green, blue


def luminance(colour: Rgb) -> float:
    """Relative luminance (WCAG 2), 0 (black) to 1 (white)."""
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Rgb, other: Rgb) -> float:
    """The ratio of two colours (WCAG 2), 1 to 21, whichever is the lighter."""
    darker, lighter = sorted((luminance(one), luminance(other)))
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
