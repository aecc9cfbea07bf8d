"""What the parts of a session share: the services themselves, and the queue."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from tui.engine.commands import Commands
from tui.engine.open_files import OpenFiles
from tui.engine.ports import Ports
from tui.engine.requests import Requests
from tui.engine.session_state import PLAIN, SessionState
from tui.engine.supervisor import Supervisor
from tui.engine.tools import WorkspaceTools

if TYPE_CHECKING:
    from tui.engine.budget import Budget
    from tui.engine.compaction import Compaction
    from tui.engine.model_window import ModelWindow

Urgency = Literal["steer", "redirect", "later", "held"]
"""``steer``: with the next request, be it of the running turn; ``redirect``: as soon as what runs
is stopped; ``later``: one by one, whenever a turn is complete; ``held``: as ``later``, but not
yet, since the user is editing it."""
_RANKS: dict[Urgency, int] = {"steer": 0, "redirect": 1, "later": 2, "held": 2}


class Backlog:
    """The queue; `Status.queued` shows its texts, the most urgent first."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._texts = state.status.queued
        self._urgencies: list[Urgency] = []

    def add(self, text: str, urgency: Urgency = "later") -> None:
        """Put a text behind those that are as urgent."""
        at = sum(_RANKS[other] <= _RANKS[urgency] for other in self._urgencies)
        self._texts.insert(at, text)
        self._urgencies.insert(at, urgency)
        self._state.restated()

    def edit(self, index: int, text: str) -> None:
        """Replace a text (0-based), an empty one takes it out; how it is sent stays with it."""
        if not 0 <= index < len(self._texts):
            return
        state, before = self._state, self._texts[index]
        if text.strip():
            self._texts[index] = text
        else:
            del self._texts[index], self._urgencies[index]
        if before not in self._texts:  # as it is, or once more
            state.briefs.pop(before, None)
            way = state.ways.pop(before, PLAIN)
            if text.strip() and way != PLAIN:
                state.ways[text] = replace(way, typed="", words="")
        state.restated()

    def hold(self, index: int | None) -> None:
        """The queue stops in front of this one (0-based), which is being edited; None: no more."""
        self._urgencies[:] = ["later" if one == "held" else one for one in self._urgencies]
        known = index is not None and 0 <= index < len(self._urgencies)
        if known and index is not None and self._urgencies[index] == "later":
            self._urgencies[index] = "held"

    def take(self, *urgencies: Urgency) -> list[str]:
        """Take out all of these urgencies, in order."""
        pairs = list(zip(self._texts, self._urgencies, strict=True))
        taken = [text for text, urgency in pairs if urgency in urgencies]
        if taken:
            self._texts[:] = [text for text, urgency in pairs if urgency not in urgencies]
            self._urgencies[:] = [urgency for _, urgency in pairs if urgency not in urgencies]
            self._state.restated()
        return taken

    def first(self) -> str:
        """Take out the first text; empty if there is none, or it is held."""
        if not self._texts or self._urgencies[0] == "held":
            return ""
        del self._urgencies[0]
        self._state.restated()
        return self._texts.pop(0)

    def holds(self, urgency: Urgency) -> bool:
        """True if a text of this urgency waits."""
        return urgency in self._urgencies

    def calm(self) -> None:
        """The user wants a rest: all of it waits, in its order, for the end of a turn."""
        self._urgencies[:] = ["held" if one == "held" else "later" for one in self._urgencies]


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
