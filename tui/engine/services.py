"""What the parts of a session share: the services themselves, and the queue."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from tui.engine.intents import PLAIN, TurnWay
from tui.engine.model_commands import Commands
from tui.engine.open_files import OpenFiles
from tui.engine.ports import Ports
from tui.engine.requests import Requests
from tui.engine.session_state import SessionState
from tui.engine.supervisor import Supervisor
from tui.engine.tools import WorkspaceTools

if TYPE_CHECKING:
    from tui.core.document.disk_plan import StillScreen
    from tui.engine.budget import Budget
    from tui.engine.compaction import Compaction
    from tui.engine.model_window import ModelWindow

Urgency = Literal["steer", "redirect", "later", "held"]
"""``steer``: with the next request, be it of the running turn; ``redirect``: as soon as what runs
is stopped; ``later``: one by one, whenever a turn is complete; ``held``: as ``later``, but not
yet, since the user is editing it."""
_REWORDED = {"typed": "", "words": "", "brief": ""}
"""What a way says of a text does not hold for another one."""
_RANKS: dict[Urgency, int] = {"steer": 0, "redirect": 1, "later": 2, "held": 2}


class Waiting(NamedTuple):
    """A message of the queue."""

    text: str
    way: TurnWay = PLAIN
    urgency: Urgency = "later"


class Backlog:
    """The queue; `Status.queued` shows its texts, the most urgent first."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._waiting: list[Waiting] = []

    def add(self, text: str, urgency: Urgency = "later", way: TurnWay = PLAIN) -> None:
        """Put a text behind those that are as urgent."""
        at = sum(_RANKS[other.urgency] <= _RANKS[urgency] for other in self._waiting)
        self._waiting.insert(at, Waiting(text, way, urgency))
        self._show()

    def edit(self, index: int, text: str) -> None:
        """Replace a text (0-based), an empty one takes it out; how it is sent stays with it."""
        if not 0 <= index < len(self._waiting):
            return
        before = self._waiting[index]
        if text.strip():
            way = before.way if before.text == text else replace(before.way, **_REWORDED)
            self._waiting[index] = before._replace(text=text, way=way)
        else:
            del self._waiting[index]
        self._show()

    def hold(self, index: int | None) -> None:
        """The queue stops in front of this one (0-based), which is being edited; None: no more."""
        self._waiting = [
            one._replace(urgency="later") if one.urgency == "held" else one for one in self._waiting
        ]
        known = index is not None and 0 <= index < len(self._waiting)
        if known and index is not None and self._waiting[index].urgency == "later":
            self._waiting[index] = self._waiting[index]._replace(urgency="held")

    def take(self, *urgencies: Urgency) -> list[Waiting]:
        """Take out all of these urgencies, in order."""
        taken = [one for one in self._waiting if one.urgency in urgencies]
        if taken:
            self._waiting = [one for one in self._waiting if one.urgency not in urgencies]
            self._show()
        return taken

    def first(self) -> Waiting | None:
        """Take out the first one; None if there is none, or it is held."""
        if not self._waiting or self._waiting[0].urgency == "held":
            return None
        first = self._waiting.pop(0)
        self._show()
        return first

    def holds(self, urgency: Urgency) -> bool:
        """True if a text of this urgency waits."""
        return any(one.urgency == urgency for one in self._waiting)

    def calm(self) -> None:
        """The user wants a rest: all of it waits, in its order, for the end of a turn."""
        self._waiting = [
            one if one.urgency == "held" else one._replace(urgency="later") for one in self._waiting
        ]

    def _show(self) -> None:
        self._state.status.queued[:] = [one.text for one in self._waiting]
        self._state.restated()


class Services(Struct, frozen=True):
    """The shared parts, made once by `Session`."""

    ports: Ports
    state: SessionState
    open_files: OpenFiles
    requests: Requests
    tools: WorkspaceTools
    commands: Commands
    supervisor: Supervisor
    backlog: Backlog
    window: Callable[[], ModelWindow]
    """Gives it when it is first needed, as the next one."""
    compaction: Callable[[], Compaction]
    budget: Callable[[], Budget]

    async def screen(self) -> StillScreen:
        """What the screen shows now."""
        still = self.state.workspace.keeping_still()
        return await self.state.input_first.do(still, self.ports.clock.now)
