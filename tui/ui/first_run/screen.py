"""The screen of the very first start: it finds, shows, and asks before anything is used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from rich.cells import cell_len

from tui.engine.connecting import FoundHere, ModelSource, State
from tui.ui import theme
from tui.ui.connect.sheet import Chooser, Item, Room, Row, SheetScreen, choices, heading, words
from tui.ui.styled_text import clip, one_line, wrap

Choice = Literal["practice", "connected", "here", "look"]
"""The practice with the guide, a model was connected, this folder with the rehearsal, or nothing:
what lies under the screen stays."""


class Port(Protocol):
    """The outside of one first run."""

    here: str
    """The current folder, as people write paths; empty: it cannot be opened."""
    under: Literal["practice", "here"]
    """What lies under the screen."""

    async def look(self, tell: Callable[[FoundHere], None]) -> tuple[ModelSource, ...]:
        """Look around this machine; each thing is told as soon as it is known. Never raises."""

    def choose(self, choice: Choice) -> None:
        """This is how it goes on when the screen is gone."""


_SIGNS: dict[State, tuple[str, str]] = {
    "looking": ("…", "muted"),
    "found": ("●", "success"),
    "nothing": ("○", "faint"),
    "odd": ("▲", "warning"),
}
"""Sign and colour of each state; the words beside it say the same."""
_ORDER: dict[State, int] = {"found": 0, "looking": 0, "odd": 1, "nothing": 2}
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


class FirstRunScreen(SheetScreen[None]):
    """From what was found to one of three ways to begin."""

    def __init__(
        self,
        port: Port,
        then: Callable[[], None],
        connect: Callable[[Callable[[bool], None]], None],
    ) -> None:
        """``then`` is called when the screen is gone and the port knows what was chosen.

        ``connect`` opens the screen that connects a model, and tells whether it did.
        """
        super().__init__(ways(port, None))
        self._port, self._then, self._connect = port, then, connect
        self._found: dict[str, FoundHere] = {}
        self._sources: Sequence[ModelSource] | None = None
        """None while it is looked for them."""

    def on_mount(self) -> None:
        """Looking around begins when the screen can show what is found."""
        self.run_worker(self._look(), name="looking around", exclusive=True, group="look")

    def action_back(self) -> None:
        """What lies under this stays."""
        self._end("look")

    def action_take(self) -> None:
        """What is lit."""
        item = self._chooser.chosen
        if item is None:
            return
        if item.key == "connect":
            self._connect(self._connected)
        elif item.key == "practice":
            self._end("practice")
        else:
            self._end("here" if self._port.here and self._port.under != "here" else "look")

    async def action_leave(self) -> None:
        """Out of duetto; the next start is a first one again."""
        await self.app.action_quit()

    def _connected(self, done: bool) -> None:
        if done:
            self._end("connected")

    async def _look(self) -> None:
        self._sources = await self._port.look(self._tell)
        self._chooser = Chooser(ways(self._port, self._sources), at=self._chooser.at)
        self._write()

    def _tell(self, found: FoundHere) -> None:
        self._found[found.name] = found
        self._write()

    def _end(self, choice: Literal["practice", "connected", "here", "look"]) -> None:
        self._port.choose(choice)
        self.dismiss()
        self.app.call_later(self._then)

    def _head(self, room: Room) -> list[Row]:
        return heading("pair-programming, interruptible", room)

    def _body(self, room: Room, used: int) -> list[Row]:
        rows = findings(list(self._found.values()), room)
        left = room.height - used - len(rows)
        return [*rows, *choices(self._chooser, Room(room.width, left))]

    def _keys(self) -> Sequence[tuple[str, str]]:
        return (("↑↓ 1-3", "choose"), ("Enter", "begin"), ("Esc", "none of them"))
