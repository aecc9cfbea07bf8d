"""The WebSockets of one endpoint: dialled, read ahead, and kept for the next response.

There is one for each response in flight. A conversation stays on its socket: the server there
knows it already, and prompt caches were measured to follow the connection (PROTOCOL section 5).
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct, field
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidProxy,
    InvalidStatus,
    InvalidURI,
    ProxyError,
)
from websockets.protocol import State

from tui import __version__
from tui.bridge.endpoints.base import Asked, Broken, Refused
from tui.bridge.time_slices import BUDGET_S, FairSocket
from tui.bridge.upstream.dialing import CONNECT_S, client_context, proxy_for
from tui.bridge.upstream.errors import unconnected
from tui.core.wire.address import Address, checked, redirect_shown
from tui.core.wire.refusals import NO_WEBSOCKET
from tui.errors import EndpointError

PING_S = 20.0
"""Proxies in between drop sockets that are idle for 60 s (PROTOCOL section 10)."""
MAX_MESSAGE_BYTES = 32 * 1024 * 1024
_MOST_FRAMES = 4
"""Wait in the library; what is read further waits, counted in bytes, in `UpstreamSocket`."""
_BETA = {"OpenAI-Beta": "responses_websockets=2026-02-06"}
# At DEBUG the library logs frames and headers, that is prompts and keys.
_library_log = logging.getLogger("duetto.websockets")
_library_log.setLevel(logging.ERROR)


class UpgradeRefused(Exception):
    """The server answered the upgrade with a status of its own."""

    def __init__(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        """As of HTTP."""
        super().__init__(f"HTTP status {status}")
        self.status, self.body, self.headers = status, body, headers


class _NoRedirectConnect(connect):
    """A dial that follows no redirect: the key belongs to the host that the user named."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        """Hand the refusal on as it is."""
        return exc


class ServiceConnection(FairSocket, ClientConnection):
    """The connection to a service."""


async def dial(address: Address) -> ServiceConnection:
    """Connect and upgrade.

    Raises:
        UpgradeRefused: an HTTP status that may be the provider's answer.
        Refused: the address cannot be used, or there is no WebSocket.
        Broken: it cannot be reached.
    """
    try:
        place = checked(address)
        proxy = proxy_for(place.url)
    except EndpointError as error:
        raise Refused(400, "endpoint_not_usable", str(error)) from error
    host = urlsplit(place.url).hostname or ""
    try:
        return await _dialled(place, proxy)
    except InvalidStatus as error:
        raise _refused(error, place.url) from None
    except (OSError, EOFError, ValueError, InvalidHandshake, InvalidProxy, InvalidURI) as error:
        raise Broken(f"{host} {_reason(error)}", unreached=True) from error


async def _dialled(place: Address, proxy: str | None) -> ServiceConnection:
    tls = await asyncio.to_thread(client_context) if place.url.startswith("wss") else None
    async with asyncio.timeout(CONNECT_S):
        connected = await _NoRedirectConnect(
            place.url,
            additional_headers=_BETA | dict(place.headers),
            user_agent_header=f"duetto/{__version__}",
            proxy=proxy,
            compression=None,  # deltas are small, and each would cost more than it saves
            open_timeout=CONNECT_S,
            close_timeout=1,
            ping_interval=PING_S,
            ping_timeout=None,
            max_size=MAX_MESSAGE_BYTES,
            max_queue=_MOST_FRAMES,
            logger=_library_log,
            ssl=tls,
            create_connection=ServiceConnection,
        )
    assert isinstance(connected, ServiceConnection)
    return connected


def _refused(error: InvalidStatus, url: str) -> Exception:
    response, host = error.response, urlsplit(url).hostname or ""
    status, body = response.status_code, bytes(response.body or b"")
    # A header that comes twice is an error to the library's mapping: the first one counts.
    headers = {name.lower(): value for name, value in reversed([*response.headers.raw_items()])}
    if 300 <= status < 400:
        goal = redirect_shown(url, headers.get("location"))
        words = (
            f"{host} redirects to {goal} (HTTP status {status}): the key is not taken "
            "there. Set the endpoint's url to where it really is."
        )
        return Refused(400, "endpoint_redirects", words)
    page = body.lstrip()[:1] == b"<"
    if status in NO_WEBSOCKET - {400} or status < 300 or (status == 400 and page):
        words = (
            f"{host} has no Responses WebSocket there (HTTP status {status}): check the url, or "
            "set the endpoint's kind to auto."
        )
        return Refused(404, "not_an_endpoint", words)
    return UpgradeRefused(status, body, headers)


def _reason(error: Exception) -> str:
    """Why it did not work, as the end of a sentence that begins with the host."""
    if isinstance(error, ProxyError | InvalidProxy):  # whose text may have the password
        return "cannot be reached: the proxy on the way failed; check HTTPS_PROXY."
    if isinstance(error, InvalidHandshake | EOFError | InvalidURI):
        return "does not answer as a WebSocket server does: check the url."
    return str(unconnected(error, CONNECT_S))


MOST_UNREAD_BYTES = 8 * 1024 * 1024
"""Read ahead of a client that is slow, so that the upstream's pings are answered meanwhile."""
SILENCE_S = 300.0
"""Minutes without an event are normal while a model reasons (PROTOCOL section 10)."""
_NO_MORE = (b"websocket_connection_limit_reached", b'"error"')
"""In a frame that came while nothing was asked: the server is about to close."""


class SocketLost(Exception):
    """The upstream is gone."""

    def __init__(self, code: int | None = None, why: str = "") -> None:
        """``code`` is that of its close frame, if there was one; ``why`` says why we closed it."""
        super().__init__(f"closed with code {code}")
        self.code, self.why = code, why
        self.unheard = False
        """Nobody there has heard the request that was made last."""


_FAULTS = {
    1002: "broke the WebSocket protocol",
    1007: "broke the WebSocket protocol",
    1009: "sent a message that is too big",
}
"""Close codes that are sent to a server, and what it did, behind its name."""


class Chain(Struct):
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
        self._lost: SocketLost | None = None
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
        self._lost = self._lost or SocketLost()
        self._connection.transport.abort()

    async def close(self) -> None:
        """End it politely."""
        self._lost = self._lost or SocketLost()
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
            self._lost = self._lost or SocketLost()
            self._news.set()

    def _loss(self, error: ConnectionClosed) -> SocketLost:
        code = error.rcvd.code if error.rcvd is not None else None
        ours = error.sent.code if error.sent is not None and not error.rcvd_then_sent else 0
        why = self._connection.refusal or _FAULTS.get(ours, "")
        return self._lost or SocketLost(code, why)


MAX_AGE_S = 55 * 60.0
"""Services end a connection after 60 minutes (PROTOCOL section 10)."""
IDLE_S = 10 * 60.0
MOST_IDLE = 16
MOST_KEPT = 4
"""Conversations whose sockets are kept for them; beyond, a new one takes the longest unused."""


class SocketPool:
    """Sockets that nobody uses now; one that is taken is the taker's until it comes back."""

    def __init__(
        self, dial: Callable[[], Awaitable[ServiceConnection]], max_age_s: float = MAX_AGE_S
    ) -> None:
        self._dial = dial
        self._max_age_s = max_age_s
        self._idle: dict[UpstreamSocket, asyncio.TimerHandle] = {}
        """The longest unused one first."""
        self._leaving: set[asyncio.Task[None]] = set()
        self._warming = asyncio.Lock()

    async def warm(self) -> None:
        """Have one that was never used. Raises what the dial raises."""
        async with self._warming:
            if not any(not socket.used and self._fit(socket) for socket in self._idle):
                self.give(await self.fresh())

    async def fresh(self) -> UpstreamSocket:
        """A new one. Raises what the dial raises."""
        return UpstreamSocket(await self._dial(), asyncio.get_running_loop().time())

    async def taken(self, asked: Asked) -> UpstreamSocket | None:
        """The idle one that knows the conversation best, or an unused one, made ahead.

        None: a new one is needed.
        """
        chosen = self._take(asked)
        if chosen is None and self._warming.locked():
            async with self._warming:
                chosen = self._take(asked)
        return chosen

    def give(self, socket: UpstreamSocket) -> None:
        """Bring one back whose response has ended."""
        if not self._fit(socket):
            self._leave(socket)
            return
        loop = asyncio.get_running_loop()
        self._idle[socket] = loop.call_later(IDLE_S, self._expire, socket)
        if len(self._idle) > MOST_IDLE:
            self._expire(next(iter(self._idle)))

    async def close(self) -> None:
        """End all idle ones; those in use are ended by who uses them."""
        for idle in list(self._idle):
            self._expire(idle)
        await asyncio.gather(*self._leaving, return_exceptions=True)

    def _fit(self, socket: UpstreamSocket) -> bool:
        age_s = asyncio.get_running_loop().time() - socket.born_s
        return socket.usable and age_s < self._max_age_s

    def _take(self, asked: Asked) -> UpstreamSocket | None:
        self._prune()
        idle = list(reversed(self._idle))
        key = str(asked.request.get("prompt_cache_key") or "")
        chosen = next((one for one in idle if _goes_on(one, asked)), None)
        chosen = chosen or next((one for one in idle if key and one.key == key), None)
        chosen = chosen or next((one for one in idle if not one.used), None)
        chosen = chosen or (idle[-1] if len(idle) >= MOST_KEPT else None)
        if chosen is not None:
            self._idle.pop(chosen).cancel()
            chosen.key = key
        return chosen

    def _prune(self) -> None:
        for stale in [one for one in self._idle if not (one.settled() and self._fit(one))]:
            self._expire(stale)

    def _expire(self, socket: UpstreamSocket) -> None:
        self._idle.pop(socket).cancel()
        self._leave(socket)

    def _leave(self, socket: UpstreamSocket) -> None:
        task = asyncio.create_task(socket.close())
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)


def _goes_on(socket: UpstreamSocket, asked: Asked) -> bool:
    chain = socket.chain
    return chain is not None and chain.new_items(asked.model, asked.items) is not None
