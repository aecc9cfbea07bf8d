"""What is written on the first page: what was found, and the ways to begin."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from tui.engine.connecting import FoundHere, ModelSource, State
from tui.ui import theme
from tui.ui.connect.sheet import Item, Room, Row, words
from tui.ui.first_run.port import Port
from tui.ui.styled_text import clip, one_line, wrap

_SIGNS: dict[State, tuple[str, str]] = {
    "looking": ("…", "muted"),
    "found": ("●", "success"),
    "nothing": ("○", "faint"),
    "odd": ("▲", "warning"),
}
"""Sign and colour of each state; the words beside it say the same."""
_ORDER: dict[State, int] = {"found": 0, "looking": 1, "odd": 2, "nothing": 3}
_ROWS_BESIDE = 13
"""Rows of the first page besides what was found: heading, ways with their words, keys."""
_LEAST_TALL = 18
"""Rows: in fewer the findings are told in one sentence."""
NOTHING_SENT = "Nothing is used until you say so."


def findings(found: Sequence[FoundHere], room: Room) -> list[Row]:
    """What was looked for: a row each, or a sentence where there is no room."""
    style = theme.active().style
    if room.height < _LEAST_TALL:
        there = [one_line(one.name) for one in found if one.state in ("found", "odd")]
        looking = any(one.state == "looking" for one in found)
        said = "looking around…" if looking else "No API key or local model server found."
        said = f"found: {', '.join(there)}" if there else said
        return [*words(said, room, "muted")[:2], []]
    found = _together(found)
    column = max((cell_len(one_line(one.name)) for one in found), default=0)
    column = min(column, max(room.width // 2 - 4, 8)) + 2
    rows: list[Row] = [[("On this machine", style("foreground", more="bold"))]]
    for one in found:
        sign, colour = _SIGNS[one.state]
        name = clip(one_line(one.name), column - 2)
        lines = wrap([(one_line(one.words), style("muted"))], max(room.width - column - 4, 8))
        blank = " " * (column - cell_len(name))
        front = "faint" if one.state == "nothing" else "foreground"
        rows.append([(f"  {sign} ", style(colour)), (f"{name}{blank}", style(front)), *lines[0]])
        rows += [[(" " * (column + 4), style("muted")), *line] for line in lines[1:]]
    if len(rows) > (most := max(room.height - _ROWS_BESIDE, 4)):
        rows = [*rows[: most - 1], [("    and more", style("muted"))]]
    promise = words(NOTHING_SENT, Room(max(room.width - 2, 8), 1), "faint")[:-1]
    return [*rows, *([("  ", style("faint")), *line] for line in promise), []]


def _together(found: Sequence[FoundHere]) -> list[FoundHere]:
    """What is there first; those of whom the same is to be said share a row."""
    absent: dict[str, list[str]] = {}
    for one in found:
        if one.state == "nothing":
            absent.setdefault(one.words, []).append(one.name)
    there = sorted(
        (one for one in found if one.state != "nothing"), key=lambda one: _ORDER[one.state]
    )
    return [*there, *(FoundHere(", ".join(who), words, "nothing") for words, who in absent.items())]


def ways(port: Port, sources: Sequence[ModelSource] | None) -> Sequence[Item]:
    """The three ways to begin; ``sources`` is None while it is looked for them."""
    names = ", ".join(one.title for one in sources or () if one.ready)
    connect = names or "a provider's key, or a server"
    here = f"{port.here}, with the rehearsal" if port.here else "the practice, without the guide"
    return (
        Item("practice", "Practice, with a guide", "60 seconds; nothing leaves this machine"),
        Item("here", "This folder" if port.here else "Just look around", here),
        Item("connect", "Connect a model", "looking…" if sources is None else connect),
    )
