"""Requests that wait for their lane, in their order, and how much of a client's they may hold."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from tui.core.wire.client_events import Create, Invalid

MAX_LANES = 32
"""Distinct names on one connection; the default lane is not counted."""
MAX_WAITING = 64
"""Requests that wait for their lane on one connection; more are refused."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One request, with the size of the frame that it came in."""

    event: Create | Invalid
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request may not even wait."""

    status: int
    code: str
    message: str
    param: str | None = None


class Waiting:
    """The requests of one connection that have not begun."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._requests: deque[Wanted] = deque()
        self.held_bytes = 0

    def __len__(self) -> int:
        """How many wait."""
        return len(self._requests)

    @property
    def lanes(self) -> list[str | None]:
        """The lane of each that waits, in their order."""
        return [wanted.event.stream_id for wanted in self._requests]

    def put(self, wanted: Wanted, room_bytes: int) -> Refusal | None:
        """Let a request wait, or say why not; ``room_bytes`` is what it may take."""
        lane = wanted.event.stream_id
        if lane is not None and lane not in self._names:
            if len(self._names) >= MAX_LANES:
                words = f"At most {MAX_LANES} distinct stream ids on one connection."
                return Refusal(400, "websocket_stream_limit_reached", words, "stream_id")
            self._names.add(lane)
        if len(self._requests) >= MAX_WAITING:
            words = f"At most {MAX_WAITING} requests may wait on one connection."
            return Refusal(429, "websocket_queue_full", words)
        if wanted.size_bytes > room_bytes:
            words = "The requests of this connection are too large together: wait for their ends."
            return Refusal(429, "websocket_queue_full", words)
        self._requests.append(wanted)
        self.held_bytes += wanted.size_bytes
        return None

    def put_first(self, wanted: Wanted) -> None:
        """A successor goes before everything that its client has asked for since."""
        self._requests.appendleft(wanted)
        self.held_bytes += wanted.size_bytes

    def take(self, may_start: Callable[[str | None], bool]) -> Wanted | None:
        """The first request whose lane may start and has none before it; None: there is none."""
        seen: set[str | None] = set()
        for index, wanted in enumerate(self._requests):
            lane = wanted.event.stream_id
            if lane not in seen and may_start(lane):
                del self._requests[index]
                self.held_bytes -= wanted.size_bytes
                return wanted
            seen.add(lane)
        return None

    def clear(self) -> None:
        """The client is gone."""
        self._requests.clear()
        self.held_bytes = 0
