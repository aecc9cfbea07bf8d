"""A WebSocket that gives the loop its turn, whatever frames come, and ends floods."""

from __future__ import annotations

import asyncio
from codecs import getincrementaldecoder
from collections import deque

from websockets.asyncio.connection import Connection
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import Event

from tui.bridge.sliced import Share, Sliced
from tui.core.wire.json_reading import AT_ONCE_BYTES, PIECE_BYTES

MOST_IDLE, IDLE_S = 1000, 1.0
"""More empty or control frames in so long, without data between, no network would cause."""
_GONE_S = 0.2
"""A peer that was refused has so long to read why: reset at once, it might not."""


class FairSocket(Sliced, Connection):
    """A connection of either side."""

    refusal = ""
    """What the peer sent that ended the connection, in words behind its name."""
    transport: asyncio.Transport
    _kinds: deque[Opcode]
    """Of the messages that have begun and were not heard."""
    _idle_frames, _idle_since = 0, 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        super().connection_made(transport)
        self._kinds = deque()
        self.recv_messages.pause = self._regulate
        self.recv_messages.resume = self._regulate

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        if not self.refusal:
            super().data_received(data)

    def process_event(self, event: Event) -> None:
        """Take a frame that the library has read; too many that say nothing end the connection."""
        if self.refusal:
            return
        if isinstance(event, Frame) and event.opcode in (Opcode.TEXT, Opcode.BINARY):
            self._kinds.append(event.opcode)
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

    async def heard(self) -> str | bytes | None:
        """The next message: a text as bytes if it is a long one; None: a binary one.

        Raises as the library's `recv`, which would read a text of any length in one call.
        """
        data = await self.recv(decode=False)
        if self._kinds.popleft() is Opcode.BINARY:
            return None
        decoder, share = getincrementaldecoder("utf-8")(), Share()
        try:
            if len(data) <= AT_ONCE_BYTES:
                return data.decode()
            for at in range(0, len(data), PIECE_BYTES):
                decoder.decode(data[at : at + PIECE_BYTES], at + PIECE_BYTES >= len(data))
                await share.pause()
        except UnicodeDecodeError as error:
            self._refuse(f"sent a text that is no UTF-8: {error.reason}", CloseCode.INVALID_DATA)
            return await self.heard()  # that it is closed
        return data

    def holds(self) -> bool:
        """See `Sliced`."""
        return self.recv_messages.paused

    def _refuse(self, words: str, code: int = CloseCode.POLICY_VIOLATION) -> None:
        """Close for what the peer sent; it is read no more."""
        self.refusal = words
        self.forget()
        self.protocol.fail(code, words)
        self.send_data()
        self.loop.call_later(_GONE_S, self.transport.abort)
