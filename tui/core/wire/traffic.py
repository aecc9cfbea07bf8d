"""What travelled over a socket, as figures for ``/status``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SocketView:
    """One endpoint's socket now; a lost one is shown until it is dialled again."""

    endpoint: str
    """The endpoint's name."""
    address: str
    """Host, port and path: no key, no query."""
    transport: str
    """``websocket``, ``http``, or ``bridge``: a WebSocket to ours, which asks the endpoint."""
    state: str
    """``open``, ``connecting``, ``closed``, or ``retiring``: too old for new requests."""
    lanes: tuple[str, ...]
    """Names used on it, the busy ones marked with a ``*`` at the end."""
    age_s: float
    round_trip_s: float | None
    bytes_in: int
    """Payload of the frames, in bytes; so is `bytes_out`."""
    bytes_out: int
    frames_in: int
    requests: int
    """`response.create` sent over all sockets of the endpoint; so are the two below."""
    continued: int
    """How many of them were continuations (a parent and only the new items)."""
    reconnects: int
    why: str = ""
    """Of ``http``: what keeps it from being a WebSocket, in words."""
