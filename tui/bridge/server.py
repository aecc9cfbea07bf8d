"""The bridge's server: who is let in, its pages, and the protocol around who answers."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import http
import importlib
import secrets
from asyncio import sslproto
from collections.abc import Coroutine
from dataclasses import replace
from functools import partial
from ssl import SSLContext
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response

from tui.bridge import client_transport
from tui.bridge.access import AccessControl, SingleToken, json_response, refused
from tui.bridge.client_connection import ClientConnection, EndpointResponder, log_without_words
from tui.bridge.client_transport import ClientTransport, WebSocketTransport, peer_of
from tui.bridge.endpoints.base import ModelFacts
from tui.bridge.rehearsal.endpoint import DEEP, FAST, Rehearsal, rehearsal_route
from tui.bridge.routing import Endpoints, Route, SharedRoute
from tui.bridge.targets import MODELS, RESPONSES, parse_path, path_of

if TYPE_CHECKING:
    from tui.bridge.http_server import HttpServer


_MOST_SAID_BACK = 256
_ELSEWHERE = {
    "chat/completions": "The Chat Completions API is not served here",
    "messages": "The Messages API is not served here",
}
_THERE_IS = (
    "POST a request to {base}responses, or open a WebSocket there; "
    "GET {base}models lists the models."
)


async def models_page(endpoints: Endpoints, endpoint: str | None, model: str) -> Response:
    """The models of an endpoint, or of all, as far as these list them in time; or one."""
    from tui.bridge.providers.catalogue import listed, listing, models_of, near

    if endpoint is None:
        own = [listed(name, "duetto", ModelFacts(images=True)) for name in (FAST, DEEP)]
        entries = own + await listing(endpoints)
    else:
        facts = sorted((await models_of(endpoints, endpoint)).items())
        entries = [listed(name, endpoint, known) for name, known in facts]
    if not model:
        return json_response(http.HTTPStatus.OK, {"object": "list", "data": entries})
    found = _meant(model, entries, bare=endpoint is None)
    if len(found) == 1:
        return json_response(http.HTTPStatus.OK, {**found[0], "id": model})
    shown = model[:_MOST_SAID_BACK]
    names = [str(entry["id"]) for entry in found]
    words = f"There is no model {shown!r} here{near(shown, [e['id'] for e in entries]) or '.'}"
    if names:
        words = f"Several endpoints have a model {shown!r}: say {' or '.join(names)}."
    return refused(http.HTTPStatus.NOT_FOUND, words, code="model_not_found", param="model")


def _meant(model: str, entries: list[dict[str, Any]], *, bare: bool) -> list[dict[str, Any]]:
    """The entries of that name; ``bare``: without ``ENDPOINT/``, if none has it as a whole."""
    found = [entry for entry in entries if entry["id"] == model]
    if not found and bare:
        found = [entry for entry in entries if entry["id"].partition("/")[2] == model]
    return found


def nothing_at(path: str) -> Response:
    """A 404 that says what there is instead."""
    path = path.partition("?")[0]
    place = parse_path(path)
    wanted = place.wanted if place is not None else ""
    base = path.removesuffix(wanted) if wanted in _ELSEWHERE else "/v1/"
    words = _ELSEWHERE.get(wanted, f"There is no {path[:_MOST_SAID_BACK]} here")
    if wanted.startswith(f"{RESPONSES}/"):
        words = (
            "Responses are not fetched, cancelled or deleted by their ids here: continue one by "
            "previous_response_id, and stop one by closing its connection"
        )
    return refused(http.HTTPStatus.NOT_FOUND, f"{words}: {_THERE_IS.format(base=base)}")


def not_so(request: Request, *methods: str) -> Response:
    """What answers a method that a path does not have; OPTIONS is told those that it has."""
    allowed = {"Allow": ", ".join((*methods, "OPTIONS"))}
    if request.method == "OPTIONS":
        return json_response(http.HTTPStatus.OK, {}, allowed)
    words = f"{request.method[:32]} is not possible here: {_THERE_IS.format(base='/v1/')}"
    answer = refused(http.HTTPStatus.METHOD_NOT_ALLOWED, words, code="method_not_allowed")
    answer.headers.update(allowed)
    return answer


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
        access: AccessControl | None = None,
    ) -> None:
        """With ``max_age_s`` a connection is ended when it is so old (PROTOCOL section 10).

        Without ``access`` whoever has the token comes in.
        """
        self.token = token or secrets.token_urlsafe(32)
        self.access = access or SingleToken(self.token)
        self.rehearsal = rehearsal or Rehearsal()
        self.endpoints = Endpoints()
        self.port = 0
        self._max_age_s = max_age_s
        self._server: Server | None = None
        self._connections = 0
        self._opening: set[client_transport.ClientSocket] = set()
        self._front: HttpServer | None = None

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
            ssl_handshake_timeout=client_transport.OPEN_S if tls else None,
            process_request=self._check,
            max_size=client_transport.MAX_MESSAGE_BYTES,
            max_queue=client_transport.QUEUED,
            compression=None,
            ping_interval=client_transport.PING_S,
            ping_timeout=client_transport.PONG_S,
            close_timeout=1,
            server_header=None,
            create_connection=client_transport.client_sockets(self._opening, self._plain),
            logger=client_transport.quiet,
        )
        self.port = int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Stop listening and end all connections."""
        if self._server is not None:
            # who has asked for nothing yet, such as a balancer's probe, would be waited for
            for client in list(self._opening):
                client.transport.abort()
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
            return replace(answer, body=b"")  # RFC 9110, section 9.3.2
        return answer

    async def answer(self, peer: str, request: Request) -> Response | None:
        """A page, or why a request has no business here; None lets it in.

        What is let in is an upgrade, or a POST to where the socket is served.
        """
        if request.headers.get_all("Origin"):
            return refused(http.HTTPStatus.FORBIDDEN, "Web pages may not use this bridge.")
        if own := await self.access.page(peer, request):
            return own
        # a stranger does not hear either which paths, so which endpoints, there are
        if refusal := self.access.refusal(peer, request):
            return refusal
        place = parse_path(request.path)
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
        return await models_page(self.endpoints, place.endpoint, unquote(model))

    async def _serve(self, socket: ServerConnection) -> None:
        assert isinstance(socket, client_transport.ClientSocket)
        self._opening.discard(socket)
        await self.attend(WebSocketTransport(socket), self._max_age_s)

    async def attend(self, connection: ClientTransport, max_age_s: float | None = None) -> None:
        """Serve a client that was let in, to its end."""
        self._connections += 1
        prefix = f"{secrets.token_hex(4)}{self._connections:x}_"
        route = self._route_at(connection.request.path)
        with self.access.admit(connection) as admitted:
            responder = admitted.guarded(EndpointResponder(route))
            client = ClientConnection(connection, responder, prefix, admitted.stored)
            admitted.attached(client)
            await self._play(client, connection, max_age_s)

    async def _play(
        self, client: ClientConnection, connection: ClientTransport, max_age_s: float | None
    ) -> None:
        """Serve a connection to its end; a fault of ours ends it alone."""
        playing = asyncio.create_task(client.run(max_age_s))
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
        place = parse_path(path)
        if place is not None and place.endpoint is not None:
            return partial(self.endpoints.candidates, place.endpoint)
        return SharedRoute(self.endpoints, rehearsal_route(self.rehearsal)).candidates

    async def _plain(self) -> asyncio.Protocol:
        """What answers plain HTTP on a connection."""
        if self._front is None:
            # a quarter of a second to load: the rehearsal on a socket needs none of it
            module = await asyncio.to_thread(importlib.import_module, "tui.bridge.http_server")
            self._front = self._front or module.HttpServer(self.answer, self.attend)
        return self._front.protocol()


FILES = 65_536
"""Sockets: each client has one, and each of its streams may have one upstream."""
_TLS_BUFFER_BYTES = 32 * 1024
"""asyncio keeps 256 KiB for each TLS connection to read into: 1,000 idle clients took 324 MB and
now take 105. A TLS record has 16 KiB (RFC 8446, section 5.1)."""
_COLLECT_EVERY, _OLDER, _OLDEST = 20_000, 20, 20


def run(work: Coroutine[Any, Any, None]) -> None:
    """`asyncio.run`; on libuv, where it is to be had.

    With 200 streams a token takes 45 us of processor time instead of 65.
    """
    make = None
    with contextlib.suppress(ImportError):  # Windows, PyPy
        import uvloop

        make = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=make) as runner:
        runner.run(work)


def prepare() -> None:
    """Raise the limit of open files, and have memory collected rarely: call it when all is loaded.

    Usual limits are 1,024 files, 256 on macOS. A full collection of what 200 streams and 1,000
    sockets hold takes 25 ms, in which no interrupt is heard; what is loaded by now is left out.
    """
    with contextlib.suppress(ImportError, OSError, ValueError):  # Windows; not allowed
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
        if soft != resource.RLIM_INFINITY and soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    sslproto.SSLProtocol.max_size = _TLS_BUFFER_BYTES
    gc.freeze()
    gc.set_threshold(_COLLECT_EVERY, _OLDER, _OLDEST)
