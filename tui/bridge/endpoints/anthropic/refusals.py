"""What the Messages API says when it says no, as the errors of our protocol."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from tui.bridge.upstream.complaint import complaint_in, excerpt

_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "conflict_error": 409,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The status of an error that came within a stream, where HTTP had said 200 already."""
_CODES = {
    "authentication_error": "invalid_api_key",
    "billing_error": "insufficient_quota",
    "rate_limit_error": "rate_limit_exceeded",
    "api_error": "server_error",
    "timeout_error": "server_error",
}
"""The codes that clients of our protocol know."""
_TOO_LONG = re.compile(
    r"prompt is too long|exceed(s|ed)? (the )?(context|maximum)|context (window|limit|length)", re.I
)
_MODEL = re.compile(r"\bmodel\b", re.I)
_NO_MODEL = re.compile(
    r"\b(invalid|unknown|no such) model\b|\bmodel\b.{0,80}\b(not found|not exist|n't exist)", re.I
)


class Complaint(NamedTuple):
    """One error."""

    status: int
    code: str
    message: str


def complaint(said: Mapping[str, Any], status: int | None = None, host: str = "") -> Complaint:
    """The error of an ``error`` event or of a body; ``status`` is that of HTTP, if it said one."""
    found, kind = complaint_in(said), _kind(said)
    status = status or found.status or _STATUSES.get(kind, 429 if "quota" in kind else 500)
    message = found.message or _unspoken(status, host)
    code = _CODES.get(kind, kind) or _code_of(status)
    error = said.get("error")
    details = error.get("details") if isinstance(error, Mapping) else None
    cause = details.get("error_code") if isinstance(details, Mapping) else None
    if isinstance(cause, str) and "spend_limit" in cause:
        code = "insufficient_quota"
    elif status in (400, 413) and _TOO_LONG.search(message):
        code = "context_length_exceeded"
    elif (status == 404 and _MODEL.search(found.message)) or (
        status == 400 and _NO_MODEL.search(found.message)
    ):
        code = "model_not_found"
    return Complaint(status, code, message)


def refusal(status: int, said: Mapping[str, Any] | None, body: bytes, host: str) -> Complaint:
    """The error of an HTTP status of no success; ``said``: its body, if it is JSON."""
    if said:
        return complaint(said, status, host)
    words = "" if status in (401, 403) else excerpt(body)  # who refuses a key may repeat it
    message = f"{host} answered with HTTP status {status}: {words}" if words else ""
    return Complaint(status, _code_of(status), message or _unspoken(status, host))


def _kind(said: Mapping[str, Any]) -> str:
    """The type of an error; gateways say other words, or a number, or nothing."""
    error = said.get("error")
    if not isinstance(error, Mapping):
        return ""
    words = (error.get("type"), error.get("code"))
    known = [word for word in words if isinstance(word, str) and word and not word.isdigit()]
    return next((word for word in known if word in _STATUSES), known[-1] if known else "")


def _code_of(status: int) -> str:
    """The code for an error that has none."""
    codes = {401: "invalid_api_key", 429: "rate_limit_exceeded", 529: "overloaded_error"}
    return codes.get(status, "server_error" if status >= 500 else f"http_{status}")


def _unspoken(status: int, host: str) -> str:
    """Words for an error that has none."""
    where = host or "The endpoint"
    if status in (401, 403):
        return f"{where} refused the key (HTTP status {status}): check it."
    if status in (404, 405, 501):
        return f"{where} has no Messages API at this address (HTTP status {status}): check its url."
    if status == 529:
        return f"{where} is overloaded: try again in a moment."
    return f"{where} answered with HTTP status {status}."
