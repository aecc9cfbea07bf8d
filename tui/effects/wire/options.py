"""Times and limits of an endpoint's sockets, and what they need from outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, Protocol

Direction = Literal["c2s", "s2c"]


class ReadsClock(Protocol):
    """The clock that dates events and deadlines; it counts the time a laptop sleeps."""

    def now(self) -> float:
        """Monotonic seconds."""


class Recorder(Protocol):
    """Keeps what travels over the sockets (effects.recorder)."""

    def frame(
        self, direction: Direction, t: float, connection: int, text: bytes | bytearray | str
    ) -> None:
        """Keep a frame that travelled at ``t``, in monotonic seconds."""

    def meta(
        self, direction: Direction, t: float, connection: int, meta: Mapping[str, object]
    ) -> None:
        """Keep what is no frame: a handshake, a close."""


@dataclass(frozen=True, slots=True)
class ConnectionOptions:
    """Times and limits of an endpoint's connections (PROTOCOL section 10)."""

    connect_timeout_s: float = 15.0
    ping_interval_s: float = 20.0
    """A ping goes out after so long without any byte from the server."""
    silence_s: float = 60.0
    """Without any inbound byte, pongs included, for so long the connection counts as dead."""
    event_s: float = 300.0
    """A response without any event for so long counts as dead, whatever pongs say."""
    max_age_s: float = 55 * 60.0
    """A connection older than this takes no new request, unless the endpoint's limit is known."""
    gap_s: float = 10.0
    """A clock that jumps by more says that the machine slept, or this process did."""
    resume_s: float = 5.0
    """After such a gap a busy connection has so long to show that it lives."""
    close_timeout_s: float = 1.0
    max_message_bytes: int = 32 * 2**20
    user_agent: str = "duetto"
    transport: Literal["auto", "websocket", "http"] = "auto"
    """``auto``: HTTP+SSE where the WebSocket is refused or keeps breaking."""
    probe_s: float = 300.0
    """Spoken to by HTTP for so long, an endpoint is asked for a WebSocket again."""

    @property
    def nearby(self) -> ConnectionOptions:
        """For the bridge on this machine: if that is silent it is stopped or stuck."""
        ping_interval_s = min(self.ping_interval_s, 5.0)
        return replace(self, ping_interval_s=ping_interval_s, silence_s=min(self.silence_s, 10.0))
