"""The notes on lines: go to one, change it, take a model's over, drop it, send all."""

from __future__ import annotations

from typing import ClassVar, Literal

from textual.binding import Binding, BindingType

from tui.core.document.line_notes import Note
from tui.engine.intents import DropNotes, SendNotes, TakeNotes
from tui.engine.notices import Notices
from tui.engine.session import Session
from tui.ui import theme
from tui.ui.editor.note_marks import note_colour
from tui.ui.finding.pick_list import KeyedScreen, PickList
from tui.ui.keymap import shown
from tui.ui.styled_text import Piece, clip_left, one_line

_PLACE_SHARE = 3
"""The place of a note has at most one part in so many of a row."""


class NoteRows(PickList[Note]):
    """One a row: its place, what it says, what becomes of it."""

    def row(self, item: Note, width: int) -> tuple[list[Piece], list[Piece]]:
        """Place and words left, its state right."""
        style = theme.active().style
        place = item.path if item.row is None else f"{item.path}:{item.row + 1}"
        place = f"{clip_left(one_line(place), max(width // _PLACE_SHARE, 8))} "
        state = item.severity or ("waits" if item.waits else f"sent, turn {item.turn}")
        state = f"  {state}{', line gone' if item.lost else ''} "
        left = [(place, style("faint")), (one_line(item.text), style("foreground"))]
        return left, [(state, style(note_colour(item)))]


class NotesScreen(KeyedScreen[Note | None]):
    """Enter goes to the line of one; the list follows what happens."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "want('take')", show=False, priority=True),
        Binding("d,delete", "want('drop')", show=False, priority=True),
        Binding("s", "want('send')", show=False, priority=True),
    ]

    def __init__(self, session: Session) -> None:
        """The chosen one is the screen's result, to be gone to."""
        super().__init__()
        self._session = session
        self._list = NoteRows()
        self._box.border_title = "notes on lines"

    def on_mount(self) -> None:
        """Show them."""
        self._take_up()

    def sync(self, notices: Notices) -> None:
        """Something changed; called once a frame."""
        if notices.status or notices.buffers:
            self._take_up()

    def action_take(self) -> None:
        """Go to its line."""
        if (chosen := self._list.chosen) is not None and chosen.row is not None:
            self.dismiss(chosen)

    def action_want(self, what: Literal["take", "drop", "send"]) -> None:
        """Have something done about it."""
        chosen = self._list.chosen
        if what == "send":
            self._session.submit(SendNotes())
            self.dismiss(None)
        elif chosen is not None:
            one = (chosen.id,)
            self._session.submit(TakeNotes(one) if what == "take" else DropNotes(one))
            self._take_up()

    def _take_up(self) -> None:
        """The notes as they are now; the one that was lit stays lit."""
        chosen, notes = self._list.chosen, list(self._session.workspace.notes)
        self.show(notes, next((at for at, note in enumerate(notes) if note is chosen), 0))
        self.lit()

    def lit(self) -> None:
        """Say what can be done about it."""
        chosen = self._list.chosen
        if chosen is None:
            key = shown("note", "editor")
            self._status.update(f"no notes: {key} in the editor puts one on a line · q back")
            return
        goes = "Enter goes there · " if chosen.row is not None else ""
        take = "t makes it yours · " if chosen.by_model else ""
        send = "s sends all that wait · " if self._session.status.notes else ""
        self._status.update(f"{goes}{take}d drops it · {send}q back")
