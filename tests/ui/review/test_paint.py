"""The colours of a diff's lines are those of the whole text, however little time there is."""

from __future__ import annotations

from tui.core.text.buffer import Buffer


def buffer(path: str, lines: list[str]) -> Buffer:
    made = Buffer(path)
    made.lines, made.endings = list(lines), ["\n"] * len(lines)
    return made
