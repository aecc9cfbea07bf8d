"""Commands of the model that run, or ran in the background: look at one, stop one."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal

from textual.binding import Binding, BindingType

from tui.engine.intents import StopTask, ToBackground
from tui.engine.notices import Notices, TaskView
from tui.engine.session import Session
from tui.ui import theme
from tui.ui.conversation.views import wait_words
from tui.ui.finding.pick_list import KeyedScreen, PickList
from tui.ui.styled_text import Piece, clip, one_line

_TICK_S = 1.0
_STATE = 26
"""Cells of how it is with a command, at most."""


class TaskList(PickList[TaskView]):
    """One a row: its number, the command, how it is with it."""

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__()
        self._now = now

    def row(self, item: TaskView, width: int) -> tuple[list[Piece], list[Piece]]:
        """Number and command left, state and seconds right."""
        style = theme.active().style
        said, colour = item.ended, "muted"
        if not item.ended:
            place, colour = ("background", "accent") if item.background else ("running", "warning")
            place = "being stopped" if item.stopping else place
            said = f"{wait_words(self._now() - item.began_s)}  {place}"
        left = [
            (f"{item.number} ", style("faint")),
            (one_line(item.command), style("muted" if item.ended else "foreground")),
        ]
        return left, [(f"  {clip(one_line(said), _STATE)} ", style(colour))]


class TasksScreen(KeyedScreen[TaskView | None]):
    """Enter looks at one in the conversation; the list follows what happens."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "take", show=False, priority=True),
        Binding("b", "want('background')", show=False, priority=True),
        Binding("s", "want('stop')", show=False, priority=True),
    ]
    MOST_ROWS = 12

    def __init__(self, session: Session) -> None:
        """The chosen one is the screen's result, to be looked at."""
        super().__init__()
        self._session = session
        self._tasks: list[TaskView] = []
        self._list = TaskList(session.now)
        self._box.border_title = "commands of the model"

    def on_mount(self) -> None:
        """Seconds are counted while it is open."""
        self._take_up()
        self.set_interval(_TICK_S, self._list.refresh)

    def sync(self, notices: Notices) -> None:
        """Something changed; called once a frame."""
        if notices.status:
            self._take_up()

    def action_want(self, what: Literal["background", "stop"]) -> None:
        """Have something done about it, while it runs."""
        chosen = self._list.chosen
        if chosen is not None and not chosen.ended and (what == "stop" or not chosen.background):
            stops, number = what == "stop", chosen.number
            self._session.submit(StopTask(number) if stops else ToBackground(number))

    def _take_up(self) -> None:
        """The tasks as they are now; the one that was lit stays lit."""
        chosen, tasks = self._list.chosen, list(self._session.status.tasks)
        if tasks != self._tasks:
            self._tasks = tasks
            number = chosen.number if chosen is not None else 0
            found = (at for at, task in enumerate(tasks) if task.number == number)
            self.show(tasks, next(found, 0))
        self.lit()

    def lit(self) -> None:
        """Say what can be done about it."""
        chosen = self._list.chosen
        if chosen is None:
            words = "no command runs, and none ran in the background · q back"
        else:
            background = "" if chosen.ended or chosen.background else " · b background"
            stop = "" if chosen.ended else f"{background} · s stop"
            words = f"Enter looks{stop} · q back"
        self._status.update(words)
