"""The lanes of one connection: their names, whether they are echoed, and creates that wait.

A create is held here while 16 responses are in flight, while the echo of the first named lane is
unproven (with two creates outstanding and no echo, events could not be told apart), and on the
source lane of a fork whose response has not begun to work, for `FORK_S` at most (PROTOCOL
section 6: a response that was only created or queued may still need its parent).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tui.core.wire.client.forks import Forks
from tui.core.wire.client.lane import Lane, LaneState
from tui.core.wire.client.lessons import Lessons
from tui.errors import WireError

MAX_IN_FLIGHT = 16
"""Responses in flight over all lanes of one connection."""
MAX_NAMES = 32
"""Distinct names on one connection; the default lane is not counted."""

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,256}", re.ASCII)


class LaneBook:
    """All lanes of one socket."""

    def __init__(self, lessons: Lessons) -> None:
        self.homeless: list[tuple[str | None, dict[str, Any]]] = []
        """Creates that this socket cannot carry."""
        self.lanes: dict[str | None, Lane] = {}
        self.unnamed = self.lane(None)
        """Whose the events without a name are."""
        self.default = self.unnamed
        self._lessons = lessons
        self._names: set[str] = set()
        self._held: list[Lane] = []
        self.forks = Forks()
        self.sole: Lane | None = None
        """The only lane of a socket without names."""
        self.echoed = False
        """This very socket has echoed a name."""
        self._full = False
        """The server wants no more names."""

    def __iter__(self) -> Iterator[Lane]:
        return iter(tuple(self.lanes.values()))

    @property
    def names(self) -> tuple[str, ...]:
        """The names used so far."""
        return tuple(name for name in self.lanes if name in self._names)

    @property
    def unproven(self) -> bool:
        """Nobody knows yet whether this endpoint echoes names."""
        return self._lessons.capabilities.lanes is None

    @property
    def shared(self) -> bool:
        """Events bear the names of their lanes here."""
        return self.sole is None and not self.unproven and bool(self._names)

    def lane(self, name: str | None) -> Lane:
        """The lane of this name; made when it is first asked for."""
        lane = self.lanes.get(name)
        if lane is None:
            lane = self.lanes[name] = Lane(name)
        return lane

    def called(self, name: str | None) -> Lane | None:
        """Whose the events with this name are; None: nobody's.

        An unknown name is as good as none, unless this server says the right ones.
        """
        lane = self.lanes.get(name) if name else self.unnamed
        return self.unnamed if lane is None and not self.shared else lane

    def takes(self, name: str | None) -> bool:
        """A create on this lane could go out on this socket."""
        if self.sole is not None:
            return name == self.sole.name
        if self._nameless and self._in_use():
            return False
        known = name is None or name in self._names
        return known or (len(self._names) < MAX_NAMES and not self._full)

    def admit(self, name: str | None, request: dict[str, Any]) -> Lane | None:
        """Take a create in; None: it became homeless. Raises WireError if the lane is taken."""
        if name is not None and not _NAME.fullmatch(name):
            raise WireError(f"{name!r} is no lane: 1 to 256 characters of A-Z a-z 0-9 _ . -")
        lane = self.lane(name)
        if lane.state is not LaneState.IDLE:
            raise WireError("A response is still in flight: wait for its end, then send.")
        if not self.takes(name):
            self.homeless.append((name, request))
            return None
        if name is not None:
            self._names.add(name)
        if self._nameless:
            self.sole = lane
        lane.hold(request)
        source = self.by_response(lane.parent)
        if source is not None and source is not lane:
            self.forks.add(lane, source)
        self._held.append(lane)
        return lane

    def ready(self) -> list[Lane]:
        """The held lanes whose create goes out now, in order."""
        self.forks.settle()
        ready: list[Lane] = []
        for lane in tuple(self._held):
            if not self._barred(lane):
                self._held.remove(lane)
                lane.sent()
                ready.append(lane)
        self._settle()
        return ready

    def leave(self, lane: Lane) -> None:
        """A held create is not to go out any more."""
        self._held.remove(lane)
        lane.release()

    def evict(self, lane: Lane) -> None:
        """A create that the server did not take up becomes homeless."""
        self.homeless.append((lane.name, lane.request))
        if lane in self._held:
            self._held.remove(lane)
        lane.release()

    def evict_held(self) -> None:
        """Everything that has not gone out becomes homeless."""
        for lane in tuple(self._held):
            self.evict(lane)

    def fill(self) -> None:
        """The server takes no more names."""
        self._full = True

    def clear(self) -> None:
        """The socket is gone."""
        self._held.clear()
        self.forks.clear()

    def by_response(self, response_id: str) -> Lane | None:
        """The lane whose newest response this is."""
        if not response_id:
            return None
        return next((lane for lane in self if lane.response_id == response_id), None)

    def echo(self) -> None:
        """An event of a named lane bore its name."""
        self.echoed = True
        if self.unproven:
            self._lessons.lanes(True)

    def adopt(self, lane: Lane) -> None:
        """Names are not echoed: all events are this lane's, and the others have to go."""
        self._lessons.lanes(False)
        self.sole = lane
        self.evict_held()
        self._settle()

    def bears_name(self, lane: Lane) -> bool:
        """A create of this lane says its name."""
        return lane.name is not None and lane is not self.sole

    def alone(self, lane: Lane) -> bool:
        """Nobody else is in flight, and no name was ever echoed on this socket."""
        others = any(other.working for other in self if other is not lane)
        return not others and not self.echoed

    def _barred(self, lane: Lane) -> bool:
        others = [other for other in self if other is not lane and other.working]
        if len(others) >= MAX_IN_FLIGHT or (others and self.unproven):
            return True
        return any(self._precedes(fork, lane) for fork in self.forks.of(lane))

    def _precedes(self, fork: Lane, lane: Lane) -> bool:
        """A fork bars its source if it is under way, or was asked for before."""
        return fork not in self._held or self._held.index(fork) < self._held.index(lane)

    @property
    def _nameless(self) -> bool:
        """The endpoint does not echo names, as far as this socket has shown."""
        return self._lessons.capabilities.lanes is False and not self.echoed

    def _in_use(self) -> bool:
        return any(lane.state is not LaneState.IDLE or lane.response_id for lane in self)

    def _settle(self) -> None:
        """Find out whose the events without a name are."""
        self.unnamed = self.default
        if self.sole is not None:
            self.unnamed = self.sole
        elif not self.default.working:
            named = [lane for lane in self if lane.working]
            if len(named) == 1:
                self.unnamed = named[0]
