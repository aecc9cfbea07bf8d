"""Why an upstream did not answer, in words: each is the end of a sentence that begins with it."""

from __future__ import annotations

import errno
import json
import os
import re
import socket
import ssl
from collections.abc import Mapping
from typing import Any, NamedTuple

from tui.core.wire.address import authorities_advice
from tui.core.wire.events import MOST_ERROR_CHARS
from tui.core.wire.refusals import BLOCKED, blocked, page_title

_ERRNO = re.compile(r"\[Errno (\d{1,4})\]")
"""asyncio tells the errors of several addresses in one text."""
_EXPIRED = frozenset({9, 10})
_OTHER_NAME = frozenset({62, 63, 64})
"""OpenSSL's X509_V_ERR_*: the certificate is of another host, or not valid today."""


class UnconnectedError(Exception):
    """There is no connection to the upstream; the text ends a sentence that begins with it."""

    def __init__(self, text: str, *, refused: bool = False) -> None:
        """``refused``: the host is there, and nobody listens at this moment."""
        super().__init__(text)
        self.refused = refused


class CutError(Exception):
    """An answer was cut off; the text ends a sentence that begins with the upstream."""

    def __init__(self, text: str, *, unanswered: bool = False) -> None:
        """``unanswered``: nothing of an answer had come, not even its status."""
        super().__init__(text)
        self.unanswered, self.flooded = unanswered, text in (FLOODED, PACKED)


STALE_S = 1.0
"""A connection that a server closed while it waited is gone a round trip behind the request."""
UNANSWERED = "closed the connection before it had answered."
SILENT = "said nothing for too long."
MOST_UNSAID_BYTES = 256 * 1024
"""No server says as much around an answer; its headers may have a tenth of it."""
FLOODED = "sends headers, frames or empty chunks without an end, and no more of an answer."
PACKED = "sent its answer in a compression that duetto did not ask for and cannot read."
UNREAD = "sent what is not HTTP, or headers that are too long."


def unconnected(error: Exception, connect_s: float) -> UnconnectedError:
    """The words for what a dial raised."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return UnconnectedError(_untrusted(error))
    if isinstance(error, ssl.SSLError):
        reason = getattr(error, "reason", None) or ""  # not there where Python's own code made it
        why = f" ({reason.replace('_', ' ').lower()})" if reason else ""
        return UnconnectedError(f"cannot be reached: the TLS connection failed{why}.")
    if isinstance(error, TimeoutError) and not error.errno:
        words = f"cannot be reached: it did not answer within {connect_s:.0f} s."
        return UnconnectedError(words)
    if isinstance(error, socket.gaierror | UnicodeError):
        return UnconnectedError("cannot be reached: its name is not known.")
    number = _number(error)
    if number:
        words = f"cannot be reached: {os.strerror(number)}."
        return UnconnectedError(words, refused=number == errno.ECONNREFUSED)
    if isinstance(error, ConnectionError):
        return UnconnectedError("cannot be reached: it closed the connection at once.")
    return UnconnectedError("cannot be reached: check the url and the network.")


def proxy_refused(status: int | None) -> UnconnectedError:
    """The words for a proxy that will not connect; ``status``: as it said, if it speaks HTTP."""
    saying = f" (HTTP status {status})" if status is not None and status >= 100 else ""
    if status == 407:
        return UnconnectedError(
            f"cannot be reached: the proxy wants a user and a password{saying}, in its address: "
            "http://USER:PASSWORD@HOST:PORT."
        )
    return UnconnectedError(f"cannot be reached: the proxy refused{saying}.")


PROXY_SILENT = "cannot be reached: the proxy does not answer; check HTTPS_PROXY and ALL_PROXY."


def _number(error: Exception) -> int:
    """The system's number of an error; of several addresses' errors the first; 0: none."""
    if isinstance(error, OSError) and error.errno and error.errno > 0:
        return error.errno
    told = _ERRNO.search(str(error))
    return int(told[1]) if told else 0


def _untrusted(error: ssl.SSLCertVerificationError) -> str:
    if error.verify_code in _OTHER_NAME:
        return "cannot be trusted, its certificate is that of another host: check the url."
    if error.verify_code in _EXPIRED:
        return "cannot be trusted, its certificate is not valid today: check the clock."
    to_do = authorities_advice(os.environ, lambda path: os.access(path, os.R_OK))
    return f"cannot be trusted, its certificate is of no known authority: {to_do}"


_MOST_CHARS = 160
_MOST_FIELDS = 3
_MOST_RAW_CHARS = 4000
_JSON = re.compile(r"\{|\[ ?(?:[\[{\"\]]|\Z)")
_LAST_WORD = re.compile(r" ?[!-~]+\Z")
"""A key that is cut in two would not be known as one."""
_MOST_SAID_CHARS = 4 * MOST_ERROR_CHARS
"""A longer text is cut here before it is searched: no more of it is ever shown."""


class ErrorBody(NamedTuple):
    """One error; what it does not say is empty."""

    code: str
    message: str
    param: str = ""
    status: int | None = None
    """As HTTP has it, if it says one."""


def error_in(said: Mapping[str, Any]) -> ErrorBody:
    """The error of an event or of a body."""
    nested = said.get("error")
    error: Mapping[str, Any] = nested if isinstance(nested, dict) else said
    message = (
        _word(error.get("message"))
        or _word(nested)
        or _word(said.get("message"))
        or _detail(said.get("detail"))
        or _detail(error.get("detail"))
        or _detail(error.get("message"))  # Mistral
        or _first(nested)
        or _first(error.get("errors"))  # Cloudflare
        or _gateway(said)
    )
    message = f"{message} {_behind(error.get('metadata'))}"
    code = _word(error.get("code"))
    if not code and error is nested:
        code = _word(error.get("type"))  # of a flat event it is the event's
    numbers = (said.get("status"), said.get("status_code"), error.get("status"), error.get("code"))
    statuses = [status for number in numbers if (status := _status(number)) is not None]
    param = _word(error.get("param"))
    message = message.strip()[:MOST_ERROR_CHARS]
    return ErrorBody(code[:_MOST_CHARS], message, param[:_MOST_CHARS], (*statuses, None)[0])


def excerpt(body: bytes | bytearray) -> str:
    """What a body that is no JSON says, short and in one line; of a web page its title."""
    text = body[:4000].decode("utf-8", "replace").lstrip()
    if text.startswith("<"):
        text = page_title(text)
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    if _JSON.match(line):
        return ""
    return line if len(line) <= _MOST_CHARS else _LAST_WORD.sub("", line[:_MOST_CHARS])


def explained(said: ErrorBody, status: int, body: bytes, host: str) -> ErrorBody:
    """What an HTTP status of no success means, where its body has not ``said`` it as an API."""
    code, words = said.code or f"http_{status}", excerpt(body)
    if said.message:
        return said._replace(code=code)
    if status == 403:
        return said._replace(code=BLOCKED, message=blocked(host, words))
    if status == 401:
        words = f"{host} refused the key (HTTP status {status})."
    else:
        words = f"{host} answered with HTTP status {status}{': ' if words else '.'}{words}"
    return said._replace(code=code, message=words)


def _first(listed: object) -> str:
    """The words of the first error of a list."""
    one = listed[0] if isinstance(listed, list) and listed else None
    return _word(one.get("message")) if isinstance(one, dict) else _word(one)


def _gateway(said: Mapping[str, Any]) -> str:
    """Words where nobody else has them: AWS, MiniMax, and what stands before models in China."""
    base = said.get("base_resp")
    told = base.get("status_msg") if isinstance(base, dict) and base.get("status_code") else ""
    return _word(told) or _word(said.get("Message")) or _word(said.get("msg"))


def _detail(detail: object) -> str:
    """``detail`` of a web framework: words, or which field of the request is wrong and why."""
    if isinstance(detail, dict):
        inner = detail.get("detail")
        return _word(detail.get("message")) or ("" if isinstance(inner, dict) else _detail(inner))
    if not isinstance(detail, list):
        return _word(detail)
    told = [one for one in detail if isinstance(one, dict)][:_MOST_FIELDS]
    return "; ".join(filter(None, (_field(one) for one in told)))


def _behind(metadata: object) -> str:
    """What the provider behind a router said (OpenRouter)."""
    told = metadata if isinstance(metadata, dict) else {}
    said = excerpt(_word(told.get("raw")).encode("utf-8", "replace"))
    try:
        inner = json.loads(_word(told.get("raw"))[:_MOST_RAW_CHARS])
    except (ValueError, RecursionError):
        inner = None
    if isinstance(inner, dict):
        said = error_in({key: inner[key] for key in inner if key != "metadata"}).message
    return f"({said[:_MOST_CHARS]})" if said else ""


def _field(told: Mapping[str, Any]) -> str:
    where, words = told.get("loc"), _word(told.get("msg"))
    path = ".".join(str(part) for part in where) if isinstance(where, list) else ""
    return f"{path}: {words}" if path and words else words


def _status(number: object) -> int | None:
    if isinstance(number, str) and number.isascii() and number.isdigit():
        number = int(number[:4])
    if isinstance(number, bool) or not isinstance(number, int):
        return None
    return number if 400 <= number < 600 else None


def _word(value: object) -> str:
    return value[:_MOST_SAID_CHARS] if isinstance(value, str) else ""
