"""The workspace's folders for the file tree: what lies in them, and how git sees it.

Nothing is asked while nobody looks. Then git is asked once, and again when the watcher tells
of changes; never by a clock.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from tui.core.folder_entry import FolderEntry, GitStates, summed
from tui.engine.kit import Kit

PAUSE_S = 0.5
"""Between two questions to git, however much changes; longer where an answer takes long."""
_SHARE = 4
"""git works at most one part in so many of the time."""
_GIT_FOLDER = ".git/"


class Folders:
    """Lists folders, and holds git's states while the tree is in sight."""

    def __init__(self, kit: Kit) -> None:
        self.states = GitStates()
        """What git said last; empty: nothing yet, or there is no repository."""
        self._ports = kit.ports
        self._board = kit.board
        self._supervisor = kit.supervisor
        self._seen = False
        self._stale = True
        self._asking = False
        self._catalogue = kit.desk.catalogue
        self._looking = False

    async def entries(self, folder: str) -> Sequence[FolderEntry]:
        """What lies in a folder; the root is the empty string. Raises FileRefused."""
        if self._ports.folder is not None:
            return await asyncio.to_thread(self._ports.folder, folder)
        listed = await asyncio.to_thread(self._ports.files.listing)
        return entries_below(listed, folder)

    def watch(self, *, seen: bool) -> None:
        """The tree came into sight (again), or went out of it.

        The user looks at it: git is asked, for not all that it reads is watched everywhere.
        """
        self._seen = seen
        self._stale |= seen
        self._ask()
        if seen:
            self.look()

    def look(self) -> None:
        """The user looks for a file: list all of them anew, if any came or went since."""
        if not self._looking and not self._catalogue.ready():
            self._looking = True
            self._supervisor.start(self._list(), "listing the files")

    def telling(self, outside: Callable[[set[str]], None]) -> Callable[[set[str]], None]:
        """For the watcher: tells ``outside`` of the files, and the tree of what it shows."""

        def tell(paths: set[str]) -> None:
            files = {path for path in paths if not path.startswith(_GIT_FOLDER)}
            if files or not paths:
                outside(files)
            self._changed(files)

        return tell

    def _changed(self, files: set[str]) -> None:
        self._stale = True
        if self._seen:
            if files:
                self._board.folders_changed({path.rpartition("/")[0] for path in files})
            self._ask()

    def _ask(self) -> None:
        """Ask git, unless nobody looks, nothing changed, or it is being asked."""
        if self._seen and self._stale and not self._asking and self._ports.git_status is not None:
            self._asking = True
            self._supervisor.start(self._look(), "looking at git's states")

    async def _list(self) -> None:
        try:
            await self._catalogue.prepare()
        finally:
            self._looking = False

    async def _look(self) -> None:
        ask, clock = self._ports.git_status, self._ports.clock
        try:
            while ask is not None and self._seen and self._stale:
                self._stale = False
                began_s = clock.now()
                files = await ask()
                if files != self.states.files:
                    self.states = await asyncio.to_thread(summed, files)
                    self._board.folders_changed(git=True)
                await self._ports.sleep(max(PAUSE_S, (clock.now() - began_s) * (_SHARE - 1)))
        finally:
            self._asking = False


def entries_below(paths: Iterable[str], folder: str) -> list[FolderEntry]:
    """The names that files of these paths have in a folder: folders first, by name."""
    start = f"{folder}/" if folder else ""
    names: dict[str, FolderEntry] = {}
    for path in paths:
        if path.startswith(start):
            name, slash, _ = path[len(start) :].partition("/")
            names[name] = FolderEntry(name, "folder" if slash else "file")
    return sorted(names.values(), key=lambda e: (e.kind == "file", e.name.casefold(), e.name))
