"""Who may use the bridge: asked before each upgrade and POST, and about each that is let in.

The app's own bridge has one token (`SingleToken`); a team's has users (`bridge.team.access`).
"""

from __future__ import annotations

import hmac
import http
import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from tui.bridge.client_connection import ClientConnection, Responder
from tui.bridge.client_transport import ClientTransport
from tui.core.wire.server.protocol import StoredResponses


class AdmittedConnection(Protocol):
    """One connection that was let in."""

    @property
    def stored(self) -> StoredResponses:
        """What its user has stored."""

    def guarded(self, responder: Responder) -> Responder:
        """Who answers, with whatever is to be asked and noted around each response."""

    def attached(self, client: ClientConnection) -> None:
        """The connection begins: this is what it is told by when it has to end."""


class AccessControl(Protocol):
    """Who may come in."""

    async def page(self, peer: str, request: Request) -> Response | None:
        """What is served at this address beside the API, such as /healthz; None: nothing is.

        ``peer`` is the address that the request comes from.
        """

    def refusal(self, peer: str, request: Request) -> Response | None:
        """Why a request may not come in; None lets it in."""

    def admit(self, connection: ClientTransport) -> AbstractContextManager[AdmittedConnection]:
        """A connection that was let in; left when it has ended."""


class SingleToken:
    """Whoever has the token may do anything: the bridge of one user's app."""

    def __init__(self, token: str) -> None:
        self._token = token
        self._stored = StoredResponses()

    async def page(self, peer: str, request: Request) -> Response | None:
        """See `AccessControl`: none."""
        return None

    def refusal(self, peer: str, request: Request) -> Response | None:
        """See `AccessControl`."""
        if hmac.compare_digest(as_bytes(bearer(request)), self._token.encode()):
            return None
        return unauthorized("A bearer token is required.")

    def admit(self, connection: ClientTransport) -> AbstractContextManager[AdmittedConnection]:
        """See `AccessControl`."""
        return nullcontext(_SingleUserConnection(self._stored))


class _SingleUserConnection:
    """A connection about which nothing is noted."""

    def __init__(self, stored: StoredResponses) -> None:
        self.stored = stored

    def guarded(self, responder: Responder) -> Responder:
        return responder

    def attached(self, client: ClientConnection) -> None:
        return


def bearer(request: Request) -> str:
    """The token of a request; empty: it has none, or several."""
    given = request.headers.get_all("Authorization")
    scheme, _, token = (given[0] if len(given) == 1 else "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def as_bytes(text: str) -> bytes:
    """A header's text as it came, whatever bytes those were."""
    return text.encode("utf-8", "surrogateescape")


def unauthorized(message: str) -> Response:
    """A 401, in the form that SDKs read."""
    answer = refused(http.HTTPStatus.UNAUTHORIZED, message, code="invalid_api_key")
    answer.headers["WWW-Authenticate"] = "Bearer"
    return answer


def refused(status: http.HTTPStatus, message: str, **more: str) -> Response:
    """A refusal before the upgrade; ``more``: its ``code`` and ``param``."""
    told = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    return json_response(status, {"error": {**told, **more}})


def json_response(
    status: http.HTTPStatus, body: dict[str, Any], headers: Mapping[str, str] | None = None
) -> Response:
    """A JSON answer to a request that is no upgrade."""
    return plain_response(status, json.dumps(body).encode() + b"\n", "application/json", headers)


def plain_response(
    status: http.HTTPStatus,
    data: bytes,
    content_type: str,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """An answer to a request that is no upgrade; the connection ends with it."""
    told = [
        ("Content-Type", content_type),
        ("Content-Length", str(len(data))),
        ("Cache-Control", "no-store"),
        ("Connection", "close"),
        *(headers or {}).items(),
    ]
    return Response(status.value, status.phrase, Headers(told), data)
