"""HTTP to the endpoints: connections kept and made ahead, errors in words.

One more connection than is used stands by at a server that speaks TLS: an interrupt closes the
one that it cuts, and the redirect behind it takes the other at once, where a new one would cost
two or three round trips (docs/house.md has the figures, and why it is not HTTP/2).
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import functools
import io
from collections.abc import AsyncIterator, Callable, Mapping
from contextvars import ContextVar
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.helpers import set_exception
from aiohttp.http_exceptions import ContentEncodingError
from msgspec import Struct
from multidict import CIMultiDict

from tui import __version__
from tui.bridge.endpoints.base import Broken, Refused, Unusable
from tui.bridge.providers.discovery import Fetched
from tui.bridge.time_slices import Share, SlicedHttp, some
from tui.bridge.upstream.dialing import CONNECT_S, IDLE_S, Dialer, Origin, origin_of
from tui.bridge.upstream.errors import (
    FLOODED,
    MOST_UNSAID_BYTES,
    PACKED,
    PROXY_SILENT,
    SILENT,
    STALE_S,
    UNANSWERED,
    UNREAD,
    CutError,
    UnconnectedError,
    proxy_refused,
    unconnected,
)
from tui.core.wire.address import Address, checked, is_loopback
from tui.errors import EndpointError


class _RequestProgress(Struct):
    """How a request goes its way; filled meanwhile."""

    unsent_bytes: int
    silence_s: float
    limit: asyncio.Timeout
    """Ends it where the server takes nothing, or does not come to the end of its headers."""
    pooled: bool = False
    """Its connection had waited in a pool, or was made ahead."""
    sent_s: float = 0.0
    """When its last byte was written, of the loop's clock."""
    handler: _Handler | None = None
    heard_before: int = 0

    @property
    def unheard(self) -> bool:
        """Nobody works on it, if its connection is gone at this moment without an answer.

        Either it was never whole, or its connection was closed while it waited: that is told
        within a round trip. Who closes later has heard it, and may want to be paid for it.
        """
        heard = self.handler.heard if self.handler is not None else 0
        if not self.pooled or heard > self.heard_before:
            return False
        late_s = asyncio.get_running_loop().time() - self.sent_s
        return self.unsent_bytes > 0 or late_s < STALE_S

    def begin(self, handler: _Handler) -> None:
        """It has a connection."""
        self.handler, self.heard_before = handler, handler.heard
        self.sent(0)

    def sent(self, size_bytes: int) -> None:
        """More of it is written."""
        self.unsent_bytes -= size_bytes
        self.sent_s = asyncio.get_running_loop().time()
        self.limit.reschedule(self.sent_s + self.silence_s)


_progress_of: ContextVar[_RequestProgress] = ContextVar("course")


class ProxyRoute(NamedTuple):
    """How servers are reached."""

    proxy: str | None
    whole: bool
    """The proxy is asked for whole URLs, or it speaks TLS itself: aiohttp dials."""


def proxy_route_of(origin: Origin) -> ProxyRoute:
    """How a server is reached."""
    scheme = origin.proxy.partition("://")[0] if origin.proxy else ""
    return ProxyRoute(
        origin.proxy, scheme == "https" or (scheme == "http" and origin.scheme == "http")
    )


class _EndlessError(aiohttp.ClientError):
    """The server sends, and says nothing."""


class _Framed(ResponseHandler):
    """aiohttp's connection, which ends where nothing comes but what is around an answer.

    Endless headers, provisional answers, empty lines and extensions of chunks are such.
    """

    _said_bytes = _unsaid_bytes = 0
    """Of the body, and since the last of it came."""

    def set_response_params(self, **parameters: Any) -> None:
        """See `ResponseHandler`: a new answer is waited for."""
        self._said_bytes = self._unsaid_bytes = 0
        super().set_response_params(**parameters)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        said_bytes = getattr(self._payload, "total_bytes", 0)
        self._unsaid_bytes += len(data)
        if said_bytes != self._said_bytes:
            self._said_bytes, self._unsaid_bytes = said_bytes, 0
        if self._unsaid_bytes > MOST_UNSAID_BYTES and self.transport is not None:
            error = _EndlessError(FLOODED)
            self.set_exception(error)
            if self._payload is not None:
                set_exception(self._payload, error)
            self.transport.abort()


class _Handler(SlicedHttp, _Framed):
    """The same, which tells whether a server has begun to answer."""

    heard = 0
    """How often something came."""
    listener: Callable[[], None] | None = None
    """Called behind whatever comes."""
    _heard_s = 0.0

    def data_received(self, data: bytes) -> None:
        self.heard += bool(data)
        super().data_received(data)

    def connection_lost(self, exc: BaseException | None) -> None:
        super().connection_lost(exc)
        self._tell()

    def fed(self) -> None:
        self._tell()

    def close(self) -> None:
        self.forget()
        super().close()

    def abort(self) -> None:
        self.forget()
        super().abort()

    def _tell(self) -> None:
        if self.listener is not None:
            self.listener()

    def _reschedule_timeout(self) -> None:
        """Note the time: aiohttp makes a timer for each piece, and throws it away."""
        self._heard_s = self._loop.time()
        if self._read_timeout_handle is None:
            self._look()

    def _look(self) -> None:
        """End an answer that is too silent, or look again when it may be."""
        self._read_timeout_handle = None
        if not self._read_timeout:
            return
        left_s = self._heard_s + self._read_timeout - self._loop.time()
        if left_s > 0:
            self._read_timeout_handle = self._loop.call_later(left_s, self._look)
        else:
            self._on_read_timeout()
            self._tell()


class _TrackedRequest(aiohttp.ClientRequest):
    """aiohttp's request, which tells when it has got its connection."""

    async def send(self, conn: Any) -> aiohttp.ClientResponse:
        progress = _progress_of.get(None)
        if progress is not None:
            progress.begin(conn.protocol)
        return await super().send(conn)


class UpstreamAnswer:
    """An upstream's answer. While nobody asks for its next piece the server is made to wait."""

    def __init__(self, response: aiohttp.ClientResponse, progress: _RequestProgress) -> None:
        self._response = response
        self._progress = progress
        self._share = Share()
        self.status = response.status
        self.headers: Mapping[str, str] = response.headers

    @property
    def over(self) -> bool:
        """All of it was read."""
        return self._response.content.at_eof()

    async def chunk(self) -> bytes:
        """The next piece of the body; empty: there is no more. Raises CutError."""
        content = self._response.content
        try:
            # aiohttp would tell of a broken connection first, and never of what came before
            if data := some(content):
                await self._share.pause()
                return data
            data = await content.readany()
            self._share.begin()
            return data
        except TimeoutError as error:
            raise CutError(SILENT) from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise CutError(_broken_off(error)) from error

    async def follow(self, take: Callable[[bytes], bool]) -> None:
        """Hand on each piece in the very turn of the loop in which it comes.

        Till ``take``, which raises nothing, says False, or something else than a piece comes:
        `chunk` tells. Without it each piece wakes a task in the next turn, behind all others.
        """
        handler, content = self._progress.handler, self._response.content
        if handler is None or content.is_eof():
            return
        stopped: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        busy = False

        def heard() -> None:
            nonlocal busy
            if busy or stopped.done():
                return
            busy = True  # to read may make aiohttp tell more, in the midst of this
            self._share.begin()
            try:
                ended = False
                while not ended and content.exception() is None and (data := some(content)):
                    ended = not take(data) or self._share.spent
            finally:
                busy = False
            if ended or content.exception() is not None or content.is_eof():
                stopped.set_result(None)

        handler.listener = heard
        try:
            heard()  # what came since the last piece
            await stopped
        finally:
            if handler.listener is heard:
                handler.listener = None

    def leave(self) -> None:
        """Nobody wants more of it: unless all was said, its connection ends at once."""
        connection = self._response.connection
        useless = not self.over or self._progress.unsent_bytes > 0  # it was refused early
        if connection is not None and connection.transport is not None and useless:
            connection.transport.abort()  # not closed: TLS would wait for the server's farewell
        if useless:
            self._response.close()
        self._response.release()


class Http1:
    """The requests of HTTP/1.1 to all servers that are reached through one proxy, or none."""

    def __init__(self, dialer: Dialer, way: ProxyRoute, silence_s: float) -> None:
        self._proxy, self._by_itself = way
        self._dialer = dialer
        self._silence_s = silence_s
        self._session: aiohttp.ClientSession | None = None
        self._making = asyncio.Lock()

    async def asked(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes
    ) -> UpstreamAnswer:
        """Send a request; its answer has its status. Raises UnconnectedError, CutError.

        Cancelled, its connection is closed.
        """
        session = await self._ready()
        fields = CIMultiDict(headers)
        fields.setdefault("Accept-Encoding", "identity")
        limit = asyncio.timeout(None)
        progress = _RequestProgress(len(body), self._silence_s, limit)
        token = _progress_of.set(progress)
        try:
            async with limit:
                response = await session.request(
                    method,
                    url,
                    data=io.BytesIO(body) if body else None,
                    headers=fields,
                    proxy=self._proxy if self._by_itself else None,
                    allow_redirects=False,
                )
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _failed(error, progress) from error
        finally:
            _progress_of.reset(token)
        return UpstreamAnswer(response, progress)

    def idle(self, origin: Origin) -> bool:
        """Whether a connection to this server waits for the next request."""
        pool = self._session.connector if self._session is not None else None
        return isinstance(pool, _Connector) and pool.idle(origin)

    def forget(self, origin: Origin) -> None:
        """End what waits for the next request to this server: the next one gets a new one."""
        pool = self._session.connector if self._session is not None else None
        if isinstance(pool, aiohttp.BaseConnector):
            _end(pool, origin)

    async def close(self) -> None:
        """End all connections."""
        if self._session is not None:
            await self._session.close()

    async def _ready(self) -> aiohttp.ClientSession:
        async with self._making:
            if self._session is None:
                self._session = await self._made()
            return self._session

    async def _made(self) -> aiohttp.ClientSession:
        """A session that adds nothing by itself: no cookies, no .netrc, no limit on lanes."""
        connector: aiohttp.BaseConnector
        if self._by_itself:
            context = await self._dialer.context()
            connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_S, ssl=context)
        else:
            connector = _Connector(self._dialer, self._proxy)
        loop = asyncio.get_running_loop()
        factory: functools.partial[Any] = functools.partial(_Handler, loop=loop)
        connector._factory = factory
        timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=CONNECT_S, sock_read=self._silence_s
        )
        tracing = aiohttp.TraceConfig()
        tracing.on_connection_reuseconn.append(_note_reuse)
        tracing.on_request_chunk_sent.append(_note_sent)
        return aiohttp.ClientSession(
            connector=connector,
            timeout=timeout,
            cookie_jar=aiohttp.DummyCookieJar(),
            trace_configs=[tracing],
            request_class=_TrackedRequest,
        )


class _Connector(aiohttp.BaseConnector):
    """aiohttp's pool over our own connections, those that were dialled ahead first."""

    allowed_protocol_schema_set = frozenset({"", "http", "https"})

    def __init__(self, dialer: Dialer, proxy: str | None) -> None:
        super().__init__(limit=0, keepalive_timeout=IDLE_S)
        self._dialer = dialer
        self._way = proxy

    def idle(self, origin: Origin) -> bool:
        """Whether a connection to this server waits for the next request."""
        here = (origin.host, origin.port)
        return any(kept and (key.host, key.port) == here for key, kept in self._conns.items())

    async def _create_connection(self, req: Any, *_more: Any) -> ResponseHandler:
        url = req.url
        origin = Origin(url.scheme, url.host or "", url.port or 80, self._way)
        spare = self._dialer.taken(origin)
        if spare is None:
            spare = await self._dialer.dialled(origin)
        else:
            _note_pooled()
        handler: ResponseHandler = self._factory()
        spare.transport.set_protocol(handler)
        handler.connection_made(spare.transport)
        return handler


async def _note_reuse(_session: object, _context: object, _params: object) -> None:
    _note_pooled()


async def _note_sent(
    _session: object, _context: object, params: aiohttp.TraceRequestChunkSentParams
) -> None:
    progress = _progress_of.get(None)
    if progress is not None and not progress.limit.expired():
        progress.sent(len(params.chunk))


def _note_pooled() -> None:
    progress = _progress_of.get(None)
    if progress is not None:
        progress.pooled = True


def _end(pool: aiohttp.BaseConnector, origin: Origin) -> None:
    for key, kept in list(pool._conns.items()):
        if (key.host, key.port) == (origin.host, origin.port):
            while kept:
                kept.pop()[0].abort()
            del pool._conns[key]


def _failed(error: Exception, progress: _RequestProgress) -> UnconnectedError | CutError:
    """What went wrong before the answer's status, and what that means for the request."""
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return proxy_refused(error.status)
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return UnconnectedError(PROXY_SILENT)
    if isinstance(error, aiohttp.ClientConnectorError):
        return unconnected(getattr(error, "certificate_error", None) or error.os_error, CONNECT_S)
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return unconnected(TimeoutError(), CONNECT_S)
    if isinstance(error, TimeoutError):
        return CutError(SILENT)
    gone = isinstance(
        error, aiohttp.ServerDisconnectedError | aiohttp.ClientOSError | ConnectionError
    )
    words = UNANSWERED if gone else _broken_off(error)
    return CutError(words, unanswered=gone and progress.unheard)


def _broken_off(error: Exception) -> str:
    """Why an answer that has begun goes no further, behind the server's name."""
    if isinstance(error, _EndlessError):
        return str(error)
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ContentEncodingError):
        cause = cause.__cause__
    if cause is not None:
        return PACKED
    return UNREAD if isinstance(error, aiohttp.ClientResponseError) else "broke off its answer."


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
            Broken: it cannot be reached, or broke off while the block read it.
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
            host = f"[{origin.host}]" if ":" in origin.host else origin.host
            place = f"{host}:{origin.port}" if error.refused else host
            raise Broken(f"{place} {error}", unreached=never) from error
        except CutError as error:
            kind = Unusable if error.flooded else Broken
            raise kind(f"{origin.host} {error}") from error

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
