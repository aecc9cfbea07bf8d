"""The meter explained: every figure of the status line as it is now, and what it means."""

from __future__ import annotations

from collections.abc import Callable

from textual.content import Content

from tui.engine.session import Session
from tui.ui.meter_report import meter_report
from tui.ui.screens.status import StatusScreen
from tui.ui.widgets.standing import Scene


class MeterScreen(StatusScreen):
    """As the status screen: it scrolls, can be copied, and is looked at once a second."""

    def __init__(self, session: Session, scene: Callable[[], Scene]) -> None:
        """``scene`` is what the status line shows."""
        super().__init__(session)
        self._scene = scene
        self.box.border_title = "meter"

    def report(self, width: int) -> Content:
        """What is shown in rows of ``width`` cells."""
        return meter_report(self._scene(), width)
