"""Who really answered: model, tier, and whoever stood in for the endpoint that was asked."""

from __future__ import annotations

from collections.abc import Mapping

from tui.core.wire import events
from tui.core.wire.rate_limits import (
    CODEX_EVENT,
    PAUSE,
    Limit,
    limits_in,
    limits_of,
    limits_of_event,
)
from tui.engine.board import Board
from tui.engine.notices import Status, Trouble


class Served:
    """Takes down what the responses of one turn say; a stand-in is told once."""

    def __init__(self, board: Board, endpoint: str) -> None:
        """``endpoint``: the one that is asked."""
        self._board = board
        self._endpoint = endpoint
        self._told = ""

    def note(self, response: Mapping[str, object], now: float) -> None:
        """A response began, or ended: what it says of itself."""
        status = self._board.status
        before = (status.served_model, status.served_tier, status.served_endpoint)
        status.served_model = _text(response.get("model")) or status.served_model
        status.served_tier = _text(response.get("service_tier"))
        metadata = response.get("metadata")
        said = metadata if isinstance(metadata, Mapping) else {}
        place = _text(said.get("duetto_endpoint"))
        reason = _text(said.get("duetto_fallback_reason"))
        if reason:
            status.served_endpoint, status.fallback_reason = place, reason
            self._tell(status)
        elif place:
            status.served_endpoint = status.fallback_reason = ""
        status.left_out = _text(said.get("duetto_left_out")) or status.left_out
        limits = limits_in(_text(said.get("duetto_rate_limits")), now)
        if limits or any(one.name == PAUSE for one in status.limits):
            self._limit(limits)
        if before != (status.served_model, status.served_tier, status.served_endpoint):
            self._board.restated()

    def refused(self, event: events.ErrorEvent | events.Failed, now: float) -> None:
        """A request was refused: for a limit, with a pause that the server asks for, maybe."""
        if not isinstance(event, events.ErrorEvent):
            return
        self.paused(event.retry_after_s, now, limits_of(event.headers, now))

    def paused(self, pause_s: float | None, now: float, limits: tuple[Limit, ...] = ()) -> None:
        """The server asks to be left alone for so many seconds (None: it does not)."""
        if pause_s:
            limits += (Limit(PAUSE, 0, None, now + pause_s),)
        if limits:
            self._limit(limits)

    def heard(self, event: events.Unknown, now: float) -> None:
        """A vendor's event, which may tell of limits."""
        if event.type == CODEX_EVENT and (limits := limits_of_event(event.raw, now)):
            self._limit(limits)

    def _limit(self, limits: tuple[Limit, ...]) -> None:
        if limits != self._board.status.limits:
            self._board.status.limits = limits
            self._board.restated()

    def _tell(self, status: Status) -> None:
        """One calm notice a turn."""
        who = " on ".join(filter(None, (status.served_model, status.served_endpoint)))
        if who == self._told:
            return
        self._told = who
        what = f"{who or 'Another model'} answers instead"
        self._board.trouble(Trouble(what, status.fallback_reason, severity="information"))


def forget_served(status: Status) -> None:
    """Somebody else is asked from now on."""
    status.served_model = status.served_tier = ""
    status.served_endpoint = status.fallback_reason = status.left_out = ""
    status.limits = ()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
