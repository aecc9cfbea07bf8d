"""Writes that wait: the formatter is at work on a file, or the user is asked about one."""

from __future__ import annotations

from collections.abc import Collection, Mapping


class LaterWrites:
    """Sets of files that are written together, in the order in which they were due."""

    def __init__(self) -> None:
        self._sets: list[dict[str, bool]] = []
        """Path -> whether it is written over whatever lies there."""

    def __bool__(self) -> bool:
        """True while something waits."""
        return bool(self._sets)

    @property
    def paths(self) -> frozenset[str]:
        """All that wait."""
        return frozenset(path for one in self._sets for path in one)

    def add(self, forced: Mapping[str, bool]) -> None:
        """These are to be written, all or none; with them what shares a file with them."""
        joined, apart = dict(forced), []
        for one in self._sets:
            if joined.keys().isdisjoint(one):
                apart.append(one)
            else:
                both = {**one, **joined}
                joined = {path: joined.get(path, False) or one.get(path, False) for path in both}
        self._sets = [*apart, joined]

    def take(self, held: Collection[str]) -> list[dict[str, bool]]:
        """Take out the sets of which no file is held any more."""
        ready = [one for one in self._sets if one.keys().isdisjoint(held)]
        self._sets = [one for one in self._sets if not one.keys().isdisjoint(held)]
        return ready
