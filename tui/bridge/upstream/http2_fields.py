"""The header fields of a request of HTTP/2 (RFC 9113, 8.2 and 8.3)."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit, urlunsplit

_OF_HTTP1 = frozenset({"connection", "host", "keep-alive", "transfer-encoding", "upgrade"})


def fields_of(
    method: str, url: str, headers: Mapping[str, str], size: int
) -> list[tuple[str, str]]:
    """All of them, in order; ``size`` is that of the body in bytes."""
    parts = urlsplit(url)
    length = [("content-length", str(size))] if size else []
    return [
        (":method", method),
        (":authority", parts.netloc.rpartition("@")[2]),
        (":scheme", parts.scheme),
        (":path", urlunsplit(("", "", parts.path or "/", parts.query, ""))),
        *((n.lower(), v) for n, v in headers.items() if n.lower() not in _OF_HTTP1),
        *length,
    ]
