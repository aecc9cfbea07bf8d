"""The clock and the answers of one `response.interrupt` (PROTOCOL section 8)."""

from __future__ import annotations

from tui.core.wire.client.complaints import about_event_type, is_refusal
from tui.core.wire.events import ErrorEvent, InterruptAccepted, InterruptFailed

GRACE_S = 1.0
"""How long an interrupt may go without any sign from the server."""
ACCEPTED_S = 5.0
"""How long an accepted interrupt may take to its terminal event in all."""


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
        self._stray = False
        """An interrupt of an earlier response may still be answered."""

    @property
    def unanswered(self) -> bool:
        """The server was asked and has not said that it stops."""
        return self.asked and not self.accepted

    def wish(self, now: float) -> None:
        """The user wants it stopped."""
        self.deadline = now + GRACE_S

    def sent(self, now: float) -> None:
        """The interrupt is on the wire: the server has `GRACE_S` to say something."""
        self.asked, self._asked_at = True, now
        self.deadline = now + GRACE_S

    def alive(self, now: float) -> None:
        """A sign of life; after the acceptance it buys time."""
        if self.accepted:
            self.deadline = min(now + GRACE_S, self._asked_at + ACCEPTED_S)

    def answered(self, event: InterruptAccepted | InterruptFailed, now: float) -> None:
        """The server's word about it."""
        if isinstance(event, InterruptFailed):
            reason = event.error.get("message") or event.error.get("code")
            self.refusal = str(reason or "the server cannot interrupt now")
        else:
            self.accepted = True
            self.alive(now)

    def refused(self, event: ErrorEvent) -> bool:
        """Whether this error can be meant for the interrupt; it is its refusal then."""
        if not self.unanswered or not is_refusal(event):
            return False
        self.refusal = event.message or event.code or "the server does not know interrupts"
        return True

    def belated(self, event: ErrorEvent, *, idle: bool) -> bool:
        """An interrupt lost the race against the natural end, and the server minds.

        Good for one answer. On an ``idle`` lane any refusal is that answer; else it has to say so.
        """
        meant = is_refusal(event) if idle else about_event_type(event, "interrupt")
        if not meant or not (self._stray or (idle and self.unanswered)):
            return False
        self.asked = self._stray = False
        return True

    def settled(self) -> None:
        """An answer came although nothing was waited for."""
        self._stray = False

    def ended(self) -> None:
        """The response is over; what was asked may still be answered."""
        self.deadline, self.refusal = None, ""

    def renew(self) -> None:
        """The next response."""
        self._stray |= self.unanswered
        self.asked = self.accepted = False
        self.deadline, self.refusal = None, ""
