"""The app's side of the map: starts the process when it is first needed, and asks it.

The process ends with its stdin, so it cannot outlive the app. Should it break, there is no map.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from asyncio.subprocess import Process
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tui import own_process
from tui.core.project_map import Seeds
from tui.core.typed_data import from_json
from tui.effects.project_map import MapMade, MapOrder

_log = logging.getLogger("tui.project_map")


class MapProcess:
    """See `engine.ports.ProjectMapper`."""

    def __init__(self, root: str, folder: Path | None, environment: Mapping[str, str]) -> None:
        """What was read is kept in ``folder``; None: nothing is. No key is in ``environment``."""
        name = hashlib.sha256(root.encode("utf-8", "surrogateescape")).hexdigest()[:24]
        kept = [] if folder is None else [str(folder / f"{name}.map")]
        self._arguments = [root, *kept]
        self._environment = environment
        self._process: Process | None = None
        self._turn = asyncio.Lock()
        self._broken = False

    async def list_files(self, paths: Sequence[str]) -> None:
        """These are all files there are. Never raises."""
        await self._order(MapOrder(listed=list(paths)))

    async def change(self, paths: Sequence[str]) -> None:
        """These were changed; none: any of them. Never raises."""
        known = [path for path in paths if _sent(path) == path]  # others are never listed
        if self._process is not None and (known or not paths):
            await self._order(MapOrder(changed=known))

    async def draw(self, seeds: Seeds, tokens: int, within_s: float) -> str:
        """A map; it comes when all files were read, or after so long. Empty: there is none."""
        seeds = replace(seeds, text=_sent(seeds.text))
        async with self._turn:
            if not await self._say(MapOrder(seeds=seeds, tokens=tokens, within_s=within_s)):
                return ""
            process = self._process
            if process is None or process.stdout is None:
                return ""
            try:
                line = await process.stdout.readline()
                return from_json(line, MapMade).text
            except (OSError, ValueError, msgspec.MsgspecError) as error:
                return self._gone(error)

    async def close(self) -> None:
        """End the process."""
        process, self._broken = self._process, True
        if process is not None:
            await own_process.ended(process)

    async def _order(self, order: MapOrder) -> None:
        async with self._turn:
            await self._say(order)

    async def _say(self, order: MapOrder) -> bool:
        """False: there is no process to hear it."""
        if self._broken:
            return False
        # 50,000 paths are 3 MB
        line = await asyncio.to_thread(msgspec.json.encode, order)
        try:
            if self._process is None:
                module = "tui.effects.project_map"
                self._process = await own_process.started(
                    module, *self._arguments, environment=self._environment
                )
            if self._process.stdin is not None:
                self._process.stdin.write(line + b"\n")
                await self._process.stdin.drain()
        except OSError as error:
            self._gone(error)
            return False
        return True

    def _gone(self, error: Exception) -> str:
        """There is no map from now on; nobody is told but the log."""
        if not self._broken:
            _log.warning("no map of the project any more: %r", error)
        self._broken = True
        return ""


def _sent(text: str) -> str:
    """What can be said of a text in UTF-8; a file's name may be in another encoding."""
    return text.encode("utf-8", "replace").decode()
