"""All notes of a session: the user's for the model, and what a model found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tui.core.document.documents import Documents
from tui.core.document.file_record import FileRecord
from tui.core.document.line_notes import KeptNote, LineNotes, Note, Severity
from tui.errors import EditRefused


class NoteList:
    """Puts notes on lines, and finds them again."""

    def __init__(self, documents: Documents) -> None:
        self.revision = 0
        """Grows with what notes there are, and what they say."""
        self._documents = documents
        self._notes: dict[int, Note] = {}
        self._records: dict[int, FileRecord] = {}
        """By the notes' ids: where they stand."""
        self._last = 0

    def __len__(self) -> int:
        return len(self._notes)

    def __iter__(self) -> Iterator[Note]:
        """By file and line; those that stand nowhere come last."""
        for number, record in self._records.items():
            self._notes[number].path = record.path
        order = sorted(self._notes.values(), key=_place)
        return iter(order)

    def by_id(self, number: int) -> Note | None:
        """The note of that number."""
        return self._notes.get(number)

    @property
    def waiting(self) -> list[Note]:
        """Those that go with the next request."""
        return [note for note in self if note.waits]

    def on_lines(self, path: str, first: int, last: int) -> Sequence[tuple[int, Note]]:
        """The notes on these lines of an open file, each with its line."""
        record = self._documents.records.get(path) if self._notes else None
        notes = record.notes if record is not None else None
        return notes.among(first, last) if notes is not None else ()

    def put(
        self, path: str, row: int | None, text: str, *, severity: Severity = "", turn: int = 0
    ) -> Note:
        """A new note on a line of a file; None: it has no place.

        Raises:
            EditRefused: there is no such file, or no such line.
        """
        record = None if row is None else self._documents.look(path)
        if record is not None and not 0 <= (row or 0) < record.buffer.line_count:
            raise EditRefused(f"{path} ends at line {record.buffer.line_count}")
        self._last += 1
        note = Note(self._last, path if record is None else record.path, text, severity, turn)
        self._notes[note.id] = note
        self._stand(note, record, row)
        self.revision += 1
        return note

    def reword(self, note: Note, text: str) -> None:
        """It is the user's from now on, says this, and goes with the next request."""
        note.text, note.severity, note.turn = text, "", 0
        self.revision += 1

    def sent(self, notes: Iterable[Note], turn: int) -> None:
        """These went to the model."""
        for note in notes:
            note.turn = turn
        self.revision += 1

    def remove(self, notes: Iterable[Note]) -> None:
        """Take notes away."""
        for note in list(notes):
            record = self._records.pop(note.id, None)
            if record is not None and record.notes is not None:
                record.notes.take_out(note)
            self._notes.pop(note.id, None)
        self.revision += 1

    def next(self, path: str, row: int, *, back: bool = False) -> Note | None:
        """The note behind a line, or before it; around the end it goes on at the other one."""
        placed = [note for note in self if note.row is not None]
        if not placed:
            return None
        here = (path, row)
        ordered = reversed(placed) if back else placed
        for note in ordered:
            there = (note.path, note.row or 0)
            if there < here if back else there > here:
                return note
        return placed[-1] if back else placed[0]

    def kept(self) -> tuple[KeptNote, ...]:
        """All of them, as they are now."""
        return tuple(
            KeptNote(n.id, n.path, n.row, n.text, n.line, n.severity, n.turn, n.lost) for n in self
        )

    def bring_back(self, kept: Iterable[KeptNote]) -> None:
        """Have those of an earlier session on their lines, wherever these are now."""
        for one in kept:
            note = Note(one.id, one.path, one.text, one.severity, one.turn, one.line)
            self._notes[note.id], self._last = note, max(self._last, note.id)
            try:
                record = self._documents.look(one.path) if one.row is not None else None
            except EditRefused:
                record = None
            if record is None or one.row is None:
                continue
            lines = record.buffer.lines
            near = min(one.row, len(lines) - 1)
            same = (row for row, line in enumerate(lines) if line == one.line)
            found = min(same, key=lambda row: abs(row - near), default=None)
            self._stand(note, record, near if found is None else found)
            note.line = one.line
            note.lost = found is None and one.lost
        self.revision += 1

    def _stand(self, note: Note, record: FileRecord | None, row: int | None) -> None:
        if record is None or row is None:
            return
        if record.notes is None:
            record.notes = LineNotes()
        record.notes.put(note, row, record.buffer)
        self._records[note.id] = record


def _place(note: Note) -> tuple[bool, str, int, int]:
    return note.row is None, note.path, note.row or 0, note.id
