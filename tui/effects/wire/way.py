"""Which way an endpoint is spoken to: by WebSocket, or by HTTP+SSE through the bridge's relay."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tui.core.wire.endpoint_facts import Capabilities
from tui.effects.wire.link import Transport
from tui.effects.wire.options import ConnectionOptions
from tui.effects.wire.probe import Probe


class Way:
    """Of one endpoint."""

    def __init__(
        self,
        options: ConnectionOptions,
        known: Capabilities,
        *,
        relay: bool,
        attempt: Callable[[], Awaitable[bool]],
    ) -> None:
        """``relay``: there is one; ``attempt`` asks for a WebSocket, unseen."""
        chosen = options.transport
        by_http = chosen == "http" or (chosen == "auto" and known.websocket is False)
        self.transport: Transport = "http" if by_http and relay else "websocket"
        """What the next dial takes."""
        self.refused = False
        """The server does not take a WebSocket, it said so in this run."""
        self._chosen, self._known, self._relay = chosen, known, relay
        self._probe = Probe(options.probe_s, attempt)

    def fall_back(self) -> bool:
        """Take HTTP from the next `EndpointLane.open` on; False: that cannot be, or is so."""
        if not self._relay or self.transport == "http" or self._chosen != "auto":
            return False
        self.transport = "http"
        self.used()
        return True

    def come_back(self) -> None:
        """Take the WebSocket from the next `EndpointLane.open` on, unless it was refused.

        What was remembered of it from an earlier run is no refusal of today.
        """
        if self.transport == "http" and self._chosen == "auto" and not self.refused:
            self.transport = "websocket"
            self._probe.stop()

    def used(self) -> None:
        """A turn goes this way: where the other one is better, it is asked for in a while."""
        if self.transport == "http" and self._chosen == "auto":
            self._probe.begin()

    def stop(self) -> None:
        """Ask for nothing any more."""
        self._probe.stop()

    def why_http(self) -> str:
        """What keeps a socket from being a WebSocket, in words."""
        if self._chosen == "http":
            return 'the settings say transport = "http"'
        if self.transport == "websocket":
            return "the next turn goes by WebSocket again"
        if self.refused:
            reason = "the server refused the WebSocket"
        elif self._known.websocket is False:
            reason = "it refused the WebSocket in an earlier run"
        else:
            reason = "the WebSocket failed"
        return f"{reason}; it is asked for again now and then"
