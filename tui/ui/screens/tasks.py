"""What goes on beside the conversation: what is delegated, and commands of the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from tui.core.session_record import LeftDelegate
from tui.engine.intents import StopTask, TendDelegate, Tending, ToBackground
from tui.engine.notices import OVER, DelegateView, Notices, TaskView
from tui.engine.session import Session
from tui.engine.slash import delegate_state, left_words
from tui.ui import theme
from tui.ui.conversation.transcript import TranscriptPane
from tui.ui.conversation.views import wait_words
from tui.ui.finding.pick_list import KeyedScreen, PickList
from tui.ui.painting.screen import PaintedScreen
from tui.ui.styled_text import Piece, clip, one_line

_TICK_S = 1.0
_LEAST_WIDTH = 30
_STATE = 26
"""Cells of how it is with a command, at most."""
Beside = DelegateView | TaskView | LeftDelegate
"""What goes on beside the conversation."""


def _name(one: Beside) -> tuple[type, str, int]:
    """What tells one from all others: delegates of several earlier sessions have one number."""
    return type(one), one.session if isinstance(one, LeftDelegate) else "", one.number


class TaskList(PickList[Beside]):
    """One a row: its number, the command or prompt, how it is with it."""

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__()
        self._now = now

    def row(self, item: Beside, width: int) -> tuple[list[Piece], list[Piece]]:
        """Number and words left, state and seconds right."""
        style = theme.active().style
        if isinstance(item, DelegateView):
            colour = "warning" if item.ask or item.state in ("failed", "paused") else "deep"
            over = item.state in OVER
            state = clip(one_line(delegate_state(item, self._now())), max(width * 3 // 5, _STATE))
            number, words = f"d{item.number} ", item.prompt
            said = [(f"  {state} ", style("muted" if over else colour))]
        elif isinstance(item, LeftDelegate):
            number, words, over = f"d{item.number} ", item.prompt, True
            said = [("  of an earlier session ", style("warning"))]
        else:
            state, colour = item.ended, "muted"
            over = bool(item.ended)
            if not over:
                place, colour = (
                    ("background", "accent") if item.background else ("running", "warning")
                )
                place = "being stopped" if item.stopping else place
                state = f"{wait_words(self._now() - item.began_s)}  {place}"
            number, words = f"{item.number} ", item.command
            said = [(f"  {clip(one_line(state), _STATE)} ", style(colour))]
        left = [
            (number, style("faint")),
            (one_line(words), style("muted" if over else "foreground")),
        ]
        return left, said


class TasksScreen(KeyedScreen[Beside | str | None]):
    """Enter looks at one; the list follows what happens.

    Its result is what is to be looked at, or a command to go on with in the prompt.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "take", show=False, priority=True),
        Binding("b", "want('background')", show=False, priority=True),
        Binding("s", "want('stop')", show=False, priority=True),
        Binding("p", "tend('pause')", show=False, priority=True),
        Binding("g", "tend('go')", show=False, priority=True),
        Binding("t", "tend('tell')", show=False, priority=True),
        Binding("y", "answer(True)", show=False, priority=True),
        Binding("n", "answer(False)", show=False, priority=True),
    ]
    MOST_ROWS = 12

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._items: Sequence[Beside] = ()
        self._list = TaskList(session.now)
        self._box.border_title = "beside the conversation"

    def on_mount(self) -> None:
        """Seconds are counted while it is open."""
        self._take_up()
        self.call_after_refresh(self.lit)  # when there is a width to clip to
        self.set_interval(_TICK_S, self._list.refresh)

    def action_want(self, what: Literal["background", "stop"]) -> None:
        """Have something done about it, while it runs."""
        chosen = self._list.chosen
        if isinstance(chosen, LeftDelegate):
            return
        if isinstance(chosen, DelegateView):
            if what == "stop" and chosen.state not in OVER:
                self._session.submit(TendDelegate(chosen.number, "stop"))
            return
        if chosen is not None and not chosen.ended and (what == "stop" or not chosen.background):
            stops, number = what == "stop", chosen.number
            self._session.submit(StopTask(number) if stops else ToBackground(number))

    def action_tend(self, what: Tending) -> None:
        """Pause what is delegated, let it go on, bring in what it left, or tell it something."""
        one = self._list.chosen
        if not isinstance(one, DelegateView):
            return
        if what == "go" and one.files and one.state in ("done", "stopped"):
            self._session.submit(TendDelegate(one.number, "take"))
        elif what == "tell" and one.state not in ("done", *OVER):
            self.dismiss(f"/tasks tell d{one.number} ")
        elif one.state in {"pause": ("works",), "go": ("paused", "failed")}.get(what, ()):
            self._session.submit(TendDelegate(one.number, what))

    def action_answer(self, yes: bool) -> None:
        """Answer what it asks; with a refusal go words, from the prompt."""
        chosen = self._list.chosen
        if not isinstance(chosen, DelegateView) or (ask := chosen.ask) is None:
            return
        if not yes and ask.takes_words:
            self.dismiss(f"/tasks no d{chosen.number} ")
        else:
            words = ask.choices[0] if yes else ""
            self._session.submit(TendDelegate(chosen.number, "answer", words, ask.id))

    def _take_up(self) -> None:
        """All of them as they are now; the one that was lit stays lit."""
        status, chosen = self._session.status, self._list.chosen
        items: list[Beside] = [*status.delegates, *status.left, *status.tasks]
        if items != self._items:
            self._items = items
            names = [_name(one) for one in items]
            lit = None if chosen is None else _name(chosen)
            self.show(items, names.index(lit) if lit in names else 0)
        self.lit()

    def lit(self) -> None:
        """Say what it does now, and what can be done about it."""
        chosen = self._list.chosen
        said = ""
        if isinstance(chosen, DelegateView):
            said, words = self._of_delegate(chosen)
        elif isinstance(chosen, LeftDelegate):
            said, words = left_words(chosen), "Enter goes to its session · q back"
        elif chosen is None:
            words = "nothing is delegated, and no command runs in the background · q back"
        else:
            background = "" if chosen.ended or chosen.background else " · b background"
            stop = "" if chosen.ended else f"{background} · s stop"
            words = f"Enter looks{stop} · q back"
        self._lit.display = bool(said)
        self._lit.update(clip(said, max(self._list.size.width, _LEAST_WIDTH)))
        self._status.update(words)

    def _of_delegate(self, one: DelegateView) -> tuple[str, str]:
        if one.ask is not None:
            about = one_line(f"{one.ask.question} {one.ask.command or one.ask.detail}")
            yes = one_line(one.ask.choices[0])
            return about, f"y {yes} · n no · Enter looks in · s stop · q back"
        last = one_line(one.ended or one.last)
        if one.state == "done":
            return one_line(one.last), "g brings it in without waiting · s stop · q back"
        if one.state in OVER:
            go = "g brings in what it changed · " if one.state == "stopped" and one.files else ""
            return last, f"{go}q back"
        go = "p pause" if one.state == "works" else "g goes on"
        return last, f"Enter looks in · t tell · {go} · s stop · q back"


class LookingIn(PaintedScreen):
    """The conversation of a lane fills the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,ctrl+c", "leave", show=False, priority=True)
    ]

    def __init__(self, session: Session, title: str, root: str) -> None:
        super().__init__()
        self._pane = TranscriptPane(session, root=root)
        self._pane.styles.height = "1fr"
        self._title = one_line(title)

    def compose(self) -> ComposeResult:
        """Who it is, what it says, and the way back."""
        for words in (self._title, " Esc back"):
            bar = Static(words, markup=False)
            bar.styles.dock, bar.styles.height = "top" if words == self._title else "bottom", 1
            yield bar
        yield self._pane

    def on_mount(self) -> None:
        """It scrolls by its own keys."""
        self._pane.focus()

    def on_resize(self, event: events.Resize) -> None:
        """It is laid out anew."""
        self.sync(Notices(transcript_from=0))

    def sync(self, notices: Notices) -> None:
        """Something changed in the lane."""
        self._pane.sync(notices)

    def action_leave(self) -> None:
        """Back."""
        self.dismiss(None)
