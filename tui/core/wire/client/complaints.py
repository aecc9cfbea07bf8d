"""What an `error` event complains about; hardly two servers say it alike (PROTOCOL section 4)."""

from __future__ import annotations

import re

from tui.core.wire.events import ErrorEvent, Failed

LIMIT_REACHED = "websocket_connection_limit_reached"
"""The connection is too old; may come at any time."""
STREAM_LIMIT = "websocket_stream_limit_reached"
"""One lane name too many for this connection."""
NOT_FOUND = "response_not_found"
"""The response that is named is not there: one to steer, to stop or to go on from."""

_BAD_REQUEST = frozenset({None, 400, 404, 405, 422, 501})
_PASSING = frozenset(
    {LIMIT_REACHED, STREAM_LIMIT, "rate_limit_exceeded", "websocket_queue_full"}
    | {"previous_response_not_found", "invalid_api_key"}
)
_VAGUE = frozenset({"", "invalid_request_error", "invalid_request", "bad_request", "error"})
_UNKNOWN_EVENT = frozenset({"unknown_event", "invalid_event", "unsupported_event", "unknown_type"})


def is_refusal(event: ErrorEvent) -> bool:
    """A status that says: I do not know this, or I do not do this."""
    return event.status in _BAD_REQUEST


def about_lane_names(event: ErrorEvent) -> bool:
    """The server does not want a `stream_id`."""
    if event.code == STREAM_LIMIT or not is_refusal(event):
        return False
    return event.code == "invalid_stream_id" or "stream_id" in event.param + event.message


def names(event: ErrorEvent, word: str) -> bool:
    """It says this very word, ``interrupt`` or ``steer``; "interrupted" is no complaint."""
    text = f"{event.code} {event.param} {event.message}".lower()
    return re.search(rf"{word}(?!ed)", text) is not None


def quotes(event: ErrorEvent, word: str) -> bool:
    """It says the full name of a control event; ``word``: ``interrupt`` or ``steer``."""
    return f"response.{word}" in f"{event.code} {event.param} {event.message}".lower()


def is_vague(event: ErrorEvent) -> bool:
    """A bad request, and not a word about which."""
    return event.status in _BAD_REQUEST - {None} and event.code in _VAGUE and not event.param


def tells(event: ErrorEvent) -> bool:
    """Its code can only mean a create or the connection."""
    return event.code in _PASSING


def about_event_type(event: ErrorEvent, word: str) -> bool:
    """The server does not know a control event; ``word``: ``interrupt`` or ``steer``."""
    if not is_refusal(event):
        return False
    message = event.message.lower()
    unknown = any(hint in message for hint in ("unknown", "unsupported", "invalid", "not support"))
    return (
        event.code in _UNKNOWN_EVENT
        or event.code == NOT_FOUND
        or event.param == "type"
        or names(event, word)
        or ("event" in message and unknown)
    )


def refuses_prewarm(event: ErrorEvent | Failed) -> bool:
    """Whether a prewarm that ended like this is refused for good, not only for now."""
    if event.code in _PASSING:
        return False
    return isinstance(event, Failed) or is_refusal(event)
