"""A server that speaks HTTP/2 over TLS, told what to do with each request; h2, no code of ours."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import trustme
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import (
    DataReceived,
    RequestReceived,
    StreamEnded,
    StreamReset,
    WindowUpdated,
)
from h2.exceptions import H2Error
from hyperframe.frame import GoAwayFrame


@dataclass(eq=False)
class Stream:
    """One request and its answer."""

    peer: Peer
    number: int
    headers: dict[str, str]
    body: bytearray = field(default_factory=bytearray)
    whole: asyncio.Event = field(default_factory=asyncio.Event)
    reset: asyncio.Event = field(default_factory=asyncio.Event)
    reset_code: int | None = None
    window: asyncio.Event = field(default_factory=asyncio.Event)

    def head(self, status: int = 200, **headers: str) -> None:
        """Begin to answer."""
        told = {"content-type": "text/event-stream", **headers}
        fields = [(name.replace("_", "-"), value) for name, value in told.items()]
        self.peer.h2.send_headers(self.number, [(":status", str(status)), *fields])
        self.peer.write()

    async def send(self, data: bytes, *, end: bool = False) -> None:
        """More of the answer, as fast as the client takes it."""
        while True:
            self.window.clear()
            room = self.peer.h2.local_flow_control_window(self.number)
            size = min(room, self.peer.h2.max_outbound_frame_size, len(data))
            if size or not data:
                piece, data = data[:size], data[size:]
                self.peer.h2.send_data(self.number, piece, end_stream=end and not data)
                self.peer.write()
                if not data:
                    return
            else:
                await self.window.wait()

    def refuse(self, code: int) -> None:
        """Reset the stream."""
        self.peer.h2.reset_stream(self.number, code)
        self.peer.write()


Answer = Callable[[Stream], Any]


class Peer(asyncio.Protocol):
    """One connection."""

    transport: asyncio.Transport

    def __init__(self, server: H2Server) -> None:
        self.server = server
        self.h2 = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        self.streams: dict[int, Stream] = {}
        self.tasks: set[asyncio.Task[None]] = set()
        self.old = b""
        """What a client said that speaks HTTP/1.1."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.server.peers.append(self)
        self.agreed = transport.get_extra_info("ssl_object").selected_alpn_protocol()
        self.server.connected.set()
        if self.agreed == "h2":
            self.h2.initiate_connection()
            self.write()

    def connection_lost(self, exc: Exception | None) -> None:
        for task in self.tasks:
            task.cancel()

    def data_received(self, data: bytes) -> None:
        if self.agreed != "h2":
            self.old += data
            if b"\r\n\r\n" in self.old:
                self.old = b""
                told = b"Content-Type: text/event-stream\r\nContent-Length: 9\r\n\r\ndata: 1\n\n"
                self.transport.write(b"HTTP/1.1 200 OK\r\n" + told)
            return
        for event in self.h2.receive_data(data):
            number = getattr(event, "stream_id", None)
            if isinstance(event, RequestReceived):
                headers = dict(cast("list[tuple[str, str]]", event.headers))
                stream = self.streams[event.stream_id] = Stream(self, event.stream_id, headers)
                self.server.streams.append(stream)
                task = asyncio.create_task(self.answer(stream))
                self.tasks.add(task)
            elif isinstance(event, DataReceived):
                self.streams[event.stream_id].body += event.data
                self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, StreamEnded):
                self.streams[event.stream_id].whole.set()
            elif isinstance(event, StreamReset):
                self.streams[event.stream_id].reset_code = event.error_code
                self.streams[event.stream_id].reset.set()
            elif isinstance(event, WindowUpdated):
                for stream in self.streams.values():
                    if number in (0, stream.number):
                        stream.window.set()
        self.write()

    async def answer(self, stream: Stream) -> None:
        with contextlib.suppress(H2Error):
            await self.server.answer(stream)

    def write(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(self.h2.data_to_send())

    def farewell(self, last: int) -> None:
        """Say the same, and go on answering the others (h2 would not)."""
        frame = GoAwayFrame(0)
        frame.last_stream_id = last
        self.transport.write(frame.serialize())

    def goaway(self, last: int) -> None:
        """Say that no request behind this one is answered."""
        self.h2.close_connection(last_stream_id=last)
        self.write()


class H2Server:
    """What it was asked."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.peers: list[Peer] = []
        self.streams: list[Stream] = []
        self.connected = asyncio.Event()
        self.port = 0

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}/v1/responses"


@contextlib.asynccontextmanager
async def h2_serving(
    answer: Answer, folder: Path, protocols: tuple[str, ...] = ("h2", "http/1.1")
) -> AsyncIterator[H2Server]:
    """Serve on a free port; its authority is ``authority.pem`` in the folder."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "authority.pem"))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost", "far.example.test").configure_cert(context)
    context.set_alpn_protocols(list(protocols))
    served = H2Server(answer)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Peer(served), "localhost", 0, ssl=context)
    served.port = server.sockets[0].getsockname()[1]
    for other in server.sockets[1:]:
        other.close()
    try:
        yield served
    finally:
        server.close()
        for peer in served.peers:
            peer.transport.abort()
