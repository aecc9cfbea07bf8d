"""Forks of one connection: while one has not begun, the lane that it comes from waits.

PROTOCOL section 6: the server may forget a parent before a fork that was only created or queued
reads it, if the parent's own lane goes on meanwhile.
"""

from __future__ import annotations

from tui.core.wire.client.lane import Lane, LaneState

FORK_S = 3.0
"""How long a create waits for a fork of its lane: not every server says `response.in_progress`. A
fork that needs its parent later than that is told that it is gone, and is asked for in full."""


class Forks:
    """Which lane waits for which, and until when."""

    def __init__(self) -> None:
        self._sources: dict[Lane, Lane] = {}
        """Of a fork whose response has not begun yet: the lane of its parent."""
        self._patience: dict[Lane, float] = {}
        """Until when a fork is waited for, in seconds."""

    @property
    def deadline(self) -> float | None:
        """When `tick` is due, in seconds; None: never."""
        return min(self._patience.values(), default=None)

    def add(self, fork: Lane, source: Lane) -> None:
        """A create on one lane has a parent on another."""
        self._sources[fork] = source

    def of(self, source: Lane) -> list[Lane]:
        """The forks of this lane that have not begun."""
        return [fork for fork, other in self._sources.items() if other is source]

    def hold_back(self, lane: Lane, now: float) -> None:
        """A create that could not go out at once waits so long for forks of its lane."""
        if lane.state is LaneState.HELD:
            for fork in self.of(lane):
                self._patience.setdefault(fork, now + FORK_S)

    def settle(self) -> None:
        """Forks that work, or are over, are waited for no longer."""
        for fork in tuple(self._sources):
            if fork.begun or not fork.busy:
                self._free(fork)

    def tick(self, now: float) -> None:
        """Nor are those whose time is up."""
        for fork, due in tuple(self._patience.items()):
            if now >= due:
                self._free(fork)

    def clear(self) -> None:
        """The socket is gone."""
        self._sources.clear()
        self._patience.clear()

    def _free(self, fork: Lane) -> None:
        del self._sources[fork]
        self._patience.pop(fork, None)
