"""What servers say when they say no, in words for the user."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus

import msgspec

from tui.core.wire.address import Address, secrets_in, shown
from tui.core.wire.events import ErrorEvent, Event, Failed, Incomplete, SteerNews
from tui.core.wire.masking import Mask
from tui.core.wire.rate_limits import retry_after_s
from tui.errors import EndpointError, KeyRefused

NO_WEBSOCKET = frozenset({400, 404, 405, 426, 501})
"""What a server answers to an upgrade that it does not know: HTTP+SSE may work there."""
UNREACHED = "endpoint_unreachable"
"""The bridge's relay says so of an endpoint that never answered: a wrong address, most likely."""
UNUSABLE = "endpoint_answer_unusable"
"""The bridge says so of an endpoint that sent what is not taken, such as an answer without end: the
same request would end the same way."""
HOPELESS_CLOSES = frozenset({1002, 1003, 1007, 1008, 1009})
"""Close codes after which the same request would end the same way (1009: it is too big)."""
_PASSING = frozenset({408, 409, 425, 429})
_CLOSES = {
    1000: "the server closed the connection",
    1001: "the server is going away",
    1008: "the server refuses to go on",
    1009: "the request was too big for the server",
    1011: "the server had an internal error",
    1012: "the server restarts",
    1013: "the server is overloaded",
}


def refusal(
    address: Address, status: int, body: bytes, headers: Mapping[str, str]
) -> EndpointError:
    """The error for an upgrade that was answered with ``status``, other than HTTP 101.

    Its fields say what may help (PROTOCOL sections 1 and 4).
    """
    location, wait_s = headers.get("Location"), retry_after_s(headers)
    where = shown(address.url)
    said = _excerpt(body, address)
    saying = f', saying "{said}"' if said else ""
    said = f' It says: "{said}"' if said else ""
    if status in (401, 403):
        words = f"wants a key (HTTP {status}), and none was sent: name its variable"
        if secrets_in(address):
            words = f"refused the key (HTTP {status}): check it, or name another"
        return KeyRefused(f"{where} {words} with --key-env.{said}")
    if location and 300 <= status < 400:
        goal = without_secrets(shown(location), address)
        return EndpointError(
            f"{where} redirects to {goal} (HTTP {status}), which is not followed: "
            "name the final address."
        )
    if status in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED):
        advice = "there is no WebSocket here; the path usually ends in /v1/responses"
    elif status == HTTPStatus.UPGRADE_REQUIRED:
        advice = "it wants another protocol than this WebSocket"
    elif status == HTTPStatus.TOO_MANY_REQUESTS or status >= 500:
        advice = "try again in a moment" if wait_s is None else f"try again in {wait_s:.0f} s"
    else:
        advice = "it is not a Responses WebSocket endpoint, or it wants something else"
    error = EndpointError(
        f"{where} answered HTTP {status}: {advice}.{said}",
        transient=status in _PASSING or (status >= 500 and status != HTTPStatus.NOT_IMPLEMENTED),
        http_may_work=status in NO_WEBSOCKET,
        retry_after_s=wait_s,
    )
    error.cause = f"{where} answered HTTP {status}{saying}"
    return error


def close_words(code: int, reason: str) -> str:
    """Why a server closed the socket, by its close frame (which may repeat the key)."""
    words = _CLOSES.get(code, f"the server closed the connection with code {code}")
    said = "".join(char for char in reason if char.isprintable())[:120]
    return f"{words} ({said})" if said else words


UNUSABLE_CODE = 1003
"""RFC 6455: data that this side does not take; it would be refused again."""


def lost_code(received: int | None, sent: int | None) -> int | None:
    """Why a socket was closed, by whoever found fault: the code received, the one sent."""
    if received is not None:
        return received
    return UNUSABLE_CODE if sent in (1002, 1007, 1009) else None


def lost_words(received: tuple[int, str] | None, sent: int | None, address: Address) -> str:
    """Why a socket was closed: code and reason of the server's close frame, our own code."""
    if received is not None:
        # before it is cut: a key cut in two would not be found
        code, reason = received
        return close_words(code, without_secrets(reason, address))
    if sent == 1009:
        return "the server sent a message that is too big"
    if sent in (1002, 1007):
        return "the server broke the WebSocket protocol"
    return "the connection broke"


def without_secrets(text: str, address: Address) -> str:
    """What a server says, should it repeat the key, in whatever form."""
    return Mask(secrets_in(address)).text(text) if text else text


def discreet(event: Event, address: Address) -> Event:
    """An event whose error or reason, if it tells of one, does not repeat the key."""

    def masked(text: str) -> str:
        return without_secrets(text, address)

    changed = msgspec.structs.replace
    if isinstance(event, ErrorEvent):
        code, message, param = map(masked, (event.code, event.message, event.param))
        return changed(event, code=code, message=message, param=param)
    if isinstance(event, Failed):
        error = {"code": masked(event.code), "message": masked(event.message)}
        return changed(event, response={**event.response, "error": error})
    if isinstance(event, Incomplete) and event.reason:
        details = {"reason": masked(event.reason)}
        return changed(event, response={**event.response, "incomplete_details": details})
    if isinstance(event, SteerNews):
        return changed(event, why=masked(event.why))
    return event


def _excerpt(body: bytes, address: Address) -> str:
    """What a refusal says, short, inert and without the key."""
    text = body[:4000].decode("utf-8", "replace")
    try:
        said = json.loads(text)
        said = said.get("error", said) if isinstance(said, dict) else said
        said = said.get("message", text) if isinstance(said, dict) else said
        text = said if isinstance(said, str) else text
    except (ValueError, RecursionError):
        pass
    text = without_secrets(text, address)
    text = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return "" if text.startswith("<") else text[:160]
