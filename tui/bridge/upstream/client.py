"""HTTP to the endpoints: connections kept and made ahead, HTTP/2 where there is, errors in words.

Two libraries, each for the half that it is good at (docs/house.md has the figures): aiohttp for
HTTP/1.1 and its pool, h2 for HTTP/2. Nobody outside of this folder knows either.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import functools
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urlsplit, urlunsplit

from multidict import CIMultiDict

from tui import __version__
from tui.bridge.endpoints.base import Broken, Refused
from tui.bridge.providers.discovery import Fetched
from tui.bridge.upstream.dialing import Dialler, Origin, origin_of, proxy_for
from tui.bridge.upstream.errors import (
    UNANSWERED,
    BrokenError,
    CutError,
    FullError,
    UnconnectedError,
)
from tui.bridge.upstream.http1 import Http1, Way, way_of
from tui.core.wire.address import Address, checked, is_loopback
from tui.errors import EndpointError

if TYPE_CHECKING:
    from tui.bridge.upstream.http2 import Http2Connection

__all__ = ["MOST_REFUSAL_BYTES", "SILENCE_S", "Answer", "BrokenError", "Upstream", "proxy_for"]

SILENCE_S = 300.0
"""Minutes without an event are normal while a model reasons (PROTOCOL section 10)."""
MOST_REFUSAL_BYTES = 64 * 1024
_MOST_FULL = 16
"""HTTP/2 connections that took no more requests, one behind the other."""
_AGAIN_S = 0.1
"""A server that refused a connection and had answered before is tried again after so long."""
_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "text/event-stream, application/json",
    "Accept-Encoding": "identity",
    "User-Agent": f"duetto/{__version__}",
}


class Answer(Protocol):
    """An upstream's answer, whichever HTTP it came by."""

    status: int
    headers: Mapping[str, str]
    """By their names in lower case, or in any case."""

    @property
    def over(self) -> bool:
        """All of it was said."""

    async def chunk(self) -> bytes:
        """The next piece of the body as it comes; empty: there is no more.

        While nobody asks for it the server is made to wait. Raises CutError (see `Upstream`).
        """

    async def follow(self, take: Callable[[bytes], bool]) -> None:
        """Hand on each piece in the very turn of the loop in which it comes.

        Till ``take``, which raises nothing, says False, or something else than a piece comes:
        `chunk` tells.
        """

    def leave(self) -> None:
        """Nobody wants more of it; `Upstream` does it."""


class Upstream:
    """The connections to all endpoints. Made inside the event loop."""

    def __init__(self) -> None:
        self._dialler = Dialler()
        self._http1: dict[Way, Http1] = {}
        self._http2: dict[Origin, list[Http2Connection]] = {}
        self._old: set[Origin] = set()
        """Servers that speak TLS and no HTTP/2."""
        self._dialling: dict[Origin, asyncio.Lock] = {}
        self._failed: dict[Origin, tuple[float, UnconnectedError]] = {}
        """The last dials that failed, and when, of the loop's clock."""
        self._reached: set[Origin] = set()
        """Servers that have answered."""

    async def close(self) -> None:
        """End all connections."""
        self._dialler.close()
        for connections in self._http2.values():
            for connection in list(connections):
                connection.transport.abort()
        for http1 in self._http1.values():
            await http1.close()

    @contextlib.asynccontextmanager
    async def post(self, address: Address, body: bytes) -> AsyncIterator[Answer]:
        """POST a request; the answer's body is still to be read.

        Leaving it early tells the server: HTTP/1.1 ends the connection, HTTP/2 resets the stream.

        Raises:
            BrokenError: it cannot be reached, or broke off while the block read it.
            EndpointError: through a proxy of a kind that is not known, or with a key in clear text.
        """
        async with self._answering("POST", address, body) as answer:
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
        with contextlib.suppress(UnconnectedError, EndpointError):
            origin = origin_of(address.url)
            way = way_of(origin)
            if way.whole or self._dialler.spare(origin) or self._of_http1(way).idle(origin):
                return
            if origin.scheme == "https" and origin not in self._old:
                connection = await self._connection(origin)
                if connection is not None:
                    connection.begun = True
            else:
                async with self._alone(origin):
                    self._dialler.keep(origin, await self._dialler.dialled(origin, http2=False))

    @contextlib.asynccontextmanager
    async def _answering(self, method: str, address: Address, body: bytes) -> AsyncIterator[Answer]:
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

    async def _asked(self, origin: Origin, method: str, address: Address, body: bytes) -> Answer:
        """Ask; and again where surely nobody has heard it. Raises UnconnectedError, CutError."""
        headers = CIMultiDict(_HEADERS)
        headers.update(_of_user(address.url))
        headers.update(address.headers)
        full, stale, waited = 0, False, False
        way = way_of(origin)
        while True:
            try:
                connection = await self._connection(origin)
                if connection is not None:
                    return await connection.asked(method, address.url, headers, body)
                async with self._alone(origin):
                    pass  # a connection that is being made ahead is taken, not overtaken
                http1 = self._of_http1(way)
                return await http1.asked(method, _without_user(address.url), headers, body)
            except FullError as error:
                full += 1
                if full > _MOST_FULL:
                    raise CutError(UNANSWERED) from error
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

    async def _connection(self, origin: Origin) -> Http2Connection | None:
        """The HTTP/2 connection to a server; None: it speaks HTTP/1.1. Raises UnconnectedError."""
        if origin.scheme != "https" or way_of(origin).whole:
            return None
        async with self._alone(origin):
            if origin in self._old:
                return None
            known = self._http2.setdefault(origin, [])
            for connection in known:
                if connection.room:
                    return connection
            return await self._dialled(origin, known)

    async def _dialled(
        self, origin: Origin, known: list[Http2Connection]
    ) -> Http2Connection | None:
        # 30 ms, and no server on this machine needs it
        from tui.bridge.upstream.http2 import MOST_STREAMS, Http2Connection

        most = min((one.most_streams for one in known), default=MOST_STREAMS)
        made = await self._dialler.dialled(origin, lambda: Http2Connection(SILENCE_S, most))
        assert isinstance(made, Http2Connection)
        if not made.speaks_http2:
            self._old.add(origin)
            self._dialler.keep(origin, made)
            return None
        known.append(made)
        made.gone = functools.partial(_remove, known, made)
        return made

    def _forget(self, origin: Origin) -> None:
        """Nothing that waits for this server is of use any more."""
        self._dialler.forget(origin)
        http1 = self._http1.get(way_of(origin))
        if http1 is not None:
            http1.forget(origin)

    def _of_http1(self, way: Way) -> Http1:
        known = self._http1.get(way)
        if known is None:
            known = self._http1[way] = Http1(self._dialler, way, SILENCE_S)
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


def _remove(known: list[Http2Connection], gone: Http2Connection) -> None:
    if gone in known:
        known.remove(gone)
