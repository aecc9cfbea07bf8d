"""The workspace of a lane: files as the screen showed them, and what was written over them.

Nothing here reaches the disk: texts stay in memory, and commands run in shadows that hold them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from msgspec.structs import replace

from tui.core.files import FileRead, Prepared, ascii_shown
from tui.core.patches.bringing_home import LaneFile
from tui.core.programs import AS_THE_USER, RunOptions, RunResult, Sandbox, Shadow
from tui.engine.ports import Runner, Shadows, WorkspaceFiles
from tui.errors import FileRefused


class LaneFiles:
    """See `engine.ports.WorkspaceFiles`."""

    def __init__(
        self,
        below: WorkspaceFiles,
        texts: Mapping[str, bytes | None],
        listed: list[str] | None = None,
    ) -> None:
        """``texts`` are those that are not as in the files ``below``; None: no such file.

        ``listed``: what these list now, if somebody knows; of many lanes none need look then.
        """
        self._below, self._listed = below, listed
        self.root, self.named_root = below.root, below.named_root
        self.mark, self.linked = below.mark, below.linked
        self.modes: dict[str, int] = {}
        self.texts = dict(texts)
        self._bases: dict[str, bytes | None] = {}

    @property
    def changes(self) -> dict[str, LaneFile]:
        """What was written, by the path."""
        return {
            path: LaneFile(base, self.texts[path])
            for path, base in self._bases.items()
            if self.texts[path] != base
        }

    def read(self, path: str) -> FileRead:
        """See `engine.ports.WorkspaceFiles`."""
        found = self._below.read(path)
        name = path if path in self.texts or not found.link else found.real
        if name not in self.texts:
            return found
        data = self.texts[name]
        return replace(found, data=data, refusal="", kind="file", head=b"", size_bytes=0)

    def take(self, path: str, base: bytes | None, data: bytes | None) -> None:
        """Have the file, which said ``base``, say this from now on."""
        self._bases.setdefault(path, base)
        self.texts[path] = data

    def took(self, path: str, base: bytes | None, data: bytes | None) -> None:
        """It was written in an earlier start."""
        self._bases[path], self.texts[path] = base, data

    def write(self, path: str, data: bytes, expected: bytes | None) -> None:
        """See `engine.ports.WorkspaceFiles`."""
        self._change(path, data, expected)

    def delete(self, path: str, expected: bytes) -> None:
        """See `engine.ports.WorkspaceFiles`."""
        self._change(path, None, expected)

    def _change(self, path: str, data: bytes | None, expected: bytes | None) -> None:
        if self.read(path).data != expected:
            raise FileRefused(f"'{ascii_shown(path)}' was changed by another program")
        self.take(path, expected, data)

    def prepare(self, texts: Mapping[str, tuple[bytes, bytes | None]]) -> Prepared:
        """See `engine.ports.WorkspaceFiles`."""
        return Prepared()

    def end(self) -> None:
        """Nothing is kept back."""

    def missing_folders(self, path: str) -> tuple[str, ...]:
        """Folders are where files are."""
        return ()

    def sweep(self, paths: Iterable[str], mark: str, folders: Iterable[str] = ()) -> None:
        """Nothing is left anywhere."""

    def listing(self) -> list[str]:
        """See `engine.ports.WorkspaceFiles`."""
        known, self._listed = self._listed, None
        if known is not None and not self.texts:
            return known  # of many lanes none need sort it
        listed = set(self._below.listing() if known is None else known)
        there = [path for path, data in self.texts.items() if data is not None]
        public = [path for path, why in self.privacy_of(there).items() if not why]
        return sorted(listed.difference(self.texts).union(public))

    def privacy_of(self, paths: Iterable[str]) -> dict[str, str]:
        """See `engine.ports.WorkspaceFiles`."""
        return self._below.privacy_of(paths)

    def links_of(self, paths: Iterable[str]) -> dict[str, str]:
        """See `engine.ports.WorkspaceFiles`."""
        return self._below.links_of(paths)


class LaneShadows:
    """Shadows with the texts of a lane. See `engine.ports.Shadows`."""

    def __init__(self, shadows: Callable[[], Shadows], files: LaneFiles) -> None:
        self._shadows, self._files = shadows, files

    async def make(self, texts: Mapping[str, bytes | None]) -> Shadow:
        """These, and for the rest what the lane has."""
        return await self._shadows().make({**self._files.texts, **texts})


class LaneRunner:
    """Has all commands of a lane run in shadows. See `engine.ports.Runner`."""

    def __init__(self, runner: Runner, shadows: LaneShadows | None, files: LaneFiles) -> None:
        """No ``shadows``: only what reads may run, on the disk."""
        self._runner, self._shadows, self._files = runner, shadows, files
        self.on_written: Callable[[set[str]], None] = lambda paths: None
        """Told which files a command of the model wrote."""

    def sandbox(self) -> Awaitable[Sandbox]:
        """See `engine.ports.Runner`."""
        return self._runner.sandbox()

    def git_programs(self, folders: Iterable[str]) -> Awaitable[str]:
        """See `engine.ports.Runner`."""
        return self._runner.git_programs(folders)

    def places(self, folder: str, names: Sequence[str]) -> tuple[str, ...]:
        """See `engine.ports.Runner`."""
        return self._runner.places(folder, names)

    async def run(
        self,
        command: str | Sequence[str],
        output: Callable[[bytes], None],
        deadline_s: float,
        how: RunOptions = AS_THE_USER,
    ) -> RunResult:
        """What a command of the model writes is the lane's text afterwards."""
        if how.shadow is not None:
            return await self._runner.run(command, output, deadline_s, how)
        try:
            if self._shadows is None:
                raise FileRefused("there are no shadows here")
            shadow = await self._shadows.make({})
        except FileRefused as error:
            if how.reads:
                return await self._runner.run(command, output, deadline_s, how)
            return RunResult(None, 0.0, error=f"not run: {error}")
        written: dict[str, bytes | None] = {}
        told = None if how.keys else written.update
        try:
            how = replace(how, shadow=shadow, written=told)
            result = await self._runner.run(command, output, deadline_s, how)
        finally:
            shadow.close()
        await self._take(written)
        return result

    async def _take(self, written: Mapping[str, bytes | None]) -> None:
        bases = await asyncio.to_thread(self._changed, written)
        for path, base in bases.items():
            self._files.take(path, base, written[path])
        if bases:
            self.on_written({*bases})

    def _changed(self, written: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
        """What was there, of the files that may be taken and say something else now."""
        files = self._files
        found = {path: files.read(path).data for path in written}
        fresh = [path for path, data in written.items() if found[path] != data]
        reasons = files.privacy_of(fresh) if fresh else {}
        return {path: found[path] for path in fresh if not reasons.get(path)}
