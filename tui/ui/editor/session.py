"""What the editor needs of the engine's session; `engine.session.Session` has all of it."""

from __future__ import annotations

from typing import Protocol

from tui.core.buffer import Position
from tui.core.workspace import Workspace
from tui.engine.intents import Intent
from tui.engine.notices import Status


class EditorSession(Protocol):
    """The part of `Session` that the editor talks to."""

    @property
    def workspace(self) -> Workspace:
        """The open files and all hunks."""

    @property
    def status(self) -> Status:
        """Open paths, the active one, busy or not."""

    def submit(self, intent: Intent) -> None:
        """Do what the user asks."""

    def touched(self, path: str) -> None:
        """The user typed in this file."""

    def cursor(
        self, path: str, position: Position, selection: tuple[Position, Position] | None = None
    ) -> None:
        """Where the user's cursor is."""

    def listing(self) -> list[str]:
        """All files of the workspace."""
