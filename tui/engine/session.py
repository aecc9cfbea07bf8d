"""The facade of the engine: intents in, notices out.

`Session.submit` is synchronous: when it returns from an `Interrupt` the buffers stand still.
A front end sets `on_wake`, and drains once a frame; it reads transcript, workspace, meter and
status directly and never writes them, except for the user's typing (`Workspace.edit`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from tui.core.buffer import Position
from tui.core.meter import Meter
from tui.core.turn import Transcript
from tui.core.workspace import Workspace
from tui.engine.board import Board
from tui.engine.intents import Intent, Role
from tui.engine.notices import Notices, Status
from tui.engine.ports import Ports, RoleSpec

Selection = tuple[Position, Position]
PromptLabel = Literal["send", "redirect", "queue"]


@dataclass(frozen=True, slots=True)
class Options:
    """How a session behaves."""

    save: Literal["on-accept", "manual"] = "on-accept"
    round_limit: int = 40
    """Responses a turn before it is stopped."""
    rehearsal: bool = False
    """The embedded rehearsal model answers; the screen says so."""
    prompts: tuple[str, ...] = ()
    """Prompts to offer (the practice workspace's exercises)."""
    chaining: bool = True
    """Continue with ``previous_response_id`` where the protocol allows it."""


class Session:
    """One conversation over one workspace."""

    def __init__(
        self, ports: Ports, roles: Mapping[Role, RoleSpec], options: Options | None = None
    ) -> None:
        self.options = options or Options()
        self._ports = ports
        self._board = Board(Workspace(ports.files.read))
        self.status.models = {role: spec.model for role, spec in roles.items()}
        self.status.efforts = {role: spec.effort for role, spec in roles.items()}
        self.status.rehearsal = self.options.rehearsal
        self.status.prompts = list(self.options.prompts)

    @property
    def workspace(self) -> Workspace:
        """The open files and all hunks."""
        return self._board.workspace

    @property
    def transcript(self) -> Transcript:
        """The conversation."""
        return self._board.transcript

    @property
    def meter(self) -> Meter:
        """Tokens/s and friends: call ``view(now)``."""
        return self._board.meter

    @property
    def status(self) -> Status:
        """The state in a few words."""
        return self._board.status

    @property
    def on_wake(self) -> Callable[[], None]:
        """Called once when there is something to drain; schedule one frame."""
        return self._board.on_wake

    @on_wake.setter
    def on_wake(self, wake: Callable[[], None]) -> None:
        self._board.on_wake = wake

    def now(self) -> float:
        """Monotonic seconds, for ``meter.view``."""
        return self._ports.clock.now()

    def submit(self, intent: Intent) -> None:
        """Do what the user asks; returns at once, never raises for what a user may ask."""

    def drain(self) -> Notices:
        """What changed since the last drain, merged."""
        return self._board.drain()

    def prompt_label(self) -> PromptLabel:
        """What Enter in the prompt does now."""
        return "redirect" if self.status.busy else "send"

    def cursor(
        self, path: str, position: Position, selection: Selection | None = None
    ) -> None:
        """Where the user's cursor is (cheap; call it whenever it moves)."""

    def touched(self, path: str) -> None:
        """The user typed in this file through `Workspace.edit`."""
        self._board.touched(path)

    def listing(self) -> list[str]:
        """All files that are neither ignored nor secret, sorted."""
        return self._ports.files.listing()

    async def run(self) -> None:
        """Dial, watch the files; returns when the session is closed."""

    async def close(self) -> None:
        """End tasks, commands and sockets; finishes saving first."""
