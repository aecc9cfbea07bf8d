"""What one connection teaches about its endpoint: facts go into `Capabilities`."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import msgspec

from tui.core.wire.client.lane import End, Lane, LaneState
from tui.core.wire.client.steers import SteerStage
from tui.core.wire.endpoint_facts import Capabilities
from tui.core.wire.events import Created, Event, Incomplete, SteerNews
from tui.core.wire.json_writing import request
from tui.errors import WireError


class Lessons:
    """Writes down what the endpoint did; ``news`` is set whenever a fact changed."""

    def __init__(self, capabilities: Capabilities) -> None:
        self.capabilities = capabilities
        self.news = False

    def lanes(self, works: bool) -> None:
        """It echoes names, or not."""
        self.news |= self.capabilities.lanes is not works
        self.capabilities.lanes = works

    def prewarm(self, works: bool) -> None:
        """It prepares without generating, or not."""
        self.news |= self.capabilities.prewarm is not works
        self.capabilities.prewarm = works

    def unwarmed(self) -> None:
        """It did not answer a prewarm; where it has before, that is proof the next time only."""
        self.news = True
        self.capabilities.prewarm = None if self.capabilities.prewarm else False

    def interrupt(self, model: str, works: bool) -> None:
        """It stops a response of this model, or not."""
        self._fact(self.capabilities.interrupt, model, works)

    def steer(self, model: str, works: bool) -> None:
        """It redirects a response of this model, or not."""
        self._fact(self.capabilities.steer, model, works)

    def silence(self, facts: dict[str, bool], model: str) -> None:
        """It did not answer: proof only where it has never answered (else the network is slow)."""
        if not facts.get(model):
            self._fact(facts, model, False)

    def _fact(self, facts: dict[str, bool], model: str, works: bool) -> None:
        self.news |= facts.get(model) is not works
        facts[model] = works


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


def claimants(book: LaneBook, event: Created) -> list[Lane]:
    """Named lanes that a beginning without their names may belong to."""
    if event.stream_id in book.names or book.sole is not None:
        return []
    if book.default.state is LaneState.SENT or book.by_response(event.response_id):
        return []
    return [lane for lane in book if lane.name and lane.working and not lane.response_id]


def owner(book: LaneBook, event: End) -> Lane | None:
    """Whose end this is; None: nobody's."""
    name, lane = event.response_id, book.called(event.stream_id)
    if not name or lane is None or lane.began_as(name):
        return lane
    other = next((one for one in book if one.in_flight and one.began_as(name)), None)
    if other is not None:
        return None if event.stream_id in book.names else other
    return None if any(one.bygones.knows(name) for one in book if one is not lane) else lane


def ambiguous(book: LaneBook, event: Event, lane: Lane) -> bool:
    """The event is of one of several responses, and the server does not say of which."""
    if event.stream_id in book.names or lane is not book.default or lane.working:
        return False
    return book.shared and sum(one.working for one in book) > 1


Kind = Literal["steer", "interrupt"]
KINDS: tuple[Kind, ...] = ("steer", "interrupt")
LATE_S = 30.0
"""An answer that is later than this has to say what it is about."""
REMEMBERED = 64
"""So many events without an answer are known."""


@dataclass(frozen=True, slots=True, eq=False)
class Control:
    """One `response.steer` or `response.interrupt` that went out."""

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


class Controls:
    """What went out and has no answer."""

    def __init__(self) -> None:
        self._open: deque[Control] = deque(maxlen=REMEMBERED)
        self._kinds: set[Kind] = set()

    def sent(self, control: Control) -> None:
        """It is on the wire."""
        self._kinds.add(control.kind)
        self._open.append(control)

    def ever(self, kind: Kind) -> bool:
        """One of this kind was sent on this connection."""
        return kind in self._kinds

    def open(self, lane: Lane | None = None) -> list[Control]:
        """Those of a lane, or all, oldest first."""
        return [one for one in self._open if lane is None or one.lane is lane]

    def settle(self, control: Control) -> None:
        """It is answered."""
        self._open.remove(control)

    def stopped(self, response_id: str) -> None:
        """The interrupt of this response is answered."""
        self._settle_first("interrupt", response_id)

    def steered(self, news: list[SteerNews], parent: str) -> None:
        """The server has said something about a text; no ``news``: about one long given up."""
        if not news:
            self._settle_first("steer", parent)
        for one in self.open():
            if one.kind == "steer" and any(one.number == told.number for told in news):
                self.settle(one)

    def _settle_first(self, kind: Kind, response_id: str) -> None:
        for one in self._open:
            if one.kind == kind and one.response_id == response_id and not self._waits(one):
                self.settle(one)
                return

    def _waits(self, control: Control) -> bool:
        """A text that is waited for is settled by its number."""
        return control.kind == "steer" and control.awaited


_E = TypeVar("_E", bound=Event)


class Switchboard:
    """One connection's lanes, events and frames."""

    def __init__(self, lessons: Lessons) -> None:
        self.lessons = lessons
        self.book = LaneBook(lessons)
        self.controls = Controls()
        self.events: list[Event] = []
        """To be handed on, in order."""
        self.frames: list[str] = []
        """To be written, in order."""
        self.drop_reason = ""
        """Why the socket is to be dropped, in words; empty: it is not."""
        self.limit_reached = False
        """The server ends the connection for its age."""
        self.care = False
        """Something is to be written, waited for, moved or dropped."""

    def pump(self) -> None:
        """Send every create whose turn it is; texts for a create that is gone come back."""
        self.care = True
        for lane in self.book:
            if lane.steers and lane.state is LaneState.IDLE:
                self.give_back(lane, "its request could not be sent yet", SteerStage.WAITING)
        for lane in self.book.ready():
            self.send_create(lane)

    def lane_of(self, event: Event) -> Lane | None:
        """By its name, or the one that events without a name belong to."""
        return self.book.called(event.stream_id)

    def hand_on(self, event: Event, lane: Lane) -> None:
        """Hand an event on with its lane's name, whether or not the server said it."""
        self.events.append(stamped(event, lane))

    def end(self, lane: Lane, reason: str, response_id: str) -> None:
        """Hand on an end that the server did not say."""
        details = {"incomplete_details": {"reason": reason}, "status": "incomplete"}
        self.events.append(Incomplete({"id": response_id, **details}, lane.name))

    def give_back(self, lane: Lane, why: str, stage: SteerStage | None = None) -> None:
        """Return the steering texts of a lane, all or those of one stage."""
        self.events += lane.steers.give_back(why, stage)

    def settle(self, lane: Lane, *, promised: bool = False) -> None:
        """A lane to which no successor is owed any more is free.

        One that was ``promised`` and did not come may still come: the lane is lost to it.
        """
        if lane.state is not LaneState.STEERING or lane.steers.owed(lane.response_id):
            return
        self.give_back(lane, "no further answer began")
        if promised:
            lane.abandon(owed=True)
        else:
            lane.release()

    def part(self) -> None:
        """The lanes cannot be told apart here: each is to have a connection of its own."""
        self.lessons.lanes(False)
        self.drop_reason = "the server does not say which of several requests it answers"

    def send_create(self, lane: Lane) -> None:
        """Write the create that the lane holds."""
        event: dict[str, Any] = {"type": "response.create", **lane.request}
        event.pop("stream", None)
        if self.book.bears_name(lane):
            event["stream_id"] = lane.name
        self.frames.append(request(event))

    def send_steers(self, lane: Lane, now: float) -> None:
        """Write the texts that have waited for the response's id."""
        if self.lessons.capabilities.steer.get(lane.model) is False:
            self.give_back(lane, "this model cannot be steered", SteerStage.WAITING)
        elif lane.response_id:
            target = lane.response_id
            for number, event in lane.steers.send(target, now).items():
                self.frames.append(request(event))
                self.controls.sent(Control("steer", lane, target, now, number))

    def send_interrupt(self, lane: Lane, now: float) -> None:
        """Ask the server to stop the lane's response."""
        event = {"type": "response.interrupt", "response_id": lane.response_id}
        self.frames.append(request({**event, "mode": "discard_partial_items"}))
        self.controls.sent(Control("interrupt", lane, lane.response_id, now))

    def send_throttle(self, lane: Lane, tokens_s: float | None) -> None:
        """Ask our bridge to rate what runs on the lane."""
        event: dict[str, Any] = {"type": "duetto.throttle", "tokens_s": tokens_s}
        if self.book.bears_name(lane):
            event["stream_id"] = lane.name
        self.frames.append(request(event))
        self.care = True


def stamped(event: _E, lane: Lane) -> _E:
    """The event with its lane's name, as an event that is ours alone."""
    if event.stream_id != lane.name:
        msgspec.structs.force_setattr(event, "stream_id", lane.name)
    return event
