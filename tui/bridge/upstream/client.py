"""HTTP to the endpoints: connections kept and made ahead, errors in words.

One more connection than is used stands by at a server that speaks TLS: an interrupt closes the
one that it cuts, and the redirect behind it takes the other at once, where a new one would cost
two or three round trips (docs/house.md has the figures, and why it is not HTTP/2).
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator
from urllib.parse import unquote, urlsplit, urlunsplit

from multidict import CIMultiDict

from tui import __version__
from tui.bridge.endpoints.base import Broken, Refused
from tui.bridge.providers.discovery import Fetched
from tui.bridge.upstream.dialing import Dialer, Origin, origin_of
from tui.bridge.upstream.errors import (
    BrokenError,
    CutError,
    UnconnectedError,
)
from tui.bridge.upstream.http1 import Http1, ProxyRoute, UpstreamAnswer, proxy_route_of
from tui.core.wire.address import Address, checked, is_loopback
from tui.errors import EndpointError

SILENCE_S = 300.0
"""Minutes without an event are normal while a model reasons (PROTOCOL section 10)."""
MOST_REFUSAL_BYTES = 64 * 1024
_AGAIN_S = 0.1
"""A server that refused a connection and had answered before is tried again after so long."""
_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "text/event-stream, application/json",
    "Accept-Encoding": "identity",
    "User-Agent": f"duetto/{__version__}",
}


class Upstream:
    """The connections to all endpoints. Made inside the event loop."""

    def __init__(self) -> None:
        self._dialer = Dialer()
        self._http1: dict[ProxyRoute, Http1] = {}
        self._dialling: dict[Origin, asyncio.Lock] = {}
        self._failed: dict[Origin, tuple[float, UnconnectedError]] = {}
        """The last dials that failed, and when, of the loop's clock."""
        self._reached: set[Origin] = set()
        """Servers that have answered."""
        self._warming: dict[Origin, asyncio.Task[None]] = {}

    async def close(self) -> None:
        """End all connections."""
        for task in self._warming.values():
            task.cancel()
        await asyncio.gather(*self._warming.values(), return_exceptions=True)
        self._dialer.close()
        for http1 in self._http1.values():
            await http1.close()

    @contextlib.asynccontextmanager
    async def post(self, address: Address, body: bytes) -> AsyncIterator[UpstreamAnswer]:
        """POST a request; the answer's body is still to be read.

        Leaving it early tells the server: its connection ends.

        Raises:
            BrokenError: it cannot be reached, or broke off while the block read it.
            EndpointError: through a proxy of a kind that is not known, or with a key in clear text.
        """
        async with self._answering("POST", address, body) as answer:
            self._stand_by(origin_of(address.url))
            yield answer

    async def fetch(self, address: Address, body: bytes | None, most_bytes: int) -> Fetched:
        """GET, or POST with a body; the whole answer. Raises Broken, Refused."""
        host = urlsplit(address.url).hostname or ""
        method = "GET" if body is None else "POST"
        pieces: list[bytes] = []
        try:
            async with self._answering(method, address, body or b"") as answer:
                while piece := await answer.chunk():
                    pieces.append(piece)
                    if sum(map(len, pieces)) > most_bytes:
                        raise Broken(f"{host} answered with more than {most_bytes} bytes.")
        except BrokenError as error:
            raise Broken(str(error), unreached=error.unreached) from error
        except EndpointError as error:
            raise Refused(400, "proxy_not_supported", str(error)) from error
        return Fetched(answer.status, b"".join(pieces))

    async def warm(self, address: Address) -> None:
        """Have a connection stand by for the next request; nothing is sent.

        What fails is no matter: the request itself will say it.
        """
        with contextlib.suppress(EndpointError):
            await self._warm(origin_of(address.url))

    async def _warm(self, origin: Origin) -> None:
        way = proxy_route_of(origin)
        if way.whole:
            return  # aiohttp dials there, when it is asked
        with contextlib.suppress(UnconnectedError):
            async with self._alone(origin):
                if not (self._dialer.spare(origin) or self._of_http1(way).idle(origin)):
                    self._dialer.keep(origin, await self._dialer.dialled(origin))

    def _stand_by(self, origin: Origin) -> None:
        """Dial the connection that a redirect will take, beside the answer that has begun."""
        known = self._warming.get(origin)
        if origin.scheme == "https" and (known is None or known.done()):
            self._warming[origin] = asyncio.create_task(self._warm(origin))

    @contextlib.asynccontextmanager
    async def _answering(
        self, method: str, address: Address, body: bytes
    ) -> AsyncIterator[UpstreamAnswer]:
        origin = origin_of(address.url)
        if origin.scheme == "http" and not is_loopback(origin.host):
            checked(address)  # a key would travel in clear text
        try:
            answer = await self._asked(origin, method, address, body)
            self._reached.add(origin)
            try:
                yield answer
            finally:
                answer.leave()
        except UnconnectedError as error:
            never = origin not in self._reached
            # where nobody listens the port is what may be wrong
            place = f"{origin.host}:{origin.port}" if error.refused else origin.host
            raise BrokenError(f"{place} {error}", unreached=never) from error
        except CutError as error:
            raise BrokenError(f"{origin.host} {error}", flooded=error.flooded) from error

    async def _asked(
        self, origin: Origin, method: str, address: Address, body: bytes
    ) -> UpstreamAnswer:
        """Ask; and again where surely nobody has heard it. Raises UnconnectedError, CutError."""
        headers = CIMultiDict(_HEADERS)
        headers.update(_of_user(address.url))
        headers.update(address.headers)
        stale = waited = False
        way = proxy_route_of(origin)
        while True:
            try:
                async with self._alone(origin):
                    pass  # a connection that is being made ahead is taken, not overtaken
                http1 = self._of_http1(way)
                return await http1.asked(method, _without_user(address.url), headers, body)
            except CutError as error:
                if not error.unanswered or stale:
                    raise
                stale = True
                self._forget(origin)  # what waits is as old
            except UnconnectedError as error:
                if not error.refused or origin not in self._reached or waited:
                    raise
                waited = True
                await asyncio.sleep(_AGAIN_S)

    @contextlib.asynccontextmanager
    async def _alone(self, origin: Origin) -> AsyncIterator[None]:
        """One at a time dials a server. Who waited for one who failed has failed with him.

        Raises UnconnectedError.
        """
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        async with self._dialling.setdefault(origin, asyncio.Lock()):
            failed_s, error = self._failed.get(origin, (-1.0, UnconnectedError("")))
            if failed_s > began_s:
                raise UnconnectedError(str(error), refused=error.refused)
            try:
                yield
            except UnconnectedError as error:
                self._failed[origin] = (loop.time(), error)
                raise

    def _forget(self, origin: Origin) -> None:
        """Nothing that waits for this server is of use any more."""
        self._dialer.forget(origin)
        http1 = self._http1.get(proxy_route_of(origin))
        if http1 is not None:
            http1.forget(origin)

    def _of_http1(self, way: ProxyRoute) -> Http1:
        known = self._http1.get(way)
        if known is None:
            known = self._http1[way] = Http1(self._dialer, way, SILENCE_S)
        return known


def _of_user(url: str) -> dict[str, str]:
    """What a user and a password in a URL are sent as."""
    parts = urlsplit(url)
    if parts.username is None:
        return {}
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


def _without_user(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
