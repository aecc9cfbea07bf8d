"""The errors in upstreams' answers, in whichever form: OpenAI's, flat, nested, a framework's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from tui.core.wire.events import MOST_ERROR_CHARS

_MOST_CHARS = 160
_MOST_FIELDS = 3
_MOST_RAW_CHARS = 4000
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
    """What a body that is no JSON says, short and in one line; empty for a web page."""
    text = body[:4000].decode("utf-8", "replace")
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return "" if line.startswith(("<", "{", "[")) else line[:_MOST_CHARS]


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
