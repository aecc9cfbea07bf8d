"""The status line: the meter, how the last turn or test run ended, and the connection."""

from __future__ import annotations

import math

from rich.cells import cell_len
from rich.style import Style

from tui.engine.session import Session
from tui.ui import theme
from tui.ui.rows import Piece, clip, one_line
from tui.ui.widgets.bar import Bar, Group, fitting
from tui.ui.widgets.meter import context_group, cost_groups, meter_groups

_VERDICTS = {
    "passed": ("✓ tests passed", "success"),
    "failed": ("✗ tests failed", "error"),
    "timeout": ("✗ tests timed out", "error"),
    "error": ("✗ tests could not run", "error"),
}
_GAP = 2
_TICK_S, _CALM_TICK_S = 0.1, 1.0
"""How often seconds and rate are looked at while a turn runs; for who is disturbed by motion."""
_ROOM_FOR_KEYS = 60
"""Width from which the countdown says what ends it; the row of keys says it too."""


class StatusLine(Bar):
    """Reads session.meter and session.status; nothing is kept here."""

    BACK = "panel"

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._session = session
        self._reached: set[str] = set()
        """Endpoints that a connection stood to: the next one is a reconnection."""

    def on_mount(self) -> None:
        """The clock runs only while a turn does."""
        tick_s = _CALM_TICK_S if self.app.animation_level == "none" else _TICK_S
        self._timer = self.set_interval(tick_s, self.update_bar, pause=True)

    def sync(self, *, only_meter: bool = False) -> None:
        """Take up what changed; while a turn runs the clock paints the meter, not the frame."""
        if self._session.status.busy:
            self._timer.resume()
            if only_meter:
                return
        else:
            self._timer.pause()
        self.update_bar()

    def pieces(self, width: int) -> list[Piece]:
        """Left the meter, right verdict and connection."""
        session = self._session
        view = session.meter.view(session.now())
        right = [piece for group in self._right(width) for piece in [*group, ("  ", _faint())]]
        used = sum(cell_len(text) for text, _ in right)
        groups = [*self._news(width), *meter_groups(view, width)]
        groups += [context_group(view), *cost_groups(view)]
        left: list[Piece] = [(" ", _faint())]
        for index, group in enumerate(fitting(groups, width - used - 3, _GAP)):
            left += [*([(" " * _GAP, _faint())] if index else []), *group]
        gap = width - used - sum(cell_len(text) for text, _ in left)
        return [*left, (" " * max(gap, 0), _faint()), *right]

    def _news(self, width: int) -> list[Group]:
        """What ended, in words."""
        palette, status = theme.active(), self._session.status
        groups: list[Group] = []
        if status.stopping:
            groups.append((0, [("stopping…", palette.style("warning"))]))
        elif status.stopped and not status.busy:
            words = clip(one_line(status.stopped), max(width // 2, 20))
            groups.append((0, [(f"■ {words}", palette.style("warning"))]))
        return groups

    def _right(self, width: int) -> list[list[Piece]]:
        palette, status = theme.active(), self._session.status
        found: list[list[Piece]] = []
        if status.running:
            words = clip(one_line(status.running), 24)
            found.append([(f"$ {words} …", palette.style("warning"))])
        elif status.verdict in _VERDICTS:
            words, colour = _VERDICTS[status.verdict]
            found.append([(words, palette.style(colour, more="bold"))])
        if status.throttle:
            found.append([(f"throttled {status.throttle:,.0f}/s", palette.style("warning"))])
        if status.served_endpoint and width >= 60:
            stand_in = clip(one_line(status.served_model or status.served_endpoint), 24)
            found.append([(f"↪ {stand_in}", palette.style("warning"))])
        elif status.served_model and width >= 130:
            served = clip(one_line(status.served_model), 24)
            tier = f" {one_line(status.served_tier)}" if status.served_tier else ""
            found.append([(served + tier, palette.style("muted"))])
        found.append(self._connection(width))
        return found

    def _connection(self, width: int) -> list[Piece]:
        palette, status = theme.active(), self._session.status
        if status.retry_s is not None:
            wait = f"◌ again in {math.ceil(max(status.retry_s, 0))} s"
            way_out = " · Esc cancels" if width >= _ROOM_FOR_KEYS else ""
            return [
                (wait, palette.style("warning", more="bold")),
                (way_out, palette.style("muted")),
            ]
        http = status.transport == "http"
        over: list[Piece] = [(" http", palette.style("warning"))] if http else []
        if status.connection == "ready":
            self._reached.add(status.endpoint)
            trip = "" if status.round_trip_ms is None else f" {status.round_trip_ms:.0f} ms"
            dot = palette.style("meter-online")
            return [("●", dot), *over, (trip, palette.style("muted"))]
        if status.connection == "connecting" or (status.connection == "lost" and status.busy):
            again = "re" if status.endpoint in self._reached else ""
            return [(f"◌ {again}connecting", palette.style("warning")), *over]
        if status.connection == "offline" and status.endpoint in self._reached:
            return [("○ idle", palette.style("muted")), *over]  # typing opens it again
        words = "connection lost" if status.connection == "lost" else "offline"
        return [(f"○ {words}", palette.style("meter-offline"))]


def _faint() -> Style:
    return theme.active().style("faint")
