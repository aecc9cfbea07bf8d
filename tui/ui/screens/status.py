"""The status screen: models, what they can do and the sockets, looked at once a second."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.core.wire.rate_limits import sentences
from tui.engine.session import Session
from tui.ui.acting import way_out
from tui.ui.sheets import sheet
from tui.ui.status_report import limits_report, status_report

_LOOK_S = 1.0
"""How often it is looked at."""
_LEAST_WIDTH = 32


class StatusScreen(ModalScreen[None]):
    """Reads the session; nothing can be changed here, all of it can be copied."""

    CSS_PATH = sheet("status")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss", "Close", show=False),
        Binding("c,y", "copy", "Copy", show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
        Binding("pagedown,space", "scroll(10)", show=False),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._report = Static(id="status-report", markup=False)
        self.box = VerticalScroll(id="status-box")
        self.box.border_title = "status"

    def compose(self) -> ComposeResult:
        """A box that scrolls."""
        with self.box:
            yield self._report

    def on_mount(self) -> None:
        """The columns need the width; from then on it is live."""
        self.say_ways()
        self.call_after_refresh(self.look)
        self.set_interval(_LOOK_S, self.look)

    def on_resize(self) -> None:
        """Other columns."""
        self.call_after_refresh(self.look)

    def say_ways(self) -> None:
        """The keys of the screen itself."""
        self.box.border_subtitle = f"c copies · {way_out(self)}"

    def look(self) -> None:
        """Show what is so now; a selection made with the mouse is left alone."""
        if not self.selections:
            self._report.update(self.report(max(self._report.size.width, _LEAST_WIDTH)))

    def report(self, width: int) -> Content:
        """What is shown in rows of ``width`` cells."""
        session = self._session
        can, sockets = session.abilities(), session.network()
        cost = session.meter.view(session.now()).cost
        said = sentences(session.status.limits, session.now())
        return Content.assemble(
            status_report(session.status, can, sockets, width, cost), limits_report(said, width)
        )

    def action_scroll(self, rows_down: int) -> None:
        """Scroll the box."""
        self.box.scroll_relative(y=rows_down, animate=False)

    def action_copy(self) -> None:
        """All of it as plain text into the clipboard."""
        self.app.copy_to_clipboard(str(self._report.content).rstrip())
        self.notify("Copied.", timeout=2, markup=False)
