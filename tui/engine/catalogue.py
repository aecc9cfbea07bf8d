"""The workspace's files by name: looked up in a thread, remembered until something changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection

from tui.core.privacy import is_ignore_file
from tui.engine.ports import Files

NOT_KNOWN = "it is not known yet whether it is ignored"
MOST_LOOKS = 3
"""While files come and go all the time, what is not known is held for private."""


class Catalogue:
    """Which files there are, and which of them are private."""

    def __init__(self, files: Files, listed: Callable[[], None] = lambda: None) -> None:
        """``listed`` is called when there is another list of all files."""
        self._files = files
        self._tell = listed
        self._paths: list[str] = []
        self._public: frozenset[str] = frozenset()
        self._privacy: dict[str, tuple[str, bool]] = {}
        """Path -> why it is private, and whether it had other names (hard links) then.

        Of those that were looked up one by one.
        """
        self._origins: dict[str, str] = {}
        """Path -> the one that its text was moved from: what was private there stays private."""
        self._doubted: set[str] = set()
        """Paths that changed since the list was made: they, and what lies below, may be links."""
        self._changes = 1
        """Counts what made the list old."""
        self._listed = 0
        """The `changes` of which the list knows."""
        self._rules = 0
        """Counts the changes after which nothing is known any more."""
        self._looking = asyncio.Lock()

    def ready(self, paths: Collection[str] = ()) -> bool:
        """True if the list is up to date, and the privacy of these paths is known."""
        known = all(map(self._is_known, self._with_origins(paths)))
        return self._listed == self._changes and known

    async def prepare(self, paths: Collection[str] = ()) -> None:
        """Look now if need be, in a thread: a large workspace must not hold up the screen."""
        for _ in range(MOST_LOOKS):
            async with self._looking:
                if self.ready(paths):
                    return
                await self._look(self._with_origins(paths))

    def paths(self) -> list[str]:
        """All files that are neither ignored nor secret, sorted; maybe a little old."""
        held = {path for path in self._origins if self.privacy(path)}
        return [path for path in self._paths if path not in held] if held else self._paths

    def moved(self, path: str, target: str) -> None:
        """A text goes to another name, or may soon: it is no less private there."""
        self._origins[target] = self._origins.get(path, path)

    def expire(self, path: str = "") -> None:
        """A file came, went or changed: look again before the next request.

        After a change of an ignore file, or of who knows what, every file is held for private.
        """
        self._changes += 1
        if not path or is_ignore_file(path):
            self._rules += 1
            self._public, self._privacy = frozenset(), {}
            return
        self._doubted.add(path)
        self._privacy = {
            known: looked_up
            for known, looked_up in self._privacy.items()
            if known != path and not known.startswith(path + "/")
        }

    def privacy(self, path: str) -> str:
        """Why a file is not sent to a model without asking; empty if it may be.

        What was not looked up since it changed is private; so is a file that turned out, when it
        was read, to have other names (hard links), until they are looked up.
        """
        if path in self._origins and (reason := self._own_privacy(self._origins[path])):
            return reason
        return self._own_privacy(path)

    def _own_privacy(self, path: str) -> str:
        if not self._is_known(path):
            return NOT_KNOWN
        return self._privacy[path][0] if path in self._privacy else ""

    def _with_origins(self, paths: Collection[str]) -> list[str]:
        return [*paths, *self._origins.values()]

    def _is_known(self, path: str) -> bool:
        linked = path in self._files.linked
        if path in self._privacy:
            return self._privacy[path][1] or not linked
        return not linked and self._is_public(path)

    def _is_public(self, path: str) -> bool:
        """Listed, and nothing has changed there since."""
        return path in self._public and self._doubted.isdisjoint(_above(path))

    async def _look(self, paths: list[str]) -> None:
        changes, rules = self._changes, self._rules
        if self._listed != changes:
            before, self._doubted = self._doubted, set()
            listed = await asyncio.to_thread(self._files.listing)
            if rules != self._rules:
                self._doubted |= before
                return
            other = listed != self._paths
            self._paths, self._public = listed, frozenset(listed)
            self._privacy, self._listed = {}, changes
            if other:
                self._tell()
        changes = self._changes
        if unknown := [p for p in paths if p not in self._privacy or not self._is_known(p)]:
            reasons = await asyncio.to_thread(self._reasons, unknown)
            if self._changes == changes:
                linked = self._files.linked
                self._privacy |= {path: (why, path in linked) for path, why in reasons.items()}

    def _reasons(self, paths: Collection[str]) -> dict[str, str]:
        """In a thread: look these up; of those that are listed only the other names."""
        listed = set(filter(self._is_public, paths))
        rest = [path for path in paths if path not in listed]
        reasons = self._files.privacy_of(rest) if rest else {}
        return reasons | (self._files.links_of(listed) if listed else {})


def _above(path: str) -> list[str]:
    """A path and the folders that it lies in."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
