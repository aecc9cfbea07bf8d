"""One dial of an upstream's WebSocket; why it failed, in words for a client."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import ssl
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    InvalidHandshake,
    InvalidProxy,
    InvalidStatus,
    InvalidURI,
    ProxyError,
)

from tui import __version__
from tui.bridge.endpoints.base import Broken, Refused
from tui.bridge.fair_socket import FairSocket
from tui.core.wire.address import (
    Address,
    authorities_advice,
    checked,
    chosen_proxy,
    is_loopback,
    spares_proxy,
    trust_added_authorities,
)
from tui.core.wire.refusals import NO_WEBSOCKET
from tui.errors import EndpointError

CONNECT_S = 15.0
PING_S = 20.0
"""Proxies in between drop sockets that are idle for 60 s (PROTOCOL section 10)."""
MAX_MESSAGE_BYTES = 32 * 1024 * 1024
_MOST_FRAMES = 4
"""Wait in the library; what is read further waits, counted in bytes, in `upstream_socket`."""
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


class _Connect(connect):
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
    except EndpointError as error:
        raise Refused(400, "endpoint_not_usable", str(error)) from error
    host = urlsplit(place.url).hostname or ""
    try:
        return await _dialled(place)
    except InvalidStatus as error:
        raise _refused(error, host) from None
    except (OSError, EOFError, ValueError, InvalidHandshake, InvalidProxy, InvalidURI) as error:
        raise Broken(f"{host} {_reason(error)}", unreached=True) from error


async def _dialled(place: Address) -> ServiceConnection:
    parts = urlsplit(place.url)
    tls = await asyncio.to_thread(_context) if parts.scheme == "wss" else None
    async with asyncio.timeout(CONNECT_S):
        connected = await _Connect(
            place.url,
            additional_headers=_BETA | dict(place.headers),
            user_agent_header=f"duetto/{__version__}",
            proxy=_proxy(place.url) or None,
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


def _refused(error: InvalidStatus, host: str) -> Exception:
    response = error.response
    status, body = response.status_code, bytes(response.body or b"")
    # A header that comes twice is an error to the library's mapping: the first one counts.
    headers = {name.lower(): value for name, value in reversed([*response.headers.raw_items()])}
    if 300 <= status < 400:
        words = (
            f"{host} redirects to another address (HTTP status {status}): the key is not taken "
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
    return UpgradeRefused(status, b"" if page else body, headers)


def _context() -> ssl.SSLContext:
    made = ssl.create_default_context()
    trust_added_authorities(made, os.environ)
    return made


def _proxy(url: str) -> str:
    """The proxy that leads there; empty: there is none."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if (
        is_loopback(host)
        or proxy_bypass(f"{host}:{parts.port or 443}")
        or spares_proxy(host, getproxies())
    ):
        return ""
    return chosen_proxy(url, getproxies())


def _reason(error: Exception) -> str:
    """Why it did not work, as the end of a sentence that begins with the host."""
    if isinstance(error, ProxyError | InvalidProxy):  # whose text may have the password
        return "cannot be reached: the proxy on the way failed; check HTTPS_PROXY."
    if isinstance(error, InvalidHandshake | EOFError | InvalidURI):
        return "does not answer as a WebSocket server does: check the url."
    if isinstance(error, TimeoutError):
        return f"cannot be reached: it did not answer within {CONNECT_S:.0f} s."
    if isinstance(error, socket.gaierror):
        return "cannot be reached: its name is not known."
    if isinstance(error, ssl.SSLCertVerificationError):
        to_do = authorities_advice(os.environ, lambda path: os.access(path, os.R_OK))
        return f"cannot be trusted, its certificate is of no known authority: {to_do}"
    if isinstance(error, ssl.SSLError):
        return "cannot be reached: the TLS connection failed."
    if isinstance(error, OSError) and (number := error.errno or 0) > 0:
        return f"cannot be reached: {os.strerror(number)}."
    return "cannot be reached: check the url and the network."
