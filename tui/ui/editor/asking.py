"""A line of words about lines of the text: a note on one of them; and steps from note to note."""

from __future__ import annotations

from collections.abc import Callable

from textual.widget import Widget

from tui.core.document.line_notes import Note
from tui.core.text.buffer import Buffer, Mark
from tui.core.text.change_set import Position
from tui.engine.intents import AskChange, OpenFile, PutNote, SendNotes
from tui.engine.session import Session
from tui.ui.editor.note_marks import comment_on
from tui.ui.editor.sides import Sides
from tui.ui.finding.find import Find
from tui.ui.keymap import shown
from tui.ui.styled_text import inert

_NOTE_KEYS = "Enter keeps it · Alt+Enter sends all notes"


class LineWords:
    """Asks for words about the lines at the cursor, and does what they are for."""

    def __init__(self, session: Session, sides: Sides, find: Find, pane: Widget) -> None:
        self._session, self._sides, self._find, self._pane = session, sides, find, pane
        self._places: tuple[Buffer, list[Mark]] | None = None
        """Where the words that are being typed belong."""
        self.on_gone: Callable[[], object] = lambda: None
        """Called when another place was gone to."""

    def note(self) -> None:
        """Note something on the line of the cursor; what a note or a comment there says stands."""
        view = self._sides.used.editor.view
        if view is None:
            return
        path = view.path
        line = (view.cursor.selection or (view.cursor.position,))[0][0]
        here = [note for _, note in self._session.workspace.notes.on_lines(path, line, line)]
        known = next((note for note in here if note.waits), here[-1] if here else None)
        text = comment_on(view, line) if known is None else known.text
        (anchor,) = self._hold(view.buffer, (line, 0), (line, 0))

        def done(said: str, more: bool) -> None:
            row = anchor.line
            number = 0 if known is None else known.id
            self._session.submit(PutNote(path, row, said.strip(), number))
            if more:
                self._session.submit(SendNotes())
            self._sides.used.editor.repaint()

        keys = _NOTE_KEYS + (" · empty: takes it away" if known is not None else "")
        self._find.ask_words(f"Note on line {line + 1}", keys, text, done)

    def change(self) -> None:
        """Ask for a change of what is selected, or of the line of the cursor."""
        view = self._sides.used.editor.view
        if view is None:
            self._pane.app.notify("Open a file, and select what is to be changed.", markup=False)
            return
        path, buffer = view.path, view.buffer
        start, end = view.cursor.selection or (view.cursor.position, view.cursor.position)
        marks = self._hold(buffer, start, end)
        last = end[0] - (end[1] == 0 and end[0] > start[0])

        def done(said: str, more: bool) -> None:
            first, last = marks[0].position, marks[-1].position
            if said.strip():
                self._session.submit(AskChange(path, first, last, said.strip()))

        lines = f"line {start[0] + 1}" if last == start[0] else f"lines {start[0] + 1}-{last + 1}"
        self._find.ask_words(f"Change {lines}", "what is to become of it · Enter asks", "", done)

    def _hold(self, buffer: Buffer, start: Position, end: Position) -> list[Mark]:
        """Marks of a place, which moves while somebody types; those of the last one go."""
        if self._places is not None:
            self._places[0].release(*self._places[1])
        marks = [buffer.mark(*start)] + [buffer.mark(*end, right=True)] * (start != end)
        self._places = buffer, marks
        return marks

    def step(self, step: int) -> None:
        """Go to the next note, or to the one before, in any file, and say what it says."""
        view, notes = self._sides.used.editor.view, self._session.workspace.notes
        path, line = ("", -1) if view is None else (view.path, view.cursor.position[0])
        note = notes.next(path, line, back=step < 0)
        if note is None:
            words = f"There is no note: {shown('note', 'editor')} puts one on a line."
            self._pane.app.notify(words, markup=False)
            return
        self.go(note)

    def go(self, note: Note) -> None:
        """Go to a note, and say what it says."""
        self._session.submit(OpenFile(note.path, note.row))
        self.on_gone()
        gone = "\nIts line is gone, or another one." if note.lost else ""
        self._pane.app.clear_notifications()
        title = note.severity.capitalize() or "Note"
        said = inert(note.text) + gone
        self._pane.app.notify(said, title=title, timeout=8, markup=False)
