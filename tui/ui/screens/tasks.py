"""Commands of the model that run, or ran in the background: look at one, stop one."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal

from rich.cells import cell_len
from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from tui.engine.intents import StopTask, ToBackground
from tui.engine.notices import Notices, TaskView
from tui.engine.session import Session
from tui.ui import theme
from tui.ui.conversation.views import wait_words
from tui.ui.finding.pick_list import PickList, PickScreen
from tui.ui.styled_text import clip, one_line
from tui.ui.stylesheets import sheet

_TICK_S = 1.0
_MOST_ROWS = 12
_STATE = 26
"""Cells of how it is with a command, at most."""


class TaskList(PickList[TaskView]):
    """One a row: its number, the command, how it is with it."""

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__()
        self._now = now

    def row(self, item: TaskView, width: int, back: str) -> list[Segment]:
        """Number and command left, state and seconds right."""
        style = theme.active().style
        said, colour = item.ended, "muted"
        if not item.ended:
            place, colour = ("background", "accent") if item.background else ("running", "warning")
            place = "being stopped" if item.stopping else place
            said = f"{wait_words(self._now() - item.began_s)}  {place}"
        said = f"  {clip(one_line(said), _STATE)} "
        number = f"{item.number} "
        command = clip(one_line(item.command), max(width - cell_len(said) - len(number), 0))
        room = max(width - len(number) - cell_len(command) - cell_len(said), 0)
        return [
            Segment(number, style("faint", back)),
            Segment(command, style("foreground" if not item.ended else "muted", back)),
            Segment(" " * room, style("", back)),
            Segment(said, style(colour, back)),
        ]


class TasksScreen(PickScreen[TaskView | None]):
    """Enter looks at one in the conversation; the list follows what happens."""

    CSS_PATH = sheet("tasks")
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "leave", show=False, priority=True),
        Binding("space", "take", show=False, priority=True),
        Binding("b", "want('background')", show=False, priority=True),
        Binding("s", "want('stop')", show=False, priority=True),
        Binding("k", "step(-1)", show=False),
        Binding("j", "step(1)", show=False),
    ]

    def __init__(self, session: Session) -> None:
        """The chosen one is the screen's result, to be looked at."""
        super().__init__()
        self._session = session
        self._tasks: list[TaskView] = []
        self._list = TaskList(session.now)
        self._words = Static("", markup=False, id="tasks-keys")

    def compose(self) -> ComposeResult:
        """The list over its keys."""
        box = Vertical(id="tasks")
        box.border_title = "commands of the model"
        with box:
            yield self._list
            yield self._words

    def on_mount(self) -> None:
        """Seconds are counted while it is open."""
        self._take_up()
        self.set_interval(_TICK_S, self._list.refresh)

    def sync(self, notices: Notices) -> None:
        """Something changed; called once a frame."""
        if notices.status:
            self._take_up()

    def action_take(self) -> None:
        """Go to its card."""
        if (chosen := self._list.chosen) is not None:
            self.dismiss(chosen)

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
            self._list.styles.height = min(max(len(tasks), 1), _MOST_ROWS)
            number = chosen.number if chosen is not None else 0
            found = (at for at, task in enumerate(tasks) if task.number == number)
            self._list.show(tasks, next(found, 0))
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
        self._words.update(words)
