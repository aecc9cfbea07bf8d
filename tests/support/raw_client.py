"""A client of the bridge that writes its frames itself, however badly."""

from __future__ import annotations

import asyncio
import json
from types import TracebackType
from typing import Any

from websockets.frames import Frame, Opcode

from tests.support.rehearsed import user


class RawClient:
    """One socket: it reads only when it is told to."""

    def __init__(self, port: int, token: str = "the-token") -> None:
        self._port = port
        self._token = token

    async def __aenter__(self) -> RawClient:
        self.reader, self.writer = await asyncio.open_connection(
            "127.0.0.1", self._port, limit=1024
        )
        head = (
            "GET /v1/responses HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
            f"Authorization: Bearer {self._token}\r\n\r\n"
        )
        self.writer.write(head.encode())
        assert b"101" in await self.reader.readuntil(b"\r\n\r\n")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.writer.transport.abort()

    def frame(self, data: bytes, opcode: Opcode = Opcode.TEXT, *, fin: bool = True) -> None:
        """Write one frame, whatever is in it."""
        self.writer.write(Frame(opcode, data, fin=fin).serialize(mask=True))

    def say(self, **event: Any) -> None:
        """Write one event."""
        self.frame(json.dumps(event).encode())

    def create(self, text: str, **fields: Any) -> None:
        """Write a request for the fast rehearsal model."""
        fields = {"model": "rehearsal-fast", "input": [user(text)], **fields}
        self.say(type="response.create", **fields)

    async def heard(self) -> tuple[int, bytes]:
        """The next frame of the server: its opcode and data."""
        async with asyncio.timeout(60):
            first, size = await self.reader.readexactly(2)
            if size == 126:
                size = int.from_bytes(await self.reader.readexactly(2), "big")
            elif size == 127:
                size = int.from_bytes(await self.reader.readexactly(8), "big")
            return first & 0x0F, await self.reader.readexactly(size)

    async def event(self) -> dict[str, Any]:
        """The next event."""
        while True:
            opcode, data = await self.heard()
            if opcode == Opcode.TEXT:
                event: dict[str, Any] = json.loads(data)
                return event

    async def closed(self) -> int:
        """The code with which the server closes."""
        while True:
            opcode, data = await self.heard()
            if opcode == Opcode.CLOSE:
                return int.from_bytes(data[:2], "big")
