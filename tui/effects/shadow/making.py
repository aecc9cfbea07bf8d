"""Throw-away copies of the workspace: as the disk, but for some files.

A shadow is a folder that holds only what differs from the disk. A command that runs in it has an
overlay over the workspace, at its own path: git, absolute paths and editable installs mean the
shadow, and what it writes goes into a folder that is emptied at its end, but for the caches of
compilers and test runners. Nothing that runs in it changes the workspace.

Where there can be no overlay, the shadow is a copy (`copying`).
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import itertools
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol

from tui.core.programs import CommandLine, Output, RunOptions, RunResult, Shadow, is_below
from tui.effects.shadow.copying import MOST_BYTES, CopyShadow, ShadowSource
from tui.effects.shadow.overlay import ROOM, OverlayShadow, clear, is_mounted_in
from tui.errors import FileRefused
from tui.shared_files import is_held, locked

_PROOF_S = 20.0
_MEMORY = Path("/dev/shm")


class _Runner(Protocol):
    async def run(
        self, command: CommandLine, output: Output, deadline_s: float, how: RunOptions
    ) -> RunResult:
        """See `engine.ports.Runner`."""


class ShadowFolder:
    """A folder of ours for shadows, which goes with this process; the next one clears it away."""

    def __init__(self, base: Path) -> None:
        """Raises OSError: nothing can be made there."""
        if base.parent != _MEMORY:
            base.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        base.mkdir(mode=0o700, exist_ok=True)
        about = base.lstat()
        if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid():
            raise PermissionError("the folder is not ours")
        with locked(base / "all", surely=True):
            left = _left(base)
            self.path = Path(tempfile.mkdtemp(dir=base))
            self._lock = os.open(self.path, os.O_RDONLY)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._numbers = itertools.count(1)
        for place in left:
            _clear(place)

    def new(self) -> Path:
        """Another folder. Raises OSError."""
        path = self.path / str(next(self._numbers))  # in one step: several threads make some
        path.mkdir(mode=0o700)
        return path

    def close(self) -> None:
        """Remove all of it."""
        _clear(self.path)
        os.close(self._lock)


def _left(base: Path) -> list[Path]:
    """What is there of duettos that live no more."""
    return [one for one in base.iterdir() if one.is_dir() and not is_held(one)]


def clear_shadows(state: Path) -> None:
    """Remove what killed duettos left, for a start that may need no shadow itself."""
    for base in _bases(state):
        with contextlib.suppress(OSError):
            if not base.is_symlink() and base.stat().st_uid == os.geteuid():
                with locked(base / "all", surely=True):  # none is being made
                    left = _left(base)
                for place in left:
                    _clear(place)


def _clear(place: Path) -> None:
    """Remove a folder of shadows, unless a command of a copy mounted something in it."""
    if not is_mounted_in(place):
        clear(place)


def _bases(state: Path) -> list[Path]:
    own = f"duetto-shadows-{os.getuid()}"
    return [state / "shadows", _MEMORY / own, Path(tempfile.gettempdir(), own)]


Kind = Literal["overlay", "bound", "copy"]
_WORDS: Mapping[Kind, str] = {
    "overlay": "an overlay at the workspace's own path",
    "bound": "a copy, seen at the workspace's own path",
    "copy": "a copy in another folder",
}


def _closed(ready: asyncio.Future[Shadow]) -> None:
    """Nobody wants the shadow any more."""
    if not ready.cancelled() and ready.exception() is None:
        ready.result().close()


class ShadowMaker:
    """All shadows of a workspace."""

    def __init__(
        self,
        source: ShadowSource,
        state: Path,
        runner: _Runner,
        kinds: Sequence[Kind] = ("overlay", "bound", "copy"),
    ) -> None:
        """They lie in the ``state`` folder, or in memory; ``runner`` proves that they work.

        ``kinds``: those that are tried, the best first.
        """
        self._source, self._root = source, source.root
        self._state = state
        self._runner, self._kinds = runner, kinds
        self._folder: ShadowFolder | None = None
        self._kind: Kind = kinds[0]
        self._free: list[Shadow] = []
        self._copies: list[CopyShadow] = []
        """All that were made."""
        self._proving = asyncio.Lock()
        self._refusal: str | None = None

    async def make(self, texts: Mapping[str, bytes | None]) -> Shadow:
        """See `engine.ports.Shadows`."""
        async with self._proving:
            if self._refusal is None:
                self._refusal = await self._prove()
        if self._refusal:
            raise FileRefused(self._refusal)
        ready = asyncio.ensure_future(self._ready(texts))
        try:
            return await asyncio.shield(ready)
        except asyncio.CancelledError:
            ready.add_done_callback(_closed)  # not before its thread has ended
            raise

    async def _ready(self, texts: Mapping[str, bytes | None]) -> Shadow:
        shadow = self._free.pop() if self._free else await asyncio.to_thread(self._made)
        await shadow.hold(texts)
        return shadow

    async def look(self) -> str:
        """What shadows are here, in words. Raises FileRefused: there can be none, and why."""
        (await self.make({})).close()
        return _WORDS[self._kind]

    def _made(self) -> Shadow:
        assert self._folder is not None
        try:
            folder = self._folder.new()
            if self._kind == "overlay":
                caches = self._source.caches
                return OverlayShadow(self._root, folder, caches, self._free.append)
            bound = self._kind == "bound"
            copy = CopyShadow(self._source, folder, bound=bound, on_close=self._free.append)
            self._copies.append(copy)
            return copy
        except OSError as error:
            raise FileRefused(f"a shadow cannot be made: {error.strerror or error}") from None

    async def _prove(self) -> str:
        """Find a way and a place in which shadows work; why there is none, in words."""
        why = "nothing can be written"
        for kind, base in self._places():
            self._kind = kind
            try:
                self._folder = await asyncio.to_thread(ShadowFolder, base)
            except OSError:
                continue
            try:
                why = await self._failing(await asyncio.to_thread(self._made))
            except FileRefused as error:
                why = str(error)
            if not why:
                return ""
            folder, self._folder = self._folder, None
            await asyncio.to_thread(self._remove, folder)
        return f"there is no shadow here, {why}"

    def _places(self) -> Iterator[tuple[Kind, Path]]:
        """Ways and folders, the best first; a copy is made in memory where there is enough."""
        bases = _bases(self._state)
        for kind in self._kinds:
            with contextlib.suppress(OSError):
                memory = os.statvfs(_MEMORY)
                if kind != "overlay" and memory.f_bavail * memory.f_frsize > MOST_BYTES + ROOM:
                    bases.sort(key=lambda base: base.parent != _MEMORY)
            for base in bases:
                if not is_below(os.path.realpath(base), self._root):
                    yield kind, base

    async def _failing(self, shadow: Shadow) -> str:
        """Why a shadow is none, proved by a command in it; empty: it works."""
        name = f".duetto-{os.urandom(6).hex()}"
        witness = f"{name}-witness"
        script = 'read -r text <"$1" && test "./$text" = "$1" && test -e "$3" && : >"$2"'
        files = (one.name for one in os.scandir(self._root) if one.is_file(follow_symlinks=False))
        there = next(files, ".")
        await shadow.hold({name: f"{name}\n".encode()})
        said = bytearray()
        argv = ("/bin/sh", "-c", script, "sh", f"./{name}", f"./{witness}", f"./{there}")
        how = RunOptions(shadow=shadow)
        result = await self._runner.run(argv, said.extend, _PROOF_S, how)
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(self._root, witness))
            return "it lets commands write the disk"
        if result.status or result.error:
            return result.error or said.decode(errors="replace").strip() or "it shows other files"
        await shadow.hold({})
        shadow.close()
        return ""

    async def close(self) -> None:
        """Remove all of them."""
        if self._folder is not None:
            await asyncio.to_thread(self._remove, self._folder)

    def _remove(self, folder: ShadowFolder) -> None:
        for copy in self._copies:
            copy.settle()
        folder.close()
