"""The server: who is let in, and the server's protocol around who answers."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import http
import importlib
import secrets
from ssl import SSLContext
from typing import TYPE_CHECKING
from urllib.parse import unquote

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response

from tui.bridge import sockets
from tui.bridge.admission import Admission, OneToken, refused
from tui.bridge.connection import Connection, SocketConnection, peer_of
from tui.bridge.pages import Pages, not_so, nothing_at
from tui.bridge.performer import EndpointPerformer
from tui.bridge.rehearsal.casting import Rehearsal
from tui.bridge.rehearsal.endpoint import RehearsalRoute
from tui.bridge.routes import AnyEndpoint, Endpoints, OneEndpoint, Route
from tui.bridge.stage import Stage, log_without_words
from tui.bridge.told_endpoints import MODELS, RESPONSES, path_of, place_at

if TYPE_CHECKING:
    from tui.bridge.http_front import HttpFront

PATH = "/v1/responses"
CLOSE_S = 3.0
"""At the end; half a TLS handshake, or a client that says no goodbye, holds up nobody longer."""


class Bridge:
    """Serves the rehearsal models, and endpoints of all kinds."""

    def __init__(
        self,
        rehearsal: Rehearsal | None = None,
        token: str | None = None,
        max_age_s: float | None = None,
        admission: Admission | None = None,
    ) -> None:
        """With ``max_age_s`` a connection is ended when it is so old (PROTOCOL section 10).

        Without ``admission`` whoever has the token comes in.
        """
        self.token = token or secrets.token_urlsafe(32)
        self.admission = admission or OneToken(self.token)
        self.rehearsal = rehearsal or Rehearsal()
        self.endpoints = Endpoints()
        self.port = 0
        self._max_age_s = max_age_s
        self._server: Server | None = None
        self._connections = 0
        self._opening: set[sockets.Guest] = set()
        self._front: HttpFront | None = None

    @property
    def url(self) -> str:
        """Where it serves."""
        return f"ws://127.0.0.1:{self.port}{PATH}"

    def url_of(self, endpoint: str) -> str:
        """Where it relays to an endpoint."""
        return f"ws://127.0.0.1:{self.port}{path_of(endpoint)}"

    async def start(
        self, port: int = 0, host: str | None = "127.0.0.1", tls: SSLContext | None = None
    ) -> None:
        """Listen; port 0 takes a free one, no host all addresses.

        Raises OSError if the port is taken.
        """
        self._server = await serve(
            self._serve,
            host,
            port,
            ssl=tls,
            ssl_handshake_timeout=sockets.OPEN_S if tls else None,
            process_request=self._check,
            max_size=sockets.MAX_MESSAGE_BYTES,
            max_queue=sockets.QUEUED,
            compression=None,
            ping_interval=sockets.PING_S,
            ping_timeout=sockets.PONG_S,
            close_timeout=1,
            server_header=None,
            create_connection=sockets.guests(self._opening, self._plain),
            logger=sockets.quiet,
        )
        self.port = int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Stop listening and end all connections."""
        if self._server is not None:
            # who has asked for nothing yet, such as a balancer's probe, would be waited for
            for guest in list(self._opening):
                guest.transport.abort()
            self._server.close()
            if self._front is not None:
                await self._front.close()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_S):
                    await self._server.wait_closed()
        await self.endpoints.close()

    async def _check(self, socket: ServerConnection, request: Request) -> Response | None:
        """What answers a request that is not let in; None lets it in."""
        answer = await self.answer(peer_of(socket), request)
        if answer is not None and request.method == "HEAD":
            return dataclasses.replace(answer, body=b"")  # RFC 9110, section 9.3.2
        return answer

    async def answer(self, peer: str, request: Request) -> Response | None:
        """A page, or why a request has no business here; None lets it in.

        What is let in is an upgrade, or a POST to where the socket is served.
        """
        if request.headers.get_all("Origin"):
            return refused(http.HTTPStatus.FORBIDDEN, "Web pages may not use this bridge.")
        if own := await self.admission.page(peer, request):
            return own
        # a stranger does not hear either which paths, so which endpoints, there are
        if refusal := self.admission.refusal(peer, request):
            return refusal
        place = place_at(request.path)
        if place is None or place.endpoint not in (None, *self.endpoints.targets):
            return nothing_at(request.path)
        if place.wanted == RESPONSES:
            upgrades = request.method == "GET" and request.headers.get_all("Upgrade")
            asks = upgrades or request.method == "POST"
            return None if asks else not_so(request, "GET", "POST")
        kind, _, model = place.wanted.partition("/")
        if kind != MODELS:
            return nothing_at(request.path)
        if request.method not in ("GET", "HEAD"):
            return not_so(request, "GET", "HEAD")
        return await Pages(self.endpoints).models(place.endpoint, unquote(model))

    async def _serve(self, socket: ServerConnection) -> None:
        assert isinstance(socket, sockets.Guest)
        self._opening.discard(socket)
        await self.attend(SocketConnection(socket), self._max_age_s)

    async def attend(self, connection: Connection, max_age_s: float | None = None) -> None:
        """Serve a client that was let in, to its end."""
        self._connections += 1
        prefix = f"{secrets.token_hex(4)}{self._connections:x}_"
        route = self._route_at(connection.request.path)
        with self.admission.visit(connection) as visit:
            performer = visit.attended(EndpointPerformer(route))
            stage = Stage(connection, performer, prefix, visit.shelf)
            visit.staged(stage)
            await self._play(stage, connection, max_age_s)

    async def _play(self, stage: Stage, connection: Connection, max_age_s: float | None) -> None:
        """Serve a connection to its end; a fault of ours ends it alone."""
        playing = asyncio.create_task(stage.run(max_age_s))
        try:
            await asyncio.wait({playing})
        finally:
            playing.cancel()
            await asyncio.wait({playing})
        error = None if playing.cancelled() else playing.exception()
        if error is not None:
            log_without_words("a connection of the bridge broke", error)
            await connection.close(1011, "The bridge broke; see its log.")

    def _route_at(self, path: str) -> Route:
        """Where the requests of a path go that `answer` has let in."""
        place = place_at(path)
        if place is not None and place.endpoint is not None:
            return OneEndpoint(self.endpoints, place.endpoint)
        return AnyEndpoint(self.endpoints, RehearsalRoute(self.rehearsal))

    async def _plain(self) -> asyncio.Protocol:
        """What answers plain HTTP on a connection."""
        if self._front is None:
            # a quarter of a second to load: the rehearsal on a socket needs none of it
            module = await asyncio.to_thread(importlib.import_module, "tui.bridge.http_front")
            self._front = self._front or module.HttpFront(self)
        return self._front.protocol()
