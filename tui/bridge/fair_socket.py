"""A WebSocket that gives the loop its turn, whatever frames come.

The library reads at once all that the network brings: 256 kB of empty pings took a second, and no
other client got its tokens meanwhile. Here it is given a slice at a time.
"""

from __future__ import annotations

import asyncio

from websockets.asyncio.connection import Connection
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import Event

BUDGET_S = 0.004
"""After so long the rest of the loop has its turn."""
SLICE_BYTES = 1024
"""Has at most 500 frames, which take 4 ms."""
MOST_IDLE, IDLE_S = 1000, 1.0
"""More empty or control frames in so long, without data between, no network would cause."""
_GONE_S = 0.2
"""A peer that was refused has so long to read why: reset at once, it might not."""


class FairSocket(Connection):
    """A connection of either side."""

    refusal = ""
    """What the peer sent that ended the connection, in words behind its name."""
    _resuming: asyncio.Handle | None = None
    _eof = _gone = False
    _gone_for: Exception | None = None
    _idle_frames, _idle_since = 0, 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        self._waiting = bytearray()
        super().connection_made(transport)
        self.recv_messages.pause = self._regulate
        self.recv_messages.resume = self._regulate

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        if self.refusal:
            return
        self._waiting += data
        if self._resuming is None:
            self._go_on()

    def eof_received(self) -> None:
        """See `asyncio.Protocol`: it ends behind what waits."""
        if self._waiting:
            self._eof = True
        else:
            super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`: it ends behind what waits."""
        if not self._waiting or self.refusal:
            super().connection_lost(exc)
            return
        self._gone, self._gone_for = True, exc
        self._regulate()

    def process_event(self, event: Event) -> None:
        """Take a frame that the library has read; too many that say nothing end the connection."""
        if self.refusal:
            return
        super().process_event(event)
        if not isinstance(event, Frame):
            return
        if event.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT) and event.data:
            self._idle_frames = 0
            return
        now = self.loop.time()
        if now - self._idle_since > IDLE_S:
            self._idle_frames, self._idle_since = 0, now
        self._idle_frames += 1
        if self._idle_frames > MOST_IDLE:
            self._refuse(f"sent more than {MOST_IDLE:,} empty or control frames in a second")

    def holds(self) -> bool:
        """Whether nothing more is to be read now."""
        return self.recv_messages.paused

    def _go_on(self) -> None:
        """Read what waits, as far as there is time."""
        self._resuming = None
        data, at, until = self._waiting, 0, self.loop.time() + BUDGET_S
        while at < len(data) and (self._gone or not self.holds()):
            super().data_received(bytes(data[at : at + SLICE_BYTES]))
            at += SLICE_BYTES
            if self.loop.time() > until:
                break
        del data[:at]
        self._regulate()
        if self._waiting or self._resuming is not None:
            return
        if self._eof:
            self._eof = False
            super().eof_received()
        if self._gone:
            super().connection_lost(self._gone_for)

    def _regulate(self) -> None:
        """Have the network wait while something waits here, or go on with that soon."""
        if self.holds() and not self._gone:
            self.transport.pause_reading()
        elif self._waiting:
            self.transport.pause_reading()
            if self._resuming is None:
                self._resuming = self.loop.call_soon(self._go_on)
        elif not self.transport.is_closing():
            self.transport.resume_reading()

    def _refuse(self, words: str) -> None:
        """Close for what the peer sent; it is read no more."""
        self.refusal = words
        self._waiting.clear()
        self.protocol.fail(CloseCode.POLICY_VIOLATION, words)
        self.send_data()
        self.loop.call_later(_GONE_S, self.transport.abort)
