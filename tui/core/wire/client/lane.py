"""One lane of a client: which response is in flight, and the gate that an interrupt shuts.

::

    IDLE --create--> HELD --its turn--> SENT
    SENT --created--> CREATED --first output--> STREAMING --terminal--> IDLE
              SENT, CREATED or STREAMING --interrupt--> INTERRUPTING --terminal--> IDLE
              INTERRUPTING --refused or silent, others busy--> ABANDONED --terminal--> IDLE
              terminal, a steering text is out --> STEERING --successor created--> CREATED

Events carry no response id, so the state decides what a frame belongs to: a delta that comes
while no response is known to run is late, and is dropped; a response that nobody asked for runs
unseen.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

import msgspec

from tui.core.wire.client.steers import Steers
from tui.core.wire.endpoint_facts import ACCEPTED_S, GRACE_S
from tui.core.wire.events import (
    CALL_OUTPUTS,
    MOST_ERROR_CHARS,
    Completed,
    Created,
    Delta,
    ErrorEvent,
    Event,
    Failed,
    Incomplete,
    InProgress,
    InterruptAccepted,
    InterruptFailed,
    ItemAdded,
    ItemDone,
    ItemInterrupted,
    Progress,
    Queued,
)
from tui.core.wire.json_reading import mended

ENDED_IDS = 16
"""So many ids of ended responses are known."""
MAX_ITEMS = 1000
"""So many items of one response are known."""


class Bygones:
    """Ids of ended responses, and of the items of the last one."""

    def __init__(self) -> None:
        self.used = False
        """A response has ended here."""
        self.announced = False
        """The server has begun one with `response.created`: it is expected to do so again."""
        self._stopped = False
        """The last one did not end by itself: more of it may come."""
        self._ids: deque[str] = deque(maxlen=ENDED_IDS)
        self._items: set[str] = set()
        """Of the response in flight."""
        self._over: set[str] = set()
        """Of the response before."""

    def knows(self, response_id: str) -> bool:
        """A response of this id has ended not long ago."""
        return response_id in self._ids

    def ended(self, *response_ids: str) -> None:
        """A response is over; relays may have known it by several ids."""
        self._ids.extend(name for name in response_ids if name and name not in self._ids)

    def revive(self, response_id: str) -> None:
        """Some servers use one id twice (LiteLLM, where its upstream does)."""
        if response_id in self._ids:
            self._ids.remove(response_id)

    def note(self, item_id: str) -> None:
        """An item of the response in flight."""
        if item_id and len(self._items) < MAX_ITEMS:
            self._items.add(item_id)

    def close(self, *, stopped: bool) -> None:
        """The response in flight is over, or nobody waits for it any more."""
        self.used, self._stopped = True, stopped
        if self._items:
            self._over, self._items = self._items, set()

    def late(self, item_id: str, *, begins: bool) -> bool:
        """Whether output that comes before its `response.created` is of the response before.

        ``begins``: it is an item as such, with which a response may begin; a piece of one may not,
        unless the server never says `response.created`; what ends by itself there is over.
        """
        if not self.used or not (self.announced or self._stopped):
            return False
        fresh = bool(item_id) and item_id not in self._over
        return not fresh if begins else self.announced or item_id in self._over


class Ghosts:
    """Of one lane: how many may still come, and the one that streams unseen ahead of ours."""

    def __init__(self) -> None:
        self.expected = 0
        self._name = ""

    @property
    def present(self) -> bool:
        """One streams now, and our own response has not begun."""
        return bool(self._name)

    def expect(self) -> None:
        """A text that was given back will be answered all the same."""
        self.expected += 1

    def gone(self) -> None:
        """One will not come."""
        self.expected = max(0, self.expected - 1)

    def appears(self, response_id: str) -> None:
        """One began ahead of a response of ours."""
        self.gone()
        self._name = response_id or "?"

    def hides(self, event: Event) -> bool:
        """Whether this event is the ghost's; its terminal, or another response, ends it."""
        if isinstance(event, Created) and event.response_id != self._name:
            self._name = ""
            return False
        if isinstance(event, Completed | Incomplete | Failed):
            self._name = ""
        return True

    def clear(self) -> None:
        """Nothing comes any more."""
        self.expected, self._name = 0, ""


class Stopping:
    """How far the wish to stop a response has come; calm while there is none."""

    def __init__(self) -> None:
        self.deadline: float | None = None
        """When the interrupt counts as ignored, in seconds."""
        self.asked = False
        """The interrupt is on the wire."""
        self.accepted = False
        self.refusal = ""
        """Why the server will not stop, in words; empty unless it refused."""
        self._asked_at = 0.0

    @property
    def unanswered(self) -> bool:
        """The server was asked and has not said that it stops."""
        return self.asked and not self.accepted

    def wish(self, now: float) -> None:
        """The user wants it stopped."""
        self.deadline = now + GRACE_S

    def sent(self, now: float) -> None:
        """The interrupt is on the wire: the server has `GRACE_S` to answer it."""
        self.asked, self._asked_at = True, now
        self.deadline = now + GRACE_S

    def answered(self, event: InterruptAccepted | InterruptFailed) -> None:
        """The server's word about it; one that accepted is read to the end of the response.

        How much of the response still comes, and how quiet it is meanwhile, does not matter.
        """
        if isinstance(event, InterruptFailed):
            reason = event.error.get("message") or event.error.get("code")
            self.refuse(str(reason or "the server cannot interrupt now")[:MOST_ERROR_CHARS])
        else:
            self.accepted = True
            self.deadline = self._asked_at + ACCEPTED_S

    def refuse(self, why: str) -> None:
        """The server will not stop it."""
        self.refusal = why

    def ended(self) -> None:
        """The response is over."""
        self.deadline, self.refusal = None, ""

    def renew(self) -> None:
        """The next response."""
        self.asked = self.accepted = False
        self.deadline, self.refusal = None, ""


_D = TypeVar("_D", bound=Delta)


class HalfCharacter:
    """What one lane's last delta ended with, if it was half a character."""

    def __init__(self) -> None:
        self._item_id = ""
        self.waiting = ""

    def clean(self, text: str) -> bool:
        """A delta with this text needs no mending: the short cut of the hot path."""
        return not self.waiting and text.isascii()

    def join(self, event: _D) -> _D | None:
        """The delta with whole characters only; None: nothing is left of it for now."""
        text = event.delta
        if self.waiting:
            text = self.waiting + text if event.item_id == self._item_id else text
            self.waiting = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            self._item_id, self.waiting, text = event.item_id, text[-1], text[:-1]
            if not text:
                return None
        text = mended(text)
        return event if text == event.delta else msgspec.structs.replace(event, delta=text)


End = Completed | Incomplete | Failed
_OUTPUT = (Delta, ItemAdded, ItemDone)


class LaneState(StrEnum):
    """What a lane is doing."""

    IDLE = "idle"
    HELD = "held"
    SENT = "sent"
    CREATED = "created"
    STREAMING = "streaming"
    INTERRUPTING = "interrupting"
    STEERING = "steering"
    ABANDONED = "abandoned"


_FRESH = (LaneState.SENT, LaneState.CREATED, LaneState.STREAMING)
_RUNNING = (*_FRESH, LaneState.INTERRUPTING)
_NAMED = (LaneState.CREATED, LaneState.STREAMING, LaneState.INTERRUPTING)


DOUBT_S = 10.0
"""How long a response may be silent after an error that may have been its end."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A refusal that may be the end of what a lane does, or the answer to something else."""

    event: ErrorEvent | Failed
    deadline: float
    """Until then the response shows that it goes on, or it is over."""
    response_id: str = ""
    """Of the response whose steer or interrupt it was taken to answer."""


class Lane:
    """The state of one `stream_id`; None is the default lane."""

    def __init__(self, name: str | None) -> None:
        self.name = name
        self.state = LaneState.IDLE
        self.request: dict[str, Any] = {}
        """Of the response that is asked for; empty once it was created."""
        self.model = ""
        """Of the response in flight."""
        self.parent = ""
        """`previous_response_id` of the last create."""
        self.response_id = ""
        """Of the response in flight, then of the last one; empty until the server has named it."""
        self.prewarm = False
        """The response in flight is not to generate anything."""
        self.generated = False
        """A prewarm that generates all the same."""
        self.begun = False
        """The response works: its parent has been read, so the parent's lane may go on."""
        self.calls = False
        """The response has called a tool of the client."""
        self.stopping = False
        """The user wants the successor that is awaited stopped."""
        self.flowing = False
        """Deltas may pass: the short cut of the hot path."""
        self.doubt: Doubt | None = None
        """Only time tells whether the response in flight was refused."""
        self.half = HalfCharacter()
        self.stop = Stopping()
        self.steers = Steers(name)
        self.ghosts = Ghosts()
        self.bygones = Bygones()
        self._aliases: set[str] = set()
        """Other ids that the response in flight began with."""
        self._runs = False
        """An abandoned response has not ended yet."""

    @property
    def busy(self) -> bool:
        """A response is awaited or in flight, and someone waits for it."""
        return self.state not in (LaneState.IDLE, LaneState.ABANDONED)

    @property
    def in_flight(self) -> bool:
        """Something may come from the server on this lane: it takes no new create."""
        return self.state not in (LaneState.IDLE, LaneState.HELD)

    @property
    def working(self) -> bool:
        """The server works for this lane, or is about to."""
        return self._runs or self.state in _RUNNING or self.state is LaneState.STEERING

    @property
    def deadlines(self) -> list[float]:
        """What it waits for ends at these times, in seconds."""
        doubt = self.doubt.deadline if self.doubt is not None else None
        times = (self.stop.deadline, self.steers.deadline, doubt)
        return [time for time in times if time is not None]

    def hold(self, request: dict[str, Any]) -> None:
        """A create is asked for; it has not gone out."""
        self.state, self.request, self.response_id = LaneState.HELD, request, ""
        self.model = str(request.get("model", ""))
        self.parent = str(request.get("previous_response_id") or "")
        self.prewarm = request.get("generate") is False
        self.generated = self.calls = self.begun = False
        self.stop.renew()

    def sent(self) -> None:
        """The create goes out."""
        self.state = LaneState.SENT

    def release(self) -> None:
        """The create will not go out on this lane; or no successor comes any more."""
        self.state, self.request, self.stopping, self.doubt = LaneState.IDLE, {}, False, None
        self.stop.ended()

    def suspect(self, doubt: Doubt) -> None:
        """The response may be over; whatever comes of it says that it is not."""
        if self.state in _FRESH:
            self.doubt, self.flowing = doubt, False

    def interrupt(self, now: float) -> bool:
        """Shut the gate; False if there is nothing to interrupt, or it is being done."""
        if self.state is LaneState.STEERING and not self.stopping:
            self.stopping = True
        elif self.state in _FRESH:
            self.state, self.flowing, self.doubt = LaneState.INTERRUPTING, False, None
        else:
            return False
        self.stop.wish(now)
        return True

    def await_successor(self, now: float, *, stopping: bool) -> None:
        """The response ended, and its steering texts let expect another one unasked."""
        self.state, self.stopping = LaneState.STEERING, stopping
        self.stop.renew()
        if stopping:
            self.stop.wish(now)
        self.steers.await_successor(now)

    def abandon(self, *, owed: bool = False) -> None:
        """Let the response run on unseen until its end; ``owed``: a successor may follow."""
        runs = self.state in _RUNNING
        self._rest(stopped=True)
        self._runs, self.state = runs, LaneState.ABANDONED
        if owed:
            self.ghosts.expect()

    def haunt(self) -> None:
        """A text that was given back will have a successor all the same."""
        self.ghosts.expect()
        if self.state is LaneState.IDLE:
            self.state = LaneState.ABANDONED

    def unhaunt(self) -> None:
        """It will not."""
        self.ghosts.gone()
        if self.state is LaneState.ABANDONED and not (self._runs or self.ghosts.expected):
            self.state = LaneState.IDLE

    def lost(self) -> None:
        """The socket is gone."""
        self._rest(stopped=True)
        self._runs = False
        self.ghosts.clear()

    def began_as(self, response_id: str) -> bool:
        """The newest response here began under this id."""
        return response_id == self.response_id or response_id in self._aliases

    def receive(self, event: Event) -> bool:
        """Follow an event of a response; True if it is to be handed on."""
        if self.ghosts.present and self.ghosts.hides(event):
            return False
        if isinstance(event, InProgress):
            if not self.bygones.knows(event.response_id):
                self.begun = True
                self._goes_on()
        elif isinstance(event, _OUTPUT):
            if not self._is_output(event):
                return False
            self.begun = True
            if self.doubt is not None:
                self._goes_on()
        elif isinstance(event, Progress) and self.state is not LaneState.SENT:
            self._goes_on()
        if isinstance(event, Delta):
            return self.flowing
        if isinstance(event, Created):
            return self._created(event)
        if isinstance(event, Completed | Incomplete | Failed):
            return self._terminal(event)
        return self._step(event)

    def error(self) -> bool:
        """Follow an error that ends what this lane does; True if it is to be handed on."""
        idle = self.state is LaneState.IDLE
        if self.state in _RUNNING or self._runs:
            return self._end(self.response_id, succeeded=False)
        if self.state is LaneState.ABANDONED:
            self.unhaunt()
        return idle

    def answered(self, event: InterruptAccepted | InterruptFailed) -> bool:
        """Follow the answer to an interrupt; True if it is to be handed on."""
        if self.state is not LaneState.INTERRUPTING:
            return False
        self.stop.answered(event)
        return True

    def _goes_on(self) -> None:
        """The response works, so what was in doubt was not about it."""
        self.doubt, self.flowing = None, self.state is LaneState.STREAMING

    def _is_output(self, event: Delta | ItemAdded | ItemDone) -> bool:
        """Whether it is output that someone wants; the first one opens the gate."""
        name = event.item_id if isinstance(event, Delta) else event.item.get("id")
        name = name if isinstance(name, str) else ""
        begins = not isinstance(event, Delta)
        if self.state is LaneState.SENT and self.bygones.late(name, begins=begins):
            return False
        if self.working:
            self.bygones.note(name)
            if self.prewarm:
                self.generated = True
                return False
        if self.state in (LaneState.SENT, LaneState.CREATED):
            self.state, self.flowing = LaneState.STREAMING, True
        return True

    def _step(self, event: Event) -> bool:
        """Follow what neither begins nor ends a response."""
        if isinstance(event, ItemDone) and event.item.get("type") in CALL_OUTPUTS:
            self.calls = True
        if isinstance(event, ItemAdded | InProgress | Queued | Progress):
            return self.state in _FRESH
        if isinstance(event, ItemDone | ItemInterrupted):
            return self.state in _RUNNING
        return True

    def _created(self, event: Created) -> bool:
        name = event.response_id
        self.bygones.announced = True
        if self.state in (LaneState.IDLE, LaneState.ABANDONED):
            if not self._runs or self.response_id:
                self.ghosts.gone()
            self.state, self._runs, self.response_id = LaneState.ABANDONED, True, name
            return False
        if self.state is LaneState.HELD or (self.ghosts.expected and self.state is LaneState.SENT):
            self.ghosts.appears(name)
            self.bygones.ended(name)
            return False
        if name and self.began_as(name) and self.state in _NAMED:
            return False
        if self.state is LaneState.STEERING:
            # All texts of one response share their successor.
            self.ghosts.clear()
        self._rename(name)
        wanted = not self.stopping and self.state is not LaneState.INTERRUPTING
        self.request, self.calls, self.stopping, self.doubt = {}, False, False, None
        self.state, self.flowing = LaneState.CREATED, False
        deadline = self.stop.deadline
        self.stop.renew()
        if not wanted:
            self.state, self.stop.deadline = LaneState.INTERRUPTING, deadline
        return True

    def _terminal(self, event: End) -> bool:
        name = event.response_id
        if not (self._runs or self.state in _RUNNING) or not self._is_ours(name, event):
            return False
        self.calls |= any(item.get("type") in CALL_OUTPUTS for item in _items(event))
        return self._end(name or self.response_id, succeeded=not isinstance(event, Failed))

    def _rename(self, name: str) -> None:
        """The response in flight is this one from now on."""
        before = self.response_id if self.state in _NAMED else ""
        if self.state is LaneState.CREATED and not self.steers:
            # Said twice, by a relay and by whom it asked: either id may be in the end.
            self._aliases |= {before} - {""}
        else:
            self.bygones.ended(before, *self._aliases)
            self._aliases.clear()
        self.bygones.revive(name)
        self.response_id = name

    def _is_ours(self, name: str, event: End) -> bool:
        """Whether an end is that of the response in flight; relays may give it another id."""
        if not name:
            # An end said twice must not be the end of a response that has not begun.
            begun = self.state in (LaneState.CREATED, LaneState.STREAMING) or not self.request
            waits = not begun and self.bygones.used
            return not waits or isinstance(event, Failed) or _has_news(event, self.bygones)
        if self.began_as(name):
            return True
        if self.ghosts.expected:
            return False
        # Some use one id for all responses; an end said twice comes before the next beginning.
        nameless = not self.response_id and self.state in (LaneState.CREATED, LaneState.STREAMING)
        return nameless or not self.bygones.knows(name)

    def _end(self, name: str, *, succeeded: bool) -> bool:
        """The response is over; True if someone waits for it."""
        shown = self.state is not LaneState.ABANDONED
        self._rest(stopped=self.state not in _FRESH)
        self._runs = False
        self.bygones.ended(name, self.response_id, *self._aliases)
        self._aliases.clear()
        if name:
            self.steers.rename(self.response_id, name)
            self.response_id = name
        if not succeeded or self.calls:
            self.ghosts.clear()
        if self.ghosts.expected:
            self.state = LaneState.ABANDONED
        return shown

    def _rest(self, *, stopped: bool) -> None:
        self.state, self.flowing, self.request, self.stopping = LaneState.IDLE, False, {}, False
        self.half, self.doubt = HalfCharacter(), None
        self.bygones.close(stopped=stopped)
        self.stop.ended()


def _items(event: End) -> list[dict[str, Any]]:
    """The items that an end repeats."""
    output = event.response.get("output")
    listed = output if isinstance(output, list) else []
    return [item for item in listed if isinstance(item, dict)]


def _has_news(event: End, bygones: Bygones) -> bool:
    """Whether an end brings items that the response before did not have."""
    names = [item.get("id") for item in _items(event)]
    return any(isinstance(name, str) and not bygones.late(name, begins=True) for name in names)
