"""The WebSocket server: who is let in, and the server's protocol around who answers."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import http
import secrets
from ssl import SSLContext
from typing import Any

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response

from tui.bridge import sockets
from tui.bridge.admission import Admission, OneToken, refused, respond
from tui.bridge.endpoints.base import ModelFacts
from tui.bridge.performer import EndpointPerformer
from tui.bridge.rehearsal.casting import DEEP, FAST, Rehearsal
from tui.bridge.rehearsal.endpoint import RehearsalRoute
from tui.bridge.routes import AnyEndpoint, Endpoints, OneEndpoint, Route
from tui.bridge.stage import Stage, log_without_words
from tui.bridge.told_endpoints import named_in, path_of

PATH = "/v1/responses"
MODELS_PATH = "/v1/models"
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
            create_connection=sockets.guests(self._opening),
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
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_S):
                    await self._server.wait_closed()
        await self.endpoints.close()

    async def _check(self, connection: ServerConnection, request: Request) -> Response | None:
        """What answers a request that is not let in; None lets it in."""
        answer = await self._answer(connection, request)
        if answer is not None and request.method == "HEAD":
            return dataclasses.replace(answer, body=b"")  # RFC 9110, section 9.3.2
        return answer

    async def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """Refuse what has no business here before the upgrade; None lets it in."""
        path = request.path.partition("?")[0]
        if request.headers.get_all("Origin"):
            return refused(http.HTTPStatus.FORBIDDEN, "Web pages may not use this bridge.")
        if own := await self.admission.page(connection, request):
            return own
        # a stranger does not hear either which paths, so which endpoints, there are
        if refusal := self.admission.refusal(connection, request):
            return refusal
        if path not in (PATH, MODELS_PATH) and named_in(path) not in self.endpoints.targets:
            return refused(http.HTTPStatus.NOT_FOUND, f"There is only {PATH} here.")
        if path == MODELS_PATH:
            return respond(http.HTTPStatus.OK, await self._models())
        return None

    async def _models(self) -> dict[str, Any]:
        """The rehearsal's models, then those of all endpoints as far as these list them in time."""
        from tui.bridge.providers.catalogue import Catalogue, listed

        own = [listed(name, "duetto", ModelFacts(images=False)) for name in (FAST, DEEP)]
        return {"object": "list", "data": own + await Catalogue(self.endpoints).listing()}

    async def _serve(self, socket: ServerConnection) -> None:
        self._connections += 1
        self._opening.discard(socket)
        prefix = f"{secrets.token_hex(4)}{self._connections:x}_"
        route = self._route_at(socket.request.path if socket.request else PATH)
        with self.admission.visit(socket) as visit:
            stage = Stage(socket, visit.attended(EndpointPerformer(route)), prefix)
            visit.staged(stage)
            await self._play(stage, socket)

    async def _play(self, stage: Stage, socket: ServerConnection) -> None:
        """Serve a connection to its end; a fault of ours ends it alone."""
        playing = asyncio.create_task(stage.run(self._max_age_s))
        try:
            await asyncio.wait({playing})
        finally:
            playing.cancel()
            await asyncio.wait({playing})
        error = None if playing.cancelled() else playing.exception()
        if error is not None:
            log_without_words("a connection of the bridge broke", error)
            await socket.close(1011, "The bridge broke; see its log.")

    def _route_at(self, path: str) -> Route:
        """Where the requests of a path go that `_check` has let in."""
        name = named_in(path.partition("?")[0])
        if name is not None:
            return OneEndpoint(self.endpoints, name)
        return AnyEndpoint(self.endpoints, RehearsalRoute(self.rehearsal))
