"""Tells which files of the workspace changed on disk."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from tui.errors import FileRefused

BURST_MS = 100
"""Changes that follow each other faster than this are told together."""
MAX_BURST_MS = 500
MAX_FOLDERS = 1_000
"""A larger tree is watched so far only: setting up a watch holds up the screen."""
_NEVER = frozenset(
    {".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__", ".mypy_cache"}
    | {".pytest_cache", ".ruff_cache", ".hypothesis", ".tox"}
)

_GIT_STATE = frozenset({".git/index", ".git/HEAD"})
"""What a commit, a staging or a switch of the branch writes: the files' states are other ones."""


class Watcher:
    """Watches one folder and everything below it."""

    def __init__(self, root: str) -> None:
        self._root = Path(root).resolve()
        self.started = asyncio.Event()
        """Set when changes are seen from now on."""

    async def watch(self, callback: Callable[[set[str]], None]) -> None:
        """Call back with the relative paths that changed, until cancelled.

        The first call, when changes are seen from now on, has none: whoever read files before
        looks at them once more.

        Raises:
            FileRefused: the folder cannot be watched (gone, too many watches).
        """
        if not self._root.is_dir():
            raise FileRefused(f"{self._root.name} is no folder any more")
        # imported when it is needed: the first paint does not wait for it
        import watchfiles

        folders = await asyncio.to_thread(folders_of, self._root)
        whole = len(folders) < MAX_FOLDERS
        changes = watchfiles.awatch(
            *([self._root] if whole else folders),
            recursive=whole,
            watch_filter=None,
            debounce=MAX_BURST_MS,
            step=BURST_MS,
            ignore_permission_denied=True,
        )
        # the generator starts watching in its first step, before it first waits
        asyncio.get_running_loop().call_soon(self._begun, callback)
        try:
            async for burst in changes:
                if paths := self._told(path for _change, path in burst):
                    callback(paths)
        except (OSError, RuntimeError) as error:
            raise FileRefused(f"the system refused it: {error}") from error

    def _begun(self, callback: Callable[[set[str]], None]) -> None:
        self.started.set()
        callback(set())

    def _told(self, changed: Iterable[str]) -> set[str]:
        """The relative paths of the changes that matter."""
        told: set[str] = set()
        for path in changed:
            try:
                relative = os.path.relpath(path, self._root).replace(os.sep, "/")
            except ValueError:
                continue
            parts = relative.split("/")
            if parts[0] in ("..", "."):
                continue
            if not _NEVER.isdisjoint(parts[:-1]) and relative not in _GIT_STATE:
                continue
            told.add(relative)
        return told


def folders_of(root: Path) -> list[Path]:
    """The root and the folders below it, upper ones first, links not followed; bounded.

    In a tree that is too large, folders of tools are left out.
    """
    everything = _folders(root, frozenset())
    return everything if len(everything) < MAX_FOLDERS else _folders(root, _NEVER)


def _folders(root: Path, skipped: frozenset[str]) -> list[Path]:
    found = [root]
    for folder in found:
        try:
            with os.scandir(folder) as entries:
                found += [
                    Path(entry.path)
                    for entry in entries
                    if entry.is_dir(follow_symlinks=False) and entry.name not in skipped
                ]
        except OSError:
            continue
        if len(found) >= MAX_FOLDERS:
            break
    return found[:MAX_FOLDERS]
