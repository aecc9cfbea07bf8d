"""One persistent WebSocket to one endpoint: a pump around `core.client_protocol`.

The reader runs between turns too, so that pings are answered and an idle close is noticed. There
is no task, queue or hop per frame: a frame is decoded and handed to `on_event` in the reader's own
loop, and what is to be sent is written in the call that says so. The connection never reconnects
by itself: it goes to ``closed``, and the next `open` dials.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import ssl
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidMessage,
    InvalidProxy,
    InvalidState,
    InvalidStatus,
    InvalidURI,
    ProxyError,
)

from tui.core.address import Address as Address
from tui.core.address import checked, is_loopback, shown
from tui.core.client_protocol import Capabilities, ClientProtocol
from tui.core.events import Event
from tui.core.refusals import UNUSABLE_CODE, discreet, lost_code, lost_words, refusal
from tui.errors import DuettoError, EndpointError, WireError

WireState = Literal["closed", "connecting", "open"]
BETA_HEADER = ("OpenAI-Beta", "responses_websockets=2026-02-06")
BREATH_S = 0.005
"""After so long in one burst of frames the reader lets the rest of the loop run."""

# At DEBUG the library logs frames and headers, that is prompts and keys.
_library_log = logging.getLogger("duetto.websockets")
_library_log.setLevel(logging.ERROR)


class ReadsClock(Protocol):
    """The clock that dates events and deadlines."""

    def now(self) -> float:
        """Monotonic seconds."""


@dataclass(frozen=True, slots=True)
class ConnectionOptions:
    """Times and limits of a connection."""

    connect_timeout_s: float = 15.0
    ping_interval_s: float = 20.0
    silence_s: float = 60.0
    """Without any inbound frame, pongs included, for so long the connection counts as dead."""
    event_s: float = 300.0
    """A response without any event for so long counts as dead, whatever pongs say."""
    max_age_s: float = 55 * 60.0
    """An idle connection older than this is replaced by `open`, before the server ends it."""
    close_timeout_s: float = 1.0
    max_message_bytes: int = 64 * 2**20
    user_agent: str = "duetto"


class _Dial(connect):
    """A dial that follows no redirect: the key belongs to the host that the user named."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        """Hand the refusal on as it is."""
        return exc


class _Socket(ClientConnection):
    """A socket that knows when it last heard anything, be it a ping or part of a message."""

    heard_at = 0.0
    """Loop time, in seconds."""

    def data_received(self, data: bytes) -> None:
        """Take bytes from the network."""
        self.heard_at = self.loop.time()
        super().data_received(data)


class Connection:
    """A `Wire` of the engine. All methods but `open` and `close` are synchronous."""

    def __init__(
        self,
        address: Callable[[], Awaitable[Address]],
        clock: ReadsClock,
        *,
        options: ConnectionOptions | None = None,
    ) -> None:
        """``address`` is asked anew at every dial: a restarted bridge has a new one."""
        self.state: WireState = "closed"
        self.round_trip_s: float | None = None
        self.close_code: int | None = None
        """Of the last socket that was lost, if its server gave one."""
        self.on_event: Callable[[Event, float], None] = lambda event, now: None
        self.on_state: Callable[[WireState, str], None] = lambda state, reason: None
        self.capabilities = Capabilities()
        self._address, self._clock = address, clock
        self._options = options or ConnectionOptions()
        self._socket: _Socket | None = None
        self._protocol = ClientProtocol(self.capabilities)
        self._dialled = Address("")
        self._opened_at = self._told_at = 0.0
        self._dialling: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._untold: deque[tuple[WireState, str]] = deque()
        self._finished = False

    async def open(self) -> None:
        """Dial, unless open. Raises EndpointError or KeyRefused.

        Cancelling it does not cancel the dial: the next call joins it.
        """
        if self._finished:
            raise WireError("This connection was closed for good.")
        self._retire_if_old()
        if self.state == "open":
            return
        if self._dialling is None:
            self._dialling = self._spawn(self._dial())
        await asyncio.shield(self._dialling)

    def create(self, request: Mapping[str, Any]) -> None:
        """Write a ``response.create`` on the default lane. ``request`` has no ``type``.

        Raises WireError if the connection is not open or a response is still in flight.
        """
        if self._socket is None:
            raise WireError(self._protocol.drop_reason or "The connection is not open.")
        self._protocol.create(request)
        self._told_at = self._clock.now()
        self._serve()

    def interrupt(self) -> None:
        """Stop the response in flight: no delta of it reaches `on_event` from now on.

        Nothing happens if none is. The terminal event, or `on_state` with ``closed``, tells that
        the lane is free again; one of them comes within a second or so whatever the server does.
        """
        self._protocol.interrupt(now=self._clock.now())
        self._serve()

    def drop(self) -> None:
        """Abort the TCP connection now, without a close frame; `on_state` tells, soon."""
        self._drop("the connection was dropped to stop the response")

    async def close(self) -> None:
        """Close for good, with a close frame, waiting a second at most."""
        self._finished = True
        if self._dialling is not None:
            self._dialling.cancel()
        socket_now = self._socket
        self._lost(socket_now, "closed")
        if socket_now is not None:
            await socket_now.close()
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _dial(self) -> None:
        self._tell("connecting", "")
        reason = "the dial was given up"
        try:
            self._adopt(await self._connected())
        except DuettoError as error:
            reason = str(error)
            raise
        finally:
            self._dialling = None
            if self._socket is None:
                self._tell("closed", reason)

    async def _connected(self) -> _Socket:
        options = self._options
        self._dialled = address = checked(await self._address())
        headers = dict([BETA_HEADER]) | dict(address.headers)
        try:
            connected = await _Dial(
                address.url,
                additional_headers=headers,
                user_agent_header=options.user_agent,
                proxy=None if is_loopback(urlsplit(address.url).hostname or "") else True,
                open_timeout=options.connect_timeout_s,
                close_timeout=options.close_timeout_s,
                ping_interval=None,
                max_size=options.max_message_bytes,
                max_queue=None,
                logger=_library_log,
                create_connection=_Socket,
            )
            assert isinstance(connected, _Socket)
            return connected
        except (OSError, EOFError, InvalidHandshake, InvalidProxy, InvalidURI) as error:
            raise _explained(error, address, options.connect_timeout_s) from error
        except (ImportError, ValueError) as error:
            raise EndpointError(f"Cannot dial {shown(address.url)}: {error}.") from error

    def _adopt(self, connected: _Socket) -> None:
        self._socket = connected
        self._protocol = ClientProtocol(self.capabilities)
        self._opened_at = self._clock.now()
        self.close_code = None
        self._tell("open", "")
        self._spawn(self._read(connected, self._protocol))
        self._spawn(self._keep_alive(connected))

    async def _read(self, connected: _Socket, protocol: ClientProtocol) -> None:
        clock_now, breathed_at = self._clock.now, self._clock.now()
        try:
            while True:
                message = await connected.recv()
                now = clock_now()
                if self._protocol is not protocol or protocol.closed:
                    return
                if isinstance(message, str):
                    protocol.receive_text(message, now)
                else:
                    protocol.receive_binary()
                    self.close_code = UNUSABLE_CODE
                self._told_at = now
                for event in protocol.events_received():
                    care = protocol.needs_care  # no delta does
                    self.on_event(discreet(event, self._dialled) if care else event, now)
                if protocol.needs_care:
                    self._serve()
                if now - breathed_at > BREATH_S:
                    await asyncio.sleep(0)
                    breathed_at = clock_now()
        except ConnectionClosed as closed:
            rcvd, sent = closed.rcvd, closed.sent.code if closed.sent else None
            if connected is self._socket:
                self.close_code = lost_code(rcvd.code if rcvd else None, sent)
            said = (rcvd.code, rcvd.reason) if rcvd else None
            self._lost(connected, lost_words(said, sent, self._dialled))

    async def _keep_alive(self, connected: _Socket) -> None:
        options, silent_s = self._options, self._options.silence_s
        try:
            while connected is self._socket:
                async with asyncio.timeout(options.silence_s):
                    pong = await connected.ping()
                asyncio.ensure_future(pong).add_done_callback(self._ponged)
                await asyncio.sleep(options.ping_interval_s)
                if connected.loop.time() - connected.heard_at > silent_s:
                    break
                if self._protocol.busy and self._clock.now() > self._told_at + options.event_s:
                    silent_s = options.event_s
                    break
                self._retire_if_old()
        except ConnectionClosed:
            return
        except TimeoutError:
            pass
        if connected is self._socket:
            self._drop(f"no sign of life from the server for {silent_s:.0f} s")

    def _ponged(self, pong: asyncio.Future[float]) -> None:
        if not pong.cancelled() and pong.exception() is None:
            self.round_trip_s = pong.result()

    def _serve(self) -> None:
        """Do what the protocol wants: write, drop, be woken."""
        connected, protocol = self._socket, self._protocol
        if connected is None:
            return
        try:
            for text in protocol.data_to_send():
                connected.protocol.send_text(text.encode())
            connected.send_data()
        except InvalidState:
            # The close handshake has begun; the reader is about to say why.
            return
        if protocol.should_drop:
            self._drop(protocol.drop_reason)
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        deadline = protocol.deadline()
        if deadline is not None:
            delay_s = max(0.0, deadline - self._clock.now())
            self._timer = asyncio.get_running_loop().call_later(delay_s, self._wake)

    def _wake(self) -> None:
        self._timer = None
        now, protocol = self._clock.now(), self._protocol
        protocol.tick(now)
        for event in protocol.events_received():
            self.on_event(event, now)
        if protocol is self._protocol:
            self._serve()

    def _retire_if_old(self) -> None:
        connected = self._socket
        age_s = self._clock.now() - self._opened_at
        if connected is None or self._protocol.busy or age_s < self._options.max_age_s:
            return
        self._lost(connected, "renewed before the server's time limit")
        self._spawn(connected.close())

    def _drop(self, reason: str) -> None:
        connected = self._socket
        if connected is not None:
            connected.transport.abort()
            self._lost(connected, reason)

    def _lost(self, connected: _Socket | None, reason: str) -> None:
        if connected is None or connected is not self._socket:
            return
        self._socket = None
        self._protocol.connection_lost(reason)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._tell("closed", reason)

    def _tell(self, state: WireState, reason: str) -> None:
        """Change the state now, tell of it in order but outside the caller's call."""
        self.state = state
        self._untold.append((state, reason))
        asyncio.get_running_loop().call_soon(self._tell_now)

    def _tell_now(self) -> None:
        state, reason = self._untold.popleft()
        self.on_state(state, reason)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is None or isinstance(error, DuettoError):
            return
        # A bug, most likely in `on_event`: the app's last handler hears of it, and the same
        # request would only meet it again.
        self.close_code = UNUSABLE_CODE
        self._drop("an internal error")
        context = {"message": "connection task failed", "exception": error, "task": task}
        task.get_loop().call_exception_handler(context)


def _explained(error: Exception, address: Address, timeout_s: float) -> EndpointError:
    """What went wrong with a dial, as one sentence that says what to do."""
    where, host = shown(address.url), urlsplit(address.url).hostname or ""
    port = urlsplit(address.url).port or (443 if address.url.startswith("wss") else 80)
    if isinstance(error, InvalidStatus):
        return _refused(error, address)
    if isinstance(error, ProxyError | InvalidProxy):
        return EndpointError(f"The proxy on the way to {host} failed ({error}): check HTTPS_PROXY.")
    if isinstance(error, InvalidMessage | EOFError):
        return EndpointError(
            f"{host}:{port} does not answer in HTTP: it is not a Responses WebSocket endpoint "
            "(check the port, and ws:// against wss://)."
        )
    if isinstance(error, InvalidHandshake | InvalidURI):
        return EndpointError(f"{where} is not a Responses WebSocket endpoint: {error}.")
    if isinstance(error, TimeoutError):
        return EndpointError(
            f"No answer from {host}:{port} within {timeout_s:.0f} s: "
            "check the address and the network."
        )
    if isinstance(error, socket.gaierror):
        return EndpointError(f"The host {host} is not known: check the spelling and the network.")
    if f"[Errno {errno.ECONNREFUSED}]" in str(error):  # or the sum of them, one per address
        return EndpointError(f"Nothing listens at {host}:{port}: is the server running?")
    if isinstance(error, ssl.SSLCertVerificationError):
        why = error.verify_message or "it cannot be verified"
        return EndpointError(
            f"The certificate of {host} is not trusted ({why}): "
            "for a private authority set SSL_CERT_FILE."
        )
    if isinstance(error, ssl.SSLError):
        return EndpointError(f"{host}:{port} does not speak TLS: check wss:// against ws://.")
    return EndpointError(f"Cannot connect to {host}:{port} ({error}): check the network.")


def _refused(error: InvalidStatus, address: Address) -> EndpointError:
    response = error.response
    return refusal(address, response.status_code, bytes(response.body or b""), response.headers)
