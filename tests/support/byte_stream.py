"""A conversation that was played once, played again as the bytes of its WebSockets.

`Noted` is a client protocol that writes down what is done to it. `again` does it all once more:
either frame by frame, or with the server's frames as bytes through the real frame splitter, framed
in every way that WebSocket knows and cut anywhere, across frames and before the user's deeds too.
"""

from __future__ import annotations

import asyncio
import copy
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import structs
from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.frames import Frame, Opcode

from tests.support.socket_by_hand import framed, said, upgraded
from tui.core.wire import events
from tui.core.wire.client.protocol import ClientProtocol
from tui.core.wire.endpoint_facts import Capabilities
from tui.effects.wire.frames import FrameSocket
from tui.errors import WireError

Deed = tuple[str, tuple[Any, ...]]
"""A method of a client protocol and its arguments."""
FRAME = "receive_text"
PING = b"still there?"
MANNERS = ("plain", "deflated", "pieces", "deflated pieces", "behind a ping", "behind a pong")


class Noted(ClientProtocol):
    """A client protocol whose life is written down, in ``log``."""

    def __init__(self, capabilities: Capabilities) -> None:
        super().__init__(capabilities)
        self.log: list[Deed] = []

    def create(self, request: Mapping[str, Any], lane: str | None = None, now: float = 0.0) -> None:
        self.log.append(("create", (copy.deepcopy(request), lane, now)))
        super().create(request, lane, now)

    def steer(self, text: str, lane: str | None = None, now: float = 0.0) -> int | None:
        self.log.append(("steer", (text, lane, now)))
        return super().steer(text, lane, now)

    def interrupt(self, lane: str | None = None, now: float = 0.0) -> bool:
        self.log.append(("interrupt", (lane, now)))
        return super().interrupt(lane, now)

    def abandon(self, lane: str | None = None) -> None:
        self.log.append(("abandon", (lane,)))
        super().abandon(lane)

    def tick(self, now: float) -> None:
        self.log.append(("tick", (now,)))
        super().tick(now)

    def connection_lost(self, reason: str) -> None:
        self.log.append(("connection_lost", (reason,)))
        super().connection_lost(reason)

    def receive_text(self, data: str | bytes, now: float) -> None:
        self.log.append((FRAME, (data, now)))
        super().receive_text(data, now)


@dataclass
class Account:
    """All that came of a conversation, in an order that cuts must not change."""

    client: ClientProtocol
    lanes: Sequence[str | None]
    events: list[events.Event] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)
    unroutable: list[Any] = field(default_factory=list)
    states: list[Any] = field(default_factory=list)
    """Of the whole protocol, before and after every deed."""

    def collect(self) -> None:
        """Take what there is, as its owner does."""
        self.unroutable += self.client.unroutable()
        self.sent += self.client.data_to_send()
        self.events += self.client.events_received()

    def do(self, deed: Deed) -> None:
        """Do it, between two looks."""
        self.look()
        name, arguments = deed
        try:
            found = getattr(self.client, name)(*copy.deepcopy(arguments))
        except WireError as error:
            found = str(error)
        self.states.append(found)
        self.collect()
        self.look()

    def look(self) -> None:
        """The state of everything."""
        client = self.client
        lanes = [client.lane(name) for name in self.lanes]
        each = [
            (lane.state, lane.response_id, lane.busy, lane.in_flight, lane.begun, lane.flowing)
            for lane in lanes
        ]
        about = (client.busy, client.deadline(), client.drop_reason, client.unreadable)
        counts = (len(self.events), len(self.sent), len(self.unroutable))
        self.states.append(
            (each, about, counts, copy.deepcopy(structs.asdict(client.capabilities)))
        )


class Framing:
    """How the frames of one socket look as bytes: one manner after the other."""

    def __init__(self, manners: Iterator[str]) -> None:
        self._manners = manners
        self._extension = [PerMessageDeflate(False, False, 15, 15)]
        self.pings = self.pongs = 0

    def encode(self, text: str | bytes) -> bytes:
        """A message; it is complete with the last byte."""
        payload, manner = _bytes_of(text), next(self._manners)
        before = b""
        if manner == "behind a ping":
            before = self._ping()
        elif manner == "behind a pong":
            self.pongs += 1
            before = framed(b"", Opcode.PONG)
        extensions = self._extension if "deflated" in manner else None
        if "pieces" not in manner:
            whole = Frame(Opcode.TEXT, payload)
            return before + whole.serialize(mask=False, extensions=extensions)
        cuts = [0, len(payload) // 3, len(payload) // 3, len(payload)]
        parts = [payload[begin:end] for begin, end in itertools.pairwise(cuts)]
        out = b""
        for number, part in enumerate(parts):
            last = number == len(parts) - 1
            opcode = Opcode.CONT if number else Opcode.TEXT
            out += Frame(opcode, part, last).serialize(mask=False, extensions=extensions)
            out += b"" if last else self._ping()
        return out

    def _ping(self) -> bytes:
        self.pings += 1
        return framed(PING, Opcode.PING)


class Ear:
    """Hands messages to a client protocol, as a link does."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self.pongs = 0

    def received(self, payload: bytes, now: float) -> None:
        self._account.client.receive_text(payload, now)
        self._account.collect()  # pieces of a text that wait become one

    def flush(self, now: float) -> None:
        pass

    def binary(self) -> None:
        raise AssertionError("nothing binary was said")

    def ponged(self, data: bytes) -> None:
        self.pongs += 1

    def ended(self, error: Exception | None) -> None:
        raise AssertionError("nothing has ended")


def by_frames(
    log: Sequence[Deed], capabilities: Capabilities, lanes: Sequence[str | None]
) -> Account:
    """The life of one socket, frame by frame."""
    account = Account(ClientProtocol(capabilities), lanes)
    for name, arguments in log:
        if name == FRAME:
            account.client.receive_text(*arguments)
            account.collect()
        else:
            account.do((name, arguments))
    account.look()
    return account


class Road:
    """A socket that is fed with pieces of bytes; what comes of each is collected."""

    def __init__(self, account: Account, sizes: Iterator[int]) -> None:
        self._account, self._sizes = account, sizes
        self.ear = Ear(account)
        self.now = 0.0
        self._socket, head = upgraded(FrameSocket, deflate=True, limit_bytes=2**20)
        self._socket.data_received(head)
        self._socket.attach(self.ear, lambda: self.now)

    async def bring(self, data: bytes) -> None:
        """Bytes from the network."""
        at = 0
        while at < len(data):
            size = next(self._sizes)
            self._socket.data_received(data[at : at + size])
            at += size
            while self._socket._resuming is not None:
                await asyncio.sleep(0)
            self._account.collect()

    async def begin(self, message: bytes) -> bytes:
        """The beginning of a message comes; gives the rest of it, a byte at least."""
        cut = min(next(self._sizes), len(message) - 1)
        await self.bring(message[:cut])
        return message[cut:]

    def pongs_sent(self) -> int:
        """Answers to pings; there is nothing else that the socket writes."""
        frames = said(self._socket)
        assert set(frames) <= {(Opcode.PONG, PING)}
        return len(frames)


async def by_bytes(
    log: Sequence[Deed],
    capabilities: Capabilities,
    lanes: Sequence[str | None],
    framing: Framing,
    sizes: Iterator[int],
) -> Account:
    """The same life; the bytes come in pieces of these sizes."""
    account = Account(ClientProtocol(capabilities), lanes)
    road = Road(account, sizes)
    stream = [framing.encode(arguments[0]) if name == FRAME else b"" for name, arguments in log]
    waiting = b""
    for place, (name, arguments) in enumerate(log):
        if name == FRAME:
            road.now = arguments[1]
            waiting += stream[place]
            continue
        await road.bring(waiting)
        waiting = b""
        # The next message may have begun to come when the user acts.
        behind = next((n for n in range(place, len(log)) if log[n][0] == FRAME), None)
        if behind is not None:
            stream[behind] = await road.begin(stream[behind])
        account.do((name, arguments))
    await road.bring(waiting)
    account.look()
    assert (road.ear.pongs, road.pongs_sent()) == (framing.pongs, framing.pings)
    return account


def _bytes_of(text: str | bytes) -> bytes:
    """As UTF-8, in which a character may be cut."""
    raw = text.decode() if isinstance(text, bytes) else text
    try:
        return json.dumps(json.loads(raw), ensure_ascii=False).encode()
    except ValueError:  # no JSON, or half a surrogate pair
        return raw.encode()
