"""One dial: host, proxy, authorities, compression, the upgrade; and why it failed, in words.

How an endpoint is spoken to: by WebSocket, or by HTTP+SSE through the bridge's relay. The way
back from HTTP is asked for beside whatever runs, by the time since the WebSocket was left, so
that a user who never rests comes back, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import logging
import os
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable
from functools import cache
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    InvalidHandshake,
    InvalidMessage,
    InvalidProxy,
    InvalidProxyStatus,
    InvalidStatus,
    InvalidURI,
    ProxyError,
)

from tui.core.wire.address import (
    AUTHORITY_VARIABLES,
    Address,
    authorities_advice,
    chosen_proxy,
    is_loopback,
    shown,
    spares_proxy,
    trust_added_authorities,
)
from tui.core.wire.endpoint_facts import Capabilities
from tui.core.wire.refusals import refusal, without_secrets
from tui.effects.wire.frames import FrameSocket
from tui.effects.wire.link import ConnectionOptions, Transport
from tui.errors import EndpointError, NoAnswer


async def resolve(host: str, port: int) -> None:
    """Wait until the system knows the host. Raises OSError if it does not; may be cancelled.

    asyncio asks in a thread that the program waits for at its end, for as long as the system's
    resolver tries: half a minute after Ctrl+C. So the first question is asked in a thread that
    nobody waits for; what asyncio asks afterwards is answered already.
    """
    with contextlib.suppress(ValueError):
        ipaddress.ip_address(host)
        return
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[None] = loop.create_future()

    def settle(error: OSError | None) -> None:
        if answer.done():
            return
        if error is None:
            answer.set_result(None)
        else:
            answer.set_exception(error)

    def ask() -> None:
        error: OSError | None = None
        try:
            socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as refused:
            error = refused if isinstance(refused, OSError) else socket.gaierror(str(refused))
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, error)

    threading.Thread(target=ask, name="lookup", daemon=True).start()
    await answer


async def tls_context() -> ssl.SSLContext:
    """The TLS settings of a client; made once per environment, in a thread (it takes 30 ms)."""
    return await asyncio.to_thread(
        _made_context, tuple(os.environ.get(name, "") for name in AUTHORITY_VARIABLES)
    )


def certificate_advice() -> str:
    """What to do about a certificate that is not trusted, as the end of a sentence."""
    return authorities_advice(os.environ, lambda path: os.access(path, os.R_OK))


@cache
def _made_context(named: tuple[str, ...]) -> ssl.SSLContext:
    made = ssl.create_default_context()
    trust_added_authorities(made, dict(zip(AUTHORITY_VARIABLES, named, strict=True)))
    return made


BETA_HEADER = ("OpenAI-Beta", "responses_websockets=2026-02-06")
NEXT_ADDRESS_S = 0.25
"""RFC 8305: an address of the host that does not answer must not keep the others waiting."""
USER_TIMEOUT_MS = 30_000
"""What was sent and is not acknowledged by the other machine for so long ends the connection."""
KEEP_ALIVE_S = (15, 5, 4)
"""TCP's own questions to a silent machine: after so long, every so often, so many times."""

# At DEBUG the library logs frames and headers, that is prompts and keys.
_library_log = logging.getLogger("duetto.websockets")
_library_log.setLevel(logging.ERROR)


class _Connect(connect):
    """A dial that follows no redirect: the key belongs to the host that the user named."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        """Hand the refusal on as it is."""
        return exc


async def dial(address: Address, options: ConnectionOptions) -> FrameSocket:
    """Connect and upgrade; ``address`` is a checked one. Raises EndpointError or KeyRefused."""
    parts = urlsplit(address.url)
    nearby = is_loopback(parts.hostname or "")
    trusted = await tls_context() if parts.scheme == "wss" else None
    try:
        async with asyncio.timeout(options.connect_timeout_s):
            if not nearby and not _proxy(address):
                await resolve(parts.hostname or "", parts.port or 443)
            connected = await _connected(address, options, trusted)
    except (OSError, EOFError, InvalidHandshake, InvalidProxy, InvalidURI) as error:
        raise explained(error, address, options.connect_timeout_s) from error
    except ValueError as error:
        if chosen_proxy(address.url, getproxies()):  # the address itself was checked
            raise explained(InvalidProxy("", ""), address, 0) from error
        raise EndpointError(f"Cannot dial {shown(address.url)}: {error}.") from error
    assert isinstance(connected, FrameSocket)
    if not nearby:
        _watch_over(connected)
    return connected


async def _connected(
    address: Address, options: ConnectionOptions, trusted: ssl.SSLContext | None
) -> ClientConnection:
    nearby = is_loopback(urlsplit(address.url).hostname or "")
    return await _Connect(
        address.url,
        additional_headers=dict([BETA_HEADER]) | dict(address.headers),
        user_agent_header=options.user_agent,
        proxy=_proxy(address) or None,
        compression="deflate" if deflates(address, options, nearby=nearby) else None,
        open_timeout=options.connect_timeout_s,
        close_timeout=options.close_timeout_s,
        ping_interval=None,
        max_size=options.max_message_bytes,
        max_queue=None,
        logger=_library_log,
        create_connection=FrameSocket,
        ssl=trusted,
        happy_eyeballs_delay=NEXT_ADDRESS_S,
    )


def deflates(address: Address, options: ConnectionOptions, *, nearby: bool) -> bool:
    """Whether compression is offered: never without a limit on what a frame unpacks to."""
    wanted = not nearby if address.compression is None else address.compression
    return wanted and options.max_message_bytes > 0


def _watch_over(connected: FrameSocket) -> None:
    """Let the kernel notice a machine that is gone, minutes before TCP would."""
    plug: socket.socket | None = connected.transport.get_extra_info("socket")
    if plug is None:
        return
    settings = [("TCP_USER_TIMEOUT", USER_TIMEOUT_MS)]
    settings += zip(("TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT"), KEEP_ALIVE_S, strict=True)
    try:
        plug.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in settings:
            if hasattr(socket, name):
                plug.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    except OSError:
        return  # a system without them: the pings do it, slower


def explained(error: Exception, address: Address, timeout_s: float) -> EndpointError:
    """What went wrong with a dial, as one sentence that says what to do."""
    where, host = shown(address.url), urlsplit(address.url).hostname or ""
    port = urlsplit(address.url).port or (443 if address.url.startswith("wss") else 80)
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    if isinstance(error, InvalidProxyStatus | ProxyError | InvalidProxy):
        return _proxy_failed(error, host)
    if isinstance(error, InvalidStatus):
        response = error.response
        # A header that comes twice is an error to the library's mapping: the first one counts.
        headers = {name.title(): value for name, value in reversed([*response.headers.raw_items()])}
        if "Retry-After" in headers and "Date" not in headers:
            from email.utils import formatdate  # 10 ms, and rarely asked for

            headers["Date"] = formatdate()
        return refusal(address, response.status_code, bytes(response.body or b""), headers)
    if isinstance(error, InvalidMessage | EOFError):
        return _no_answer(error, place)
    if isinstance(error, InvalidHandshake | InvalidURI):
        said = without_secrets(str(error), address)
        return EndpointError(
            f"{where} is not a Responses WebSocket endpoint: {said}.",
            http_may_work=isinstance(error, InvalidHandshake),  # a proxy that knows no WebSocket
        )
    if isinstance(error, TimeoutError):
        return NoAnswer(
            f"No answer from {place} within {timeout_s:.0f} s: check the address and the network.",
            transient=True,
        )
    if isinstance(error, socket.gaierror):
        return EndpointError(f"The host {host} is not known: check the spelling and the network.")
    if isinstance(error, ssl.SSLError):
        return _tls_failed(error, host, place)
    if f"[Errno {errno.ECONNREFUSED}]" in str(error):  # or the sum of them, one per address
        if proxy := urlsplit(_proxy(address)).netloc.rpartition("@")[2]:
            return EndpointError(f"Nothing listens at the proxy {proxy}: check HTTPS_PROXY.")
        return EndpointError(f"Nothing listens at {place}: is the server running?")
    return EndpointError(f"Cannot connect to {place} ({error}): check the network.", transient=True)


def _proxy(address: Address) -> str:
    """The proxy that leads to this address; empty: there is none."""
    parts = urlsplit(address.url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "wss" else 80)
    if is_loopback(host) or proxy_bypass(f"{host}:{port}") or spares_proxy(host, getproxies()):
        return ""
    return chosen_proxy(address.url, getproxies())


def _proxy_failed(error: Exception, host: str) -> EndpointError:
    status = error.response.status_code if isinstance(error, InvalidProxyStatus) else 0
    if status == 407:
        return EndpointError(
            f"The proxy on the way to {host} wants a user and a password (HTTP 407): "
            "put them into HTTPS_PROXY, as http://USER:PASSWORD@HOST:PORT."
        )
    if isinstance(error, InvalidProxy):  # whose text has the password
        why = "its address is not one"
    else:
        why = f"HTTP {status}" if status else str(error)
    return EndpointError(
        f"The proxy on the way to {host} failed ({why}): check HTTPS_PROXY and NO_PROXY.",
        transient=status >= 500,
    )


def _no_answer(error: Exception, place: str) -> EndpointError:
    """The host took the connection, and then did not speak HTTP."""
    if isinstance(error, EOFError) or isinstance(error.__cause__, EOFError):
        return EndpointError(
            f"{place} closed the connection instead of answering: it may be restarting, or it "
            "is not a Responses WebSocket endpoint (check the port, and ws:// against wss://).",
            transient=True,
            http_may_work=True,
        )
    old = "HTTP/1.0" in str(error.__cause__)
    words = "speaks only HTTP/1.0" if old else "does not answer in HTTP"
    return EndpointError(
        f"{place} {words}: it is not a Responses WebSocket endpoint "
        "(check the port, and ws:// against wss://).",
        http_may_work=old,
    )


def _tls_failed(error: ssl.SSLError, host: str, place: str) -> EndpointError:
    if not isinstance(error, ssl.SSLCertVerificationError):
        return EndpointError(f"{place} does not speak TLS: is it http:// (or ws://)?")
    why = error.verify_message or "it cannot be verified"
    return EndpointError(
        f"The certificate of {host} is not trusted ({why}): {certificate_advice()}"
    )


LONGEST_S = 3600.0


class TransportChoice:
    """The transport of one endpoint."""

    def __init__(
        self,
        options: ConnectionOptions,
        known: Capabilities,
        *,
        relay: bool,
        attempt: Callable[[], Awaitable[bool]],
    ) -> None:
        """``relay``: there is one; ``attempt`` asks for a WebSocket, unseen, and says if it works.

        The first attempt is ``options.probe_s`` after the WebSocket was left.
        """
        self._auto = options.transport == "auto"
        by_http = options.transport == "http" or (self._auto and known.websocket is False)
        self.transport: Transport = "http" if by_http and relay else "websocket"
        """What the next dial takes."""
        self.refused = False
        """The server does not take a WebSocket, it said so in this run."""
        self._known, self._relay, self._attempt = known, relay, attempt
        self._first_s = self._wait_s = options.probe_s
        self._doubt = ""
        self._worked_at: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def fall_back(self, doubt: str = "") -> bool:
        """Take HTTP from the next `EndpointLane.open` on; False: that cannot be, or is so.

        ``doubt``: why the WebSocket failed, which may be back any moment: it is first again if
        HTTP fails, too.
        """
        if not self._relay or self.transport == "http" or not self._auto:
            return False
        self.transport, self._doubt = "http", doubt
        self.used()
        return True

    def tried(self) -> None:
        """What was asked by this transport failed: see `fall_back`."""
        if self._doubt:
            self.come_back()

    @property
    def doubt(self) -> str:
        """Why HTTP is tried now, in words: who is asked may be down altogether; or nothing."""
        return self._doubt if self.transport == "http" else ""

    def come_back(self) -> None:
        """Take the WebSocket from the next `EndpointLane.open` on, unless it was refused.

        What was remembered of it from an earlier run is no refusal of today.
        """
        if self.transport == "http" and self._auto and not self.refused:
            self.transport = "websocket"
            self.stop()

    def used(self) -> None:
        """A turn takes this transport: where the other one is better, it is asked for in a while.

        That is later where it worked, and soon broke again.
        """
        idle = self._timer is None and self._task is None
        if self.transport == "http" and self._auto and idle:
            worked_at, now = self._worked_at, asyncio.get_running_loop().time()
            again = worked_at is not None and now - worked_at < LONGEST_S
            self._wait(2 * self._wait_s if again else self._first_s)

    def stop(self) -> None:
        """Ask for nothing any more."""
        for pending in (self._timer, self._task):
            if pending is not None:
                pending.cancel()
        self._timer = self._task = None

    def why_http(self) -> str:
        """What keeps a socket from being a WebSocket, in words."""
        if not self._auto and self.transport == "http":
            return 'the settings say transport = "http"'
        if self.transport == "websocket":
            return "the next turn goes by WebSocket again"
        if self.refused:
            reason = "the server refused the WebSocket"
        elif self._known.websocket is False:
            reason = "it refused the WebSocket in an earlier run"
        else:
            reason = self._doubt or "the WebSocket failed"
        return f"{reason}; it is tried again now and then"

    def _wait(self, wait_s: float) -> None:
        self._wait_s = min(wait_s, LONGEST_S)
        self._timer = asyncio.get_running_loop().call_later(self._wait_s, self._start)

    def _start(self) -> None:
        self._timer = None
        self._task = asyncio.create_task(self._try())

    async def _try(self) -> None:
        works = await self._attempt()
        self._task = None
        if works:
            self._worked_at = asyncio.get_running_loop().time()
        else:
            self._wait(2 * self._wait_s)
