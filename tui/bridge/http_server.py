"""Plain HTTP: a POST is one more client connection, with one request on the default lane.

aiohttp reads and frames HTTP; the events are those of the socket, as server-sent events or as the
response that the last of them tells. Until the answer has begun an error is the status of the
whole (PROTOCOL sections 4 and 14); closing the connection is the interrupt.
"""

from __future__ import annotations

import asyncio
import http
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from typing import Any

import msgspec
from aiohttp import HttpVersion11, web
from websockets.datastructures import Headers
from websockets.exceptions import InvalidHeader
from websockets.http11 import Request, Response

from tui.bridge import client_transport
from tui.bridge import client_transport as connections
from tui.bridge.access import refused
from tui.bridge.client_connection import log_without_words
from tui.bridge.client_transport import ClientTransport, Posted
from tui.bridge.endpoints.base import status_of
from tui.bridge.time_slices import Share, SlicedHttp, in_turns, some
from tui.core.wire.client_events import Create, posted_in_steps
from tui.core.wire.json_reading import read_in_steps
from tui.core.wire.json_writing import LongFrame, Told, in_pieces

BODY_S = 300.0
PIECE_S = 30.0
"""A body has to come within the first, and something of it within each of the second."""
SILENT_S = 10.0
"""An answer that has not begun by then begins with a 200: clients do not wait for ever."""
IDLE_S = 30.0
"""A connection without a request, or with half a head, is closed after so long."""
_KIND = re.compile(r'\{"type": ?"([^"\\]*)')
_BEGUN = frozenset({"response.created", "response.in_progress"})
_WHOLE = frozenset({"response.completed", "response.incomplete"})
_LAST = frozenset({"response.completed", "response.incomplete", "response.failed", "error"})
_SERVER = {"Server": "duetto"}
"""In place of the library's name and version."""
_JSON = {"Content-Type": "application/json", "Cache-Control": "no-store"}
_STREAM = {
    **_SERVER,
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
}


class HttpServer:
    """Answers plain HTTP for a bridge."""

    def __init__(
        self,
        answer: Callable[[str, Request], Awaitable[Response | None]],
        attend: Callable[[ClientTransport], Coroutine[Any, Any, None]],
    ) -> None:
        """``answer`` and ``attend`` are those of `server.Bridge`."""
        self._answer, self._attend = answer, attend
        self._server = web.Server(self._handle, handler_cancellation=True)
        self._attended: set[asyncio.Task[None]] = set()

    def protocol(self) -> asyncio.Protocol:
        """What reads one connection."""
        return _HttpProtocol(
            self._server,
            loop=asyncio.get_running_loop(),
            keepalive_timeout=IDLE_S,
            lingering_time=2.0,
            auto_decompress=False,
            access_log=client_transport.quiet,
            logger=client_transport.quiet,
        )

    async def close(self) -> None:
        """End all connections, and the work for them."""
        for reader in self._server.connections:
            if reader.transport is not None:
                reader.transport.abort()
        for task in self._attended:
            task.cancel()
        await asyncio.gather(*self._attended, return_exceptions=True)

    async def _handle(self, asked: web.BaseRequest) -> web.StreamResponse:
        if asked.transport is None:
            return web.Response()  # it is gone
        told = [(_text(name), _text(value)) for name, value in asked.raw_headers]
        try:
            request = Request(asked.raw_path, Headers(told), asked.method)
        except InvalidHeader:
            return await _sent(_whole(_unreadable()), asked, asked.transport)
        peername = asked.transport.get_extra_info("peername")
        peer = str(peername[0]) if isinstance(peername, tuple) and peername else ""
        answer = await self._answer(peer, request)
        answer = answer or _unfit(asked)
        if answer is not None:
            return await _sent(_whole(answer), asked, asked.transport)
        connection = HttpTransport(asked, asked.transport, request, peer)
        work = asyncio.create_task(self._attend(connection))
        self._attended.add(work)
        work.add_done_callback(self._attended.discard)
        try:
            return await connection.answered(work)
        finally:
            # what has been answered is brought to its end, whether its client is still there
            if not connection.said:
                work.cancel()
                await asyncio.wait({work})


class HttpTransport(ClientTransport):
    """One POST."""

    def __init__(
        self, asked: web.BaseRequest, transport: asyncio.Transport, request: Request, peer: str
    ) -> None:
        """``asked`` has been let in."""
        super().__init__()
        self.request = request
        self.peer = peer
        self.said = False
        """The event that ends the response has been said."""
        self._asked = asked
        self._transport = transport
        self._writer: Any = None
        """aiohttp's, when the events have begun to go out."""
        self._streams = False
        self._chunked = asked.version >= HttpVersion11
        self._held: list[Told] = []
        """Events that are not sent yet: before a stream begins, or the last one of a response."""
        self._refusal: Response | None = None
        self._begun = asyncio.Event()
        self._closed = asyncio.Event()

    async def messages(self) -> AsyncIterator[str | bytes | Posted | None]:
        """See `ClientTransport`: the body, and no more until the response has ended."""
        body = await self._body()
        if body is None:
            return
        if self._closed.is_set():
            words = "This bridge is restarting: send it again."
            self._refusal = refused(http.HTTPStatus.SERVICE_UNAVAILABLE, words, code="draining")
            self._refusal.headers["Retry-After"] = "1"
            return
        event = await in_turns(posted_in_steps(body))
        size_bytes = await in_turns(read_in_steps(body))
        del body
        self._streams = isinstance(event, Create) and event.stream
        patience = asyncio.get_running_loop().call_later(SILENT_S, self._begin)
        try:
            yield Posted(event, size_bytes)
            await self._closed.wait()
        finally:
            patience.cancel()

    def write(self, frames: Iterable[Told]) -> None:
        """See `ClientTransport`."""
        for frame in frames:
            kind = _kind(frame)
            if self._streams:
                self._held.append(frame)
                if kind not in _BEGUN and (kind != "error" or self._begun.is_set()):
                    self._begin()
            elif kind in _LAST:
                self._held = [frame]
            self.said = self.said or kind in _LAST
        if self._writer is not None:
            self._send_held()

    @property
    def unread_bytes(self) -> int:
        """See `ClientTransport`."""
        return self._transport.get_write_buffer_size()

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """See `ClientTransport`: the answer that there is is sent."""
        self._closed.set()

    def abort(self) -> None:
        """See `ClientTransport`."""
        self._closed.set()
        self._transport.abort()

    async def answered(self, work: asyncio.Task[None]) -> web.StreamResponse:
        """The answer, sent as far as it is to be sent while the work goes on."""
        begun = asyncio.create_task(self._begun.wait())
        try:
            await asyncio.wait({work, begun}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            begun.cancel()
        if not self._begun.is_set():
            last = self._held[-1] if self._held else None
            if isinstance(last, LongFrame) and last.kind in _WHOLE:
                return await self._sent_long(last)
            answer = _whole(self._refusal or _ended(last))
            return await _sent(answer, self._asked, self._transport)
        stream = web.StreamResponse(headers=_STREAM)
        if self._chunked:
            stream.enable_chunked_encoding()
        self._writer = await stream.prepare(self._asked)
        self._writer.send_headers()
        self._send_held()
        await asyncio.wait({work})
        await self.drained()
        if not self.said:
            self._transport.abort()  # without an end, so that nobody takes it for a whole answer
        return await _sent(stream, self._asked, self._transport)

    async def _drain(self) -> None:
        await self._writer.drain()

    def _begin(self) -> None:
        """The answer begins with a 200, if it is a stream; else its end tells how it went."""
        if self._streams:
            self._begun.set()

    def _send_held(self) -> None:
        held, self._held = self._held, []
        self._send(held)

    @property
    def _going(self) -> bool:
        return self._transport.is_closing()

    @property
    def _full(self) -> bool:
        """Where asyncio has a writer wait."""
        _, high = self._transport.get_write_buffer_limits()
        return self._writer is not None and self.unread_bytes > high

    def _put(self, frames: list[str]) -> None:
        self._put_chunk("".join(map(_server_sent, frames)).encode())

    def _put_piece(self, frame: LongFrame, piece: bytes, *, first: bool, last: bool) -> None:
        before = f"event: {frame.kind}\ndata: ".encode() if first else b""
        self._put_chunk(b"%b%b%b" % (before, piece, b"\n\n" if last else b""))

    def _put_chunk(self, data: bytes) -> None:
        self._transport.write(b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data)

    async def _sent_long(self, last: LongFrame) -> web.StreamResponse:
        """The response that this event tells, piece by piece."""
        stream, share = web.StreamResponse(headers=_SERVER | _JSON), Share()
        if self._chunked:
            stream.enable_chunked_encoding()
        else:
            stream.force_close()
        self._writer = await stream.prepare(self._asked)
        self._writer.send_headers()
        for piece in in_pieces(last.event["response"]):
            self._put_chunk(piece)
            await share.pause()
            if self._full:
                await self._have_read()
            if self._going:
                break
        return await _sent(stream, self._asked, self._transport)

    async def _body(self) -> bytearray | None:
        """The whole body; None if it cannot be taken: `_refusal` says why."""
        asked = self._asked
        loop = asyncio.get_running_loop()
        body = bytearray()
        end_s, share = loop.time() + BODY_S, Share()
        if asked.headers.get("Expect"):
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        try:
            async with asyncio.timeout(PIECE_S) as patience:
                while len(body) <= client_transport.MAX_MESSAGE_BYTES:
                    await share.pause()
                    piece = some(asked.content) or await asked.content.readany()
                    if not piece:
                        return body
                    body += piece
                    patience.reschedule(min(loop.time() + PIECE_S, end_s))
        except TimeoutError:
            words = "The body of the request did not come in time: send it again."
            self._refusal = refused(http.HTTPStatus.REQUEST_TIMEOUT, words, code="request_timeout")
        except (web.RequestPayloadError, OSError):
            words = "The body of the request broke off, or is not framed as HTTP frames it."
            self._refusal = refused(http.HTTPStatus.BAD_REQUEST, words, code="invalid_request")
        else:
            self._refusal = _too_large()
        return None


class _HttpProtocol(SlicedHttp, web.RequestHandler):
    """One connection; what is no HTTP is answered as all errors are."""

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """See `web.RequestHandler`."""
        if status >= http.HTTPStatus.INTERNAL_SERVER_ERROR and exc is not None:
            log_without_words("a request of the bridge broke", exc)
            return _whole(_broke())
        return _whole(_unreadable(status))


async def _sent(
    answer: web.StreamResponse, asked: web.BaseRequest, transport: asyncio.Transport
) -> web.StreamResponse:
    """Send an answer to its end; who does not read it is cut off."""
    try:
        async with asyncio.timeout(connections.STALLED_S):
            await answer.prepare(asked)
            await answer.write_eof()
    except TimeoutError:
        transport.abort()
    except OSError:
        pass  # it is gone
    return answer


def _unfit(asked: web.BaseRequest) -> Response | None:
    """Why the body of a request is not even read; None: it is."""
    if asked.method != "POST":
        words = "This connection has served plain HTTP: open the WebSocket on another one."
        return refused(http.HTTPStatus.SERVICE_UNAVAILABLE, words)
    encoding = asked.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("identity", ""):
        words = "Compressed bodies are not taken here: send it without Content-Encoding."
        answer = refused(http.HTTPStatus.UNSUPPORTED_MEDIA_TYPE, words)
        answer.headers["Accept-Encoding"] = "identity"
        return answer
    told = asked.headers.get("Content-Type", "application/json").lower()
    kind, _, rest = told.partition(";")
    charset = rest.partition("charset=")[2].partition(";")[0].strip(' "')
    kind = kind.strip()
    json = kind == "application/json" or (kind.startswith("application/") and kind[-5:] == "+json")
    if not json or charset not in ("", "utf-8", "utf8"):
        words = "The body of a request is JSON in UTF-8: say Content-Type: application/json."
        return refused(http.HTTPStatus.UNSUPPORTED_MEDIA_TYPE, words)
    if asked.headers.get("Expect", "100-continue").lower() != "100-continue":
        words = "Of Expect only 100-continue is known here."
        return refused(http.HTTPStatus.EXPECTATION_FAILED, words)
    if (asked.content_length or 0) > client_transport.MAX_MESSAGE_BYTES:
        return _too_large()
    return None


def _too_large() -> Response:
    most = client_transport.MAX_MESSAGE_BYTES // (1024 * 1024)
    words = f"The body of the request is larger than {most} MiB: send less at once."
    return refused(http.HTTPStatus.REQUEST_ENTITY_TOO_LARGE, words, code="request_too_large")


def _unreadable(status: int = http.HTTPStatus.BAD_REQUEST) -> Response:
    words = "This is not a readable HTTP request: see RFC 9112."
    return refused(http.HTTPStatus(status), words, code="invalid_request")


def _broke() -> Response:
    words = "The bridge broke while it answered; see its log."
    return refused(http.HTTPStatus.INTERNAL_SERVER_ERROR, words, code="server_error")


def _ended(last: Told | None) -> Response:
    """The answer of a run that has ended, by its last event."""
    if last is None:
        return _broke()
    event = last.event if isinstance(last, LongFrame) else msgspec.json.decode(last)
    response = event.get("response") or {}
    if event["type"] == "error":
        status, error = event["status"], event["error"]
    elif event["type"] == "response.failed":
        told = response.get("error") or {}
        code = str(told.get("code") or "server_error")
        status, error = status_of(code), {"message": told.get("message"), "code": code}
    else:
        body = msgspec.json.encode(response)
        return Response(200, "OK", Headers(_JSON), body)
    kind = "server_error" if status >= 500 else "invalid_request_error"
    told = {"message": "", "type": kind, "param": None, "code": None}
    told |= {name: error[name] for name in told if name in error}
    headers = [*_JSON.items()]
    headers += [(name, str(value)) for name, value in (event.get("headers") or {}).items()]
    known = status in http.HTTPStatus._value2member_map_
    phrase = http.HTTPStatus(status).phrase if known else "Error"
    return Response(status, phrase, Headers(headers), msgspec.json.encode({"error": told}))


def _whole(answer: Response) -> web.Response:
    """The library's answer for ours."""
    headers = _SERVER | {
        name: value
        for name, value in answer.headers.raw_items()
        if name.lower() not in ("content-length", "connection")
    }
    made = web.Response(
        status=answer.status_code, reason=answer.reason_phrase, headers=headers, body=answer.body
    )
    if answer.headers.get("Connection") == "close":
        made.force_close()
    return made


def _server_sent(text: str) -> str:
    """An event as SSE; an error is flat there, and nested for who reads it like the socket's."""
    kind = _kind(text)
    if kind == "error":
        event = msgspec.json.decode(text)
        error = event["error"]
        flat = {name: error.get(name) for name in ("code", "message", "param")}
        number = event["sequence_number"]
        told = {"type": "error", "sequence_number": number, **flat, "error": error}
        text = msgspec.json.encode(told).decode()
    return f"event: {kind}\ndata: {text}\n\n"


def _kind(frame: Told) -> str:
    if isinstance(frame, LongFrame):
        return frame.kind
    found = _KIND.match(frame)
    return found[1] if found is not None else ""


def _text(data: bytes) -> str:
    """A header as the WebSockets' library reads it."""
    return data.decode("iso-8859-1")
