"""The screen of the very first start: it finds, shows, and asks before anything is used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from tui.engine.connecting import FoundHere, ModelSource
from tui.ui.connect.sheet import Chooser, Room, Row, SheetScreen, choices, heading
from tui.ui.first_run import pages
from tui.ui.first_run.port import Port


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
        super().__init__(pages.ways(port, None))
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
        self._chooser = Chooser(pages.ways(self._port, self._sources), at=self._chooser.at)
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
        rows = pages.findings(list(self._found.values()), room)
        left = room.height - used - len(rows)
        return [*rows, *choices(self._chooser, Room(room.width, left))]

    def _keys(self) -> Sequence[tuple[str, str]]:
        return (("↑↓ 1-3", "choose"), ("Enter", "begin"), ("Esc", "none of them"))
