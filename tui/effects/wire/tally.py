"""What an endpoint's sockets have done, as figures for ``/status``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tui.core.wire.endpoint_facts import SocketView

if TYPE_CHECKING:
    from tui.effects.wire.link import Link, Transport


class Tally:
    """Counts over all sockets of one endpoint, and the last one that was lost."""

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        self._requests = self._continued = self._reconnects = 0
        self._unreplaced = 0
        """Sockets that were lost and have had no successor yet."""
        self._last: SocketView | None = None

    def asked(self, request: Mapping[str, Any]) -> None:
        """A `response.create` was asked for."""
        self._requests += 1
        self._continued += bool(request.get("previous_response_id"))

    def opened(self) -> None:
        """A socket is open."""
        if self._unreplaced:
            self._unreplaced -= 1
            self._reconnects += 1

    def lost(self, link: Link) -> None:
        """A socket is closed."""
        self._unreplaced += 1
        self._last = link.view(self._figures)

    def views(
        self, links: Iterable[Link], dialled: Iterable[tuple[str, Transport]]
    ) -> list[SocketView]:
        """The sockets now, and the dials (address and way); without any, the last one lost."""
        views = [link.view(self._figures) for link in links]
        for address, transport in dialled:
            rest = (0.0, None, 0, 0, 0, *self._figures)
            views.append(SocketView(self._endpoint, address, transport, "connecting", (), *rest))
        if not views and self._last is not None:
            views.append(self._last)
        return views

    @property
    def _figures(self) -> tuple[int, int, int]:
        return self._requests, self._continued, self._reconnects
