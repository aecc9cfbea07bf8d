"""The frames of one socket: those that carry tokens are split here, the rest by the library.

A complete, unmasked, uncompressed text frame is one slice of what came from the network, and goes
to the sink in the same call. Whatever else comes (control frames, fragments, compressed messages,
nonsense) is given to the library, frame by frame, so that it is always aligned; its messages are
taken from its own events. There is no task, queue or hop per frame, and no reader that could stall:
pings are answered between turns too.
"""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import Callable
from typing import Any, Protocol

from websockets.asyncio.client import ClientConnection
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import Event, State

BUDGET_S = 0.004
"""After so long in one burst the rest of the loop (keys, the screen) has its turn."""
_GLANCE = 8
"""Frames between two looks at the loop's clock."""
_WHOLE_TEXT = 0x81
_PING = 0x89
MAX_PONG_BYTES = 2**20
"""A server that pings and does not read gets no more answers than this at once; by RFC 6455
section 5.5.3 the newest answer is enough."""
_HEADER_END = b"\r\n\r\n"


class Sink(Protocol):
    """Who takes what a socket brings."""

    def received(self, payload: bytes, now: float) -> None:
        """A text message, in UTF-8, that came at ``now``."""

    def binary(self) -> None:
        """A binary message."""

    def ponged(self, data: bytes) -> None:
        """A pong."""

    def ended(self, error: Exception | None) -> None:
        """A close frame was seen or sent, or TCP is gone: nothing more will come."""


class FrameSocket(ClientConnection):
    """A socket that hands text messages to its sink in the call that brings the bytes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.heard_at = self.loop.time()
        """When the last byte came, in the loop's time."""
        self.frames_in = 0
        self.bytes_in = 0
        """Payload of the text messages."""
        self.stopped = False
        """Nothing more is handed on."""
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
        self._plain_bytes = self._limit_bytes
        """The longest text frame to be split here; less than none within a fragmented message."""
        self._fragments: list[bytes] | None = None
        self._fragments_are_text = True
        self._pong_bytes = 0
        """Answers to pings since the last time that nothing was waiting to go out."""
        self._failed = False
        self._told = False

    def attach(self, sink: Sink, now: Callable[[], float]) -> None:
        """Hand everything to this sink from the next turn of the loop on, dated by ``now``."""
        self._sink, self._now = sink, now
        if self._backlog is not None or self.protocol.state is not State.OPEN:
            self._resuming = self.loop.call_soon(self._resume)

    def stop(self) -> None:
        """Hand nothing on any more; what comes is for the library only."""
        self.stopped, self._plain_bytes = True, -1

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
        if self._partial:
            self._partial += data
            if len(self._partial) < self._need:
                return
            data = bytes(self._partial)
            self._partial.clear()
        self._take(data, 0)

    def eof_received(self) -> None:
        """Take the end of what the other side sends."""
        self._flush()
        super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """Take the end of the connection."""
        self._flush()
        super().connection_lost(exc)
        if self._resuming is not None:
            self._resuming.cancel()
        self._end(RuntimeError("a handler failed") if self._failed else exc)

    def process_event(self, event: Event) -> None:
        """Take a message, or what the library has to say about control frames."""
        if not isinstance(event, Frame):
            super().process_event(event)
        elif event.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            self._fragment(event)
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

    def _resume(self) -> None:
        """Go on with what had to wait."""
        self._resuming = None
        data, at = self._backlog or (b"", 0)
        self._backlog = None
        self._take(data, at)
        if self.protocol.state is not State.OPEN:
            self._end(None)
        if self._backlog is None:
            self.transport.resume_reading()

    def _flush(self) -> None:
        """Hand on what waits, however long that takes: nothing comes after it."""
        if self._backlog is not None:
            data, at = self._backlog
            self._backlog = None
            if self._sink is None:
                super().data_received(data[at:])
            else:
                self._take(data, at, math.inf)

    def _take(self, data: bytes, at: int, until: float | None = None) -> None:
        """Split ``data`` from ``at`` on; what breaks in the sink ends the connection."""
        done = False
        try:
            self._split(data, at, self.loop.time() + BUDGET_S if until is None else until)
            done = True
        finally:
            if not done:
                self._failed = True
                self.stop()
                self.transport.abort()

    def _split(self, data: bytes, at: int, until: float) -> None:
        """The hot loop: a frame's header, a slice, a call."""
        sink, clock, end = self._sink, self.loop.time, len(data)
        assert sink is not None
        received, now, glance = sink.received, self._now(), _GLANCE
        while at < end:
            size = data[at + 1] if end - at > 4 and data[at] == _WHOLE_TEXT else 255
            if size == 126:
                body = at + 4
                size = data[at + 2] << 8 | data[at + 3]
                stop = body + size
            else:
                body = at + 2
                stop = body + size if size < 126 else end + 1
            if stop > end or size > self._plain_bytes:
                at = self._oddity(data, at)
                continue
            payload = data[body:stop]
            at = stop
            if not payload.isascii() and not self._is_text(payload):
                return
            self.frames_in += 1
            self.bytes_in += size
            received(payload, now)
            glance -= 1
            if not glance:
                if clock() > until:
                    self._yield_with(data, at)
                    return
                glance = _GLANCE

    def _oddity(self, data: bytes, at: int) -> int:
        """Take what is no short whole text frame; where to go on."""
        end = len(data)
        if self.stopped or self.protocol.state is not State.OPEN:
            super().data_received(data[at:])
            return end
        if self._foreign_bytes:
            return self._give(data, at, at + self._foreign_bytes)
        needed = _header_bytes(data, at)
        if end - at < needed:
            return self._keep(data, at, needed)
        size = data[at + 1] & 0x7F
        if size > 125:
            size = int.from_bytes(data[at + 2 : at + needed], "big")
        body, stop = at + needed, at + needed + size
        if data[at] == _PING and size <= 125 and stop <= end and self._clogged(size):
            return stop
        whole_text = data[at] == _WHOLE_TEXT and not data[at + 1] & 0x80
        if not whole_text or size > self._plain_bytes:
            return self._give(data, at, stop)
        if stop > end:
            return self._keep(data, at, needed + size)
        self._message(data[body:stop], text=True)
        return stop

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
        if self.protocol.state is not State.OPEN:
            self._end(None)
        return cut

    def _keep(self, data: bytes, at: int, needed: int) -> int:
        """Keep the beginning of a frame until ``needed`` bytes of it are there."""
        self._partial += data[at:]
        self._need = needed
        return len(data)

    def _fragment(self, frame: Frame) -> None:
        """Take a data frame that the library has unpacked."""
        if frame.opcode is not Opcode.CONT:
            self._fragments, self._fragments_are_text = [], frame.opcode is Opcode.TEXT
        assert self._fragments is not None
        self._fragments.append(bytes(frame.data))
        self._plain_bytes = -1
        if frame.fin:
            payload, self._fragments = b"".join(self._fragments), None
            self._plain_bytes = -1 if self.stopped else self._limit_bytes
            self._message(payload, text=self._fragments_are_text)

    def _message(self, payload: bytes, *, text: bool) -> None:
        """Hand on a message that did not come by the hot loop."""
        if self.stopped or self._sink is None:
            return
        if not text:
            self._sink.binary()
        elif self._is_text(payload):
            self.frames_in += 1
            self.bytes_in += len(payload)
            self._sink.received(payload, self._now())

    def _is_text(self, payload: bytes) -> bool:
        """Whether it is UTF-8; else the connection fails, as RFC 6455 section 8.1 says."""
        try:
            payload.decode()
        except UnicodeDecodeError as error:
            why = f"{error.reason} at position {error.start}"
            self.protocol.fail(CloseCode.INVALID_DATA, why)
            self.send_data()
            self._end(None)
            return False
        return True

    def _yield_with(self, data: bytes, at: int) -> None:
        """Let the rest of the loop have its turn before the rest of ``data``."""
        if at < len(data):
            self._backlog = data, at
            self.transport.pause_reading()
            self._resuming = self.loop.call_soon(self._resume)

    def _end(self, error: Exception | None) -> None:
        """Tell the sink once; a frame after a close frame is none."""
        self._plain_bytes = -1
        if self._sink is not None and not self._told:
            self._told = True
            self._sink.ended(error)


def _header_bytes(data: bytes, at: int) -> int:
    """How long the header is that begins there, as far as can be seen; without the mask."""
    if len(data) - at < 2:
        return 2
    return {126: 4, 127: 10}.get(data[at + 1] & 0x7F, 2)
