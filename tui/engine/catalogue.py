"""The workspace's files by name: looked up in a thread, remembered until something changes."""

from __future__ import annotations

import asyncio

from tui.engine.ports import Files


class Catalogue:
    """Which files there are, and which of them are private."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._paths: list[str] | None = None
        self._public: frozenset[str] = frozenset()
        self._privacy: dict[str, str] = {}
        self._stale = False

    @property
    def ready(self) -> bool:
        """True if `paths` answers without looking at the disk."""
        return self._paths is not None and not self._stale

    async def prepare(self) -> None:
        """Look now if need be, in a thread: a large workspace must not hold up the screen."""
        if not self.ready:
            self._stale = False
            self._take(await asyncio.to_thread(self._files.listing))

    def paths(self) -> list[str]:
        """All files that are neither ignored nor secret, sorted; maybe a little old."""
        if self._paths is None:
            self._take(self._files.listing())
        return self._paths or []

    def expire(self) -> None:
        """Files came or went: look again before the next request."""
        self._stale = True
        self._privacy = {}

    def privacy(self, path: str) -> str:
        """Why a file is not sent to a model without asking; empty if it may be."""
        if path in self._public and not self._stale:
            return ""
        if path not in self._privacy:
            self._privacy[path] = self._files.is_private(path)
        return self._privacy[path]

    def _take(self, paths: list[str]) -> None:
        self._paths = paths
        self._public = frozenset(paths)
