"""The status line: the meter, how the last turn or test run ended, and the connection.

What stands in it is a template (docs/meter.md), the user's or the one that duetto has.
"""

from __future__ import annotations

from datetime import datetime

from tui.engine.session import Session
from tui.ui.rows import Piece
from tui.ui.widgets.bar import Bar
from tui.ui.widgets.line_fields import FIELDS, default_template
from tui.ui.widgets.line_layout import laid_out
from tui.ui.widgets.line_template import Template
from tui.ui.widgets.standing import Scene

_TICK_S, _CALM_TICK_S = 0.1, 1.0
"""How often seconds and rate are looked at while a turn runs; for who is disturbed by motion."""
_SLOW_TICK_S = 1.0
"""How often what follows the time is looked at while no turn runs."""


class StatusLine(Bar):
    """Reads session.meter and session.status; of its own it keeps the template only."""

    BACK = "panel"

    def __init__(
        self, session: Session, workspace: str = "", branch: str = "", *, id: str | None = None
    ) -> None:
        """``workspace`` is the folder's name; ``branch`` is empty where there is no git."""
        super().__init__(id=id)
        self._session = session
        self._workspace, self._branch = workspace, branch
        self._template = default_template()
        self._timed = _timed(self._template)
        self._reached: set[str] = set()
        """Endpoints that a connection stood to: the next one is a reconnection."""

    def follow(self, template: Template) -> None:
        """Show what this template says from now on."""
        self._template, self._timed = template, _timed(template)
        if self.is_attached:
            self._pace()
            self.update_bar()

    def on_mount(self) -> None:
        """The clock runs only while a turn does, or while something follows the time."""
        tick_s = _CALM_TICK_S if self.app.animation_level == "none" else _TICK_S
        self._timer = self.set_interval(tick_s, self.update_bar, pause=True)
        self._slow_timer = self.set_interval(_SLOW_TICK_S, self._look, pause=True)
        self._pace()

    def sync(self, *, only_meter: bool = False) -> None:
        """Take up what changed; while a turn runs the clock paints the meter, not the frame."""
        self._pace()
        if not (self._session.status.busy and only_meter):
            self.update_bar()

    def pieces(self, width: int) -> list[Piece]:
        """What the template says, as far as there is room."""
        return laid_out(self._template, self.scene(), width)

    def scene(self) -> Scene:
        """All that it shows a part of."""
        session = self._session
        status, now = session.status, session.now()
        if status.connection == "ready":
            self._reached.add(status.endpoint)
        return Scene(
            status,
            session.meter.view(now),
            now,
            self._workspace,
            self._branch,
            datetime.now().strftime("%H:%M"),
            status.endpoint in self._reached,
        )

    def _look(self) -> None:
        """What follows the time, once more; the last time it is over."""
        self.update_bar()
        self._pace()

    def _pace(self) -> None:
        """How often it is looked at now; asked at every frame."""
        busy = self._session.status.busy
        (self._timer.resume if busy else self._timer.pause)()
        counts = not busy and bool(self._timed) and self._counts()
        (self._slow_timer.resume if counts else self._slow_timer.pause)()

    def _counts(self) -> bool:
        """True if something in it goes on while nothing happens."""
        now, limits = self._session.now(), self._session.status.limits
        limited = any(one.until_s is not None and one.until_s > now for one in limits)
        return "clock" in self._timed or ("limits" in self._timed and limited)


def _timed(template: Template) -> frozenset[str]:
    """The fields in it that change while nothing else does."""
    return frozenset(name for name in template.names() if name and FIELDS[name].follows_time)
