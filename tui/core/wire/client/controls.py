"""The control events of one connection that the server may still answer, in the order of sending.

An answer may come after we gave up waiting for it, after its lane went on under another name, or
as an `error` without any name: whose it is can then only be told from what is still open here.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Literal

from tui.core.wire.client.lane import Lane, LaneState
from tui.core.wire.events import SteerNews

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
