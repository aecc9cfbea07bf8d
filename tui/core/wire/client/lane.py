"""One lane of a client: which response is in flight, and the gate that an interrupt shuts.

::

    IDLE --create--> HELD --its turn--> SENT
    SENT --created--> CREATED --first output--> STREAMING --terminal--> IDLE
              SENT, CREATED or STREAMING --interrupt--> INTERRUPTING --terminal--> IDLE
              INTERRUPTING --refused or silent, others busy--> ABANDONED --terminal--> IDLE
              terminal, a steering text is out --> STEERING --successor created--> CREATED

Deltas carry no response id, so the state decides what a frame belongs to: one that comes while no
response is known to run is late, and is dropped. A response that nobody waits for runs unseen:
one that was abandoned, or an orphan, which a server begins for a steering text that was given back
already.
"""

from __future__ import annotations

from collections import deque
from enum import StrEnum
from typing import Any, TypeGuard, TypeVar

import msgspec
from msgspec import Struct

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
)
from tui.core.wire.json_reading import mended

End = Completed | Incomplete | Failed
_OUTPUT = (Delta, ItemAdded, ItemDone)
_D = TypeVar("_D", bound=Delta)
ENDED_IDS = 16
"""So many ids of ended responses are known."""
MAX_ITEMS = 1000
"""So many items of one response are known."""
DOUBT_S = 10.0
"""How long a response may be silent after an error that may have been its end."""


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


class Doubt(Struct, frozen=True):
    """What may be the end of what a lane does, or is about something else: a refusal, an end."""

    event: ErrorEvent | End
    deadline: float
    """Until then the response shows that it goes on, or it is over."""
    response_id: str = ""
    """Of the response whose steer or interrupt it was taken to answer."""


class FinishedResponses:
    """What a lane remembers of responses that are over, by which late words of them are known."""

    def __init__(self) -> None:
        self.any = False
        """A response has ended here."""
        self.announced = False
        """The server has begun one with `response.created`: it is expected to do so again."""
        self._stopped = False
        """The last one did not end by itself: more of it may come."""
        self._ids: deque[str] = deque(maxlen=ENDED_IDS)
        self._items: set[str] = set()
        """Of the response in flight."""
        self._unfinished: set[str] = set()
        """Those of them that have not ended."""
        self._last_items: set[str] = set()
        """Of the response before."""

    def knows(self, response_id: str) -> bool:
        """A response of this id has ended not long ago."""
        return response_id in self._ids

    def add(self, *response_ids: str) -> None:
        """Remember a response that is over; relays may have known it by several ids."""
        self._ids.extend(name for name in response_ids if name and name not in self._ids)

    def remove(self, response_id: str) -> None:
        """Forget an id that is used again, as some servers do (LiteLLM, if its upstream does)."""
        if response_id in self._ids:
            self._ids.remove(response_id)

    def note_item(self, item_id: str) -> None:
        """Remember an item of the response in flight."""
        if item_id and len(self._items) < MAX_ITEMS:
            if item_id not in self._items:
                self._unfinished.add(item_id)
            self._items.add(item_id)

    def item_ended(self, item_id: str) -> None:
        """Remember that no more of this item comes."""
        self._unfinished.discard(item_id)

    def fits(self, output: list[dict[str, Any]]) -> bool:
        """Whether an end with these items can be that of the response in flight.

        It names one of those that came; or none, and all that began have ended.
        """
        named = {name for item in output if isinstance(name := item.get("id"), str)}
        return bool(named & self._items) if named else not self._unfinished

    def close(self, *, stopped: bool) -> None:
        """Turn to the next response: the one in flight is over, or nobody waits for it any more."""
        self.any, self._stopped = True, stopped
        if self._items:
            self._last_items, self._items = self._items, set()
            self._unfinished.clear()

    def is_late(self, item_id: str, *, begins: bool) -> bool:
        """Whether output that comes before its `response.created` is of the response before.

        ``begins``: it is a whole item, with which a response may begin; a piece of one may not,
        unless the server never says `response.created`; what ends by itself there is over.
        """
        if not self.any or not (self.announced or self._stopped):
            return False
        fresh = bool(item_id) and item_id not in self._last_items
        return not fresh if begins else self.announced or item_id in self._last_items


class InterruptWish:
    """How far the wish to stop a response has come (PROTOCOL section 8)."""

    def __init__(self) -> None:
        self.deadline: float | None = None
        """When the interrupt counts as ignored, in seconds."""
        self.accepted = False
        self.refusal = ""
        """Why the server will not stop, in words; empty unless it refused."""
        self._sent_at: float | None = None

    @property
    def unanswered(self) -> bool:
        """The server was asked and has not said that it stops."""
        return self._sent_at is not None and not self.accepted

    def sent(self, now: float) -> None:
        """Start the clock: the server has `GRACE_S` to answer the interrupt that went out."""
        self._sent_at, self.deadline = now, now + GRACE_S

    def answered(self, event: InterruptAccepted | InterruptFailed) -> None:
        """Take the server's word; one that accepted is read to the end of the response.

        How much of the response still comes, and how quiet it is meanwhile, does not matter.
        """
        if isinstance(event, InterruptFailed):
            reason = event.error.get("message") or event.error.get("code")
            self.refusal = str(reason or "the server cannot interrupt now")[:MOST_ERROR_CHARS]
        else:
            self.accepted = True
            self.deadline = (self._sent_at or 0.0) + ACCEPTED_S


class HalfCharacter:
    """Half a character at the end of a lane's last delta.

    A server that cuts its deltas in UTF-16 may part a surrogate pair. Text inside duetto never
    holds a lone surrogate: it could not be written to a file. A first half waits for the next delta
    of its item; a half that stays alone becomes U+FFFD.
    """

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
        self.stop = InterruptWish()
        self.steers = Steers(name)
        self.finished = FinishedResponses()
        self.orphans_expected = 0
        """Responses that may still begin for steering texts that were given back."""
        self._orphan = ""
        """The one that streams unseen ahead of ours."""
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
        """Take a create that has not gone out yet."""
        self.state, self.request, self.response_id = LaneState.HELD, request, ""
        self.model = str(request.get("model", ""))
        self.parent = str(request.get("previous_response_id") or "")
        self.prewarm = request.get("generate") is False
        self.generated = self.calls = self.begun = False
        self.stop = InterruptWish()

    def release(self) -> None:
        """Be idle: the create will not go out on this lane, or no successor comes any more."""
        self.state, self.request, self.stopping, self.doubt = LaneState.IDLE, {}, False, None
        self.stop = InterruptWish()

    def suspect(self, doubt: Doubt) -> None:
        """Doubt that the response goes on; whatever comes of it says that it does."""
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
        self.stop.deadline = now + GRACE_S
        return True

    def await_successor(self, now: float, *, stopping: bool) -> None:
        """Wait for the response that the steering texts of the ended one will cause, unasked."""
        self.state, self.stopping = LaneState.STEERING, stopping
        self.stop = InterruptWish()
        if stopping:
            self.stop.deadline = now + GRACE_S
        self.steers.await_successor(now)

    def abandon(self, *, owed: bool = False) -> None:
        """Let the response run on unseen until its end; ``owed``: a successor may follow."""
        runs = self.state in _RUNNING
        self._rest(stopped=True)
        self._runs, self.state = runs, LaneState.ABANDONED
        self.orphans_expected += owed

    def expect_orphan(self) -> None:
        """Expect the successor of a text that was given back."""
        self.orphans_expected += 1
        if self.state is LaneState.IDLE:
            self.state = LaneState.ABANDONED

    def expect_no_orphan(self) -> None:
        """Expect one orphan less."""
        self._orphan_came()
        if self.state is LaneState.ABANDONED and not (self._runs or self.orphans_expected):
            self.state = LaneState.IDLE

    def lost(self) -> None:
        """Forget what is in flight: the socket is gone."""
        self._rest(stopped=True)
        self._runs = False
        self._clear_orphans()

    def began_as(self, response_id: str) -> bool:
        """The newest response here began under this id."""
        return response_id == self.response_id or response_id in self._aliases

    def receive(self, event: Event) -> bool:
        """Follow an event of a response; True if it is to be handed on."""
        if self._orphan and self._is_of_orphan(event):
            return False
        if isinstance(event, InProgress):
            if not self.finished.knows(event.response_id):
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
        match event:
            case Delta():
                return self.flowing
            case Created():
                return self._created(event)
            case Completed() | Incomplete() | Failed():
                return self._terminal(event)
            case ItemDone() | ItemInterrupted():
                return self.state in _RUNNING
        return self.state in _FRESH

    def error(self) -> bool:
        """Follow an error that ends what this lane does; True if it is to be handed on."""
        idle = self.state is LaneState.IDLE
        if self.state in _RUNNING or self._runs:
            return self._end(self.response_id, succeeded=False)
        if self.state is LaneState.ABANDONED:
            self.expect_no_orphan()
        return idle

    def _goes_on(self) -> None:
        """Drop the doubt: the response works."""
        self.doubt, self.flowing = None, self.state is LaneState.STREAMING

    def _is_output(self, event: Delta | ItemAdded | ItemDone) -> bool:
        """Whether it is output that someone wants; the first one opens the gate."""
        name = event.item_id if isinstance(event, Delta) else event.item.get("id")
        name = name if isinstance(name, str) else ""
        begins = not isinstance(event, Delta)
        if self.state is LaneState.SENT and self.finished.is_late(name, begins=begins):
            return False
        if self.working:
            self.finished.note_item(name)
            if self.prewarm:
                self.generated = True
                return False
        if isinstance(event, ItemDone):
            self.finished.item_ended(name)
            self.calls |= event.item.get("type") in CALL_OUTPUTS
        if self.state in (LaneState.SENT, LaneState.CREATED):
            self.state, self.flowing = LaneState.STREAMING, True
        return True

    def _created(self, event: Created) -> bool:
        name = event.response_id
        self.finished.announced = True
        if self.state in (LaneState.IDLE, LaneState.ABANDONED):
            if not self._runs or self.response_id:
                self._orphan_came()
            self.state, self._runs, self.response_id = LaneState.ABANDONED, True, name
            return False
        if self.state is LaneState.HELD or (self.orphans_expected and self.state is LaneState.SENT):
            self._orphan_came()
            self._orphan = name or "?"
            self.finished.add(name)
            return False
        if name and self.began_as(name) and self.state in _NAMED:
            return False
        if self.state is LaneState.STEERING:
            # All texts of one response share their successor.
            self._clear_orphans()
        self._rename(name)
        wanted = not self.stopping and self.state is not LaneState.INTERRUPTING
        deadline, self.stop = self.stop.deadline, InterruptWish()
        self.request, self.calls, self.stopping, self.doubt = {}, False, False, None
        self.state, self.flowing = LaneState.CREATED, False
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
        """Know the response in flight by this id from now on."""
        before = self.response_id if self.state in _NAMED else ""
        if self.state is LaneState.CREATED and not self.steers:
            # Said twice, by a relay and by whom it asked: either id may be in the end.
            self._aliases |= {before} - {""}
        else:
            self.finished.add(before, *self._aliases)
            self._aliases.clear()
        self.finished.remove(name)
        self.response_id = name

    def _is_ours(self, name: str, event: End) -> bool:
        """Whether an end is that of the response in flight; relays may give it another id.

        One of an id that nobody knows may be meant for another client: it has to fit.
        """
        begun = self.state in (LaneState.CREATED, LaneState.STREAMING)
        if not name:
            # An end said twice must not be the end of a response that has not begun.
            waits = bool(self.request) and not begun and self.finished.any
            return not waits or isinstance(event, Failed) or self._has_news(event)
        if self.began_as(name):
            return True
        if self.orphans_expected:
            return False
        if begun and not self.response_id:
            return True
        # Some use one id for all responses; an end said twice comes before the next beginning.
        return not self.finished.knows(name) and (
            self.state not in _FRESH or bool(self.steers) or self._fits(event)
        )

    def may_end(self, event: Event) -> TypeGuard[End]:
        """Whether an event that was not taken for the end may turn out to be it.

        A failure may be that of the next response, though it bears the id of one that is over.
        """
        if isinstance(event, Completed | Incomplete):
            name = event.response_id
            return bool(name) and not self.began_as(name) and not self.finished.knows(name)
        return isinstance(event, Failed)

    def _fits(self, event: End) -> bool:
        """Whether an end of an id that nobody knows may be the end of what has come."""
        if self.state is LaneState.SENT:
            return not self.finished.announced or isinstance(event, Failed)
        streams = self.state is LaneState.STREAMING
        return self.prewarm or (streams and self.finished.fits(_items(event)))

    def _has_news(self, event: End) -> bool:
        """Whether an end brings items that the response before did not have."""
        names = [item.get("id") for item in _items(event)]
        return any(
            isinstance(name, str) and not self.finished.is_late(name, begins=True) for name in names
        )

    def _end(self, name: str, *, succeeded: bool) -> bool:
        """End the response; True if someone waits for it."""
        shown = self.state is not LaneState.ABANDONED
        self._rest(stopped=self.state not in _FRESH)
        self._runs = False
        self.finished.add(name, self.response_id, *self._aliases)
        self._aliases.clear()
        if name:
            self.steers.rename(self.response_id, name)
            self.response_id = name
        if not succeeded or self.calls:
            self._clear_orphans()
        if self.orphans_expected:
            self.state = LaneState.ABANDONED
        return shown

    def _rest(self, *, stopped: bool) -> None:
        self.release()
        self.flowing, self.half = False, HalfCharacter()
        self.finished.close(stopped=stopped)

    def _is_of_orphan(self, event: Event) -> bool:
        """Whether this is the orphan's; its terminal, or another response's beginning, ends it."""
        other = isinstance(event, Created) and event.response_id != self._orphan
        if other or isinstance(event, Completed | Incomplete | Failed):
            self._orphan = ""
        return not other

    def _orphan_came(self) -> None:
        self.orphans_expected = max(0, self.orphans_expected - 1)

    def _clear_orphans(self) -> None:
        self.orphans_expected, self._orphan = 0, ""


def _items(event: End) -> list[dict[str, Any]]:
    """The items that an end repeats."""
    output = event.response.get("output")
    listed = output if isinstance(output, list) else []
    return [item for item in listed if isinstance(item, dict)]
