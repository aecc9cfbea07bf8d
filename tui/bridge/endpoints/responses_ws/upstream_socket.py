"""One WebSocket to an upstream: what it heard and nobody has read yet, and which chain it holds."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.protocol import State

from tui.bridge.endpoints.responses_ws.dialling import ServiceConnection
from tui.bridge.sliced import BUDGET_S

MOST_UNREAD_BYTES = 8 * 1024 * 1024
"""Read ahead of a client that is slow, so that the upstream's pings are answered meanwhile."""
SILENCE_S = 300.0
"""Minutes without an event are normal while a model reasons (PROTOCOL section 10)."""
_NO_MORE = (b"websocket_connection_limit_reached", b'"error"')
"""In a frame that came while nothing was asked: the server is about to close."""


class Lost(Exception):
    """The upstream is gone."""

    def __init__(self, code: int | None = None, why: str = "") -> None:
        """``code`` is that of its close frame, if there was one; ``why`` says why we closed it."""
        super().__init__(f"closed with code {code}")
        self.code, self.why = code, why
        self.unheard = False
        """Nobody there has heard the request that was made last."""


@dataclass(slots=True)
class Chain:
    """The newest response on a socket, and the whole conversation up to and with it."""

    model: str
    response_id: str
    items: Sequence[dict[str, Any]] = field(default_factory=list)

    def new_items(self, model: str, items: Sequence[dict[str, Any]]) -> list[dict[str, Any]] | None:
        """What a conversation has beyond this one; None: it does not go on from here."""
        count = len(self.items)
        if model != self.model or len(items) <= count:
            return None
        return list(items[count:]) if list(items[:count]) == list(self.items) else None


class UpstreamSocket:
    """One connection, used by one response at a time. Reads by itself from the beginning on."""

    def __init__(self, connection: ServiceConnection, now_s: float) -> None:
        """``now_s`` is the event loop's time."""
        self.born_s = now_s
        self.chain: Chain | None = None
        self.key = ""
        """The ``prompt_cache_key`` of its last response: the conversation's name."""
        self.used = False
        self._connection = connection
        self._unread: deque[bytes] = deque()
        self._unread_bytes = 0
        self._news, self._room = asyncio.Event(), asyncio.Event()
        self._turn_s = 0.0
        """When others are to have their turn."""
        self._lost: Lost | None = None
        self._pumping = asyncio.create_task(self._pump())

    @property
    def usable(self) -> bool:
        """Nothing is known against asking on it."""
        return self._lost is None and self._connection.state is State.OPEN

    @property
    def waits(self) -> bool:
        """Nothing is there to be read: `heard` would have to wait."""
        return not self._unread

    async def say(self, text: bytes) -> None:
        """Send one frame. Raises Lost."""
        try:
            await self._connection.send(text, text=True)
        except ConnectionClosed as error:
            raise self._loss(error) from None

    async def heard(self) -> bytes:
        """The next frame. Raises Lost, or TimeoutError after a long silence.

        However much has come, others have their turn between.
        """
        loop = asyncio.get_running_loop()
        if loop.time() > self._turn_s:
            await asyncio.sleep(0)
            self._turn_s = loop.time() + BUDGET_S
        if not self._unread:
            async with asyncio.timeout(SILENCE_S):
                while not self._unread:
                    if self._lost is not None:
                        raise self._lost
                    self._news.clear()
                    await self._news.wait()
        frame = self._unread.popleft()
        self._unread_bytes -= len(frame)
        self._room.set()
        return frame

    def settled(self) -> bool:
        """Forget what came while nothing was asked; False: it was a farewell."""
        frames, self._unread, self._unread_bytes = self._unread, deque(), 0
        self._room.set()
        return self.usable and not any(word in one for one in frames for word in _NO_MORE)

    def abort(self) -> None:
        """End it now, without a farewell: the upstream sees it as soon as the network allows."""
        self._pumping.cancel()
        self._lost = self._lost or Lost()
        self._connection.transport.abort()

    async def close(self) -> None:
        """End it politely."""
        self._lost = self._lost or Lost()
        await self._connection.close()
        self._pumping.cancel()
        await asyncio.gather(self._pumping, return_exceptions=True)

    async def _pump(self) -> None:
        try:
            while True:
                frame = await self._connection.recv(decode=False)
                self._unread.append(frame)
                self._unread_bytes += len(frame)
                self._news.set()
                while self._unread_bytes > MOST_UNREAD_BYTES:
                    self._room.clear()
                    await self._room.wait()
        except ConnectionClosed as error:
            self._lost = self._loss(error)
        finally:
            self._lost = self._lost or Lost()
            self._news.set()

    def _loss(self, error: ConnectionClosed) -> Lost:
        code = error.rcvd.code if error.rcvd is not None else None
        return self._lost or Lost(code, self._connection.refusal)
