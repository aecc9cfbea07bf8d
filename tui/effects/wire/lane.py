"""One conversation at an endpoint: a `Wire` of the engine, which rides on a link of the endpoint.

It says ``open`` while it has a link. A link that breaks, or grows too old, leaves it ``closed``,
and the next `open` finds or dials another one: what the engine chained is gone with the old one.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from tui.core.wire.client.lane import LaneState
from tui.core.wire.endpoint_facts import Abilities
from tui.core.wire.events import Event, Incomplete
from tui.effects.wire.link import Link, Transport
from tui.errors import WireError

if TYPE_CHECKING:
    from tui.effects.wire.endpoint import Endpoint

WireState = Literal["closed", "connecting", "open"]
NOT_OPEN = "The connection is not open."
DROPPED = "the connection was dropped to stop the response"


class EndpointLane:
    """A `Wire`. All methods but `open` and `close` are synchronous."""

    def __init__(self, endpoint: Endpoint, name: str) -> None:
        self.name = name
        self.wire_name = name
        """The name on the socket; a fresh one after a response had to be left running."""
        self.state: WireState = "closed"
        self.transport: Transport = endpoint.way.transport
        self.round_trip_s: float | None = None
        self.close_code: int | None = None
        """Of the last socket that was lost, if its server gave one."""
        self.on_event: Callable[[Event, float], None] = lambda event, now: None
        self.on_state: Callable[[WireState, str], None] = lambda state, reason: None
        self.heard_at = 0.0
        self.link: Link | None = None
        self.finished = False
        self._endpoint = endpoint
        self._moving: Mapping[str, Any] | None = None
        """A create whose socket could not carry it, on its way to another one."""
        self._why_closed = ""
        self._fresh_names = 1
        self._untold: deque[tuple[WireState, str]] = deque()

    @property
    def busy(self) -> bool:
        """A response is in flight, or the server owes a successor; see `ports.Wire`."""
        link = self.link
        return self._moving is not None or (
            link is not None and link.protocol.lane(self.wire_name).busy
        )

    def abilities(self, model: str) -> Abilities:
        """What is known of the endpoint and this model."""
        known = self._endpoint.known
        return Abilities(
            known.interrupt.get(model), known.steer.get(model), known.prewarm, known.lanes
        )

    async def open(self) -> None:
        """Have a link that takes a request: dial, unless there is one.

        Cancelling it does not cancel the dial: the next call joins it. Raises EndpointError,
        KeyRefused, or WireError once closed for good.
        """
        if self.finished:
            raise WireError("This connection was closed for good.")
        await self._endpoint.connect(self)
        if self._untold:
            await asyncio.sleep(0)  # told before the caller goes on

    def create(self, request: Mapping[str, Any]) -> None:
        """Write a ``response.create``; ``request`` has no ``type`` and no ``stream_id``.

        Raises WireError if there is no link, if the lane is busy, or if the machine slept since
        the link was last heard of: what the link chained may be gone, `open` finds another one.
        """
        self._endpoint.leave_doubted()
        if self.link is None:
            raise WireError(self._why_closed or NOT_OPEN)
        if self._moving is not None:
            raise WireError("A response is still in flight: wait for its end, then send.")
        self.link.create(self, request)

    def steer(self, text: str) -> int | None:
        """Add input to the response in flight; None: nothing was sent."""
        return None if self.link is None else self.link.steer(self, text)

    def throttle(self, tokens_s: float | None) -> bool:
        """Have the bridge slow the response in flight down; False: no bridge of ours answers."""
        ours = self._endpoint.bridged or self.transport == "http"
        if ours and self.link is not None:
            self.link.protocol.throttle(tokens_s, self.wire_name)
            self.link.serve()
        return ours

    def interrupt(self) -> None:
        """Stop the response in flight: no delta of it reaches `on_event` from now on.

        Nothing happens if none is. The terminal event, or `on_state` with ``closed``, tells that
        the lane is free again; one of them comes within a second or so whatever the server does.
        """
        if self._moving is not None:
            self._moving = None
            cut = {"status": "incomplete", "incomplete_details": {"reason": "interrupted"}}
            self.on_event(Incomplete(cut, self.wire_name), self._endpoint.clock.now())
        elif self.link is not None:
            self.link.interrupt(self)

    def drop(self) -> None:
        """Leave the socket at once: it is aborted, unless other lanes are busy on it."""
        link = self.link
        if link is None:
            if self._moving is not None:
                self.unlinked(DROPPED, None)
            return
        link.protocol.forsaken(self.wire_name)
        if any(rider.busy for rider in link.riders if rider is not self):
            link.leave(self)
            self._endpoint.noticed(link)
            self.unlinked(DROPPED, None)
        else:
            link.drop(DROPPED)

    def fall_back(self) -> bool:
        """Use HTTP+SSE from the next `open` on; False if there is no such way or it is in use."""
        return self._endpoint.way.fall_back()

    def come_back(self) -> None:
        """HTTP+SSE failed too: the WebSocket from the next `open` on, unless it was refused."""
        self._endpoint.way.come_back()

    async def close(self) -> None:
        """Close for good; the socket too, with a close frame, if no other lane uses it."""
        if not self.finished:
            self.finished = True
            await self._endpoint.release(self)

    def attach(self, link: Link) -> None:
        """Ride on this link from now on."""
        self.link, self._why_closed = link, ""
        self.transport = link.transport
        self.close_code = None
        self.rename(link)
        link.join(self)
        self.tell("open", "")

    def rename(self, link: Link) -> bool:
        """Take a name that nothing runs under, where the own one is left to an old response."""
        renamed = False
        while link.protocol.lane(self.wire_name).state is LaneState.ABANDONED:
            self._fresh_names += 1
            self.wire_name = f"{self.name}.{self._fresh_names}"
            renamed = True
        return renamed

    def move(self, request: Mapping[str, Any]) -> None:
        """Leave a link that cannot carry this create, and stay ``open``: another one will."""
        self._moving = request
        if self.link is not None:
            self.link.leave(self)
            self.link = None

    def awaits(self, request: Mapping[str, Any]) -> bool:
        """This very create is still on its way to another link."""
        return self._moving is request and not self.finished

    def arrive(self, link: Link) -> None:
        """The end of `move`: ride on this link, and ask there."""
        request, self._moving = self._moving, None
        self.link, self.transport = link, link.transport
        link.join(self)
        if request is not None:
            link.create(self, request)

    def unlinked(self, reason: str, close_code: int | None) -> None:
        """The link is closed, or takes nothing new."""
        self.link, self._moving = None, None
        self.close_code, self._why_closed = close_code, reason
        self.tell("closed", reason)

    def tell(self, state: WireState, reason: str) -> None:
        """Change the state now, tell of it in order but outside the caller's call."""
        self.state = state
        self._untold.append((state, reason))
        asyncio.get_running_loop().call_soon(self._tell_now)

    def _tell_now(self) -> None:
        state, reason = self._untold.popleft()
        self.on_state(state, reason)
