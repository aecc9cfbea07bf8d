"""Frames split by hand: whatever the cuts, the same as the library alone would say."""

from __future__ import annotations

import asyncio
import itertools
import json
import socket as wire
import struct
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.asyncio.client import ClientConnection
from websockets.client import ClientProtocol
from websockets.exceptions import ConnectionClosed
from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from tests.support.socket_by_hand import framed, said, upgraded
from tests.support.tables import each
from tui.effects.wire import frames
from tui.effects.wire.frames import FrameSocket, LoopShare

LIMIT_BYTES = 70_000


class Ear:
    """A sink that writes down what it is told."""

    def __init__(self) -> None:
        self.heard: list[bytes | str] = []
        self.pongs: list[bytes] = []
        self.refusals: list[str] = []
        self.ends = 0

    def received(self, payload: bytes, now: float) -> None:
        self.heard.append(payload)

    def flush(self, now: float) -> None:
        pass

    def received_long(self, payload: bytes | bytearray, now: float) -> Iterator[None]:
        yield from [None] * 3
        self.heard.append(payload)

    def refused(self, why: str) -> None:
        self.refusals.append(why)

    def ponged(self, data: bytes) -> None:
        self.pongs.append(data)

    def ended(self, error: Exception | None) -> None:
        self.ends += 1


async def by_hand(
    stream: bytes, cuts: list[int], *, deflate: bool, pongs: int = 0
) -> tuple[list[Any], Any]:
    """What our socket hands on, and how it closed; the library keeps the pongs to itself."""
    socket, head = upgraded(FrameSocket, deflate=deflate)
    ear = Ear()
    data = head + stream
    bounds = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    for begin, end in itertools.pairwise(bounds):
        if begin < end:
            socket.data_received(data[begin:end])
        if socket.response is not None and socket._sink is None:
            socket.attach(ear, lambda: 0.0)
    while socket._resuming is not None:
        await asyncio.sleep(0)
    closed = socket.protocol.state is not State.OPEN
    assert ear.ends == closed
    codes = socket.protocol.close_rcvd, socket.protocol.close_sent
    socket.connection_lost(None)
    while socket._resuming is not None:
        await asyncio.sleep(0)
    assert ear.ends == 1
    assert ear.pongs == [b"ho"] * pongs
    return ear.heard, (codes, said(socket))


async def by_library(stream: bytes, *, deflate: bool) -> tuple[list[Any], Any]:
    """What the library says to the same bytes."""
    socket, head = upgraded(ClientConnection, deflate=deflate)
    socket.data_received(head)
    socket.data_received(stream)
    heard: list[Any] = []

    async def listen() -> None:
        while True:
            message = await socket.recv()
            heard.append(message.encode() if isinstance(message, str) else "binary")

    listener = asyncio.create_task(listen())
    for _ in range(200):
        await asyncio.sleep(0)
    codes = socket.protocol.close_rcvd, socket.protocol.close_sent
    socket.connection_lost(None)
    await asyncio.gather(listener, return_exceptions=True)
    assert isinstance(listener.exception(), ConnectionClosed)
    return heard, (codes, said(socket))


def squeezed(*payloads: bytes) -> bytes:
    """Compressed messages of one connection."""
    extension = PerMessageDeflate(False, False, 15, 15)
    frames = (
        Frame(Opcode.TEXT, one).serialize(mask=False, extensions=[extension]) for one in payloads
    )
    return b"".join(frames)


PLAIN = {
    "empty": framed(b""),
    "tiny": framed(b"{}"),
    "delta": framed(b'{"type":"response.output_text.delta","delta":"abc"}'),
    "umlaut": framed('{"delta":"grün \u20ac \U0001f600"}'.encode()),
    "125": framed(b"x" * 125),
    "126": framed(b"y" * 126),
    "long": framed(b"z" * 65_535),
    "longer": framed(b"w" * 65_536),
    "ping": framed(b"hi", Opcode.PING),
    "pong": framed(b"ho", Opcode.PONG),
    "pieces": framed("grü".encode()[:3], fin=False)
    + framed(b"p", Opcode.PING)
    + framed("ü".encode()[1:] + b"n", Opcode.CONT, fin=False)
    + framed(b"", Opcode.CONT),
    "empty pieces": framed(b"", fin=False) + framed(b"", Opcode.CONT),
    "long pieces": framed(b"p" * 2000, fin=False) + framed(b"q" * 2000, Opcode.CONT),
    "control": framed(b"", Opcode.PING) * 3,
}
LAST = {
    "nothing": b"",
    "close": framed(struct.pack("!H", 1000) + b"time is up", Opcode.CLOSE) + PLAIN["delta"],
    "close without a code": framed(b"", Opcode.CLOSE),
    "bad close": framed(b"x", Opcode.CLOSE),
    "not UTF-8": framed(b"abc\xff"),
    "half a character": framed("€".encode()[:2]),
    "pieces that are not UTF-8": framed(b"a\xff", fin=False) + framed(b"", Opcode.CONT),
    "masked": Frame(Opcode.TEXT, b"masked").serialize(mask=True),
    "reserved bits": b"\xa1\x02{}",
    "compressed unasked": b"\xc1\x02{}" + PLAIN["tiny"],
    "reserved opcode": b"\x83\x02{}",
    "text within pieces": framed(b"a", fin=False) + PLAIN["tiny"],
    "continues nothing": framed(b"a", Opcode.CONT),
    "too big": framed(b"b" * (LIMIT_BYTES + 1)),
    "far too big": b"\x81\x7f" + struct.pack("!Q", 2**62) + b"c" * 50,
    "too big in pieces": framed(b"d" * 40_000, fin=False) + framed(b"d" * 40_000, Opcode.CONT),
    "long ping": b"\x89\x7e\x00\x80" + b"e" * 128,
}
CUTS = st.lists(st.integers(0, 2**31), max_size=12)


@settings(max_examples=150)
@given(st.lists(st.sampled_from(sorted(PLAIN)), max_size=6), st.sampled_from(sorted(LAST)), CUTS)
def test_any_cut_of_any_stream_is_what_the_library_says(
    names: list[str], last: str, cuts: list[int]
) -> None:
    stream = b"".join(PLAIN[name] for name in names) + LAST[last]

    async def compare() -> None:
        ours = await by_hand(stream, cuts, deflate=False, pongs=names.count("pong"))
        assert ours == await by_library(stream, deflate=False)

    asyncio.run(compare())


@settings(max_examples=50)
@given(st.lists(st.binary(max_size=3000).map(lambda b: b.hex().encode()), max_size=5), CUTS)
def test_compressed_and_plain_messages_keep_their_order(
    texts: list[bytes], cuts: list[int]
) -> None:
    extension = PerMessageDeflate(False, False, 15, 15)
    stream = b"".join(
        Frame(Opcode.TEXT, text).serialize(mask=False, extensions=[extension]) + PLAIN["umlaut"]
        for text in texts
    )

    async def compare() -> None:
        ours = await by_hand(stream, cuts, deflate=True)
        assert ours == await by_library(stream, deflate=True)
        assert len(ours[0]) == 2 * len(texts)

    asyncio.run(compare())


@each("last", sorted(LAST))
async def test_a_byte_at_a_time(last: str) -> None:
    stream = b"".join(PLAIN[name] for name in ("delta", "pieces", "umlaut", "126")) + LAST[last]
    everywhere = list(range(min(len(stream), 3000) + 200))
    assert await by_hand(stream, everywhere, deflate=False) == await by_library(
        stream, deflate=False
    )


async def test_a_burst_leaves_the_loop_its_turns_and_keeps_the_order() -> None:
    socket, head = upgraded(FrameSocket, deflate=False)
    ear = Ear()
    turns = 0

    class Slow(Ear):
        def received(self, payload: bytes, now: float) -> None:
            super().received(payload, now)
            until = socket.loop.time() + 0.001
            while socket.loop.time() < until:
                pass

    ear = Slow()
    socket.data_received(head)
    socket.attach(ear, socket.loop.time)
    socket.data_received(b"".join(framed(str(n).encode()) for n in range(100)))
    socket.data_received(framed(b"100"))
    assert 0 < len(ear.heard) < 40
    assert socket.transport.paused
    while socket._resuming is not None:
        turns += 1
        await asyncio.sleep(0)
    assert turns >= 3
    assert ear.heard == [str(n).encode() for n in range(101)]
    assert not socket.transport.paused


async def test_nothing_is_taken_while_others_go_first_and_the_network_waits() -> None:
    socket, ear = opened()
    first = True
    socket.aside = lambda: first
    stream = PLAIN["pieces"] + PLAIN["tiny"]
    socket.data_received(stream[:5])
    socket.data_received(stream[5:])
    for _ in range(20):
        await asyncio.sleep(0)
    assert ear.heard == []
    assert socket.transport.paused
    socket.connection_lost(None)
    assert not ear.ends, "what came is handed on before the end is told"
    first = False
    while socket._resuming is not None:
        await asyncio.sleep(0)
    assert ear.heard == ["grün".encode(), b"{}"]
    assert ear.ends == 1


async def test_no_more_is_taken_once_what_was_taken_is_enough() -> None:
    socket, ear = opened()
    socket.aside = lambda: len(ear.heard) % 100 >= 10
    socket.data_received(PLAIN["tiny"] * 50)
    assert len(ear.heard) < 20


async def test_a_peer_is_not_left_alone_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    socket, ear = opened()
    socket.aside = lambda: True
    socket.data_received(PLAIN["tiny"])
    assert ear.heard == []
    monkeypatch.setattr(frames, "LONGEST_ASIDE_S", -1.0)
    while socket._resuming is not None:
        await asyncio.sleep(0)
    assert ear.heard == [b"{}"]
    assert not socket.transport.paused


class Clock:
    """A loop whose clock goes on by a millisecond with each look."""

    def __init__(self) -> None:
        self.looks = 0

    def time(self) -> float:
        self.looks += 1
        return self.looks / 1000

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio.get_running_loop(), name)


def opened(limit_bytes: int = 2**24, *, deflate: bool = False) -> tuple[Any, Ear]:
    """A socket that has a sink, and the sink."""
    socket, head = upgraded(FrameSocket, deflate=deflate, limit_bytes=limit_bytes)
    ear = Ear()
    socket.data_received(head)
    socket.attach(ear, lambda: 0.0)
    return socket, ear


BEGUN = framed(b'{"a":"', fin=False)
ODD = {
    "pings": (b"", framed(b"", Opcode.PING)),
    "long pings": (b"", framed(b"p" * 125, Opcode.PING)),
    "pongs": (b"", framed(b"", Opcode.PONG)),
    "empty fragments": (BEGUN, framed(b"", Opcode.CONT, fin=False)),
    "empty messages": (b"", framed(b"")),
    "empty messages in pieces": (b"", framed(b"", fin=False) + framed(b"", Opcode.CONT)),
    "pings in a message": (BEGUN, framed(b"", Opcode.PING)),
    "empty binary pieces": (
        framed(b"x", Opcode.BINARY, fin=False),
        framed(b"", Opcode.CONT, fin=False),
    ),
}
BUSY = {
    "tiny fragments": (BEGUN, framed(b"x", Opcode.CONT, fin=False)),
    "pings between fragments": (
        BEGUN,
        framed(b"", Opcode.PING) + framed(b"x", Opcode.CONT, fin=False),
    ),
    "pings between messages": (b"", framed(b"", Opcode.PING) + framed(b"{}")),
    "messages": (b"", framed(b"{}")),
    "long messages": (b"", framed(b"x" * 20_000)),
    "messages of pieces": (b"", framed(b"{", fin=False) + framed(b"}", Opcode.CONT)),
}


@each("name", [*ODD, *BUSY])
async def test_no_kind_of_frame_keeps_the_loop(name: str) -> None:
    socket, _ = opened()
    before, again = (ODD | BUSY)[name]
    socket.data_received(before)
    socket.loop = clock = Clock()
    socket.data_received(again * (2**18 // len(again)))
    assert clock.looks < 40
    assert socket._backlog is not None
    assert socket.transport.paused
    socket.data_received(again)
    assert clock.looks < 60


async def test_tokens_that_come_one_by_one_gather_before_they_are_read() -> None:
    socket, ear = opened()

    class Still(Clock):
        def time(self) -> float:
            return 1.0

        def call_later(self, wait_s: float, call: Any) -> asyncio.Handle:
            return self.call_soon(call)

    socket.loop = Still()
    sent = 0
    while not socket.transport.paused:
        socket.data_received(framed(b"{}"))
        sent += 1
    assert sent > 10  # the beginning of an answer waits for nothing
    assert len(ear.heard) == sent  # nor does what has come
    await asyncio.sleep(0)
    assert not socket.transport.paused


async def test_sockets_beside_the_screen_have_half_of_the_loop_together() -> None:
    """However long the taking takes, as where other programs want the processor."""

    (one, first), (two, second) = opened(), opened()

    class Slow(Clock):
        others_s = 0.0

        def time(self) -> float:
            return 1.0 + self.others_s + (len(first.heard) + len(second.heard)) / 100

        def call_later(self, wait_s: float, call: Any) -> asyncio.Handle:
            return self.call_soon(lambda: None)

    one.loop = two.loop = clock = Slow()
    one.beside = two.beside = LoopShare()
    one.data_received(framed(b"{}"))
    two.data_received(framed(b"{}"))
    assert (len(first.heard), len(second.heard)) == (1, 0)
    assert two.transport.paused
    clock.others_s = 0.01
    two._resume()
    assert len(second.heard) == 1


async def test_a_socket_that_only_rests_is_not_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine any answer takes more than its share; its close is a close all the same."""
    monkeypatch.setattr(frames, "BURST_S", 1e-9)
    socket, _ = opened()
    socket.loop = Clock()
    ours, theirs = wire.socketpair()
    with ours, theirs:
        monkeypatch.setattr(socket.transport, "get_extra_info", lambda name: ours)
        socket.data_received(framed(b"{}"))
        assert socket._backlog is not None
        assert not socket.behind
        theirs.send(b"x")
        assert socket.behind
        theirs.close()
        socket.data_received(framed(b"{}"))
        assert socket.behind


@each("chars", [20, 100, 400, 2000])
async def test_text_that_takes_long_to_land_keeps_the_loop_for_little_more_than_a_budget(
    chars: int,
) -> None:
    """A character of a patch of small hunks may take 10 µs."""
    socket, ear = opened()

    class Slow(Clock):
        def time(self) -> float:
            return sum(map(len, ear.heard)) * 1e-5

    socket.loop = clock = Slow()
    socket.data_received(framed(b"x" * chars) * (40_000 // chars))
    assert clock.time() <= frames.BUDGET_S + max(1100, chars) * 1e-5


@each("name", ODD)
async def test_frames_that_say_nothing_end_the_connection_with_a_sentence(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "BUDGET_S", 1000.0)
    monkeypatch.setattr(frames, "BURST_S", 1000.0)
    socket, ear = opened()
    before, again = ODD[name]
    socket.data_received(before + again * 400)
    assert ear.refusals == []
    socket.data_received(again * 1000)
    (why,) = ear.refusals
    assert why == "the server sent more than 1,000 empty or control frames in a second"
    written = len(socket.transport.written)
    socket.data_received(again * 1000)
    assert (len(ear.refusals), len(socket.transport.written)) == (1, written)


PACKED = {
    "zeros": b'["' + b"0" * 9_000_000 + b'"]',
    "code": json.dumps(["".join(f"line {n} of {n * n}\n" for n in range(60_000))]).encode(),
    "noise": b'["' + b"".join(b"%x" % hash(str(n)) for n in range(60_000)) + b'"]',
}


@each("name", PACKED)
async def test_a_long_compressed_frame_is_unpacked_in_small_parts(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    unpack = PerMessageDeflate.decode

    def noted(self: PerMessageDeflate, frame: Frame, **rest: Any) -> Frame:
        found = unpack(self, frame, **rest)
        sizes.append(len(found.data))
        return found

    monkeypatch.setattr(PerMessageDeflate, "decode", noted)
    payload = PACKED[name]
    for size in (700, 100_000, len(payload)):
        socket, ear = opened(deflate=True)
        stream = squeezed(payload, b"[1]")
        for at in range(0, len(stream), size):
            socket.data_received(stream[at : at + size])
        while socket._resuming is not None:
            await asyncio.sleep(0)
        assert ear.heard == [payload, b"[1]"]
    assert max(sizes) <= 1040 * frames.PACKED_BYTES


HEAVY = {
    "deep": b'{"a":' + b"[" * 5000,
    "deep objects": b'{"a":' * 5000,
    "crowded": b' {"a":[' + b"0," * 60_000 + b"0]}",
    "many keys": b"{" + b",".join(b'"k%d":{}' % number for number in range(60_000)) + b"}",
    "many strings": b'{"a":[' + b'"",' * 60_000 + b"0]}",
}


@each("name", HEAVY)
@each("way", ["whole", "pieces", "compressed"])
async def test_a_heavy_message_is_refused_before_it_is_handed_on(name: str, way: str) -> None:
    socket, ear = opened(deflate=way == "compressed")
    payload = HEAVY[name]
    stream = framed(payload)
    if way == "pieces":
        rest = (payload[at : at + 700] for at in range(700, len(payload), 700))
        stream = framed(payload[:700], fin=False) + b"".join(
            framed(one, Opcode.CONT, fin=False) for one in rest
        )
    elif way == "compressed":
        stream = squeezed(payload)
    socket.data_received(stream)
    while socket._resuming is not None:
        await asyncio.sleep(0)
    (why,) = ear.refusals
    assert why.startswith("the server sent a message ")
    assert ear.heard == []


async def test_heavy_nonsense_that_is_no_event_is_skipped() -> None:
    socket, ear = opened()
    socket.data_received(PLAIN["tiny"] + framed(b"[" * 200_000) + PLAIN["delta"])
    while socket._resuming is not None:
        await asyncio.sleep(0)
    assert (ear.refusals, ear.heard[1], len(ear.heard)) == ([], b"[", 3)


async def test_what_waits_is_handed_on_before_the_end_is_told() -> None:
    socket, head = upgraded(FrameSocket, deflate=False)
    order: list[str] = []

    class Strict(Ear):
        def received(self, payload: bytes, now: float) -> None:
            order.append("message")
            until = socket.loop.time() + 0.001
            while socket.loop.time() < until:
                pass

        def ended(self, error: Exception | None) -> None:
            order.append("end")

    socket.data_received(head)
    socket.attach(Strict(), socket.loop.time)
    socket.data_received(PLAIN["tiny"] * 60)
    assert len(order) < 60
    socket.connection_lost(ConnectionResetError())
    assert len(order) < 60, "the loop has its turns at the end, too"
    while socket._resuming is not None:
        await asyncio.sleep(0)
    assert order == ["message"] * 60 + ["end"]


def test_the_library_is_as_this_was_written_for() -> None:
    """The internals that `FrameSocket` stands on; when one goes, it has to be looked at anew."""
    protocol: Any = ClientProtocol(parse_uri("ws://localhost/"), max_size=5)
    for name in ("state", "close_rcvd", "close_sent", "max_message_size", "extensions", "fail"):
        assert hasattr(protocol, name)
    for name in ("send_text", "send_ping", "send_close", "receive_data", "events_received"):
        assert callable(getattr(protocol, name))
    assert protocol.max_message_size == 5
    for name in ("data_received", "eof_received", "connection_lost", "process_event", "send_data"):
        assert name in vars(ClientConnection) | vars(ClientConnection.__mro__[1])
    assert ClientConnection.__mro__[2] is asyncio.Protocol
