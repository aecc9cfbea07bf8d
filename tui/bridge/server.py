"""The WebSocket server: loopback only, bearer token, the server's protocol around who answers."""

from __future__ import annotations

import asyncio
import hmac
import http
import importlib
import json
import secrets
from typing import TYPE_CHECKING, Any

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from tui.bridge.models import DEEP, FAST, Rehearsal
from tui.bridge.rehearsal.performer import RehearsalPerformer
from tui.bridge.relay.endpoints import endpoint_at, path_of
from tui.bridge.stage import Performer, Stage
from tui.core.wire.address import Address

if TYPE_CHECKING:
    from tui.bridge.relay.upstream import Upstream

PATH = "/v1/responses"
MODELS_PATH = "/v1/models"
PING_S = 20.0
"""Proxies in between drop sockets that are idle for 60 s (PROTOCOL section 10)."""
MAX_MESSAGE_BYTES = 64 * 1024 * 1024


class Bridge:
    """Serves the rehearsal models, and endpoints that speak HTTP+SSE, on 127.0.0.1."""

    def __init__(
        self,
        rehearsal: Rehearsal | None = None,
        token: str | None = None,
        max_age_s: float | None = None,
    ) -> None:
        """With ``max_age_s`` a connection is ended when it is so old (PROTOCOL section 10)."""
        self.token = token or secrets.token_urlsafe(32)
        self.rehearsal = rehearsal or Rehearsal()
        self.endpoints: dict[str, Address] = {}
        """Name -> where it is relayed to; each at `relay.endpoints.path_of`."""
        self.port = 0
        self._max_age_s = max_age_s
        self._server: Server | None = None
        self._upstream: Upstream | None = None
        self._connections = 0

    @property
    def url(self) -> str:
        """Where it serves."""
        return f"ws://127.0.0.1:{self.port}{PATH}"

    def url_of(self, endpoint: str) -> str:
        """Where it relays to an endpoint."""
        return f"ws://127.0.0.1:{self.port}{path_of(endpoint)}"

    async def start(self, port: int = 0) -> None:
        """Listen; port 0 takes a free one. Raises OSError if the port is taken."""
        self._server = await serve(
            self._serve,
            "127.0.0.1",
            port,
            process_request=self._check,
            max_size=MAX_MESSAGE_BYTES,
            compression=None,
            ping_interval=PING_S,
            ping_timeout=None,
            close_timeout=1,
            server_header=None,
        )
        self.port = int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Stop listening and end all connections."""
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
        if self._upstream is not None:
            await self._upstream.close()

    def _check(self, connection: ServerConnection, request: Request) -> Response | None:
        """Refuse what has no business here before the upgrade; None lets it in."""
        path = request.path.partition("?")[0]
        if request.headers.get_all("Origin"):
            return _refusal(http.HTTPStatus.FORBIDDEN, "Web pages may not use this bridge.")
        relayed = endpoint_at(path, self.endpoints) is not None
        if path not in (PATH, MODELS_PATH) and not relayed:
            return _refusal(http.HTTPStatus.NOT_FOUND, f"There is only {PATH} here.")
        if not self._is_known(request.headers.get_all("Authorization")):
            return _refusal(http.HTTPStatus.UNAUTHORIZED, "A bearer token is required.")
        if path == MODELS_PATH:
            models = [{"id": name, "object": "model"} for name in (FAST, DEEP)]
            return _respond(http.HTTPStatus.OK, {"object": "list", "data": models})
        return None

    def _is_known(self, given: list[str]) -> bool:
        scheme, _, token = (given[0] if len(given) == 1 else "").partition(" ")
        same = hmac.compare_digest(token.strip().encode(), self.token.encode())
        return scheme.lower() == "bearer" and same

    async def _serve(self, socket: ServerConnection) -> None:
        self._connections += 1
        prefix = f"{secrets.token_hex(4)}{self._connections:x}_"
        performer = await self._performer_at(socket.request.path if socket.request else PATH)
        await Stage(socket, performer, prefix).run(self._max_age_s)

    async def _performer_at(self, path: str) -> Performer:
        """Who answers at a path that `_check` has let in."""
        address = endpoint_at(path.partition("?")[0], self.endpoints)
        if address is None:
            return RehearsalPerformer(self.rehearsal)
        # aiohttp takes a quarter of a second to load, which the rehearsal must not wait for.
        await asyncio.to_thread(importlib.import_module, "tui.bridge.relay.performer")
        from tui.bridge.relay.performer import RelayPerformer
        from tui.bridge.relay.upstream import Upstream

        upstream = self._upstream = self._upstream or Upstream()
        return RelayPerformer(upstream, address)


def _refusal(status: http.HTTPStatus, message: str) -> Response:
    return _respond(status, {"error": {"message": message, "type": "invalid_request_error"}})


def _respond(status: http.HTTPStatus, body: dict[str, Any]) -> Response:
    data = json.dumps(body).encode() + b"\n"
    headers = Headers(
        [
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(data))),
            ("Connection", "close"),
        ]
    )
    return Response(status.value, status.phrase, headers, data)
