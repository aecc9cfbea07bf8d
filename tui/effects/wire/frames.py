"""The frames of one socket: those that carry tokens are split here, the rest by the library.

A short, complete, unmasked, uncompressed text frame is one slice of what came from the network, and
goes to the sink in the same call, which acts on a few of them at a time. Long and fragmented texts
are collected here, and weighed while they come. Whatever else comes (control frames, compressed
messages, nonsense) is given to the library, frame by frame, so that it is always aligned; its
messages are taken from its own events.
There is no task, queue or hop per frame, and no reader that could stall: pings are answered between
turns too.

Whatever the frames are, the loop has its turn after `BUDGET_S`, and a peer that sends nothing but
frames that say nothing is refused. While `FrameSocket.aside` says that others go first nothing is
taken; TCP makes the peer wait.
"""

from __future__ import annotations

import asyncio
import codecs
import fcntl
import secrets
import sys
import termios
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any, Protocol

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import InvalidState
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import Event, State

try:
    from websockets.speedups import apply_mask
except ImportError:
    from websockets.utils import apply_mask

from tui.core.wire.json_reading import PIECE_BYTES, UNWEIGHED_BYTES, Scale

BUDGET_S = 0.004
"""After so long in one burst the rest of the loop (keys, the screen) has its turn."""
BURST_S = 0.012
"""A socket that has kept the loop for so long, less what it has left to others since, rests for
`BUDGET_S`: a key needs several turns of the loop until it is painted."""
LONGEST_ASIDE_S = 1.0
"""Then a budget's worth is taken all the same: the peer asks for life, or closes."""
_DENSE_READS, _DENSE_S, _GATHER_S = 16, 0.001, 0.002
"""Where bytes came so often and so soon behind those before, what comes gathers before it is read:
to be woken for each token costs more than to take it, and a frame on the screen waits longer."""
_BESIDE_DENSE_S, _BESIDE_GATHER_S = 0.01, 0.02
"""The same of a socket whose answers are not on the screen: many of them stream at once."""
_GLANCE_BYTES, _FRAME_BYTES = 1_000, 64
"""Between two looks at the loop's clock; and what a frame counts for beside what it holds. Of a
patch 1,000 bytes can be 20 hunks, which take as long as the budget."""
_WHOLE_TEXT = 0x81
_BEGINS, _CONTINUES = (_WHOLE_TEXT, 0x01), (0x00, 0x80)
"""First bytes of the frames of a plain text."""
_PING, _PONG = 0x89, 0x8A
_CONTROL = 0x08
MOST_IDLE, IDLE_S = 1000, 1.0
"""More control frames or empty ones in so long, without data between, no network would cause."""
PACKED_BYTES = 512
"""Of a compressed frame, given to the library at once: they unpack to half a megabyte at most."""
MAX_PONG_BYTES = 2**20
"""A server that pings and does not read gets no more answers than this at once; by RFC 6455
section 5.5.3 the newest answer is enough."""
_HEADER_END = b"\r\n\r\n"


class Sink(Protocol):
    """Who takes what a socket brings."""

    def received(self, payload: bytes | bytearray, now: float) -> None:
        """A short text message, in UTF-8, that came at ``now``; see `flush`."""

    def flush(self, now: float) -> None:
        """A few messages were received at once: act on them."""

    def received_long(self, payload: bytes | bytearray, now: float) -> Iterator[None]:
        """One of more than `UNWEIGHED_BYTES`, taken in steps; nothing is handed on between."""

    def refused(self, why: str) -> None:
        """The peer sent what is not taken, in words; the connection is to be dropped."""

    def ponged(self, data: bytes) -> None:
        """A pong."""

    def ended(self, error: Exception | None) -> None:
        """A close frame was seen or sent, or TCP is gone: nothing more will come."""


class LoopShare:
    """At most half of the loop's time, for all sockets of which nothing is on the screen at once.

    The time is that of the clock: where other programs want the processor, too, half of what is
    left belongs to what is on the screen.
    """

    def __init__(self) -> None:
        self._owed_s = self._at_s = 0.0

    def spend(self, seconds: float, now: float) -> None:
        """The loop was kept for so long, up to ``now``."""
        self._owed_s = self.owed_s(now - seconds) + seconds
        self._at_s = now

    def owed_s(self, now: float) -> float:
        """For so long others are to have the loop first."""
        return max(0.0, self._owed_s - (now - self._at_s))


class FrameSocket(ClientConnection):
    """A socket that hands text messages to its sink in the call that brings the bytes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.heard_at = self.loop.time()
        """When the last byte came, in the loop's time."""
        self.frames_in, self.bytes_in = 0, 0
        """Text messages, and their payload."""
        self.stopped = False
        """Nothing more is handed on."""
        self.beside: LoopShare | None = None
        """Nothing of what it brings is on the screen at once, and this is what it may take."""
        self.aside: Callable[[], bool] = bool
        """Whether something else goes first: a key, or what was handed on before."""
        self._aside_since: float | None = None
        self._sink: Sink | None = None
        self._now: Callable[[], float] = self.loop.time
        self._response_tail = b""
        self._upgraded = False
        self._partial = bytearray()
        """The beginning of a frame, of which `_need` bytes make the next step possible."""
        self._need = 0
        self._backlog: tuple[bytes, int] | None = None
        """What came and has to wait for its turn, and how much of it is done."""
        self._resuming: asyncio.Handle | None = None
        self._foreign_bytes = 0
        """Of the library's present frame, still to come."""
        self._limit_bytes = self.protocol.max_message_size or sys.maxsize
        self._plain_bytes = min(self._limit_bytes, UNWEIGHED_BYTES)
        """The longest text frame to be split here; less than none within anything else."""
        self._text: _Text | None = None
        """A plain text that comes in pieces; the library sees its frames as empty ones."""
        self._text_bytes = 0
        """Of its present frame, still to come."""
        self._text_ends = True
        """It is complete with that frame."""
        self._packed_bytes, self._packed_first = 0, 0
        """Of a long compressed frame, still to come; the first byte for its next part."""
        self._unpacked: _Text | None = None
        """A message of the library's."""
        self._unpacked_is_text = True
        self._steps: Iterator[None] | None = None
        """What is still to be done with a message that was handed on."""
        self._idle_frames, self._idle_since, self._idle_at = 0, 0.0, 0
        """Frames that said nothing; since when; and how much had been said before."""
        self._pong_bytes = 0
        """Answers to pings since the last time that nothing was waiting to go out."""
        self._failed = self._told = False
        self._spent_s, self._left_at, self._dense = 0.0, 0.0, 0
        """How long the loop was kept, and until when; how often bytes came close behind others."""
        self._deaf = False
        """Nothing more is read."""
        self._eof = self._gone = False
        self._gone_for: Exception | None = None
        self._texts: deque[bytes | Iterator[bytes]] = deque()
        """What is still to be said."""
        self._frame_out: Iterator[bytes] | None = None
        """What is still to be written of a long text."""
        self._within = False
        """Some of it is written, so nothing else may be before all of it is."""
        self._saying: asyncio.Handle | None = None

    def attach(self, sink: Sink, now: Callable[[], float]) -> None:
        """Hand everything to this sink from the next turn of the loop on, dated by ``now``."""
        self._sink, self._now = sink, now
        if self._backlog is not None or self.protocol.state is not State.OPEN:
            self._resuming = self.loop.call_soon(self._resume)

    def stop(self) -> None:
        """Hand nothing on any more; what comes is for the library only."""
        self.stopped, self._plain_bytes, self._steps = True, -1, None

    @property
    def behind(self) -> bool:
        """More has come than there was time for, here or still with the kernel.

        That it rests after more than its share, or has a message in hand, is not enough.
        """
        if self._backlog is None:
            return False
        data, at = self._backlog
        socket = self.transport.get_extra_info("socket")
        return at < len(data) or any(fcntl.ioctl(socket, termios.FIONREAD, bytes(4)))

    def say(self, text: bytes | Iterator[bytes]) -> None:
        """Send a text message, at once where none is on its way; a long one comes in pieces.

        That becomes one frame, as not every server takes several; a few pieces of it are made and
        written in each turn of the loop. Raises InvalidState.
        """
        if self._texts or self._frame_out is not None:
            self._texts.append(text)
        elif isinstance(text, bytes):
            self.protocol.send_text(text)
            self.send_data()
        else:
            self._frame_out = self._whole_frame(text)
            self._say_on()

    def send_data(self) -> None:
        """Write what the library has to say; within a frame it waits for the frame's end."""
        if not self._within:
            super().send_data()

    def resume_writing(self) -> None:
        """Go on with what is to be written."""
        super().resume_writing()
        if self._frame_out is not None and self._saying is None:
            self._saying = self.loop.call_soon(self._say_on)

    def _say_on(self) -> None:
        self._saying = None
        until = self.loop.time() + BUDGET_S
        while self._frame_out is not None and not self.paused and self.loop.time() < until:
            piece = next(self._frame_out, None)
            if piece:
                self._within = True
                self.transport.write(piece)
            elif piece is None:
                self._frame_out, self._within = None, False
                self.send_data()
                texts, self._texts = self._texts, deque()
                for text in texts:
                    with suppress(InvalidState):  # the close handshake has begun
                        self.say(text)
        if self._frame_out is not None and not self.paused and self._saying is None:
            self._saying = self.loop.call_soon(self._say_on)

    def _whole_frame(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """A frame of them: nothing to be written while they are made, then what is."""
        parts: list[bytes] = []
        begin, opcode, piece = _WHOLE_TEXT, Opcode.TEXT, next(pieces, b"")
        for following in chain(pieces, (None,)):
            frame = Frame(opcode, piece, fin=following is None)
            for extension in self.protocol.extensions:
                frame = extension.encode(frame)
            begin |= frame.rsv1 << 6
            parts.append(bytes(frame.data))
            opcode, piece = Opcode.CONT, following or b""
            yield b""
        if self.protocol.state is not State.OPEN:
            return
        size, mask = sum(map(len, parts)), secrets.token_bytes(4)
        yield bytes((begin, 0xFF)) + size.to_bytes(8, "big") + mask
        for part in parts:
            yield apply_mask(part, mask)
            turned = len(part) % 4
            mask = mask[turned:] + mask[:turned]

    def abort(self) -> None:
        """End TCP now; what has come and waits is not read any more."""
        self._deaf = True
        self.stop()
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take bytes from the network."""
        self.heard_at = self.loop.time()
        if not self._upgraded:
            data = self._upgrade(data)
            if not data:
                return
        if self._sink is None or self._backlog is not None:
            self._wait_with(data)
            return
        self._take(data, 0)

    def eof_received(self) -> None:
        """Take the end of what the other side sends, behind what waits."""
        if self._waits():
            self._eof = True
        else:
            super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """Take the end of the connection, behind what waits."""
        if self._waits():
            self._gone, self._gone_for = True, exc
            return
        if self._backlog is not None and not self._deaf:
            data, at = self._backlog
            super().data_received(data[at : at + UNWEIGHED_BYTES])  # a close frame, maybe
        self._backlog = None
        super().connection_lost(exc)
        self._texts.clear()
        self._frame_out = None
        for waits in (self._resuming, self._saying):
            if waits is not None:
                waits.cancel()
        self._end(RuntimeError("a handler failed") if self._failed else exc)

    def process_event(self, event: Event) -> None:
        """Take a message, or what the library has to say about control frames."""
        if not isinstance(event, Frame):
            super().process_event(event)
        elif event.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            self._take_unpacked(event)
        elif event.opcode is Opcode.PONG and self._sink is not None and not self.stopped:
            self._sink.ponged(bytes(event.data))

    def _upgrade(self, data: bytes) -> bytes:
        """Give the library the response to the upgrade and no byte more; what lies behind it."""
        seen = self._response_tail + data
        end = seen.find(_HEADER_END)
        cut = len(data) if end < 0 else end + len(_HEADER_END) - len(self._response_tail)
        self._response_tail = seen[1 - len(_HEADER_END) :]
        super().data_received(data[:cut])
        if self.protocol.state is State.OPEN:
            self._upgraded = True
            return data[cut:]
        if cut < len(data):  # the body of a refusal
            super().data_received(data[cut:])
        return b""

    def _wait_with(self, data: bytes) -> None:
        """Keep what comes before its turn; the network waits too."""
        before, at = self._backlog or (b"", 0)
        self._backlog = before[at:] + data, 0
        self.transport.pause_reading()

    def _waits(self) -> bool:
        """Whether something is still to be handed on."""
        return self._backlog is not None and self._sink is not None and not self._deaf

    def _resume(self) -> None:
        """Go on with what had to wait."""
        self._resuming = None
        data, at = self._backlog or (b"", 0)
        self._backlog = None
        self._take(data, at)
        if self.protocol.state is not State.OPEN:
            self._end(None)
        if self._waits():
            return
        self.transport.resume_reading()
        if self._eof:
            self._eof = False
            super().eof_received()
        if self._gone:
            self.connection_lost(self._gone_for)

    def _take(self, data: bytes, at: int) -> None:
        """Split ``data`` from ``at`` on: of each frame a header, a slice, a call (the hot loop).

        What breaks in the sink ends the connection.
        """
        if self._stands_aside():
            self._put_off(data, at, BUDGET_S if self.beside is None else _BESIDE_GATHER_S)
            return
        if self._partial:
            self._partial += data[at:]
            if len(self._partial) < self._need:
                return
            data, at = bytes(self._partial), 0
            self._partial.clear()
        sink, clock, end = self._sink, self.loop.time, len(data)
        assert sink is not None
        received, now, glance = sink.received, self._now(), _GLANCE_BYTES
        done, began = False, clock()
        try:
            while at < end or self._steps is not None:
                size = data[at + 1] if end - at > 4 and data[at] == _WHOLE_TEXT else 255
                if size == 126:
                    body = at + 4
                    size = data[at + 2] << 8 | data[at + 3]
                    stop = body + size
                else:
                    body = at + 2
                    stop = body + size if size < 126 else end + 1
                if stop > end or size > self._plain_bytes or not size:
                    sink.flush(now)
                    at, glance = self._oddity(data, at), 0
                else:
                    payload = data[body:stop]
                    at = stop
                    if not payload.isascii() and not self._is_text(payload):
                        at = end
                        break
                    self.frames_in += 1
                    self.bytes_in += size
                    glance -= _FRAME_BYTES + size
                    received(payload, now)
                if glance <= 0:
                    sink.flush(now)
                    if clock() > began + BUDGET_S or self.aside():
                        break
                    glance = _GLANCE_BYTES
            sink.flush(now)
            self._wait_if_due(data, at, began)
            done = True
        finally:
            if not done:
                self._failed = True
                self.stop()
                self.transport.abort()

    def _wait_if_due(self, data: bytes, at: int, began: float) -> None:
        """Let others have their turn before the rest, and also where this had more than its share.

        ``at`` is how far it came in ``data`` since ``began``.
        """
        now = self.loop.time()
        dense_s, gather_s = _DENSE_S, _GATHER_S
        if self.beside is not None:
            dense_s, gather_s = _BESIDE_DENSE_S, _BESIDE_GATHER_S
            self.beside.spend(now - began, now)
        if data:
            self._dense = self._dense + 1 if began - self._left_at < dense_s else 0
        spent_s = max(0.0, self._spent_s - began + self._left_at) + now - began
        self._spent_s = min(spent_s, 2 * BURST_S)
        self._left_at = now
        rests = self._spent_s > BURST_S
        if (rests or at < len(data) or self._steps is not None) and not self._deaf:
            self._put_off(data, at, BUDGET_S if rests else 0.0)
        elif data and self._dense > _DENSE_READS and not self._deaf:
            self._put_off(b"", 0, gather_s)

    def _put_off(self, data: bytes, at: int, wait_s: float) -> None:
        """Go on with ``data`` from ``at`` on after so long."""
        self._backlog = data, at
        self.transport.pause_reading()
        later = partial(self.loop.call_later, wait_s) if wait_s else self.loop.call_soon
        self._resuming = later(self._resume)

    def _stands_aside(self) -> bool:
        """Whether to let others go first once more."""
        now = self.loop.time()
        since = now if self._aside_since is None else self._aside_since
        owes = self.beside is not None and self.beside.owed_s(now) > BUDGET_S
        if self.stopped or now - since > LONGEST_ASIDE_S or not (owes or self.aside()):
            self._aside_since = None
            return False
        self._aside_since = since
        self.heard_at = now  # if it is silent now, that is not the peer's fault
        return True

    def _oddity(self, data: bytes, at: int) -> int:
        """Take what is no short whole text frame, or a piece of it; where to go on."""
        end = len(data)
        if self._deaf:
            return end
        if self._steps is not None:
            self._step(self._steps)
            return at
        if self.protocol.parser_exc is not None or self.protocol.close_rcvd is not None:
            super().data_received(data[at:])  # the library reads nothing more
            return end
        if self._text_bytes:
            return self._collect(data, at)
        if self._packed_bytes:
            return self._unpack(data, at)
        if self._foreign_bytes:
            return self._give(data, at, at + self._foreign_bytes)
        return self._frame(data, at)

    def _frame(self, data: bytes, at: int) -> int:
        """Take a frame that begins here, or what has come of it; where to go on."""
        end = len(data)
        needed = _header_bytes(data, at)
        if end - at < needed:
            return self._keep(data, at, needed)
        first, size = data[at], data[at + 1] & 0x7F
        if size > 125:
            size = int.from_bytes(data[at + 2 : at + needed], "big")
        body, stop = at + needed, at + needed + size
        if (first & _CONTROL or not size) and self._is_idle():
            return end
        if self._is_ours(first, size) and not data[at + 1] & 0x80:
            if first == _WHOLE_TEXT and size <= UNWEIGHED_BYTES:
                if stop > end:
                    return self._keep(data, at, needed + size)
                self._message(data[body:stop], text=True)
                return stop
            return self._begin(data, body, first, size)
        if first in (_PING, _PONG) and self.transport.is_closing():
            return min(stop, end)
        if first == _PING and size <= 125 and stop <= end and self._clogged(size):
            return stop
        packed = first & 0x40 or self._unpacked is not None
        if packed and size > PACKED_BYTES and not (first & _CONTROL or data[at + 1] & 0x80):
            self._packed_bytes, self._packed_first = size, first
            self._reckon()
            return self._unpack(data, body)
        if self._text is not None:
            self.protocol.current_size = len(self._text.payload)
        return self._give(data, at, stop)

    def _step(self, steps: Iterator[None]) -> None:
        """Go on with a message that was handed on."""
        if next(steps, self) is self and self._steps is steps:
            self._steps = None
        self._reckon()

    def _is_ours(self, first: int, size: int) -> bool:
        """Whether a frame is one of a plain text that is not too long; others are the library's."""
        if self.stopped or self._unpacked is not None:
            return False
        if self._text is None:
            return first in _BEGINS and size <= self._limit_bytes
        return first in _CONTINUES and len(self._text.payload) + size <= self._limit_bytes

    def _begin(self, data: bytes, body: int, first: int, size: int) -> int:
        """Take what has come of a frame of a text that is collected; where to go on."""
        self._text = self._text or _Text()
        self._text_bytes, self._text_ends = size, bool(first & 0x80)
        if first != _WHOLE_TEXT:
            super().data_received(bytes((first, 0)))
        self._reckon()
        return self._collect(data, body)

    def _collect(self, data: bytes, at: int) -> int:
        """Take a piece of the text that is collected; where to go on."""
        text, size = self._text, min(self._text_bytes, PIECE_BYTES)
        assert text is not None
        if len(data) - at < size:
            return self._keep(data, at, size)
        cut = at + size
        self._text_bytes -= size
        ends = self._text_ends and not self._text_bytes
        if not self.stopped and not self._takes(text, data[at:cut], ends=ends):
            return len(data)
        if ends:
            self._text = None
            self._reckon()
            self._message(text.payload, text=True)
        return cut

    def _takes(self, text: _Text, piece: bytes, *, ends: bool) -> bool:
        """Add to a text; False: it is none, or too heavy, and the connection ends."""
        try:
            text.add(piece, ends=ends)
        except UnicodeDecodeError as error:
            self._fail(error)
            return False
        if text.refusal:
            self._refuse(f"the server sent a message {text.refusal}")
        return not text.refusal

    def _reckon(self) -> None:
        """Something begins or ends within which no short text frame is split."""
        within = self._text is not None or self._unpacked is not None or self._foreign_bytes
        within = within or self._packed_bytes or self._steps is not None
        most = -1 if within or self.stopped else min(self._limit_bytes, UNWEIGHED_BYTES)
        self._plain_bytes = most

    def _is_idle(self) -> bool:
        """Count a frame that says nothing; True: there were too many, the connection ends."""
        now = self.loop.time()
        if self.bytes_in != self._idle_at or now - self._idle_since > IDLE_S:
            self._idle_frames, self._idle_since, self._idle_at = 0, now, self.bytes_in
        self._idle_frames += 1
        if self._idle_frames <= MOST_IDLE:
            return False
        self._refuse(f"the server sent more than {MOST_IDLE:,} empty or control frames in a second")
        return True

    def _refuse(self, why: str) -> None:
        """Read nothing more; the sink drops the connection."""
        self._deaf = True
        self.stop()
        if self._sink is not None:
            self._sink.refused(why)

    def _clogged(self, size: int) -> bool:
        """Whether an answer to this ping would only make a heap."""
        if not self.transport.get_write_buffer_size():
            self._pong_bytes = 0
        self._pong_bytes += size + 6
        return self._pong_bytes > MAX_PONG_BYTES

    def _give(self, data: bytes, at: int, stop: int) -> int:
        """Give the library what has come of a frame that ends at ``stop``."""
        cut = min(stop, len(data))
        self._foreign_bytes = stop - cut
        super().data_received(data[at:cut])
        self._reckon()
        if self.protocol.state is not State.OPEN:
            self._end(None)
        return cut

    def _unpack(self, data: bytes, at: int) -> int:
        """Give the library a part of a long compressed frame, as a frame; where to go on."""
        size, first = min(self._packed_bytes, PACKED_BYTES), self._packed_first
        if len(data) - at < size:
            return self._keep(data, at, size)
        self._packed_bytes -= size
        self._packed_first = first & 0x80  # the next part continues this one
        ends = first & 0x80 if not self._packed_bytes else 0
        header = bytes((first & 0x7F | ends, 126)) + size.to_bytes(2, "big")
        if size < 126:
            header = bytes((header[0], size))
        self._give(header + data[at : at + size], 0, len(header) + size)
        return at + size

    def _keep(self, data: bytes, at: int, needed: int) -> int:
        """Keep the beginning of a frame until ``needed`` bytes of it are there."""
        self._partial += data[at:]
        self._need = needed
        return len(data)

    def _take_unpacked(self, frame: Frame) -> None:
        """Take a data frame that the library has unpacked; those of `_text` are empty."""
        if self._text is not None:
            return
        text = self._unpacked
        if frame.opcode is not Opcode.CONT or text is None:
            text = self._unpacked = _Text()
            self._unpacked_is_text = frame.opcode is Opcode.TEXT
        data, end = bytes(frame.data), max(1, len(frame.data))
        for at in range(0, end, PIECE_BYTES):
            last = frame.fin and at + PIECE_BYTES >= end
            piece = data[at : at + PIECE_BYTES] if self._unpacked_is_text else b""
            if not self.stopped and not self._takes(text, piece, ends=last):
                return
        if frame.fin:
            self._unpacked = None
            self._message(text.payload, text=self._unpacked_is_text)
        self._reckon()

    def _message(self, payload: bytes | bytearray, *, text: bool) -> None:
        """Hand on a message that did not come by the hot loop."""
        if self.stopped or self._sink is None:
            return
        if not text:
            self._refuse("the server sent a binary message, which this protocol does not know")
        elif isinstance(payload, bytearray) or self._is_text(payload):  # seen by `_Text`
            self.frames_in += 1
            self.bytes_in += len(payload)
            if len(payload) <= UNWEIGHED_BYTES:
                self._sink.received(payload, self._now())
            else:
                self._steps = self._sink.received_long(payload, self._now())
                self._step(self._steps)

    def _is_text(self, payload: bytes) -> bool:
        """Whether it is UTF-8; else the connection fails, as RFC 6455 section 8.1 says."""
        try:
            payload.decode()
        except UnicodeDecodeError as error:
            self._fail(error)
            return False
        return True

    def _fail(self, error: UnicodeDecodeError) -> None:
        """Close the connection for a text that is no UTF-8."""
        self._deaf = True
        self.protocol.fail(CloseCode.INVALID_DATA, f"{error.reason} at position {error.start}")
        self.send_data()
        self._end(None)

    def _end(self, error: Exception | None) -> None:
        """Tell the sink once; a frame after a close frame is none."""
        self._plain_bytes = -1
        if self._sink is not None and not self._told:
            self._told = True
            self._sink.flush(self._now())
            self._sink.ended(error)


class _Text:
    """A text that comes in pieces: kept, weighed, and seen to be UTF-8."""

    def __init__(self) -> None:
        self.payload = bytearray()
        """Of a heavy text that is no JSON object, so no event, only the beginning."""
        self.refusal = ""
        """How an object is too heavy to be read, as the end of a sentence."""
        self._size_bytes = 0
        self._skips = False
        self._scale = Scale()
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def add(self, piece: bytes, *, ends: bool) -> None:
        """Take the next piece, of at most `PIECE_BYTES`.

        Raises UnicodeDecodeError, whose position is that in the whole text.
        """
        begun = self._decoder.getstate()[0]
        if begun or not piece.isascii():
            try:
                self._decoder.decode(piece, ends)
            except UnicodeDecodeError as error:
                error.start += self._size_bytes - len(begun)
                raise
        self._size_bytes += len(piece)
        if self._skips:
            return
        self.payload += piece
        if words := self._scale.too_heavy(piece):
            if self.payload.lstrip().startswith(b"{"):
                self.refusal = words
            self._skips = True
            del self.payload[1:]


def _header_bytes(data: bytes, at: int) -> int:
    """How long the header is that begins there, as far as can be seen; without the mask."""
    if len(data) - at < 2:
        return 2
    return {126: 4, 127: 10}.get(data[at + 1] & 0x7F, 2)
