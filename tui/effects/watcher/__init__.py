"""Tells which files of the workspace changed on disk.

The folders of open files are always watched, however large the tree is; and a change is told by
every name under which a file is open, as a link to its folder gives it a second one. Where the
system has no watches left, open files are looked at every few seconds instead.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from tui.errors import FileRefused

BURST_MS = 100
"""Changes that follow each other faster than this are told together."""
MAX_BURST_MS = 500
MOST_HERE = 100
"""Folders; a larger tree is watched by a process, for setting that up holds up the screen."""
MAX_FOLDERS = 1_000
"""Where there is no such process, a larger tree is watched so far only."""
POLL_S = 2.0
"""Between two looks at the open files, where nothing can be watched."""
PARTLY = "there are more than {:,} folders: changes are seen in the upper ones, and in open files"
UNWATCHED = "the system refused it ({}): of changes only those of open files are seen"
MAX_NEW_FILES = 2_000
"""Of a folder that came with files in it, so many are told."""
_log = logging.getLogger("tui.watcher")
_ADDED = 1
"""watchfiles.Change.added"""
_NEVER = frozenset(
    {".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__", ".mypy_cache"}
    | {".pytest_cache", ".ruff_cache", ".hypothesis", ".tox"}
)

_GIT_STATE = frozenset({".git/index", ".git/HEAD"})
"""What a commit, a staging or a switch of the branch writes: the files' states are other ones."""


class _OpenFiles:
    """The open files and where they really lie: links give a file several names."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._places: dict[str, str] = {}
        """Path -> where it lies, absolute."""
        self._names: dict[str, set[str]] = {}
        """The other way round."""
        self.news = asyncio.Event()
        """Other files are open, or a folder was made anew."""
        self.made: set[str] = set()
        """Folders that were made anew: a watch of the one before has ended with it."""

    @property
    def paths(self) -> list[str]:
        """All of them."""
        return list(self._places)

    def are(self, paths: Iterable[str]) -> None:
        """These are open, and no others."""
        known = self._places
        self._places = {path: known.get(path) or self._place(path) for path in paths}
        self._turn_round()

    def remade(self, folders: set[str]) -> None:
        """These folders are new, or are links that lead elsewhere now."""
        self.made |= folders
        self._places = {path: self._place(path) for path in self._places}
        self._turn_round()

    def names(self, changed: Iterable[str]) -> set[str]:
        """The open files among these absolute paths, by all names under which they are open."""
        found: set[str] = set()
        folders: dict[str, str] = {}
        for path in changed if self._names else ():
            folder, name = os.path.split(path)
            if folder not in folders:
                folders[folder] = os.path.realpath(folder)
            found |= self._names.get(os.path.join(folders[folder], name), set())
        return found

    def folders(self) -> set[str]:
        """Their folders, and those above that may be made anew; as far as they are there."""
        found: set[str] = set()
        for path, place in self._places.items():
            for at in (place, os.path.join(self._root, path)):
                while (at := os.path.dirname(at)).startswith(self._root) and at not in found:
                    found.add(at)
        return {folder for folder in found if os.path.isdir(folder)}

    def looks(self) -> dict[str, object]:
        """What is another thing when somebody wrote a file."""
        found: dict[str, object] = {}
        for path in self.paths:
            try:
                there = os.stat(os.path.join(self._root, path))
                found[path] = (there.st_mtime_ns, there.st_ctime_ns, there.st_size, there.st_ino)
            except OSError as error:
                found[path] = error.errno
        return found

    def _place(self, path: str) -> str:
        return os.path.realpath(os.path.join(self._root, path))

    def _turn_round(self) -> None:
        self._names = {}
        for path, place in self._places.items():
            self._names.setdefault(place, set()).add(path)
        self.news.set()


class Watcher:
    """Watches one folder and everything below it."""

    def __init__(
        self,
        root: str,
        said: Callable[[str], None] = lambda words: None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        """``said`` is told once if not everything can be watched, in words.

        ``environment`` is that of the process that watches a large tree.
        """
        self._root = Path(root).resolve()
        self._said, self._environment = said, environment
        self._open = _OpenFiles(str(self._root))
        self.opened = self._open.are
        """Tells which files are open now."""
        self.started = asyncio.Event()
        """Set when changes are seen from now on."""

    async def watch(self, callback: Callable[[set[str]], None]) -> None:
        """Call back with the relative paths that changed, until cancelled.

        The first call, when changes are seen from now on, has none: whoever read files before
        looks at them once more.

        Raises:
            FileRefused: the folder cannot be watched, as it is gone.
        """
        if not self._root.is_dir():
            raise FileRefused(f"{self._root.name} is no longer a folder")
        folders = await asyncio.to_thread(folders_of, self._root)
        try:
            if len(folders) >= MOST_HERE:
                await self._tell_from_process(callback)  # it comes back where that cannot be
            if len(folders) < MAX_FOLDERS:
                await self._tell([self._root], callback, below=True)
            else:
                self._said(PARTLY.format(MAX_FOLDERS))
                if (git := self._root / ".git").is_dir():
                    folders.append(git)
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(self._tell(folders, callback))
                    tasks.create_task(self._tell_of_open(set(map(str, folders)), callback))
        except* (OSError, RuntimeError) as errors:
            self._said(UNWATCHED.format(errors.exceptions[0]))
        await self._poll(callback)

    async def _tell(
        self,
        folders: Iterable[str | Path],
        callback: Callable[[set[str]], None],
        below: bool = False,
    ) -> None:
        """Watch these folders, and those ``below``. Raises OSError, RuntimeError."""
        # imported when it is needed: the first paint does not wait for it
        import watchfiles

        changes = watchfiles.awatch(
            *folders,
            recursive=below,
            watch_filter=None,
            debounce=MAX_BURST_MS,
            step=BURST_MS,
            ignore_permission_denied=True,
        )
        # the generator starts watching in its first step, before it first waits
        asyncio.get_running_loop().call_soon(self._begun, callback)
        async for burst in changes:
            if paths := self._told(burst):
                callback(paths)

    async def _tell_from_process(self, callback: Callable[[set[str]], None]) -> None:
        """Have a process watch all of a large tree, as long as it can."""
        from tui import own_process

        module = "tui.effects.watcher"
        try:
            process = await own_process.started(
                module, str(self._root), environment=self._environment
            )
        except OSError as error:
            _log.warning("no process to watch the files: %r", error)
            return
        stdout = process.stdout
        try:
            while stdout is not None and (line := await stdout.readline()):
                burst: list[tuple[int, str]] = json.loads(line)
                if not burst:
                    self._begun(callback)
                elif paths := self._told(burst):
                    callback(paths)
                await asyncio.sleep(0)  # a checkout is many lines: other work goes on between them
        except ValueError as error:
            _log.warning("not understood of the process that watches: %r", error)
        finally:
            await own_process.ended(process)

    async def _tell_of_open(self, covered: set[str], callback: Callable[[set[str]], None]) -> None:
        """Watch the folders of open files that are not watched already. Raises as `_tell`."""
        watched: set[str] = set()
        task: asyncio.Task[None] | None = None
        try:
            while task is None or not task.done():
                made = self._open.made
                covered -= made
                wanted = self._open.folders() - covered
                if wanted != watched or made & wanted:
                    await _end(task)
                    task = asyncio.create_task(self._tell(wanted, callback)) if wanted else None
                    watched = wanted
                made.clear()
                self._open.news.clear()
                news = asyncio.create_task(self._open.news.wait())
                await asyncio.wait({news, task or news}, return_when=asyncio.FIRST_COMPLETED)
                news.cancel()
            task.result()
        finally:
            await _end(task)

    async def _poll(self, callback: Callable[[set[str]], None]) -> None:
        """Look at the open files now and then, as long as the workspace is there."""
        self._begun(callback)
        last: dict[str, object] = {}
        while self._root.is_dir():
            now = await asyncio.to_thread(self._open.looks)
            if changed := {path for path, seen in now.items() if last.get(path, path) != seen}:
                callback(changed)
            last = now
            await asyncio.sleep(POLL_S)

    def _begun(self, callback: Callable[[set[str]], None]) -> None:
        self.started.set()
        callback(set())

    def _told(self, changed: Iterable[tuple[int, str]]) -> set[str]:
        """The relative paths of the changes that matter.

        A folder that came may hold files already: it is watched from now on only.
        """
        burst = list(changed)
        told = self._open.names(path for _, path in burst)
        made: set[str] = set()
        for change, path in burst:
            relative = self._relative(path)
            if not relative:
                continue
            told.add(relative)
            if change == _ADDED and os.path.isdir(path):
                made.add(path)
                if not os.path.islink(path):
                    told.update(filter(None, map(self._relative, _files_below(path))))
        if made:
            self._open.remade(made)
        return told

    def _relative(self, path: str) -> str:
        """A path that changed, relative to the root; empty if it does not matter."""
        return relative_path(path, str(self._root))


def relative_path(path: str, root: str) -> str:
    """A path that changed, relative to the root; empty if it does not matter."""
    try:
        relative = os.path.relpath(path, root).replace(os.sep, "/")
    except ValueError:
        return ""
    parts = relative.split("/")
    if parts[0] in ("..", "."):
        return ""
    if not _NEVER.isdisjoint(parts[:-1]) and relative not in _GIT_STATE:
        return ""
    return relative


async def _end(task: asyncio.Task[None] | None) -> None:
    if task is not None:
        task.cancel()
        await asyncio.wait([task])


def _files_below(folder: str) -> list[str]:
    """The files in a new folder, links not followed; bounded, folders of tools left out."""
    found: list[str] = []
    if os.path.basename(folder) in _NEVER:
        return found
    for at, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _NEVER]
        found += [os.path.join(at, name) for name in names]
        if len(found) >= MAX_NEW_FILES:
            break
    return found[:MAX_NEW_FILES]


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


QUIET_MS = 400
"""Changes that follow each other faster than this are told together. It is looked so often, also
while nobody does anything: somebody who edits a theme does not mind, an idle processor does."""
MOST_MS = 1200


async def watch_folder(folder: Path, told: Callable[[], None]) -> None:
    """Call ``told`` after each burst of changes in the folder, until cancelled.

    Where the folder is not there, the one above is watched until it is; where that is not there
    either, or the system has no watches left, nothing is told and this ends.
    """
    while True:
        place = folder if _is_there(folder) else folder.parent
        if not _is_there(place) or not await _watch_place(place, folder, told):
            return


async def _watch_place(place: Path, folder: Path, told: Callable[[], None]) -> bool:
    """Watch one place until the folder comes or goes; False: it cannot be watched."""
    import watchfiles  # the first paint does not wait for it

    try:
        async for _ in watchfiles.awatch(
            place,
            recursive=False,
            watch_filter=None,
            debounce=MOST_MS,
            step=QUIET_MS,
            ignore_permission_denied=True,
        ):
            there = _is_there(folder)
            if there or place == folder:
                told()
            if there != (place == folder):
                return True
    except (OSError, RuntimeError):
        return False
    return False


def _is_there(folder: Path) -> bool:
    return folder.is_dir()
