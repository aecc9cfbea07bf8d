"""The workspace's folders in memory, as the file tree asks for them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence

from tui.core.files import FolderEntry, GitState, GitStates, kind_by_name, summed
from tui.engine.disk_changes import entries_below
from tui.errors import FileRefused


class FakeFolders:
    """Folders of some paths; a test sets git's states and what is ignored."""

    def __init__(self, paths: Collection[str]) -> None:
        self.paths = paths
        self.states = GitStates()
        self.ignored: set[str] = set()
        self.refused: dict[str, str] = {}
        self.asked: list[str] = []
        self.seen: list[bool] = []
        self.hold: asyncio.Event | None = None
        """While it is there and not set, no folder is listed."""

    def state(self, **files: GitState) -> None:
        """Set states of files in the root, by keyword; use `states` for others."""
        self.states = summed(files)

    async def entries(self, folder: str) -> Sequence[FolderEntry]:
        self.asked.append(folder)
        if self.hold is not None:
            await self.hold.wait()
        if folder in self.refused:
            raise FileRefused(self.refused[folder])
        start = f"{folder}/" if folder else ""
        return [
            entry._replace(
                ignored=start + entry.name in self.ignored,
                size_bytes=34_100 if kind_by_name(entry.name) else None,
            )
            for entry in entries_below(self.paths, folder)
        ]

    async def sizes(self, paths: Sequence[str]) -> Mapping[str, int]:
        return dict.fromkeys(paths, 34_100)

    def look(self) -> None:
        """The listing is always new."""

    def watch(self, *, seen: bool) -> None:
        self.seen.append(seen)
