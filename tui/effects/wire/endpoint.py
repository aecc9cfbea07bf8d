"""One server, and every socket to it: which lane uses which socket, when to dial, which way to go.

Lanes share a link while the server can tell them apart (PROTOCOL section 6); else each has its
own. A link that grows old takes nothing new, and the next `open` of a lane dials another one before
the server's limit (section 10). A WebSocket that is refused is given up at once for HTTP+SSE
through the bridge, and asked for again after some minutes, beside the turns.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal

from msgspec.structs import replace

from tui.core.stamping import Stamp, no_stamp
from tui.core.wire.address import Address, checked, shown
from tui.core.wire.client.lane import LaneState
from tui.core.wire.client.lanes import MAX_IN_FLIGHT
from tui.core.wire.endpoint_facts import LEAST_AGE_S, Abilities, Capabilities, SocketView
from tui.core.wire.events import Event, Incomplete
from tui.core.wire.refusals import KEY_CLOSES, is_hopeless
from tui.effects.wire.dial import TransportChoice, dial
from tui.effects.wire.frames import LoopShare
from tui.effects.wire.link import (
    MAIN_LANE,
    ConnectionOptions,
    FrameRecorder,
    Link,
    ReadsClock,
    Transport,
)
from tui.errors import DuettoError, EndpointError, KeyRefused, WireError

MAX_WITH_MAIN = 4
"""Lanes of a link that has the main one."""
_SHARED = ""
"""The dial that all lanes wait for which may share a link."""
CLOSED = "This connection was closed for good."
AGED = "renewed before the server's time limit"
SLEPT = "renewed after a pause"
BACK = "the WebSocket works again"
OTHER_WAY = "continued by HTTP"
NO_LANES = "this endpoint allows one conversation per connection"
FULL = "this connection takes no more lanes"
_Where = Callable[[], Awaitable[Address]]
WireState = Literal["closed", "connecting", "open"]
NOT_OPEN = "The connection is not open."
DROPPED = "the connection was dropped to stop the response"
MARGIN = 0.9
"""A connection takes new requests for this part of the known age."""
UNUSED_S = 20.0
"""Unused for so long, a connection may be closed for that."""
OUTLIVED = 1.1
"""A connection that works at this multiple of the known age proves it wrong."""
_LIKE = 0.05
_AGE_WORDS = (
    *("duration", "lifetime", "too old", "max age", "maximum age", "time limit", "session limit"),
    *("connection limit", "session expired", "connection expired", "60 minutes"),
)
_OTHER_WORDS = ("idle", "inactiv", "unused", "rate", "token", "quota", "concurren")
_NORMAL_CLOSE = 1000


class AgeLimit:
    """How old a server lets a connection become, learnt from those that it ends.

    OpenAI says so with an event; LiteLLM closes with 1000 and a reason; others close with 1000 and
    no word, which counts once it happened twice at the same age, unless both had been unused for
    the same time. A machine that slept meanwhile tells nothing: the limit may have been over long
    before (PROTOCOL section 10).
    """

    def __init__(self) -> None:
        self._earlier = (0.0, 0.0)
        """Age and idle time of the last connection that ended normally without a word."""

    def learn(self, link: Link, known: Capabilities) -> bool:
        """Write down what this end of a link tells; True if it tells anything."""
        learnt_s, before_s = self._told_s(link), known.max_age_s
        if learnt_s is not None:
            known.max_age_s = round(learnt_s, 1)
        elif before_s is not None and not link.heartbeat.has_slept:
            worked_s = link.used_at - link.opened_at
            known.max_age_s = None if worked_s > OUTLIVED * before_s else before_s
        return known.max_age_s != before_s

    def _told_s(self, link: Link) -> float | None:
        """The limit, if the server has ended this link for it; seconds."""
        age_s = link.age_s
        if age_s < LEAST_AGE_S or link.heartbeat.has_slept:
            return None
        if link.protocol.limit_reached:
            return age_s
        if link.close_code != _NORMAL_CLOSE:
            return None
        said = link.close_reason.lower()
        if said:
            other = any(word in said for word in _OTHER_WORDS)
            return age_s if not other and any(word in said for word in _AGE_WORDS) else None
        idle_s = link.idle_s
        (earlier_s, earlier_idle_s), self._earlier = self._earlier, (age_s, idle_s)
        if idle_s > UNUSED_S and _alike(idle_s, earlier_idle_s):
            return None
        return age_s if _alike(age_s, earlier_s) else None


def _alike(one_s: float, other_s: float) -> bool:
    return abs(one_s - other_s) < _LIKE * one_s


class Statistics:
    """What the sockets of one endpoint have done, as figures for ``/status``."""

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        self._requests = self._continued = self._reconnects = 0
        self._unreplaced = 0
        """Sockets that were lost and have had no successor yet."""
        self._last: SocketView | None = None

    def asked(self, request: Mapping[str, Any]) -> None:
        """A `response.create` was asked for."""
        self._requests += 1
        self._continued += bool(request.get("previous_response_id"))

    def opened(self) -> None:
        """A socket is open."""
        if self._unreplaced:
            self._unreplaced -= 1
            self._reconnects += 1

    def lost(self, link: Link) -> None:
        """A socket is closed."""
        self._unreplaced += 1
        self._last = link.view(self._figures)

    def views(
        self, links: Iterable[Link], dialled: Iterable[tuple[str, Transport]]
    ) -> list[SocketView]:
        """The sockets now, and the dials (address and way); without any, the last one lost."""
        views = [link.view(self._figures) for link in links]
        for address, transport in dialled:
            rest = (0.0, None, 0, 0, 0, *self._figures)
            views.append(SocketView(self._endpoint, address, transport, "connecting", (), *rest))
        if not views and self._last is not None:
            views.append(self._last)
        return views

    @property
    def _figures(self) -> tuple[int, int, int]:
        return self._requests, self._continued, self._reconnects


class EndpointLane:
    """A `Wire`. All methods but `open` and `close` are synchronous."""

    def __init__(self, endpoint: Endpoint, name: str) -> None:
        self.name = name
        self.wire_name = name
        """The name on the socket; a fresh one after a response had to be left running."""
        self.state: WireState = "closed"
        self.transport: Transport = endpoint.transport_choice.transport
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
            raise WireError(CLOSED)
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
        self._endpoint.transport_choice.tried()
        link = self.link
        if link is None:
            if self._moving is not None:
                self.unlinked(DROPPED, None)
            return
        link.protocol.given_up(self.wire_name)
        if any(lane.busy for lane in link.lanes if lane is not self):
            link.leave(self)
            self._endpoint.noticed(link)
            self.unlinked(DROPPED, None)
        else:
            link.drop(DROPPED)

    def fall_back(self) -> bool:
        """Use HTTP+SSE from the next `open` on; False if there is no such way or it is in use."""
        return self._endpoint.fall_back()

    def come_back(self) -> None:
        """Use the WebSocket from the next `open` on, unless it was refused: HTTP+SSE failed too."""
        self._endpoint.transport_choice.come_back()

    async def close(self) -> None:
        """Close for good; the socket too, with a close frame, if no other lane uses it."""
        if not self.finished:
            self.finished = True
            await self._endpoint.release(self)

    def attach(self, link: Link) -> None:
        """Use this link from now on."""
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
        """Use this link after a `move`, and ask there."""
        request, self._moving = self._moving, None
        self.link, self.transport = link, link.transport
        link.join(self)
        if request is not None:
            link.create(self, request)

    def unlinked(self, reason: str, close_code: int | None) -> None:
        """Take note that the link is closed, or takes nothing new."""
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


@dataclass(eq=False)
class Endpoint:
    """One server; `lane` gives the engine's wires.

    ``address`` and ``fallback`` (the bridge's relay, which speaks HTTP+SSE to the endpoint) are
    asked anew at every dial: a restarted bridge has a new one.
    """

    name: str
    address: _Where
    clock: ReadsClock
    _: KW_ONLY
    options: ConnectionOptions = field(default_factory=ConnectionOptions)
    capabilities: Capabilities = field(default_factory=Capabilities)
    """What is known of it; learnt facts go in here."""
    on_learnt: Callable[[Capabilities], None] = lambda known: None
    """Called when something was learnt."""
    fallback: _Where | None = None
    bridged: bool = False
    """At `address` is our bridge."""
    via: str = ""
    """What that asks for us, for the screen; empty: its own models."""
    recorder: FrameRecorder | None = None
    stamp: Stamp = no_stamp
    aside: Callable[[], bool] = bool
    """Whether its sockets are to let others go first."""
    share: LoopShare = field(default_factory=LoopShare)
    """What those of its sockets have together that are not for the screen."""

    def __post_init__(self) -> None:
        self.transport_choice = TransportChoice(
            self.options,
            self.capabilities,
            relay=self.fallback is not None,
            attempt=self._try_websocket,
        )
        self._relay = Capabilities()
        """What is known of the bridge's relay."""
        self._lanes: dict[str, EndpointLane] = {}
        self._links: list[Link] = []
        self._dials: dict[str, asyncio.Task[Link]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._age_limit = AgeLimit()
        self._shown = ""
        """The address last dialled, for the screen."""
        self._statistics = Statistics(self.name)

    @property
    def known(self) -> Capabilities:
        """What is known of whoever is at the other end now."""
        return self.capabilities if self.transport_choice.transport == "websocket" else self._relay

    def lane(self, name: str = MAIN_LANE) -> EndpointLane:
        """The wire of this name; made when it is first asked for, or was closed for good."""
        lane = self._lanes.get(name)
        if lane is None or lane.finished:
            lane = self._lanes[name] = EndpointLane(self, name)
        return lane

    def views(self) -> list[SocketView]:
        """The sockets now; without any, the last one that was lost."""
        dials = [(self._shown, self.transport_choice.transport) for _ in self._dials]
        views, why = self._statistics.views(self._links, dials), self.transport_choice.why_http()
        if self.via:
            return [replace(view, transport="bridge", address=self.via) for view in views]
        return [replace(view, why=why) if view.transport == "http" else view for view in views]

    async def close(self) -> None:
        """Close everything for good, with close frames, waiting a second at most."""
        self.transport_choice.stop()
        for lane in self._lanes.values():
            lane.finished = True
        for task in [*self._dials.values(), *self._tasks]:
            task.cancel()
        endings = [ending for link in tuple(self._links) if (ending := link.close("closed"))]
        await asyncio.gather(*endings, *self._dials.values(), return_exceptions=True)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def fall_back(self) -> bool:
        """See `EndpointLane.fall_back`: that WebSockets work there is not known any more."""
        took = self.transport_choice.fall_back()
        if took and self.capabilities.websocket:
            self._learn_websocket(None)
        return took

    async def release(self, lane: EndpointLane) -> None:
        """Let go of a lane that is closed for good, and of what nobody uses any more."""
        link = lane.link
        if link is not None:
            link.part(lane, "closed")
            ending = None if link.lanes else link.close("closed")
            if ending is not None:
                await asyncio.gather(ending, return_exceptions=True)
        elif lane.state == "connecting":
            lane.unlinked("closed", None)
        if self._lanes.get(lane.name) is lane:  # whom it tells would live on with it
            del self._lanes[lane.name]
        if not self._lanes:
            await self.close()

    async def connect(self, lane: EndpointLane) -> None:
        """Give the lane a link that takes a request. Raises as `EndpointLane.open`."""
        if lane.busy:
            return
        self._leave_stale(lane)
        self.transport_choice.used()
        while lane.link is None:
            if lane.finished:  # closed while it waited
                raise WireError(CLOSED)
            found = self._roomy(lane)
            if found is None:
                if lane.state != "connecting":
                    lane.tell("connecting", "")
                link = await asyncio.shield(self._dialling(lane))
                if link.state == "closed":
                    # The server let us in and closed at once: to dial on would be a storm.
                    if link.close_code in KEY_CLOSES:
                        what = "check the key, or name another with --key-env"
                        raise KeyRefused(f"{link.ended_why}: {what}.")
                    final = is_hopeless(link.close_code)
                    raise EndpointError(link.ended_why, transient=not final, final=final)
            elif lane.link is None:
                lane.attach(found)

    def noticed(self, link: Link) -> None:
        """See to what may have changed on a link: facts, names, age, lanes at rest."""
        self._learn(link)
        for lane in self._lanes.values():
            if lane.link is link and lane.rename(link):
                link.reroute()
                if not link.protocol.takes(lane.wire_name):
                    link.part(lane, FULL)
        if link.state == "retiring" or (link.state == "open" and link.age_s > self._limit_s()):
            link.retire(AGED)

    def sent(self, request: Mapping[str, Any]) -> None:
        """Count a create."""
        self._statistics.asked(request)

    def unroutable(self, link: Link, creates: list[tuple[str | None, dict[str, Any]]]) -> None:
        """Take creates to links that can carry them; their lanes do not notice."""
        for name, request in creates:
            for lane in self._lanes.values():
                if lane.link is link and lane.wire_name == name:
                    lane.move(request)
                    task = asyncio.create_task(self._carry(lane, request))
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)

    def closed(self, link: Link, reason: str) -> None:
        """Forget a link, and learn from its end."""
        self._links.remove(link)
        self._statistics.lost(link)
        if link.transport == "websocket":
            link.protocol.learning.news |= self._age_limit.learn(link, self.capabilities)
        self._learn(link)

    def leave_doubted(self) -> None:
        """Have all idle lanes leave the links that may have died while the machine slept."""
        for link in tuple(self._links):
            link.heartbeat.slept()
            if link.heartbeat.doubted:
                link.retire(SLEPT)

    def _leave_stale(self, lane: EndpointLane) -> None:
        """Part an idle lane from a link that is not to take another request of it."""
        self.leave_doubted()
        link = lane.link
        if link is None:
            return
        if link.transport != self.transport_choice.transport:
            self._part(lane, BACK if self.transport_choice.transport == "websocket" else OTHER_WAY)
        elif link.state != "open" or link.age_s > self._limit_s():
            link.retire(AGED)
        elif not link.protocol.takes(lane.wire_name):
            link.part(lane, NO_LANES)

    def _roomy(self, lane: EndpointLane) -> Link | None:
        """A link that this lane can use; on none there are more than may be answered at once.

        So that no lane waits for the answers of others; and what is on the screen not for what 16
        others say.
        """
        for link in self._links:
            usable = link.state == "open" and link.transport == self.transport_choice.transport
            shown = MAIN_LANE in (lane.name, *[one.name for one in link.lanes])
            usable = usable and len(link.lanes) < (MAX_WITH_MAIN if shown else MAX_IN_FLIGHT)
            if not usable or not link.protocol.takes(lane.wire_name):
                continue
            if self.known.lanes is not False or not link.lanes:
                return link
        return None

    def _limit_s(self) -> float:
        known_s = self.known.max_age_s
        return self.options.max_age_s if known_s is None else MARGIN * known_s

    def _dialling(self, lane: EndpointLane) -> asyncio.Task[Link]:
        """The dial that this lane waits for; begun if there is none."""
        key = lane.name if self.known.lanes is False else _SHARED
        task = self._dials.get(key)
        if task is None:
            task = self._dials[key] = asyncio.create_task(self._dial(key))
            task.add_done_callback(_looked_at)
        return task

    async def _dial(self, key: str) -> Link:
        """Dial, and take along every lane that waits for a socket."""
        reason = "the dial was given up"
        link = None
        try:
            link = await self._made()
            return link
        except DuettoError as error:
            reason = str(error)
            raise
        finally:
            del self._dials[key]
            for lane in self._lanes.values():
                if lane.state != "connecting" or key not in (_SHARED, lane.name):
                    continue
                if link is None:
                    lane.unlinked(reason, None)
                elif link.state == "closed":
                    lane.unlinked(link.ended_why, link.close_code)
                elif link is self._roomy(lane):
                    lane.attach(link)

    async def _made(self) -> Link:
        """A new link by the way that is open; the other way at once where this one is refused."""
        choice, down = self.transport_choice, None
        if choice.transport == "websocket":
            try:
                return await self._connected("websocket")
            except EndpointError as error:
                # a server that took one before is down for a moment
                waits = error.transient and self.capabilities.websocket is True
                doubt = error.cause.rstrip(".") if error.transient else ""
                if waits or not error.http_may_work or not choice.fall_back(doubt):
                    raise
                down = error if error.transient else None
            if down is None:
                choice.refused = True
                self._learn_websocket(False)
        assert self.fallback is not None
        try:
            return await self._connected("http")
        except DuettoError as error:
            choice.tried()
            if down is not None:
                raise down from error
            raise

    async def _connected(self, transport: Transport) -> Link:
        where = self.address if transport == "websocket" else self.fallback
        assert where is not None
        address = checked(await where())
        self._shown = shown(address.url)
        try:
            socket = await dial(address, self.options)
        except EndpointError as error:
            if self.recorder is not None:
                meta = {"_meta": "handshake_rejected", "url": address.url, "reason": str(error)}
                self.recorder.meta("s2c", self.clock.now(), 0, meta)
            raise
        known = self.capabilities if transport == "websocket" else self._relay
        link = Link(self, socket, known, address, transport)
        self._links.append(link)
        self._statistics.opened()
        if transport == "websocket":
            self.transport_choice.refused = False
            self._learn_websocket(True)
        return link

    def _learn(self, link: Link) -> None:
        """Tell of what a link has taught; the relay's abilities are not the endpoint's."""
        learning = link.protocol.learning
        news, learning.news = learning.news, False
        if news and link.transport == "websocket":
            self.on_learnt(self.capabilities)

    def _learn_websocket(self, works: bool | None) -> None:
        if self.capabilities.websocket is not works:
            self.capabilities.websocket = works
            self.on_learnt(self.capabilities)

    async def _carry(self, lane: EndpointLane, request: Mapping[str, Any]) -> None:
        """Bring a create to a link of its own, unless it was stopped on its way.

        Its lane may have gone on by then, and is left alone: it uses one link only.
        """
        try:
            link = await self._made()
        except DuettoError as error:
            if lane.awaits(request):
                lane.unlinked(str(error), None)
            return
        if lane.awaits(request):
            lane.arrive(link)
        else:
            link.close("no longer wanted")

    async def _try_websocket(self) -> bool:
        """Ask for a WebSocket again, unseen; True: it is the way from now on.

        A lane that is in use stays where it is until its next turn opens it.
        """
        try:
            link = await self._connected("websocket")
        except DuettoError:
            return False
        self.transport_choice.transport = "websocket"
        for lane in self._lanes.values():
            old = lane.link
            rests = old is not None and not lane.busy and old.idle_s >= self.options.probe_s / 2
            if rests and link is self._roomy(lane):
                self._part(lane, BACK)
                lane.attach(link)
        return True

    def _part(self, lane: EndpointLane, reason: str) -> None:
        """An idle lane leaves its link; the link goes if nobody else is on it."""
        link = lane.link
        if link is not None:
            link.part(lane, reason)
            if not link.lanes:
                link.close(reason)


def _looked_at(task: asyncio.Task[Link]) -> None:
    """Look at the failure of a dial whose asker is gone: it has been told by state."""
    if not task.cancelled():
        task.exception()
