"""HTTP to the endpoints: one pool of connections, proxies, certificates, errors in words."""

from __future__ import annotations

import contextlib
import io
import os
import ssl
from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import msgspec
from multidict import CIMultiDict

from tui import __version__
from tui.core.wire.address import Address, is_loopback
from tui.core.wire.authorities import add_to, advice
from tui.core.wire.proxies import NO_SOCKS, chosen, is_socks
from tui.errors import EndpointError

CONNECT_S = 15.0
SILENCE_S = 300.0
"""Minutes without an event are normal while a model reasons (PROTOCOL section 10)."""
IDLE_S = 55.0
"""An idle connection is kept so long: what lies between often cuts at 60 s."""
MOST_REFUSAL_BYTES = 64 * 1024
_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "text/event-stream, application/json",
    "Accept-Encoding": "identity",
    "User-Agent": f"duetto/{__version__}",
}
_NO_CONTACT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
_ENVELOPE = frozenset({"previous_response_id", "client_metadata", "background"})
"""What means nothing to an endpoint that is sent the whole conversation each time."""


class BrokenError(Exception):
    """The upstream cannot be reached, or broke off; the text says it in one sentence."""

    def __init__(self, text: str, *, unreached: bool = False) -> None:
        """The sentence, and whether nobody there ever answered, so that it is no mishap."""
        super().__init__(text)
        self.unreached = unreached


class Upstream:
    """The connections to all endpoints. Made inside the event loop."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None
        self._reached: set[str] = set()
        """Hosts (and ports) that have answered."""

    async def close(self) -> None:
        """End all connections."""
        if self._session is not None:
            await self._session.close()

    @contextlib.asynccontextmanager
    async def post(
        self, address: Address, body: Mapping[str, Any]
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """POST a request; the response's body is still to be read.

        Leaving it early closes the request's connection, which is how HTTP interrupts.

        Raises:
            BrokenError: it cannot be reached, or broke off while the block read it.
        """
        session = self._session = self._session or _session()
        place = urlsplit(address.url)
        host = place.hostname or ""
        headers = CIMultiDict(_HEADERS)
        headers.update(address.headers)
        try:
            proxy = proxy_for(address.url)
            data = io.BytesIO(encoded(body))
            async with session.post(
                address.url, data=data, headers=headers, proxy=proxy, allow_redirects=False
            ) as response:
                self._reached.add(place.netloc)
                try:
                    yield response
                finally:
                    if not response.content.at_eof():
                        response.close()
        except (aiohttp.ClientError, OSError, ValueError) as error:
            never = isinstance(error, _NO_CONTACT) and place.netloc not in self._reached
            raise BrokenError(f"{host} {_reason(error)}", unreached=never) from error


def encoded(request: Mapping[str, Any]) -> bytes:
    """A run's request as the body of a POST: streamed, not stored."""
    body = {key: value for key, value in request.items() if key not in _ENVELOPE}
    body |= {"stream": True, "store": False}
    return msgspec.json.encode(body)


def proxy_for(url: str) -> str | None:
    """The proxy that the environment names for a URL; never one for this machine.

    Raises EndpointError if it is no HTTP proxy.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if is_loopback(host) or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxy = chosen(url, getproxies())
    if not proxy:
        return None
    if is_socks(proxy):
        raise EndpointError(NO_SOCKS)
    if urlsplit(proxy).scheme not in ("http", "https"):
        raise EndpointError("Only HTTP proxies can be used: check HTTPS_PROXY and ALL_PROXY.")
    return proxy


def _session() -> aiohttp.ClientSession:
    """A session that adds nothing by itself: no cookies, no .netrc, no limit on parallel lanes."""
    context = ssl.create_default_context()
    add_to(context, os.environ)
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_S, ssl=context)
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S, sock_read=SILENCE_S)
    return aiohttp.ClientSession(
        connector=connector, timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()
    )


def _reason(error: Exception) -> str:
    """Why it did not work, as the end of a sentence that begins with the host."""
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return "cannot be reached: the proxy does not answer; check HTTPS_PROXY."
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return f"cannot be reached: the proxy refused (HTTP status {error.status})."
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        to_do = advice(os.environ, lambda path: os.access(path, os.R_OK))
        return f"cannot be trusted, its certificate is of no known authority: {to_do}"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "cannot be reached: its name is not known."
    if isinstance(error, aiohttp.ClientSSLError):
        return "cannot be reached: the TLS connection failed."
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return f"cannot be reached: it did not answer within {CONNECT_S:.0f} s."
    if isinstance(error, TimeoutError):
        return "said nothing for too long."
    if isinstance(error, aiohttp.ServerDisconnectedError | ConnectionResetError):
        return "closed the connection before it had answered."
    if isinstance(error, OSError) and error.strerror:
        # aiohttp's own words name the call and the address
        known = isinstance(error.errno, int) and error.errno > 0
        words = os.strerror(error.errno) if known and error.errno else error.strerror
        return f"cannot be reached: {words}."
    return "broke off its answer."
