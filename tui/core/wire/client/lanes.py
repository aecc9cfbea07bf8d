"""The lanes of one connection: their names, whose an event is, creates that wait, what goes out.

A create is held here while 16 responses are in flight, while the echo of the first named lane is
unproven (with two creates outstanding and no echo, events could not be told apart), and on the
source lane of a fork whose response has not begun to work, for `FORK_S` at most: a response that
was only created or queued may still need its parent.

Relays rewrite ids, and some servers say the lane's name on some events only. Either alone is
enough to say whose an event is, but never against the other; what may be of several responses is
nobody's (PROTOCOL section 6).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import force_setattr

from tui.core.wire.client.lane import End, Lane, LaneState
from tui.core.wire.client.steers import SteerStage
from tui.core.wire.endpoint_facts import Learning
from tui.core.wire.events import Created, Event, Incomplete, SteerNews
from tui.core.wire.json_writing import Told, request_or_long
from tui.errors import WireError

MAX_IN_FLIGHT = 16
"""Responses in flight over all lanes of one connection."""
MAX_NAMES = 32
"""Distinct names on one connection; the default lane is not counted."""
FORK_S = 3.0
"""How long a create waits for a fork of its lane: not every server says `response.in_progress`. A
fork that needs its parent later than that is told that it is gone, and is asked for in full."""
LATE_S = 30.0
"""An answer to a control event that is later than this has to say what it is about."""
REMEMBERED = 64
"""So many control events without an answer are known."""
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,256}", re.ASCII)
Kind = Literal["steer", "interrupt"]
KINDS: tuple[Kind, ...] = ("steer", "interrupt")


class SentControl(Struct, frozen=True, eq=False):
    """One `response.steer` or `response.interrupt` that went out and has no answer yet."""

    kind: Kind
    lane: Lane
    response_id: str
    """Of the response that it is about."""
    sent_at: float
    number: int = 0
    """Of the steering text."""

    @property
    def awaited(self) -> bool:
        """We still wait for the answer; else it is late."""
        lane = self.lane
        if self.kind == "steer":
            return lane.steers.awaits(self.number)
        asked = lane.state is LaneState.INTERRUPTING and lane.stop.unanswered
        return asked and lane.response_id == self.response_id


class _Fork(Struct):
    """A create whose parent is on another lane, until its response works or is over."""

    source: Lane
    deadline: float | None = None
    """Until when a create of the source lane waits for it, in seconds; None if none waits."""


class Lanes:
    """All lanes of one socket, and what is to be written and handed on."""

    def __init__(self, learning: Learning) -> None:
        self.learning = learning
        self.by_name: dict[str | None, Lane] = {}
        self.default = self.lane(None)
        self.unnamed = self.default
        """Whose the events without a name are."""
        self.sole: Lane | None = None
        """The only lane of a socket without names."""
        self.echoed = False
        """This very socket has echoed a name."""
        self.full = False
        """The server wants no more names."""
        self.unroutable: list[tuple[str | None, dict[str, Any]]] = []
        """Creates that this socket cannot carry."""
        self.events: list[Event] = []
        """To be handed on, in order."""
        self.frames: list[Told] = []
        """To be written, in order."""
        self.controls: deque[SentControl] = deque(maxlen=REMEMBERED)
        """What was sent and has no answer, oldest first: an answer may come after we gave up
        waiting for it, after its lane went on under another name, or without any name."""
        self.kinds_sent: set[Kind] = set()
        self.drop_reason = ""
        """Why the socket is to be dropped, in words; empty: it is not."""
        self.care = False
        """Something is to be written, waited for, moved or dropped."""
        self._names: set[str] = set()
        self._held: list[Lane] = []
        self._forks: dict[Lane, _Fork] = {}

    def __iter__(self) -> Iterator[Lane]:
        return iter(tuple(self.by_name.values()))

    @property
    def names(self) -> tuple[str, ...]:
        """The names used so far."""
        return tuple(name for name in self.by_name if name in self._names)

    @property
    def unproven(self) -> bool:
        """Nobody knows yet whether this endpoint echoes names."""
        return self.learning.capabilities.lanes is None

    @property
    def shared(self) -> bool:
        """Events bear the names of their lanes here."""
        return self.sole is None and not self.unproven and bool(self._names)

    @property
    def deadline(self) -> float | None:
        """When a lane or a fork was waited for long enough, in seconds; None: never."""
        times = [time for lane in self for time in lane.deadlines]
        times += [fork.deadline for fork in self._forks.values() if fork.deadline is not None]
        return min(times, default=None)

    # Whose an event is.

    def lane(self, name: str | None) -> Lane:
        """The lane of this name; made when it is first asked for."""
        lane = self.by_name.get(name)
        if lane is None:
            lane = self.by_name[name] = Lane(name)
        return lane

    def called(self, name: str | None) -> Lane | None:
        """The lane that an event with this name belongs to, if there is one.

        An unknown name is as good as none, unless this server says the right ones.
        """
        lane = self.by_name.get(name) if name else self.unnamed
        return self.unnamed if lane is None and not self.shared else lane

    def by_response(self, response_id: str) -> Lane | None:
        """The lane whose newest response this is."""
        named = (lane for lane in self if response_id and lane.response_id == response_id)
        return next(named, None)

    def beginning(self, event: Created) -> Lane | None:
        """The lane whose response begins; a missing echo is noticed here."""
        lane = self.called(event.stream_id)
        known = event.stream_id in self._names or self.sole is not None
        if known or self.default.state is LaneState.SENT or self.by_response(event.response_id):
            return lane
        asked = [one for one in self if one.name and one.working and not one.response_id]
        if not asked:
            return lane
        if len(asked) > 1 or not (self.echoed or self.alone(asked[0])):
            self.part()
            return None
        if not self.echoed:
            self.adopt(asked[0])
        return asked[0]

    def ending(self, event: End) -> Lane | None:
        """The lane whose response ends, if it is one of ours."""
        name, lane = event.response_id, self.called(event.stream_id)
        if not name or lane is None or lane.began_as(name):
            return lane
        other = next((one for one in self if one.in_flight and one.began_as(name)), None)
        if other is not None:
            return None if event.stream_id in self._names else other
        return None if any(one.finished.knows(name) for one in self if one is not lane) else lane

    def ambiguous(self, lane: Lane) -> bool:
        """Whether an event that would be this lane's may be of several, and does not say of which.

        Then the lanes are to be parted.
        """
        if lane is not self.default or lane.working:
            return False
        if not self.shared or sum(one.working for one in self) < 2:
            return False
        self.part()
        return True

    def alone(self, lane: Lane) -> bool:
        """Nobody else is in flight, and no name was ever echoed on this socket."""
        return not self.echoed and not any(one.working for one in self if one is not lane)

    def echo(self) -> None:
        """Note that an event of a named lane bore its name."""
        self.echoed = True
        if self.unproven:
            self.learning.learn("lanes", True)

    def adopt(self, lane: Lane) -> None:
        """Give all events to this lane, as names are not echoed; the others have to go."""
        self.learning.learn("lanes", False)
        self.sole = lane
        self.evict_held()
        self._find_unnamed()

    def part(self) -> None:
        """Have the socket dropped: its lanes cannot be told apart, each needs its own one."""
        self.learning.learn("lanes", False)
        self.drop_reason = "the server does not say which of several requests it answers"

    # Creates: taken in, held, sent, or moved to another socket.

    def takes(self, name: str | None) -> bool:
        """A create on this lane could go out on this socket."""
        if self.sole is not None:
            return name == self.sole.name
        used = (lane.state is not LaneState.IDLE or lane.response_id for lane in self)
        if self._nameless and any(used):
            return False
        room = len(self._names) < MAX_NAMES and not self.full
        return room or name is None or name in self._names

    def admit(self, name: str | None, request: dict[str, Any]) -> Lane | None:
        """Take a create in; None if it is unroutable. Raises WireError if the lane is taken."""
        if name is not None and not _NAME.fullmatch(name):
            raise WireError(f"{name!r} is not a lane: 1 to 256 characters of A-Z a-z 0-9 _ . -")
        lane = self.lane(name)
        if lane.state is not LaneState.IDLE:
            raise WireError("A response is still in flight: wait for its end, then send.")
        if not self.takes(name):
            self.unroutable.append((name, request))
            return None
        if name is not None:
            self._names.add(name)
        if self._nameless:
            self.sole = lane
        lane.hold(request)
        source = self.by_response(lane.parent)
        if source is not None and source is not lane:
            self._forks[lane] = _Fork(source)
        self._held.append(lane)
        return lane

    def wait_for_forks(self, lane: Lane, now: float) -> None:
        """Limit how long a create that could not go out at once waits for forks of its lane."""
        for fork in self._forks.values() if lane.state is LaneState.HELD else ():
            if fork.source is lane and fork.deadline is None:
                fork.deadline = now + FORK_S

    def free_forks(self, now: float) -> None:
        """Wait no longer for forks whose time is up."""
        for lane, fork in tuple(self._forks.items()):
            if fork.deadline is not None and now >= fork.deadline:
                del self._forks[lane]

    def pump(self) -> None:
        """Send every create whose turn it is; texts for a create that is gone come back."""
        self.care = True
        for lane in self:
            if lane.steers and lane.state is LaneState.IDLE:
                self.give_back(lane, "its request could not be sent yet", SteerStage.WAITING)
        self._forks = {
            lane: fork for lane, fork in self._forks.items() if lane.busy and not lane.begun
        }
        for lane in tuple(self._held):
            if not self._barred(lane):
                self._held.remove(lane)
                lane.state = LaneState.SENT
                self.send_create(lane)
        self._find_unnamed()

    def leave(self, lane: Lane) -> None:
        """Drop a held create."""
        self._held.remove(lane)
        lane.release()

    def evict(self, lane: Lane) -> None:
        """Have a create that the server did not take up go to another socket."""
        self.unroutable.append((lane.name, lane.request))
        if lane in self._held:
            self._held.remove(lane)
        lane.release()

    def evict_held(self) -> None:
        """Have everything that has not gone out go to another socket."""
        for lane in tuple(self._held):
            self.evict(lane)

    def clear(self, reason: str) -> None:
        """Forget what is in flight, as the socket is gone; steering texts come back."""
        self.drop_reason = self.drop_reason or reason
        for waiting in (self.frames, self._held, self._forks):
            waiting.clear()
        for lane in self:
            self.give_back(lane, reason)
            lane.lost()

    # What is written, and what is handed on.

    def send_create(self, lane: Lane) -> None:
        """Write the create that the lane holds."""
        event = {"type": "response.create", **lane.request}
        event.pop("stream", None)
        self._write(self._named(event, lane))

    def send_steers(self, lane: Lane, now: float) -> None:
        """Write the texts that have waited for the response's id."""
        if self.learning.capabilities.steer.get(lane.model) is False:
            self.give_back(lane, "this model cannot be steered", SteerStage.WAITING)
        elif lane.response_id:
            for number, event in lane.steers.send(lane.response_id, now).items():
                self._write(event)
                self._sent(SentControl("steer", lane, lane.response_id, now, number))

    def send_interrupt(self, lane: Lane, now: float) -> None:
        """Ask the server to stop the lane's response."""
        event = {"type": "response.interrupt", "response_id": lane.response_id}
        self._write({**event, "mode": "discard_partial_items"})
        self._sent(SentControl("interrupt", lane, lane.response_id, now))

    def send_throttle(self, lane: Lane, tokens_s: float | None) -> None:
        """Ask our bridge to rate what runs on the lane."""
        self._write(self._named({"type": "duetto.throttle", "tokens_s": tokens_s}, lane))
        self.care = True

    def hand_on(self, event: Event, lane: Lane) -> None:
        """Hand an event on with its lane's name, whether or not the server said it."""
        if event.stream_id != lane.name:
            force_setattr(event, "stream_id", lane.name)  # it is ours alone
        self.events.append(event)

    def end(self, lane: Lane, reason: str, response_id: str) -> None:
        """Hand on an end that the server did not say."""
        details = {"incomplete_details": {"reason": reason}, "status": "incomplete"}
        self.events.append(Incomplete({"id": response_id, **details}, lane.name))

    def give_back(self, lane: Lane, why: str, stage: SteerStage | None = None) -> None:
        """Return the steering texts of a lane, all or those of one stage."""
        self.events += lane.steers.give_back(why, stage)

    def settle(self, lane: Lane, *, promised: bool = False) -> None:
        """Free a lane to which no successor is owed any more.

        One that was ``promised`` and did not come may still come: the lane is lost to it.
        """
        if lane.state is not LaneState.STEERING or lane.steers.owed(lane.response_id):
            return
        self.give_back(lane, "no further answer began")
        if promised:
            lane.abandon(owed=True)
        else:
            lane.release()

    def answered(self, kind: Kind, response_id: str) -> None:
        """Forget the oldest control event of a kind about this response: it is answered.

        A steering text that is waited for is settled by its number (`steer_answered`).
        """
        for one in self.controls:
            waits = kind == "steer" and one.awaited
            if one.kind == kind and one.response_id == response_id and not waits:
                self.controls.remove(one)
                return

    def steer_answered(self, news: list[SteerNews], parent: str) -> None:
        """Forget the steers that ``news`` tells of; without any it is about one long given up."""
        if not news:
            self.answered("steer", parent)
        numbers = {told.number for told in news}
        for one in tuple(self.controls):
            if one.kind == "steer" and one.number in numbers:
                self.controls.remove(one)

    def _sent(self, control: SentControl) -> None:
        self.kinds_sent.add(control.kind)
        self.controls.append(control)

    def _write(self, event: dict[str, Any]) -> None:
        self.frames.append(request_or_long(event))

    def _named(self, event: dict[str, Any], lane: Lane) -> dict[str, Any]:
        """The event with its lane's name, where names are said."""
        if lane.name is None or lane is self.sole:
            return event
        return {**event, "stream_id": lane.name}

    def _barred(self, lane: Lane) -> bool:
        others = [other for other in self if other is not lane and other.working]
        if len(others) >= MAX_IN_FLIGHT or (others and self.unproven):
            return True
        forks = (one for one, fork in self._forks.items() if fork.source is lane)
        # One bars its source if it is under way, or was asked for before.
        held = self._held
        return any(one not in held or held.index(one) < held.index(lane) for one in forks)

    @property
    def _nameless(self) -> bool:
        """The endpoint does not echo names, as far as this socket has shown."""
        return self.learning.capabilities.lanes is False and not self.echoed

    def _find_unnamed(self) -> None:
        """Find out whose the events without a name are."""
        self.unnamed = self.default
        if self.sole is not None:
            self.unnamed = self.sole
        elif not self.default.working:
            named = [lane for lane in self if lane.working]
            if len(named) == 1:
                self.unnamed = named[0]
