"""One HTTP/2 connection: many requests at a time, each of which can be reset alone."""

from __future__ import annotations

import asyncio
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import cast
from urllib.parse import urlsplit, urlunsplit

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    RemoteSettingsChanged,
    ResponseReceived,
    StreamEnded,
    StreamReset,
    WindowUpdated,
)
from h2.exceptions import (
    DenialOfServiceError,
    H2Error,
    NoAvailableStreamIDError,
    TooManyStreamsError,
)
from h2.settings import SettingCodes, Settings
from hyperframe.frame import Frame, GoAwayFrame

from tui.bridge.time_slices import IDLE_S as IDLE_SPAN_S
from tui.bridge.time_slices import MOST_IDLE, Share, Sliced
from tui.bridge.upstream.dialing import IDLE_S, Spare
from tui.bridge.upstream.errors import (
    FLOODED,
    MOST_UNSAID_BYTES,
    REFUSED_HEADER,
    SILENT,
    STALE_S,
    UNANSWERED,
    UNREAD,
    CutError,
    FullError,
)

_OF_HTTP1 = frozenset({"connection", "host", "keep-alive", "transfer-encoding", "upgrade"})


def fields_of(
    method: str, url: str, headers: Mapping[str, str], size: int
) -> list[tuple[str, str]]:
    """All of them, in order; ``size`` is that of the body in bytes."""
    parts = urlsplit(url)
    length = [("content-length", str(size))] if size else []
    return [
        (":method", method),
        (":authority", parts.netloc.rpartition("@")[2]),
        (":scheme", parts.scheme),
        (":path", urlunsplit(("", "", parts.path or "/", parts.query, ""))),
        *((n.lower(), v) for n, v in headers.items() if n.lower() not in _OF_HTTP1),
        *length,
    ]


class H2State(H2Connection):
    """A connection to a server that may leave when it has answered.

    GOAWAY ends no stream up to the one that it names (RFC 9113, 6.8): load balancers say it to
    every connection in its time. h2 takes it for the end of the connection, and refuses whatever
    comes behind it.
    """

    def _receive_goaway_frame(self, frame: GoAwayFrame) -> tuple[list[Frame], list[Event]]:
        told = ConnectionTerminated()
        told.last_stream_id = frame.last_stream_id
        return [], [told]


STREAM_WINDOW_BYTES = 256 * 1024
"""What a server may send ahead of who reads one answer."""
CONNECTION_WINDOW_BYTES = 32 * 1024 * 1024
"""The same for all answers of a connection: so that one that nobody reads stops no other."""
MOST_STREAMS = 100
"""At a time, until the server says how many it takes (RFC 9113, 6.5.2: no fewer, it is hoped)."""
MOST_UNSENT_BYTES = 8 * 1024 * 1024
"""A server that does not read what it makes us say (PING, SETTINGS) is left."""
_UNZIPPED_BYTES = 1024 * 1024
"""In one piece: a few bytes may be thousands of times as many."""
_FIRST_WINDOW_BYTES = 65_535
_MOST_HEADER_BYTES = 64 * 1024
_SETTINGS = {
    SettingCodes.ENABLE_PUSH: 0,
    SettingCodes.INITIAL_WINDOW_SIZE: STREAM_WINDOW_BYTES,
    SettingCodes.MAX_HEADER_LIST_SIZE: _MOST_HEADER_BYTES,
}
_GZIP_OR_ZLIB = 47
"""zlib's window bits, with the header found out."""


class Http2Answer:
    """One answer; see `upstream.client.Answer`."""

    def __init__(self, connection: Http2Connection, number: int, silence_s: float) -> None:
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self.number = number
        self.pooled = connection.begun
        """Others have asked over the connection before, or it was made ahead."""
        self.sendable = asyncio.Event()
        self.sent_s: float | None = None
        """When the last of the request was written, of the loop's clock."""
        self._heard_before = connection.heard
        self._connection = connection
        self._silence_s = silence_s
        self._chunks: deque[tuple[bytes, int]] = deque()
        self._share = Share()
        self._told = asyncio.Event()
        self._over = False
        self._error: CutError | FullError | None = None
        self._unzip: zlib._Decompress | None = None

    @property
    def over(self) -> bool:
        """The server has said all, or will say nothing more."""
        return self._over

    @property
    def decided(self) -> bool:
        """Nobody there wants the rest of the request."""
        return self._over or self.status >= 300

    @property
    def unheard(self) -> bool:
        """Nobody works on it, if its connection is gone at this moment without an answer.

        As with HTTP/1.1: it was not whole, or was sent a round trip ago over one that had waited,
        and since then the server has said nothing to anybody.
        """
        if self.status or not self.pooled or self._connection.heard > self._heard_before:
            return False
        now_s = asyncio.get_running_loop().time()
        return self.sent_s is None or now_s - self.sent_s < STALE_S

    async def head(self) -> None:
        """Wait for the status. Raises CutError."""
        while not self.status:
            if self._over and self._error is None:
                raise CutError  # a server that ends what it has not begun
            await self._more()

    async def chunk(self) -> bytes:
        """The next piece of the body; empty: there is no more. Raises CutError."""
        while True:
            while self._chunks:
                data, size_bytes = self._chunks.popleft()
                if self._unzip is not None:
                    data = _unzipped(self._unzip, data)
                    if self._unzip.unconsumed_tail:
                        self._chunks.appendleft((self._unzip.unconsumed_tail, size_bytes))
                        size_bytes = 0
                self._connection.took(self.number, size_bytes)
                if data:
                    await self._share.pause()
                    return data
            if self._over and self._error is None:
                return b""
            await self._more()

    async def follow(self, take: Callable[[bytes], bool]) -> None:
        """See `Answer`: all that came over the connection at once is one piece in `chunk`, too."""

    def leave(self) -> None:
        """Nobody wants more of it: unless all was said, the server is told so."""
        self._connection.leave(self)

    def hear(self, event: Event) -> None:
        """What the connection heard of it."""
        if isinstance(event, ResponseReceived):
            self._heard_head(cast("Iterable[tuple[str, str]]", event.headers))
        elif isinstance(event, DataReceived):
            if event.data:
                self._chunks.append((event.data, event.flow_controlled_length or 0))
            else:
                self._connection.took(self.number, event.flow_controlled_length or 0)
        elif isinstance(event, StreamEnded):
            self._over = True
        elif isinstance(event, StreamReset):
            refused = event.error_code == ErrorCodes.REFUSED_STREAM and not self.status
            self.cut(FullError() if refused else CutError())
        self._told.set()
        if self.decided:
            self.sendable.set()

    def unread_bytes(self) -> int:
        """What has come and nobody will read; forgets it."""
        size_bytes = sum(size_bytes for _, size_bytes in self._chunks)
        self._chunks.clear()
        return size_bytes

    def cut(self, error: CutError | FullError) -> None:
        """The connection is gone, or the server has reset the stream."""
        if not self._over:
            self._over, self._error = True, error
        self._told.set()
        self.sendable.set()

    def _heard_head(self, headers: Iterable[tuple[str, str]]) -> None:
        told: dict[str, str] = {}
        for name, value in headers:
            told[name] = f"{told[name]}, {value}" if name in told else value
        self.status = int(told.pop(":status", "502"))
        self.headers = told
        if told.get("content-encoding", "").lower() in ("gzip", "x-gzip", "deflate"):
            self._unzip = zlib.decompressobj(_GZIP_OR_ZLIB)

    async def _more(self) -> None:
        """Wait until something was heard. Raises CutError: it is over, or too silent."""
        if not self._told.is_set() and self._error is None:
            try:
                async with asyncio.timeout(self._silence_s):
                    await self._told.wait()
                self._share.begin()
            except TimeoutError:
                raise CutError(SILENT) from None
        self._told.clear()
        if self._error is not None and not self._chunks:
            raise self._error


class _Spoken(Spare):
    """Reads what a server sends on a connection that was opened elsewhere."""

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        if self.speaks_http2:
            self.told(data)
        else:
            super().data_received(data)

    def told(self, data: bytes) -> None:
        """Take what came over HTTP/2."""


class Http2Connection(Sliced, _Spoken):
    """See the module. What the server offers is looked at first: it may speak HTTP/1.1 only."""

    SLICE_BYTES = 512
    """Has at most 56 frames."""

    def __init__(self, silence_s: float, most_streams: int = MOST_STREAMS) -> None:
        """``most_streams``: at a time, until the server says how many."""
        self._silence_s = silence_s
        self._most_streams = most_streams
        self._settled = False
        """The server has sent its settings."""
        self._h2 = H2State(H2Configuration(client_side=True, header_encoding="latin-1"))
        self._answers: dict[int, Http2Answer] = {}
        self._leaving = False
        """The server has said GOAWAY."""
        self._writable = asyncio.Event()
        self._writable.set()
        self._idle: asyncio.TimerHandle | None = None
        self.heard = 0
        """How often something came."""
        self.begun = False
        """Somebody has asked over it, or it was made ahead."""
        self.gone: Callable[[], None] = lambda: None
        self.ended_for = ""
        """What the server sent that ended the connection, in words behind its name."""
        self._unsaid, self._unsaid_since_s, self._unsaid_bytes = 0, 0.0, 0
        """Of what said nothing: how often within a second, and how much since something did."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        super().connection_made(transport)
        if not self.speaks_http2:
            return
        # As initial values: what is updated later counts from the server's acknowledgement on.
        self._h2.local_settings = Settings(client=True, initial_values=_SETTINGS)
        self._h2.initiate_connection()
        self._h2.increment_flow_control_window(CONNECTION_WINDOW_BYTES - _FIRST_WINDOW_BYTES)
        self._write()
        self._rest()

    @property
    def most_streams(self) -> int:
        """Requests that it takes at a time."""
        told = self._h2.remote_settings.max_concurrent_streams
        return min(told, 1000) if self._settled else self._most_streams

    @property
    def room(self) -> bool:
        """It takes another request."""
        open_now = not (self.lost or self._leaving or self.transport.is_closing())
        return open_now and len(self._answers) < self.most_streams

    async def asked(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes
    ) -> Http2Answer:
        """Send a request; its answer has its status. Raises CutError, FullError.

        Cancelled, the stream is reset.
        """
        if not self.room:
            raise FullError
        try:
            number = self._h2.get_next_available_stream_id()
            answer = Http2Answer(self, number, self._silence_s)
            fields = fields_of(method, url, headers, len(body))
            self._h2.send_headers(number, fields, end_stream=not body)
            self.begun, self._answers[number] = True, answer
        except H2Error as error:
            self._leaving = True
            self._rest()
            if isinstance(error, NoAvailableStreamIDError | TooManyStreamsError):
                raise FullError from error
            raise CutError(REFUSED_HEADER) from error
        if self._idle is not None:
            self._idle.cancel()
        self._write()
        try:
            await self._send(answer, body)
            await answer.head()
        except TimeoutError:
            self.leave(answer)
            raise CutError(SILENT) from None
        except BaseException:
            self.leave(answer)
            raise
        return answer

    def leave(self, answer: Http2Answer) -> None:
        """Nobody wants more of an answer: the server hears of it, if it has not said all."""
        if self._answers.pop(answer.number, None) is None:
            return
        self.took(answer.number, answer.unread_bytes())  # the window is that of all the others
        if not self.lost and not (answer.over and answer.sent_s):
            try:
                self._h2.reset_stream(answer.number, ErrorCodes.CANCEL)
            except H2Error:
                self.transport.abort()
            self._write()
        self._rest()

    def took(self, number: int, size_bytes: int) -> None:
        """Somebody has read so much: the server may send as much again."""
        if self.lost or not size_bytes:
            return
        try:
            self._h2.acknowledge_received_data(size_bytes, number)
        except H2Error:
            return  # the connection is over
        self._write()

    def told(self, data: bytes) -> None:
        """See `_Spoken`."""
        if self.ended_for:
            return
        self.heard += 1
        try:
            events = self._h2.receive_data(data)
        except H2Error as error:
            words = FLOODED if isinstance(error, DenialOfServiceError) else UNREAD
            self._drop(words)
            return
        self._unsaid_bytes += len(data)
        for event in events:
            self._hear(event)
        if self._unsaid_bytes > MOST_UNSAID_BYTES or self._unsaid > MOST_IDLE:
            self._drop(FLOODED)

    def fed(self) -> None:
        """See `Sliced`."""
        self._write()
        if self.transport.get_write_buffer_size() > MOST_UNSENT_BYTES:
            self._drop(FLOODED)

    def _drop(self, words: str) -> None:
        """End the connection for what the server sent; ``words``: behind its name."""
        self.ended_for = words
        self.forget()
        self._write()
        self.transport.abort()

    def _count(self, event: Event) -> None:
        """Count what says nothing; what is said begins it anew."""
        if isinstance(event, ResponseReceived) or (isinstance(event, DataReceived) and event.data):
            self._unsaid = self._unsaid_bytes = 0
            return
        now_s = time.monotonic()
        if now_s - self._unsaid_since_s > IDLE_SPAN_S:
            self._unsaid, self._unsaid_since_s = 0, now_s
        self._unsaid += 1

    def connection_lost(self, exc: BaseException | None) -> None:
        """See `asyncio.Protocol`."""
        super().connection_lost(exc)
        self._writable.set()
        for answer in list(self._answers.values()):
            unanswered = CutError(UNANSWERED, unanswered=answer.unheard and not self._leaving)
            error = CutError() if answer.status else unanswered
            answer.cut(CutError(self.ended_for) if self.ended_for else error)
        self._answers.clear()
        if self._idle is not None:
            self._idle.cancel()
        self.gone()

    def pause_writing(self) -> None:
        """See `asyncio.Protocol`."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """See `asyncio.Protocol`."""
        self._writable.set()

    def _hear(self, event: Event) -> None:
        self._count(event)
        if isinstance(event, ConnectionTerminated):
            self._leave_all(event)
            return
        self._settled = self._settled or isinstance(event, RemoteSettingsChanged)
        if isinstance(event, WindowUpdated | RemoteSettingsChanged):
            for answer in self._answers.values():
                answer.sendable.set()
        number = getattr(event, "stream_id", None)
        heard = self._answers.get(number) if number else None
        if heard is not None:
            heard.hear(event)
        elif isinstance(event, DataReceived):
            self.took(event.stream_id, event.flow_controlled_length)

    def _leave_all(self, event: ConnectionTerminated) -> None:
        """GOAWAY: what the server has not begun can be asked elsewhere."""
        self._leaving = True
        last = event.last_stream_id
        for number, answer in list(self._answers.items()):
            if last is not None and number > last:
                answer.cut(FullError())
        self._rest()

    async def _send(self, answer: Http2Answer, body: bytes) -> None:
        """The body, as fast as the server takes it. Raises TimeoutError: it does not."""
        at = 0
        while at < len(body):
            if answer.decided or self.lost:
                return  # it is answered already, or `head` says what is wrong
            answer.sendable.clear()
            try:
                window = self._h2.local_flow_control_window(answer.number)
                end = at + min(window, self._h2.max_outbound_frame_size, len(body) - at)
                if end > at:
                    self._unsaid = self._unsaid_bytes = 0  # a window is opened for each piece
                    self._h2.send_data(answer.number, body[at:end], end_stream=end == len(body))
            except H2Error:
                return  # the same
            self._write()
            going = answer.sendable if end <= at else self._writable
            at = max(at, end)
            if not going.is_set():
                async with asyncio.timeout(self._silence_s):
                    await going.wait()
        answer.sent_s = asyncio.get_running_loop().time()

    def _rest(self) -> None:
        """Nobody asks at this moment: an idle connection is ended after a while."""
        if self._answers or self.lost:
            return
        if self._leaving:
            self.transport.close()
            return
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(IDLE_S, self.transport.close)

    def _write(self) -> None:
        data = self._h2.data_to_send()
        if data and not self.transport.is_closing():
            self.transport.write(data)


def _unzipped(unzip: zlib._Decompress, data: bytes) -> bytes:
    try:
        return unzip.decompress(data, _UNZIPPED_BYTES)
    except zlib.error:
        raise CutError("sent something that is not compressed as it says.") from None
