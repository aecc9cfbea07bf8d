"""Charts as SVG, by hand: lines with their errors, and bars beside each other."""

from __future__ import annotations

import math
from html import escape
from itertools import pairwise

from msgspec import Struct

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 420, 56, 44, 190, 48
_COLOURS = ("#2f9e7e", "#2f6fdb", "#c0722c", "#8a8f98")
_TICKS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200)


class Line(Struct, frozen=True):
    """Points ``(x, per cent, error)``."""

    name: str
    points: list[tuple[float, float, float]]


class Chart(Struct, frozen=True):
    """Lines of at least two points each, over a logarithmic axis, per cent upwards."""

    title: str
    below: str
    lines: list[Line]

    def svg(self) -> str:
        """The picture."""
        xs = [x for line in self.lines for x, *_ in line.points]
        low, high = math.log(min(xs)), math.log(max(xs))

        def across(x: float) -> float:
            return LEFT + (math.log(x) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

        parts = [
            *_sheet(HEIGHT, self.title),
            _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, self.below, anchor="middle"),
        ]
        for share in range(0, 101, 20):
            y = _up(share)
            parts.append(_rule(LEFT, y, WIDTH - RIGHT, y))
            parts.append(_text(LEFT - 8, y + 4, f"{share} %", anchor="end"))
        for tick in _TICKS:
            if min(xs) <= tick <= max(xs):
                x = across(tick)
                parts.append(_rule(x, _up(0), x, _up(0) + 5))
                parts.append(_text(x, _up(0) + 19, f"{tick:g}", anchor="middle"))
        labels = _spread([_up(line.points[-1][1]) for line in self.lines])
        for line, colour, label in zip(self.lines, _COLOURS, labels, strict=False):
            known = [(across(x), y, error) for x, y, error in line.points]
            above = [f"{x:.1f},{_up(y + error):.1f}" for x, y, error in known]
            under = [f"{x:.1f},{_up(y - error):.1f}" for x, y, error in reversed(known)]
            parts += [
                f'<polygon points="{" ".join(above + under)}" fill="{colour}" opacity="0.15"/>',
                f'<polyline points="{" ".join(f"{x:.1f},{_up(y):.1f}" for x, y, _ in known)}"'
                f' fill="none" stroke="{colour}" stroke-width="2.5"/>',
                _text(WIDTH - RIGHT + 8, label + 4, line.name, colour=colour),
            ]
        return "\n".join([*parts, "</svg>", ""])


class Bars(Struct, frozen=True):
    """Groups of bars, ``{group: {name: value}}``; one scale for all."""

    title: str
    unit: str
    groups: dict[str, dict[str, float]]
    below: str = ""

    def svg(self) -> str:
        """The picture."""
        most = max(max(group.values()) for group in self.groups.values())
        names = list(dict.fromkeys(name for group in self.groups.values() for name in group))
        parts, y = list[str](), TOP + 4
        for words, group in self.groups.items():
            parts.append(_text(LEFT - 36, y + 14, words))
            y += 22
            for name, value in group.items():
                long = max(value / most * (WIDTH - 440), 1.5)
                colour = _COLOURS[names.index(name) % len(_COLOURS)]
                place = f'x="240" y="{y}" width="{long:.1f}" height="15"'
                parts.append(_text(230, y + 12, name, anchor="end"))
                parts.append(f'<rect {place} rx="2" fill="{colour}"/>')
                parts.append(_text(248 + long, y + 12, f"{value:g} {self.unit}", colour=colour))
                y += 20
            y += 8
        parts.append(_text(20, y + 14, self.below, colour=_COLOURS[-1]))
        return "\n".join([*_sheet(y + 28, self.title), *parts, "</svg>", ""])


def _sheet(height: float, title: str) -> list[str]:
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"'
        ' font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<g font-weight="bold">{_text(20, 26, title)}</g>',
    ]


def _up(share: float) -> float:
    return TOP + (100 - min(max(share, 0.0), 100.0)) / 100 * (HEIGHT - TOP - BOTTOM)


def _spread(wanted: list[float]) -> list[float]:
    """Places for labels, so that none lies over another."""
    found = list(wanted)
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    for before, one in pairwise(order):
        found[one] = max(found[one], found[before] + 17)
    return found


def _rule(x: float, y: float, to_x: float, to_y: float) -> str:
    return f'<path d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}" stroke="#d5d8dc"/>'


def _text(x: float, y: float, words: str, *, anchor: str = "start", colour: str = "#33383f") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="{colour}">{escape(words)}</text>'
