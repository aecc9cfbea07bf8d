"""The workspace's files by name: looked up in a thread, remembered until something changes."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from tui.engine.ports import Files

NOT_KNOWN = "it is not known yet whether it is ignored"
MOST_LOOKS = 3
"""While files come and go all the time, what is not known is held for private."""


class Catalogue:
    """Which files there are, and which of them are private."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._paths: list[str] = []
        self._public: frozenset[str] = frozenset()
        self._privacy: dict[str, str] = {}
        self._changes = 1
        """Counts what made the lists old."""
        self._seen = 0
        """The `changes` of which the lists know."""
        self._looking = asyncio.Lock()

    def ready(self, paths: Collection[str] = ()) -> bool:
        """True if the lists are up to date, and the privacy of these paths is known."""
        return self._seen == self._changes and all(map(self._is_known, paths))

    async def prepare(self, paths: Collection[str] = ()) -> None:
        """Look now if need be, in a thread: a large workspace must not hold up the screen."""
        for _ in range(MOST_LOOKS):
            async with self._looking:
                if self.ready(paths):
                    return
                await self._look(list(paths))

    def paths(self) -> list[str]:
        """All files that are neither ignored nor secret, sorted; maybe a little old."""
        return self._paths

    def expire(self) -> None:
        """Files came or went, or became private: look again before the next request."""
        self._changes += 1

    def privacy(self, path: str) -> str:
        """Why a file is not sent to a model without asking; empty if it may be.

        What was not looked up since the last change is private.
        """
        if not self.ready((path,)):
            return NOT_KNOWN
        return "" if path in self._public else self._privacy[path]

    def _is_known(self, path: str) -> bool:
        return path in self._public or path in self._privacy

    async def _look(self, paths: list[str]) -> None:
        changes = self._changes
        if self._seen != changes:
            listed = await asyncio.to_thread(self._files.listing)
            self._paths, self._public, self._privacy = listed, frozenset(listed), {}
            self._seen = changes
        if unknown := [path for path in paths if not self._is_known(path)]:
            reasons = await asyncio.to_thread(self._files.privacy_of, unknown)
            if self._changes == changes:
                self._privacy |= reasons
