"""One socket and its protocol: a pump without a task, and its lanes.

A link never reconnects: it opens once, is perhaps retired (too old for new requests), and closes
once. What is to be sent is written in the call that says so.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import re
from collections.abc import Callable, Coroutine, Iterator, Mapping
from typing import Any, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace
from websockets.exceptions import InvalidState
from websockets.protocol import State

from tui.core.stamping import Name
from tui.core.wire.address import Address, shown
from tui.core.wire.client.protocol import ClientProtocol
from tui.core.wire.endpoint_facts import Capabilities, SocketView
from tui.core.wire.events import Delta, Event
from tui.core.wire.json_writing import LongFrame
from tui.core.wire.refusals import UNUSABLE_CODE, discreet, lost_code, lost_words, without_secrets
from tui.effects.wire.frames import FrameSocket, LoopShare

MAIN_LANE = "main"

Direction = Literal["c2s", "s2c"]


class ReadsClock(Protocol):
    """The clock that dates events and deadlines; it counts the time a laptop sleeps."""

    def now(self) -> float:
        """Monotonic seconds."""


class FrameRecorder(Protocol):
    """Keeps what travels over the sockets (effects.recorder)."""

    def frame(
        self, direction: Direction, t: float, connection: int, text: bytes | bytearray | str
    ) -> None:
        """Keep a frame that travelled at ``t``, in monotonic seconds."""

    def meta(
        self, direction: Direction, t: float, connection: int, meta: Mapping[str, object]
    ) -> None:
        """Keep what is no frame: a handshake, a close."""


class ConnectionOptions(Struct, frozen=True):
    """Times and limits of an endpoint's connections (PROTOCOL section 10)."""

    connect_timeout_s: float = 15.0
    ping_interval_s: float = 20.0
    """A ping goes out after so long without any byte from the server."""
    silence_s: float = 60.0
    """Without any inbound byte, pongs included, for so long the connection counts as dead."""
    event_s: float = 300.0
    """A response without any event for so long counts as dead, whatever pongs say."""
    max_age_s: float = 55 * 60.0
    """A connection older than this takes no new request, unless the endpoint's limit is known."""
    gap_s: float = 10.0
    """A clock that jumps by more says that the machine slept, or this process did."""
    resume_s: float = 5.0
    """After such a gap a busy connection has so long to show that it lives."""
    close_timeout_s: float = 1.0
    max_message_bytes: int = 32 * 2**20
    user_agent: str = "duetto"
    transport: Literal["auto", "websocket", "http"] = "auto"
    """``auto``: HTTP+SSE where the WebSocket is refused or keeps breaking."""
    probe_s: float = 300.0
    """Spoken to by HTTP for so long, an endpoint is asked for a WebSocket again."""

    @property
    def nearby(self) -> ConnectionOptions:
        """For the bridge on this machine: if that is silent it is stopped or stuck."""
        ping_interval_s = min(self.ping_interval_s, 5.0)
        return replace(self, ping_interval_s=ping_interval_s, silence_s=min(self.silence_s, 10.0))


LOOK_S = 5.0
"""Between two looks, at most."""


class Heartbeat:
    """Watches whether a link still lives: pings, silence, stalls, and gaps in the clock.

    Any inbound byte is life (PROTOCOL section 10: some servers delay pongs while they write). A
    clock that jumps between two looks says that the machine slept: what was idle then is not
    trusted any more, what was busy is asked at once.
    """

    def __init__(
        self, link: Link, socket: FrameSocket, options: ConnectionOptions, clock: ReadsClock
    ) -> None:
        self.round_trip_s: float | None = None
        self.has_slept = False
        """The clock has jumped in this link's life."""
        self.doubted = False
        """The clock has jumped, and no pong has come since: nothing new is to go out."""
        self._link, self._socket, self._options, self._clock = link, socket, options, clock
        self._look_s = min(LOOK_S, options.ping_interval_s, options.silence_s / 4)
        self._looked_at = clock.now()
        self._ping = b""
        self._pings = 0
        self._pinged_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._proof: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Measure the round trip, then watch."""
        self._ask()
        self._timer = self._socket.loop.call_later(self._look_s, self._look)

    def stop(self) -> None:
        """Watch no more."""
        for timer in (self._timer, self._proof):
            if timer is not None:
                timer.cancel()

    def ponged(self, data: bytes) -> bool:
        """Take a pong; True if the round trip is known anew."""
        if data != self._ping:
            return False
        self._ping = b""
        self.doubted = False
        self.round_trip_s = self._socket.loop.time() - self._pinged_at
        return True

    def slept(self) -> bool:
        """Whether the clock has jumped since the last look; a busy link is asked for life then."""
        now = self._clock.now()
        gap_s = now - self._looked_at - self._look_s
        self._looked_at = now
        if gap_s <= self._options.gap_s:
            return False
        self.has_slept = self.doubted = True
        if self._link.busy:
            for lane in self._link.lanes:
                lane.heard_at = now
            self._ask()
            if self._proof is not None:
                self._proof.cancel()
            self._proof = self._socket.loop.call_later(self._options.resume_s, self._judge)
        return True

    def _look(self) -> None:
        self._excuse()
        self._timer = self._socket.loop.call_later(self._look_s, self._look)
        options, link = self._options, self._link
        if self.slept() and not link.busy:
            link.close("renewed after a pause")
            return
        now_s = self._socket.loop.time()
        silent_s = now_s - self._socket.heard_at
        if silent_s > options.silence_s:
            link.drop(_dead(options.silence_s))
            return
        if min(silent_s, now_s - self._pinged_at) >= options.ping_interval_s:
            self._ask()
        self._look_at_lanes()
        link.serve()

    def _excuse(self) -> None:
        """A look that comes late says that this process was not served: nobody else was silent."""
        if self._timer is None:
            return
        now_s, now = self._socket.loop.time(), self._clock.now()
        late_s = now_s - self._timer.when()
        self._socket.heard_at = min(self._socket.heard_at + late_s, now_s)
        for lane in self._link.lanes:
            lane.heard_at = min(lane.heard_at + late_s, now)

    def _look_at_lanes(self) -> None:
        """A lane that waits without any event for minutes is dead, whatever pongs say."""
        options, link = self._options, self._link
        since = self._clock.now() - options.event_s
        stalled = [r for r in link.lanes if r.busy and max(r.heard_at, link.stray_at) < since]
        if not stalled:
            return
        if all(lane in stalled for lane in link.lanes if lane.busy):
            link.drop(_dead(options.event_s))
            return
        for lane in stalled:
            link.part(lane, _dead(options.event_s))

    def _ask(self) -> None:
        self._pings += 1
        self._ping = self._pings.to_bytes(4, "big")
        self._pinged_at = self._socket.loop.time()
        if self._socket.protocol.state is State.OPEN:
            self._socket.protocol.send_ping(self._ping)
            self._socket.send_data()

    def _judge(self) -> None:
        """Drop the link, unless anything came since it was asked for life."""
        if self._socket.heard_at < self._pinged_at:
            self._link.drop("nothing from the server after a pause")


def _dead(silent_s: float) -> str:
    return f"nothing from the server for {silent_s:.0f} s"


LinkState = Literal["open", "retiring", "closed"]
Transport = Literal["websocket", "http"]
INTERNAL_ERROR = "an internal error"
_TYPE = re.compile(r'\{"type": ?"([a-z._]+)"')
_numbers = itertools.count(1)
_log = logging.getLogger("tui.wire")


class LinkedLane(Protocol):
    """A lane, as its link sees it."""

    name: str
    wire_name: str
    """Its name on this socket."""
    heard_at: float
    """When its last event came, in the clock's seconds."""
    round_trip_s: float | None
    on_event: Callable[[Event, float], None]

    @property
    def busy(self) -> bool:
        """It waits for something that the server owes."""

    def unlinked(self, reason: str, close_code: int | None) -> None:
        """The link is closed, or takes nothing new: the next `open` finds another one."""


class LinkOwner(Protocol):
    """The endpoint, as its links see it."""

    name: str
    clock: ReadsClock
    options: ConnectionOptions
    recorder: FrameRecorder | None
    share: LoopShare

    def stamp(self, name: Name, detail: str, /) -> None:
        """Something happened that a trace is to tell."""

    def aside(self) -> bool:
        """Whether the sockets are to let others go first."""

    def noticed(self, link: Link) -> None:
        """Something but a delta came or went: a fact may be known, a response over."""

    def sent(self, request: Mapping[str, Any]) -> None:
        """A create was asked for."""

    def unroutable(self, link: Link, creates: list[tuple[str | None, dict[str, Any]]]) -> None:
        """This socket turned out unable to carry these."""

    def closed(self, link: Link, reason: str) -> None:
        """The link is no more."""


class Link:
    """One open socket; `state` says whether it may still be used."""

    def __init__(
        self,
        owner: LinkOwner,
        socket: FrameSocket,
        known: Capabilities,
        address: Address,
        transport: Transport,
    ) -> None:
        """The socket is open; its first message comes in the next turn of the loop."""
        self.state: LinkState = "open"
        self.transport: Transport = transport
        self.protocol = ClientProtocol(known)
        self.number = next(_numbers)
        self._owner, self._socket, self._address = owner, socket, address
        self._clock, self._recorder = owner.clock, owner.recorder
        self.opened_at = self._clock.now()
        self.stray_at = self.opened_at
        """When the last message came that was no event of any lane: a sign of life for all."""
        self.used_at = self.opened_at
        """When a request went out or something but a delta came."""
        self.close_code: int | None = None
        self.ended_why = ""
        """In words, once it is closed."""
        self.close_reason = ""
        """The server's own words in its close frame."""
        self.lanes: list[LinkedLane] = []
        self.bytes_out = 0
        self._routes: Mapping[str | None, LinkedLane] = {}
        self._handing: list[Event] = []
        """What was received and is being handed on."""
        self._timer: asyncio.TimerHandle | None = None
        self._deadline: float | None = None
        """For which it is set."""
        self._closing: asyncio.Task[None] | None = None
        # by HTTP it is our bridge on this machine, which asks the endpoint
        options = owner.options if transport == "websocket" else owner.options.nearby
        self.heartbeat = Heartbeat(self, socket, options, self._clock)
        dialled = {"url": address.url, "headers": dict(address.headers)}
        self._record("c2s", {"_meta": "handshake", **dialled, "transport": transport})
        self._record("s2c", {"_meta": "handshake_response", "status": 101})
        socket.aside = owner.aside
        socket.attach(self, self._clock.now)
        self.heartbeat.start()

    @property
    def age_s(self) -> float:
        """Since it was opened."""
        return self._clock.now() - self.opened_at

    @property
    def idle_s(self) -> float:
        """Since it was used."""
        return self._clock.now() - self.used_at

    @property
    def busy(self) -> bool:
        """Somebody waits for something on it."""
        return any(lane.busy for lane in self.lanes)

    def join(self, lane: LinkedLane) -> None:
        """Carry this lane from now on, under its `wire_name`."""
        lane.heard_at = self._clock.now()
        lane.round_trip_s = self.heartbeat.round_trip_s
        self.lanes.append(lane)
        self.reroute()

    def leave(self, lane: LinkedLane) -> None:
        """Carry it no more; a response that still runs for it runs unseen."""
        if lane in self.lanes:
            if lane.busy:
                self.protocol.abandon(lane.wire_name)
            self.lanes.remove(lane)
            self.reroute()

    def part(self, lane: LinkedLane, reason: str) -> None:
        """Carry it no more, and tell it why: its next `open` finds another link."""
        self.leave(lane)
        lane.unlinked(reason, None)

    def reroute(self) -> None:
        """Take up changed lanes or names."""
        self._routes = {lane.wire_name: lane for lane in self.lanes}
        beside = all(lane.name != MAIN_LANE for lane in self.lanes)
        self._socket.beside = self._owner.share if beside else None

    def create(self, lane: LinkedLane, request: Mapping[str, Any]) -> None:
        """Ask for a response. Raises WireError."""
        now = self._clock.now()
        self.protocol.create(request, lane.wire_name, now)
        lane.heard_at = self.used_at = now
        self._owner.sent(request)
        self.serve()

    def steer(self, lane: LinkedLane, text: str) -> int | None:
        """Add to the response in flight."""
        number = self.protocol.steer(text, lane.wire_name, self._clock.now())
        self.flush(self._clock.now())
        self.serve()
        return number

    def interrupt(self, lane: LinkedLane) -> None:
        """Stop the lane's response; written when this returns."""
        now = self._clock.now()
        self.protocol.interrupt(lane.wire_name, now)
        name, left = lane.wire_name, self._handing
        left[:] = [one for one in left if one.stream_id != name or not isinstance(one, Delta)]
        self._write()
        self.flush(now)
        self.serve()

    def received(self, payload: bytes | bytearray, now: float) -> None:
        """Take a text message: the hot path."""
        if self._recorder is not None:
            self._recorder.frame("s2c", now, self.number, payload)
        if self.protocol.receive_text(payload, now):
            self._pass_on(now)

    def flush(self, now: float) -> None:
        """Hand on what was received, and what the protocol itself has to say."""
        before, events = self._handing, self.protocol.events_received()
        while events:
            self._handing = events  # an event may lead to an interrupt, and that to others
            event = events.pop(0)
            lane = self._routes.get(event.stream_id)
            if lane is None:
                self.stray_at = now
                _log.info("an event of no lane: %s", type(event).__name__)
                continue
            lane.heard_at = now
            delta = isinstance(event, Delta)
            lane.on_event(event if delta else discreet(event, self._address), now)
        self._handing = before

    def received_long(self, payload: bytes | bytearray, now: float) -> Iterator[None]:
        """Take a long text message, step by step."""
        if self._recorder is not None:
            self._recorder.frame("s2c", now, self.number, payload)
        for _ in self.protocol.receive_long(payload, now):
            self._pass_on(now)
            yield

    def _pass_on(self, now: float) -> None:
        """Hand on what the protocol has heard, and do what it wants then."""
        if not self.protocol.has_events:
            self.stray_at = now
        self.flush(now)
        if self.protocol.needs_care:
            self.used_at = now
            self.serve()

    def refused(self, why: str) -> None:
        """Drop a connection that brings what is not taken: the same would come again."""
        self.protocol.refuse(why)
        self.close_code = UNUSABLE_CODE
        self.serve()

    def ponged(self, data: bytes) -> None:
        """Take a pong."""
        if self.heartbeat.ponged(data):
            for lane in self.lanes:
                lane.round_trip_s = self.heartbeat.round_trip_s

    def ended(self, error: Exception | None) -> None:
        """Take the end of the socket: it is closing or gone."""
        if self.state == "closed":
            return
        if error is not None and not isinstance(error, OSError):
            # A bug, most likely in a handler: the app's last handler hears of it from the loop,
            # and the same request would only meet it again.
            self.close_code = UNUSABLE_CODE
            self._lost(INTERNAL_ERROR, self._socket.wait_closed())
            return
        for lane in self.lanes:
            self.protocol.given_up(lane.wire_name)
        protocol = self._socket.protocol
        received, sent = protocol.close_rcvd, protocol.close_sent
        sent_code = sent.code if sent else None
        said = (received.code, received.reason) if received else None
        if said is not None:
            self.close_reason = said[1]
        if self.close_code is None:
            self.close_code = lost_code(said[0] if said else None, sent_code)
        self._lost(lost_words(said, sent_code, self._address), self._socket.close())

    def serve(self) -> None:
        """Do what the protocol wants: write, move, drop, be woken."""
        if self.state == "closed":
            return
        self._write()
        protocol, owner = self.protocol, self._owner
        creates = protocol.unroutable()
        if creates:
            owner.unroutable(self, creates)
        if protocol.should_drop:
            self.drop(protocol.drop_reason)
            return
        deadline = protocol.deadline()
        if deadline != self._deadline:  # set anew by each event, one that is due would never ring
            self._deadline = deadline
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if deadline is not None:
                delay_s = max(0.0, deadline - self._clock.now())
                self._timer = asyncio.get_running_loop().call_later(delay_s, self._wake)
        owner.noticed(self)

    def retire(self, reason: str) -> None:
        """Take nothing new; lanes leave when they wait for nothing, the last one closes it."""
        if self.state == "closed":
            return
        self.state = "retiring"
        for lane in [lane for lane in self.lanes if not lane.busy]:
            self.part(lane, reason)
        if not self.lanes:
            self.close(reason)

    def drop(self, reason: str) -> None:
        """Abort TCP now, without a close frame (PROTOCOL section 8, rule 4)."""
        if self.state != "closed":
            self._socket.abort()
            self._owner.stamp("wire", "abort")
            self._lost(reason, self._socket.wait_closed())

    def close(self, reason: str) -> asyncio.Task[None] | None:
        """Close with a close frame; the task ends when TCP does.

        A server that still works for us, or floods, would answer it behind all that it has to say.
        """
        if self.state != "closed" and (self.protocol.working or self._socket.behind):
            self.drop(reason)
        elif self.state != "closed":
            self._lost(reason, self._socket.close())
        return self._closing

    def view(self, figures: tuple[int, int, int]) -> SocketView:
        """What it is and does; ``figures`` are the endpoint's, see `SocketView`."""
        lanes = [f"{r.wire_name}*" if r.busy else r.wire_name for r in self.lanes]
        return SocketView(
            self._owner.name,
            shown(self._address.url),
            self.transport,
            self.state,
            tuple(lanes),
            self.age_s,
            self.heartbeat.round_trip_s,
            self._socket.bytes_in,
            self.bytes_out,
            self._socket.frames_in,
            *figures,
        )

    def _write(self) -> None:
        told = self.protocol.data_to_send()
        try:
            for one in told:
                if isinstance(one, LongFrame):
                    self._socket.say(self._told_long(one))
                else:
                    self._socket.say(data := one.encode())
                    self.bytes_out += len(data)
                    if self._recorder is not None:
                        self._recorder.frame("c2s", self._clock.now(), self.number, one)
        except InvalidState:
            # The close handshake has begun; `ended` is about to say why.
            return
        for one in told:
            self._owner.stamp("wire", one.kind if isinstance(one, LongFrame) else _kind(one))

    def _told_long(self, frame: LongFrame) -> Iterator[bytes]:
        """What is written of a long request, step by step."""
        pieces = []
        for piece in frame.pieces():
            self.bytes_out += len(piece)
            if self._recorder is not None:
                pieces.append(piece)
            yield piece
        if self._recorder is not None:
            self._recorder.frame("c2s", self._clock.now(), self.number, b"".join(pieces))

    def _wake(self) -> None:
        self._timer = self._deadline = None
        now = self._clock.now()
        self.protocol.tick(now)
        self.flush(now)
        self.serve()

    def _lost(self, reason: str, ending: Coroutine[Any, Any, None]) -> None:
        """End the link: tell the lanes what they still have to know, then that it is over."""
        reason = without_secrets(reason, self._address)  # it may be a server's word
        self.state, self.ended_why = "closed", reason
        self.heartbeat.stop()
        self._socket.stop()
        if self._timer is not None:
            self._timer.cancel()
        self._record("s2c", {"_meta": "close", "code": self.close_code, "reason": reason})
        try:
            self.protocol.connection_lost(reason)
            self.flush(self._clock.now())
        finally:
            # a bug on the way must not leave a turn waiting for ever
            lanes, self.lanes, self._routes = self.lanes, [], {}
            for lane in lanes:
                lane.unlinked(reason, self.close_code)
            self._closing = asyncio.create_task(ending)
            self._owner.closed(self, reason)

    def _record(self, direction: Literal["c2s", "s2c"], meta: dict[str, object]) -> None:
        if self._recorder is not None:
            self._recorder.meta(direction, self._clock.now(), self.number, meta)


def _kind(text: str) -> str:
    """The type of an event that we wrote, where it stands first."""
    found = _TYPE.match(text)
    return found[1] if found else ""
