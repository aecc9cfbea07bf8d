"""The clock and the answers of one `response.interrupt` (PROTOCOL section 8)."""

from __future__ import annotations

from tui.core.wire.events import MOST_ERROR_CHARS, InterruptAccepted, InterruptFailed

GRACE_S = 1.0
"""How long the server may take to answer an interrupt."""
ACCEPTED_S = 5.0
"""How long an accepted interrupt may take from its sending to its terminal event, all told."""


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
