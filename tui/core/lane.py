"""One lane of a client: which response is in flight, and the gate that an interrupt shuts.

::

    IDLE --create--> SENT --created--> CREATED --first output--> STREAMING --terminal--> IDLE
              SENT, CREATED or STREAMING --interrupt--> INTERRUPTING --terminal--> IDLE
              INTERRUPTING --refused or silent, others busy--> ABANDONED --terminal--> IDLE

Events carry no response id, so the state decides what a frame belongs to: a delta that comes
while no response is known to run is late, and is dropped.
"""

from __future__ import annotations

from enum import StrEnum

from tui.core.events import (
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
    Unknown,
)
from tui.core.surrogates import HalfCharacter

GRACE_S = 1.0
"""How long an interrupt may go without any sign from the server."""
ACCEPTED_S = 5.0
"""How long an accepted interrupt may take to its terminal event in all."""

_ENDS = (Completed, Incomplete, Failed)
_REFUSALS = frozenset({None, 400, 404, 405, 422, 501})


class LaneState(StrEnum):
    """What a lane is doing."""

    IDLE = "idle"
    SENT = "sent"
    CREATED = "created"
    STREAMING = "streaming"
    INTERRUPTING = "interrupting"
    ABANDONED = "abandoned"


class Lane:
    """The state of one `stream_id`; None is the default lane."""

    def __init__(self, name: str | None) -> None:
        self.name = name
        self.state = LaneState.IDLE
        self.model = ""
        """Of the response in flight."""
        self.response_id = ""
        """Of the response in flight; empty until the server has named it."""
        self.flowing = False
        """Deltas may pass: the short cut of the hot path."""
        self.half = HalfCharacter()
        self.deadline: float | None = None
        """When an interrupt counts as ignored, in seconds."""
        self.asked = False
        """The interrupt is on the wire."""
        self.accepted = False
        self.refusal = ""
        """Why the server will not stop, in words; empty unless it refused."""
        self._asked_at = 0.0
        self._ended_id = ""
        self._stray_interrupt = False
        self._used = False
        """A response has ended on this lane: a delta may be a late one of it."""

    @property
    def busy(self) -> bool:
        """A response is in flight, or is being waited for."""
        return self.state is not LaneState.IDLE

    def sent(self, model: str) -> None:
        """A create went out."""
        self._stray_interrupt = self.asked and not self.accepted
        self.state, self.model, self.response_id = LaneState.SENT, model, ""
        self._calm()

    def interrupt(self, now: float) -> bool:
        """Shut the gate; False if there is nothing to interrupt."""
        if self.state in (LaneState.IDLE, LaneState.INTERRUPTING, LaneState.ABANDONED):
            return False
        self.state, self.flowing = LaneState.INTERRUPTING, False
        self.deadline = now + GRACE_S
        return True

    def interrupt_sent(self, now: float) -> None:
        """The interrupt is on the wire: the server has `GRACE_S` to say something."""
        self.asked, self._asked_at = True, now
        self.deadline = now + GRACE_S

    def abandon(self) -> None:
        """Let the response run on unseen until its end."""
        self._end()
        self.state = LaneState.ABANDONED

    def lost(self) -> None:
        """The socket is gone."""
        self._end()

    def receive(self, event: Event, now: float) -> bool:
        """Follow an event; True if it is to be handed on."""
        if isinstance(event, Delta):
            return self._delta()
        if isinstance(event, Created):
            return self._created(event)
        if isinstance(event, _ENDS):
            return self._terminal(event)
        if isinstance(event, ErrorEvent):
            return self._error(event)
        if isinstance(event, InterruptAccepted | InterruptFailed):
            return self._answered(event, now)
        return isinstance(event, Unknown) or self._step(event, now)

    def _step(self, event: Event, now: float) -> bool:
        """Follow what neither begins nor ends a response."""
        if self.accepted and self.state is LaneState.INTERRUPTING:
            self._extend(now)
        if isinstance(event, ItemAdded) and self.state is LaneState.CREATED:
            self.state, self.flowing = LaneState.STREAMING, True
        if isinstance(event, ItemAdded | InProgress | Queued | Progress):
            return self.state in (LaneState.SENT, LaneState.CREATED, LaneState.STREAMING)
        if isinstance(event, ItemDone | ItemInterrupted) and not self.busy:
            return False
        return self.state is not LaneState.ABANDONED

    def _delta(self) -> bool:
        early = self.state is LaneState.SENT and not self._used
        if early or self.state is LaneState.CREATED:
            self.state, self.flowing = LaneState.STREAMING, True
        return self.flowing

    def _created(self, event: Created) -> bool:
        if self.state is LaneState.ABANDONED:
            return False
        self.response_id = event.response_id
        if event.response_id == self._ended_id:
            # Some servers use one id twice (LiteLLM, where its upstream does).
            self._ended_id = ""
        if self.state is not LaneState.INTERRUPTING:
            self._calm()
            self.state = LaneState.CREATED
        return True

    def _terminal(self, event: Completed | Incomplete | Failed) -> bool:
        if not self.busy or (event.response_id and event.response_id == self._ended_id):
            return False
        shown = self.state is not LaneState.ABANDONED
        self._ended_id = event.response_id or self.response_id
        self._end()
        return shown

    def _error(self, event: ErrorEvent) -> bool:
        if self._belated(event):
            self.asked = self._stray_interrupt = False
            return False
        waiting = self.state is LaneState.INTERRUPTING and self.asked and not self.accepted
        if waiting and event.status in _REFUSALS:
            self.refusal = event.message or event.code or "the server does not know interrupts"
            return False
        shown = self.state is not LaneState.ABANDONED
        self._end()
        return shown

    def _answered(self, event: InterruptAccepted | InterruptFailed, now: float) -> bool:
        if self.state is not LaneState.INTERRUPTING:
            self._stray_interrupt = False
            return False
        if isinstance(event, InterruptFailed):
            reason = event.error.get("message") or event.error.get("code")
            self.refusal = str(reason or "the server cannot interrupt now")
        else:
            self.accepted = True
            self._extend(now)
        return True

    def _belated(self, event: ErrorEvent) -> bool:
        """An interrupt lost the race against the natural end, and the server minds."""
        if self.state is LaneState.IDLE:
            return self.asked and not self.accepted and event.status in _REFUSALS
        about_it = event.code == "response_not_found" or "interrupt" in event.message.lower()
        return self.state is LaneState.SENT and self._stray_interrupt and about_it

    def _extend(self, now: float) -> None:
        """A sign of life after the acceptance."""
        self.deadline = min(now + GRACE_S, self._asked_at + ACCEPTED_S)

    def _end(self) -> None:
        self.state, self.flowing, self.deadline, self.refusal = LaneState.IDLE, False, None, ""
        self._used = True

    def _calm(self) -> None:
        self.flowing = self.asked = self.accepted = False
        self.deadline, self.refusal = None, ""
