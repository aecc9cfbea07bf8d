"""One server, and every socket to it: which lane rides where, when to dial, which way to go.

Lanes share a link while the server can tell them apart (PROTOCOL section 6); else each has its
own. A link that grows old takes nothing new, and the next `open` of a lane dials another one before
the server's limit (section 10). A WebSocket that is refused is given up at once for HTTP+SSE
through the bridge, and asked for again after some minutes, beside the turns.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

from tui.core.stamping import Stamp, no_stamp
from tui.core.wire.address import Address, checked, shown
from tui.core.wire.client.protocol import ClientProtocol
from tui.core.wire.endpoint_facts import Capabilities, SocketView
from tui.core.wire.refusals import HOPELESS_CLOSES
from tui.effects.wire.ages import MARGIN, Ages
from tui.effects.wire.dial import dial
from tui.effects.wire.lane import EndpointLane
from tui.effects.wire.link import Line, Link, Tools, Transport
from tui.effects.wire.options import ConnectionOptions, ReadsClock, Recorder
from tui.effects.wire.tally import Tally
from tui.effects.wire.way import Way
from tui.errors import DuettoError, EndpointError

MAIN_LANE = "main"
_SHARED = ""
"""The dial that all lanes wait for which may share a link."""
AGED = "renewed before the server's time limit"
SLEPT = "renewed after a pause"
BACK = "the WebSocket works again"
OTHER_WAY = "continued by HTTP"
NO_LANES = "this endpoint has one conversation a connection"
FULL = "this connection takes no more lanes"
_Where = Callable[[], Awaitable[Address]]


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
    """Called when one did."""
    fallback: _Where | None = None
    bridged: bool = False
    """At `address` is our bridge."""
    via: str = ""
    """What that asks for us, for the screen; empty: its own models."""
    recorder: Recorder | None = None
    stamp: Stamp = no_stamp
    aside: Callable[[], bool] = bool
    """Whether its sockets are to let others go first."""

    def __post_init__(self) -> None:
        self.way = Way(
            self.options,
            self.capabilities,
            relay=self.fallback is not None,
            attempt=self._try_websocket,
        )
        self._relay = Capabilities()
        """What is known of the bridge's relay."""
        near, far = self.options.nearby, self.options
        self._tools: dict[Transport, Tools] = {
            "websocket": Tools(self, far, self.clock, self.recorder, self.stamp, self.aside),
            "http": Tools(self, near, self.clock, self.recorder, self.stamp, self.aside),
        }
        self._lanes: dict[str, EndpointLane] = {}
        self._links: list[Link] = []
        self._dials: dict[str, asyncio.Task[Link]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._ages = Ages()
        self._shown = ""
        """The address last dialled, for the screen."""
        self._tally = Tally(self.name)

    @property
    def known(self) -> Capabilities:
        """What is known of whoever is at the other end now."""
        return self.capabilities if self.way.transport == "websocket" else self._relay

    def lane(self, name: str = MAIN_LANE) -> EndpointLane:
        """The wire of this name; made when it is first asked for, or was closed for good."""
        lane = self._lanes.get(name)
        if lane is None or lane.finished:
            lane = self._lanes[name] = EndpointLane(self, name)
        return lane

    def views(self) -> list[SocketView]:
        """The sockets now; without any, the last one that was lost."""
        dials = [(self._shown, self.way.transport) for _ in self._dials]
        views, why = self._tally.views(self._links, dials), self.way.why_http()
        if self.via:
            return [replace(view, transport="bridge", address=self.via) for view in views]
        return [replace(view, why=why) if view.transport == "http" else view for view in views]

    async def close(self) -> None:
        """Close everything for good, with close frames, waiting a second at most."""
        self.way.stop()
        for lane in self._lanes.values():
            lane.finished = True
        for task in [*self._dials.values(), *self._tasks]:
            task.cancel()
        endings = [ending for link in tuple(self._links) if (ending := link.close("closed"))]
        await asyncio.gather(*endings, *self._dials.values(), return_exceptions=True)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def release(self, lane: EndpointLane) -> None:
        """A lane is closed for good; what nobody uses any more goes too."""
        link = lane.link
        if link is not None:
            link.leave(lane)
            lane.unlinked("closed", None)
            ending = None if link.riders else link.close("closed")
            if ending is not None:
                await asyncio.gather(ending, return_exceptions=True)
        if all(lane.finished for lane in self._lanes.values()):
            await self.close()

    async def connect(self, lane: EndpointLane) -> None:
        """Give the lane a link that takes a request. Raises EndpointError or KeyRefused."""
        if lane.busy:
            return
        self._leave_stale(lane)
        self.way.used()
        while lane.link is None:
            found = self._roomy(lane)
            if found is None:
                if lane.state != "connecting":
                    lane.tell("connecting", "")
                link = await asyncio.shield(self._dialling(lane))
                if link.state == "closed":
                    # The server let us in and closed at once: to dial on would be a storm.
                    final = link.close_code in HOPELESS_CLOSES
                    raise EndpointError(link.ended_why, transient=not final, final=final)
            elif lane.link is None:
                lane.attach(found)

    def noticed(self, link: Link) -> None:
        """See to what may have changed on a link: facts, names, age, lanes at rest."""
        self._learn(link)
        for rider in tuple(link.riders):
            if isinstance(rider, EndpointLane) and rider.rename(link):
                link.reroute()
                if not link.protocol.takes(rider.wire_name):
                    link.leave(rider)
                    rider.unlinked(FULL, None)
        if link.state == "retiring" or (link.state == "open" and link.age_s > self._limit_s()):
            link.retire(AGED)

    def sent(self, request: Mapping[str, Any]) -> None:
        """Count a create."""
        self._tally.asked(request)

    def stranded(self, link: Link, creates: list[tuple[str | None, dict[str, Any]]]) -> None:
        """Take creates to links that can carry them; their lanes do not notice."""
        for name, request in creates:
            for lane in self._lanes.values():
                if lane.link is link and lane.wire_name == name:
                    lane.move(request)
                    self._spawn(self._carry(lane, request))

    def closed(self, link: Link, reason: str) -> None:
        """Forget a link, and learn from its end."""
        self._links.remove(link)
        self._tally.lost(link)
        if link.transport == "websocket":
            link.protocol.lessons.news |= self._ages.learn(link, self.capabilities)
        self._learn(link)

    def leave_doubted(self) -> None:
        """Have all idle lanes leave the links that may have died while the machine slept."""
        for link in tuple(self._links):
            link.pulse.slept()
            if link.pulse.doubted:
                link.retire(SLEPT)

    def _leave_stale(self, lane: EndpointLane) -> None:
        """Part an idle lane from a link that is not to take another request of it."""
        self.leave_doubted()
        link = lane.link
        if link is None:
            return
        if link.transport != self.way.transport:
            self._part(lane, BACK if self.way.transport == "websocket" else OTHER_WAY)
        elif link.state != "open" or link.age_s > self._limit_s():
            link.retire(AGED)
        elif not link.protocol.takes(lane.wire_name):
            link.leave(lane)
            lane.unlinked(NO_LANES, None)

    def _roomy(self, lane: EndpointLane) -> Link | None:
        """A link that this lane can ride on."""
        for link in self._links:
            usable = link.state == "open" and link.transport == self.way.transport
            if not usable or not link.protocol.takes(lane.wire_name):
                continue
            if self.known.lanes is not False or not link.riders:
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
        if self.way.transport == "websocket":
            try:
                return await self._connected("websocket")
            except EndpointError as error:
                refused = error.http_may_work and not error.transient
                if not refused or not self.way.fall_back():
                    raise
                self.way.refused = True
                self._learn_websocket(False)
        assert self.fallback is not None
        return await self._connected("http")

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
        link = Link(Line(socket, ClientProtocol(known), address, transport), self._tools[transport])
        self._links.append(link)
        self._tally.opened()
        if transport == "websocket":
            self.way.refused = False
            self._learn_websocket(True)
        return link

    def _learn(self, link: Link) -> None:
        """Tell of what a link has taught; the relay's abilities are not the endpoint's."""
        lessons = link.protocol.lessons
        news, lessons.news = lessons.news, False
        if news and link.transport == "websocket":
            self.on_learnt(self.capabilities)

    def _learn_websocket(self, works: bool) -> None:
        if self.capabilities.websocket is not works:
            self.capabilities.websocket = works
            self.on_learnt(self.capabilities)

    async def _carry(self, lane: EndpointLane, request: Mapping[str, Any]) -> None:
        """Bring a create to a link of its own, unless it was stopped on its way.

        Its lane may have gone on by then, and is left alone: it rides on one link only.
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
        self.way.transport = "websocket"
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
            link.leave(lane)
            lane.unlinked(reason, None)
            if not link.riders:
                link.close(reason)

    def _spawn(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _looked_at(task: asyncio.Task[Link]) -> None:
    """Whoever asked for the dial may be gone: its failure has been told by state."""
    if not task.cancelled():
        task.exception()
