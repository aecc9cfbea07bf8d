"""A WebSocket connection of a client without a network: its bytes are handed to it."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from websockets.asyncio.client import ClientConnection
from websockets.client import ClientProtocol
from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.frames import Frame, Opcode
from websockets.uri import parse_uri
from websockets.utils import accept_key


class Wire(asyncio.Transport):
    """Takes what is written, and remembers what was asked of it."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.paused = self.aborted = False

    def write(self, data: Any) -> None:
        self.written += data

    def can_write_eof(self) -> bool:
        return False

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        return

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return self.aborted

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False

    def abort(self) -> None:
        self.aborted = True

    def close(self) -> None:
        self.aborted = True


def upgraded(
    kind: type[ClientConnection], *, deflate: bool, limit_bytes: int = 70_000
) -> tuple[Any, bytes]:
    """A connection that has sent its request, and the server's answer to it."""
    protocol: Any = ClientProtocol(parse_uri("ws://localhost/"), max_size=limit_bytes)
    socket = kind(protocol, max_queue=None, ping_interval=None, close_timeout=0.05)
    socket.connection_made(Wire())
    request = protocol.connect()
    protocol.send_request(request)
    if deflate:
        protocol.extensions = [PerMessageDeflate(False, False, 15, 15)]
        protocol.process_extensions = lambda headers: protocol.extensions
    key = accept_key(request.headers["Sec-WebSocket-Key"])
    head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade"
    return socket, f"{head}\r\nSec-WebSocket-Accept: {key}\r\n\r\n".encode()


def said(socket: Any) -> list[tuple[int, bytes]]:
    """The control frames that were written: opcode and payload."""
    data = cast(Wire, socket.transport).written.partition(b"\r\n\r\n")[2]
    frames = []
    while data:
        size = data[1] & 0x7F
        mask, payload = data[2:6], data[6 : 6 + size]
        frames.append((data[0] & 15, bytes(b ^ mask[n % 4] for n, b in enumerate(payload))))
        data = data[6 + size :]
    return frames


def framed(payload: bytes, opcode: Opcode = Opcode.TEXT, *, fin: bool = True) -> bytes:
    """A frame of the server's."""
    return Frame(opcode, payload, fin).serialize(mask=False)
