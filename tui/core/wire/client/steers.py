"""The steering texts of one lane, from the user to their use or return (PROTOCOL section 7).

::

    WAITING --id known--> SENT --accepted--> ACCEPTED --tool calls--> PENDING
    WAITING, SENT, ACCEPTED, PENDING --> used or returned, once

A text is on the wire at most once, and exactly one of ``used`` and ``returned`` is told of it:
only the successor's `response.created` proves use, everything else that ends the wait gives the
text back.
"""

from __future__ import annotations

from collections import deque
from enum import StrEnum
from typing import Any, Literal

from msgspec import Struct

from tui.core.wire.client_events import string_in
from tui.core.wire.events import (
    MOST_ERROR_CHARS,
    SteerAccepted,
    SteerFailed,
    SteerNews,
    SteerPending,
)

Fate = Literal["accepted", "pending", "used", "returned"]

STEER_S = 2.0
"""How long a steer may go without an answer; then the server does not know it (section 7)."""
SUCCESSOR_S = 10.0
"""How long the successor of an accepted steer may take to begin after its parent's end."""
REMEMBERED = 16
"""So many texts are known whose late answer would still be understood."""

NO_ANSWER = "the server did not answer to it"
NO_SUCCESSOR = "the server accepted it, but no answer to it began"


class SteerStage(StrEnum):
    """How far a text has come."""

    WAITING = "waiting"
    SENT = "sent"
    ACCEPTED = "accepted"
    PENDING = "pending"


class SteerText(Struct):
    """One text that is neither used nor returned."""

    number: int
    text: str
    stage: SteerStage = SteerStage.WAITING
    parent: str = ""
    """The response it was sent to; empty while it waits for an id."""
    id: str = ""
    """The server's name for it."""
    deadline: float | None = None


class Steers:
    """The texts of one lane, oldest first."""

    def __init__(self, lane: str | None) -> None:
        self._lane = lane
        self._texts: list[SteerText] = []
        self._overdue: deque[str] = deque(maxlen=REMEMBERED)
        """Parents of texts that were given back before the server had answered."""
        self._stalled = ""
        """The response that ended with tool calls: its texts go with the next create."""

    def __bool__(self) -> bool:
        return bool(self._texts)

    @property
    def undecided(self) -> bool:
        """A text is on the wire without an answer."""
        return any(text.stage is SteerStage.SENT for text in self._texts)

    @property
    def deadline(self) -> float | None:
        """When `expire` is due, in seconds; None: never."""
        times = [text.deadline for text in self._texts if text.deadline is not None]
        return min(times, default=None)

    def owed(self, parent: str) -> bool:
        """The server may begin a successor of this ended response by itself."""
        waits = (SteerStage.SENT, SteerStage.ACCEPTED)
        return parent != self._stalled and any(t.stage in waits for t in self._of(parent))

    def promised(self, parent: str) -> bool:
        """The server has said that it will begin one."""
        return any(text.stage is SteerStage.ACCEPTED for text in self._of(parent))

    def stalled(self, parent: str) -> bool:
        """This response ended with tool calls: its texts go with the next create."""
        return parent != "" and parent == self._stalled

    def knows(self, response_id: str) -> bool:
        """A text was sent to this response."""
        return any(text.parent for text in self._of(response_id))

    def awaits(self, number: int) -> bool:
        """This text is on the wire, and there is still time for the answer."""
        return any(one.number == number and one.stage is SteerStage.SENT for one in self._texts)

    def take_overdue(self, parent: str) -> bool:
        """Whether a text that was sent to this response and given back is answered now.

        One socket keeps the order, so an answer without words is that of the oldest text that has
        none. Where a server really left one out, the next text is given back instead of used: asked
        twice at worst, never lost.
        """
        if parent not in self._overdue:
            return False
        self._overdue.remove(parent)
        return True

    def add(self, number: int, text: str) -> None:
        """Take a text in charge."""
        self._texts.append(SteerText(number, text))

    def send(self, parent: str, now: float) -> dict[int, dict[str, Any]]:
        """The events that send the waiting texts to this response, by their numbers."""
        events: dict[int, dict[str, Any]] = {}
        for text in self._texts:
            if text.stage is SteerStage.WAITING:
                text.stage, text.parent, text.deadline = SteerStage.SENT, parent, now + STEER_S
                events[text.number] = {
                    "type": "response.steer",
                    "previous_response_id": parent,
                    "input": text.text,
                }
        return events

    def rename(self, old: str, new: str) -> None:
        """Follow a response that ended under another id than it began with (relays)."""
        for text in self._of(old) if old else ():
            text.parent = new

    def answered(
        self, event: SteerAccepted | SteerPending | SteerFailed, current: str, now: float
    ) -> list[SteerNews]:
        """The server's word about a text; ``current``: the response that runs, or none."""
        text = self._meant(event.steer)
        if text is None:
            return []
        text.id = text.id or string_in(event.steer, "id")
        if isinstance(event, SteerFailed):
            why = event.error.get("message") or event.error.get("code")
            why = str(why or "the server did not take it")[:MOST_ERROR_CHARS]
            return [self._settle(text, "returned", why)]
        news: list[SteerNews] = []
        if text.stage is SteerStage.SENT:
            running = bool(current) and text.parent == current
            text.stage = SteerStage.ACCEPTED
            text.deadline = None if running else now + SUCCESSOR_S
            news.append(self._news(text, "accepted"))
        if text.stage is SteerStage.ACCEPTED and (
            isinstance(event, SteerPending) or self.stalled(text.parent)
        ):
            text.stage, text.deadline = SteerStage.PENDING, None
            news.append(self._news(text, "pending"))
        return news

    def refused(self, number: int, why: str) -> list[SteerNews]:
        """Return a text whose answer was an `error`."""
        mine = [t for t in self._texts if t.number == number and t.stage is SteerStage.SENT]
        return [self._settle(text, "returned", why) for text in mine]

    def ended(self, parent: str, *, steered: bool, calls: bool) -> list[SteerNews]:
        """Follow the good end of a response; ``steered``: cut for a text, ``calls``: tools wait."""
        news: list[SteerNews] = []
        self._stalled = parent if calls else ""
        mine = self._of(parent)
        if steered and not any(text.stage is SteerStage.ACCEPTED for text in mine):
            # The cut is proof enough where the acknowledgement was lost.
            for text in mine:
                if text.stage is SteerStage.SENT:
                    text.stage, text.deadline = SteerStage.ACCEPTED, None
                    news.append(self._news(text, "accepted"))
                elif not calls:
                    text.stage = SteerStage.ACCEPTED
        for text in mine:
            if calls and text.stage is SteerStage.ACCEPTED:
                text.stage, text.deadline = SteerStage.PENDING, None
                news.append(self._news(text, "pending"))
        why = "the answer was over before it could be sent"
        return news + self.give_back(why, SteerStage.WAITING)

    def await_successor(self, now: float) -> None:
        """Start the clock: the server has `SUCCESSOR_S` to begin the successor."""
        for text in self._texts:
            if text.stage is SteerStage.ACCEPTED and text.deadline is None:
                text.deadline = now + SUCCESSOR_S

    def succeeded(self, parent: str) -> list[SteerNews]:
        """Settle the texts of this response as used: its successor began."""
        mine = self._of(parent)
        used = [t for t in mine if t.stage in (SteerStage.ACCEPTED, SteerStage.PENDING)]
        if parent != self._stalled:
            # It came unasked: that it came at all proves the texts without an answer.
            used = used or [text for text in mine if text.stage is SteerStage.SENT]
        self._stalled = ""
        return [self._settle(text, "used") for text in used]

    def strand(self, parent: str) -> list[SteerNews]:
        """Return texts that wait for another create than the one with this parent."""
        why = "the conversation went on without it"
        lost = [t for t in self._texts if t.stage is SteerStage.PENDING and t.parent != parent]
        return self._give_back(lost, why)

    def expire(self, now: float) -> list[SteerNews]:
        """Return the texts whose time is up."""
        news: list[SteerNews] = []
        for text in [t for t in self._texts if t.deadline is not None and now >= t.deadline]:
            why = NO_ANSWER if text.stage is SteerStage.SENT else NO_SUCCESSOR
            news += self._give_back([text], why)
        return news

    def give_back(self, why: str, stage: SteerStage | None = None) -> list[SteerNews]:
        """Return all texts, or those of one stage."""
        return self._give_back([t for t in self._texts if stage in (None, t.stage)], why)

    def _of(self, parent: str) -> list[SteerText]:
        """The texts that were sent to this response."""
        return [text for text in self._texts if text.parent == parent]

    def _meant(self, steer: dict[str, Any]) -> SteerText | None:
        """The text that is meant: by the server's id, else the oldest undecided of that parent."""
        name, parent = string_in(steer, "id"), string_in(steer, "previous_response_id")
        for text in self._texts:
            if name and text.id == name:
                return text
        fresh = [text for text in self._texts if text.stage is SteerStage.SENT]
        words = string_in(steer, "input")
        if words:
            # Only a refusal repeats them.
            ours = [*fresh, *(text for text in self._of(parent) if text not in fresh)]
            exact = [text for text in ours if text.text == words]
            if exact:
                return exact[0]
        same = [text for text in fresh if text.parent == parent]
        if parent in self._overdue:
            return None
        if not same and not name and parent:
            # A failure without an id may also come after the acceptance.
            same = self._of(parent)
        # A relay that rewrites ids does not always map them back.
        return next(iter(same or fresh), None)

    def _give_back(self, texts: list[SteerText], why: str) -> list[SteerNews]:
        self._overdue.extend(t.parent for t in texts if t.stage is SteerStage.SENT)
        return [self._settle(text, "returned", why) for text in texts]

    def _settle(self, text: SteerText, fate: Fate, why: str = "") -> SteerNews:
        self._texts.remove(text)
        return self._news(text, fate, why)

    def _news(self, text: SteerText, fate: Fate, why: str = "") -> SteerNews:
        return SteerNews(text.number, fate, text.text, why, self._lane)
