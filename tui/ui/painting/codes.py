"""A row's bytes with as few colour codes as show it: what stays the same is not said again.

Half of what a terminal is sent while text scrolls are colours of the background that it has
already. Rich says all of a style before each piece and resets behind it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.segment import Segment

from tui.ui.painting.ink import Ink

RESET = "\x1b[0m"
_MOST_STEPS = 20_000
_steps: dict[tuple[str, str], str] = {}
"""From one style's codes to the next one's."""


def row_bytes(segments: Iterable[Segment], ink: Ink) -> str:
    """The text of a row with its colours; it begins and ends without any."""
    parts: list[str] = []
    now = ""
    all_colours = ink.all_colours
    for text, style, control in segments:
        if not text or control:
            continue
        codes = ""
        if style is not None:
            known = style._ansi if all_colours else None
            codes = ink.codes(style) if known is None else known
        if codes != now:
            step = _steps.get((now, codes))
            parts.append(_step(now, codes) if step is None else step)
            now = codes
        if style is not None and style._link:
            link = f"id={style._link_id};{style._link}"
            text = f"\x1b]8;{link}\x1b\\{text}\x1b]8;;\x1b\\"
        parts.append(text)
    if now:
        parts.append(RESET)
    return "".join(parts)


def _step(now: str, then: str) -> str:
    """What to say so that ``then`` is in force where ``now`` is."""
    if len(_steps) > _MOST_STEPS:
        _steps.clear()
    step = _steps[now, then] = _shortest(now, then)
    return step


def _shortest(now: str, then: str) -> str:
    if not then:
        return RESET
    if not now:
        return f"\x1b[{then}m"
    before, after = _by_kind(now), _by_kind(then)
    if before.keys() - after.keys():  # something ends: that takes a reset
        return f"\x1b[0;{then}m"
    said = [codes for kind, codes in after.items() if before.get(kind) != codes]
    return f"\x1b[{';'.join(said)}m" if said else ""


def _by_kind(codes: str) -> dict[str, str]:
    """Codes by what they are of: foreground, background, or an attribute of their own."""
    kinds: dict[str, str] = {}
    numbers = iter(codes.split(";"))
    for number in numbers:
        value = int(number or 0)
        if value in (38, 48):
            rest = _colour(numbers)
            kinds["fore" if value == 38 else "back"] = ";".join([number, *rest])
        elif 30 <= value <= 39 or 90 <= value <= 97:
            kinds["fore"] = number
        elif 40 <= value <= 49 or 100 <= value <= 107:
            kinds["back"] = number
        else:
            kinds[number] = number
    return kinds


def _colour(numbers: Iterator[str]) -> list[str]:
    """What follows 38 or 48: ``5;n`` or ``2;r;g;b``."""
    how = next(numbers, "")
    return [how, *(next(numbers, "0") for _ in range(3 if how == "2" else 1))]
