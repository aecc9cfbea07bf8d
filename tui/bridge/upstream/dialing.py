"""Connections to upstreams: names, TCP, proxies and TLS; those made ahead wait here.

Nothing is sent over a connection before a request takes it: a server sees no more than that.

Each host is looked up in a thread of its own, once for all who wait for it, and nobody waits for
the thread at the end of the program: an event loop asks in a few threads that all share, so that
some lookups that hang would hold up every other host.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import os
import socket
import ssl
import threading
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from aiohappyeyeballs import start_connection

from tui.bridge.upstream.errors import PROXY_SILENT, UnconnectedError, proxy_refused, unconnected
from tui.core.wire.address import (
    AUTHORITY_VARIABLES,
    chosen_proxy,
    is_loopback,
    is_socks,
    spares_proxy,
    trust_added_authorities,
)
from tui.errors import EndpointError

Found = list[tuple[Any, ...]]
"""As of `socket.getaddrinfo`."""


class Resolver:
    """The lookups that are under way."""

    def __init__(self) -> None:
        self._asked: dict[tuple[str, int], asyncio.Future[Found]] = {}

    async def addresses(self, host: str, port: int) -> Found:
        """The addresses of a host. Raises OSError, UnicodeError: it is not known."""
        with contextlib.suppress(ValueError):
            ipaddress.ip_address(host)
            numeric = socket.AI_NUMERICHOST  # nobody is asked
            return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=numeric)
        asked = self._asked.get((host, port))
        if asked is None:
            asked = self._asked[host, port] = self._ask(host, port)
        return await asyncio.shield(asked)  # others may wait for it still

    def _ask(self, host: str, port: int) -> asyncio.Future[Found]:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Found] = loop.create_future()

        def settle(found: Found | Exception) -> None:
            self._asked.pop((host, port), None)
            if isinstance(found, Exception):
                answer.set_exception(found)
                answer.exception()  # perhaps nobody waits any more
            else:
                answer.set_result(found)

        def ask() -> None:
            found: Found | Exception
            try:
                found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            except (OSError, UnicodeError) as error:
                found = error
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(settle, found)

        try:
            threading.Thread(target=ask, name="lookup", daemon=True).start()
        except RuntimeError:  # no more threads are to be had
            settle(OSError(errno.EAGAIN, "no more threads"))
        return answer


CONNECT_S = 15.0
"""For name, TCP, proxy and TLS together."""
IDLE_S = 300.0
"""An idle connection is kept so long. What lies between often drops one after 60 s of silence, so
the system probes it meanwhile (`_KEEPALIVE`); a server that ends it sooner is noticed."""
MOST_SPARES = 4
"""Connections dialled ahead to one server; more requests at once dial for themselves."""
_EYEBALLS_S = 0.25
"""RFC 8305: so long one address is waited for before the next one is tried, too."""
_PORTS = {"https": 443, "wss": 443}
_KEEPALIVE = (("TCP_KEEPIDLE", 20), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))


class Origin(NamedTuple):
    """A server, and how it is reached."""

    scheme: str
    host: str
    port: int
    proxy: str | None = None


def origin_of(url: str) -> Origin:
    """Where a URL leads. Raises EndpointError: through a proxy of a kind that is not known."""
    parts = urlsplit(url)
    port = parts.port or _PORTS.get(parts.scheme, 80)
    return Origin(parts.scheme, parts.hostname or "", port, proxy_for(url))


def proxy_for(url: str) -> str | None:
    """The proxy that the environment names for a URL; never one for this machine.

    Raises EndpointError if it is neither an HTTP nor a SOCKS proxy, or its address is none.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if is_loopback(host):
        return None
    proxies = getproxies()
    place = parts.netloc.rpartition("@")[2]
    place += "" if parts.port else f":{_PORTS.get(parts.scheme, 80)}"
    if proxy_bypass(place) or spares_proxy(host, proxies):
        return None
    proxy = chosen_proxy(url, proxies)
    if not proxy:
        return None
    try:
        way = urlsplit(proxy)
        whole = bool(way.hostname) and way.port != 0
    except ValueError:
        whole = False
    if not whole:
        words = "The proxy's address is not one: check HTTPS_PROXY and ALL_PROXY."
        raise EndpointError(words)
    if way.scheme not in ("http", "https", *_SOCKS):
        raise EndpointError(
            "Only HTTP and SOCKS proxies can be used: check HTTPS_PROXY and ALL_PROXY."
        )
    return proxy


_SOCKS = ("socks5", "socks5h", "socks4", "socks4a", "socks")


class SpareConnection(asyncio.Protocol):
    """A connection that nobody uses yet."""

    transport: asyncio.Transport
    since_s = 0.0
    lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        self.transport = cast(asyncio.Transport, transport)
        self.since_s = asyncio.get_running_loop().time()

    def data_received(self, data: bytes) -> None:
        """A server that speaks unasked is none that can be used."""
        self.lost = True
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self.lost = True

    @property
    def usable(self) -> bool:
        """It is there, and not so old that something in between may have dropped it."""
        age_s = asyncio.get_running_loop().time() - self.since_s
        return not (self.lost or self.transport.is_closing()) and age_s < IDLE_S


class Dialer:
    """Makes connections, and keeps those that were made ahead."""

    def __init__(self) -> None:
        self._resolver = Resolver()
        self._spares: dict[Origin, deque[SpareConnection]] = {}
        self._contexts: dict[Sequence[str | None], ssl.SSLContext] = {}

    async def dialled(self, origin: Origin) -> SpareConnection:
        """A new connection. Raises UnconnectedError."""
        try:
            async with asyncio.timeout(CONNECT_S):
                return await self._dialled(origin)
        except (OSError, UnicodeError) as error:
            raise unconnected(error, CONNECT_S) from error

    def keep(self, origin: Origin, spare: SpareConnection) -> None:
        """Keep a connection for the next request to this server."""
        kept = self._spares.setdefault(origin, deque())
        kept.append(spare)
        while len(kept) > MOST_SPARES:
            kept.popleft().transport.abort()

    def taken(self, origin: Origin) -> SpareConnection | None:
        """A connection that was made ahead and still stands, if there is one."""
        kept = self._spares.get(origin, deque())
        while kept:
            spare = kept.pop()
            if spare.usable:
                return spare
            spare.transport.abort()
        return None

    def spare(self, origin: Origin) -> bool:
        """Whether a connection waits."""
        return any(one.usable for one in self._spares.get(origin, ()))

    def forget(self, origin: Origin) -> None:
        """End what was made ahead for this server and nobody has taken."""
        for spare in self._spares.pop(origin, ()):
            spare.transport.abort()

    def close(self) -> None:
        """End what nobody has taken."""
        for origin in list(self._spares):
            self.forget(origin)

    async def context(self) -> ssl.SSLContext:
        """Whom TLS trusts; it is read from the disk, in a thread, whenever others are named."""
        key = tuple(os.environ.get(name) for name in AUTHORITY_VARIABLES)
        known = self._contexts.get(key)
        if known is None:
            known = self._contexts[key] = await asyncio.to_thread(client_context)
        return known

    async def _dialled(self, origin: Origin) -> SpareConnection:
        context = await self.context() if origin.scheme == "https" else None
        name = origin.host if context else None
        loop = asyncio.get_running_loop()
        way = await (_straight(origin, self._resolver) if origin.proxy is None else _tunnel(origin))
        transport, spare = await loop.create_connection(
            SpareConnection, sock=way, ssl=context, server_hostname=name
        )
        _keep_alive(transport.get_extra_info("socket"))
        return spare


async def _straight(origin: Origin, names: Resolver) -> socket.socket:
    """A connection to the first of a host's addresses that answers. Raises OSError, UnicodeError.

    `create_connection` could try several by itself, but not that of every event loop.
    """
    found = await names.addresses(origin.host, origin.port)
    return await start_connection(found, happy_eyeballs_delay=_EYEBALLS_S)


async def _tunnel(origin: Origin) -> socket.socket:
    """A way through a proxy. Raises UnconnectedError, OSError."""
    # 60 ms, and most people have no proxy
    from python_socks import ProxyConnectionError, ProxyError, ProxyTimeoutError
    from python_socks.async_.asyncio import Proxy

    proxy = origin.proxy or ""
    remote = is_socks(proxy) and not proxy.startswith(("socks5://", "socks4://"))
    plain = proxy.replace("socks5h://", "socks5://").replace("socks4a://", "socks4://")
    plain = plain.replace("socks://", "socks5://")
    try:
        way = Proxy.from_url(plain, rdns=remote or None)
        return await way.connect(origin.host, origin.port, timeout=CONNECT_S)
    except ProxyTimeoutError as error:
        raise UnconnectedError(PROXY_SILENT) from error
    except ProxyConnectionError as error:
        raise UnconnectedError(PROXY_SILENT) from error
    except ProxyError as error:
        raise proxy_refused(error.error_code) from error
    except ValueError as error:
        raise UnconnectedError("cannot be reached: the proxy's address is wrong.") from error


def client_context() -> ssl.SSLContext:
    """Whom TLS trusts, of the environment as it is now; read from the disk."""
    context = ssl.create_default_context()
    trust_added_authorities(context, os.environ)
    context.set_alpn_protocols(["http/1.1"])
    return context


def _keep_alive(raw: socket.socket | None) -> None:
    """Have the system probe an idle connection, so that it stays open in what lies between."""
    if raw is None:
        return
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE:
        if hasattr(socket, name):
            raw.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
