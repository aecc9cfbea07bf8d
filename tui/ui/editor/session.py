"""What the editor needs of the engine's session; `engine.session.Session` has all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from tui.core.document.workspace import Workspace
from tui.core.files import FolderEntry, GitStates
from tui.core.meter import Meter
from tui.core.text.change_set import Position
from tui.engine.intents import Intent
from tui.engine.notices import Status


class TreeFolders(Protocol):
    """The part of `engine.folders.Folders` that the file tree talks to."""

    @property
    def states(self) -> GitStates:
        """What git said last."""

    async def entries(self, folder: str) -> Sequence[FolderEntry]:
        """What lies in a folder; the root is the empty string. Raises FileRefused."""

    async def sizes(self, paths: Sequence[str]) -> Mapping[str, int]:
        """Bytes of these files."""

    def watch(self, *, seen: bool) -> None:
        """The tree came into sight, or went out of it."""

    def look(self) -> None:
        """List all files anew for `EditorSession.listing`, if any came or went."""


class EditorSession(Protocol):
    """The part of `Session` that the editor talks to."""

    @property
    def workspace(self) -> Workspace:
        """The open files and all hunks."""

    @property
    def status(self) -> Status:
        """Open paths, the active one, busy or not."""

    @property
    def meter(self) -> Meter:
        """Knows where a slower model would be writing."""

    @property
    def folders(self) -> TreeFolders:
        """The workspace's folders."""

    def now(self) -> float:
        """Monotonic seconds, for the meter."""

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
