"""What the user notes on lines, or asks about them: notes, changes of a selection, questions."""

from __future__ import annotations

from asyncio import Task
from collections.abc import Callable, Iterable, Sequence

from tui.core.document.documents import AskedLines
from tui.core.document.line_notes import Note
from tui.core.document.report import shown
from tui.core.files import file_block
from tui.engine import intents
from tui.engine.inspecting import Inspection
from tui.engine.intents import PLAIN, Intent, TurnWay
from tui.engine.notices import Trouble
from tui.engine.services import Services
from tui.engine.slash import DO_THEM
from tui.errors import EditRefused

_LINE_CHARS = 120
"""Of a line that is quoted beside its note."""
_QUOTED_CHARS = 30_000
"""Of lines that are to be changed; more are named."""
NO_NOTES = "No note waits to be sent: /note PATH:LINE TEXT puts one on a line."


class Noting:
    """Does what the user asks of notes."""

    def __init__(self, services: Services, send: Callable[[str, TurnWay], None]) -> None:
        """``send`` prompts the model."""
        self._state = services.state
        self._supervisor = services.supervisor
        self._open_files = services.open_files
        self._notes = services.state.workspace.notes
        self._send = send
        self._inspection = Inspection(services, send)
        self._preparing: Task[None] | None = None

    def handle(self, intent: Intent) -> None:
        """Put, take, drop or send notes."""
        match intent:
            case intents.PutNote():
                self._put(intent)
            case intents.TakeNotes(numbers):
                for note in self._meant(numbers):
                    if note.by_model:
                        self._notes.reword(note, note.text)
            case intents.DropNotes(numbers):
                self._notes.remove(self._meant(numbers))
            case intents.SendNotes(text):
                self._send_all(text)
            case intents.AskChange(path):
                if self._open_files.catalogue.ready([path]):
                    self._change(intent)
                else:
                    looking = self._change_soon(intent)
                    self._preparing = self._supervisor.start(looking, "looking at the file")
            case intents.AskOnly(text):
                words = text.strip()
                way = TurnWay(takes_notes=False, asks=True, typed=f"/ask {words}")
                self._send(words, way)
            case intents.Inspect(ref):
                self._state.inspected = self._inspection.answered
                self._preparing = self._inspection.begin(ref)
        self.changed()

    @property
    def prepares(self) -> bool:
        """True while it is found out what differs, or whether a file is private."""
        return self._preparing is not None and not self._preparing.done()

    def changed(self) -> None:
        """There are others, or they say something else: show and keep that."""
        self._state.status.notes = len(self._notes.waiting)
        self._state.witness.noted()
        self._state.restated()

    def _meant(self, numbers: Sequence[int] | None) -> list[Note]:
        return [note for note in self._notes if numbers is None or note.id in numbers]

    def _put(self, intent: intents.PutNote) -> None:
        text = " ".join(intent.text.split())
        known = self._notes.by_id(intent.note)
        if known is not None and text:
            self._notes.reword(known, text)
        elif known is not None:
            self._notes.remove([known])
        elif text:
            try:
                self._notes.put(intent.path, intent.line, text)
            except EditRefused as error:
                self._state.trouble(Trouble(f"No note on {intent.path}", str(error)))

    def _send_all(self, text: str) -> None:
        if self._notes.waiting:
            self._send(text.strip() or DO_THEM, PLAIN)
        else:
            self._state.trouble(Trouble(NO_NOTES, severity="information"))

    async def _change_soon(self, intent: intents.AskChange) -> None:
        """The same, once it is known whether the file is private."""
        await self._open_files.catalogue.prepare([intent.path])
        self._change(intent)

    def _change(self, intent: intents.AskChange) -> None:
        """Ask for a change of some lines; they are quoted, so that it is plain which are meant."""
        path, words = intent.path, intent.text.strip()
        try:
            buffer = self._state.workspace.open(path)
            if why := self._state.workspace.read_only(path):
                raise EditRefused(why)
            if intent.start[0] >= buffer.line_count:
                raise EditRefused(f"it ends at line {buffer.line_count}")
        except EditRefused as error:
            self._state.trouble(Trouble(f"{path} is not changed", str(error)))
            return
        start, end = sorted((buffer.clamp(intent.start), buffer.clamp(intent.end)))
        last = end[0] - (end[1] == 0 and end[0] > start[0])
        where = f"line {start[0] + 1}" if last == start[0] else f"lines {start[0] + 1}-{last + 1}"
        quoted = buffer.slice((start[0], 0), (last, len(buffer.lines[last])))
        if self._open_files.privacy(path) or len(quoted) > _QUOTED_CHARS:
            block = f"{shown(path)}, {where} (not quoted here)"
        else:
            block = file_block(path, quoted, from_=str(start[0] + 1), to=str(last + 1))
        part = buffer.slice(start, end) if start[0] == end[0] else ""
        if part and part != quoted and block.startswith("<"):
            block += f"\nSelected in it: `{part}`"
        text = (
            f"{words}\n\nChange only this, which is selected in the editor, {where} of "
            f"{shown(path)} as it stands now:\n{block}\n"
            "Leave all other lines and files as they are; say so if one of them has to change, too."
        )
        behind = last + 1 < buffer.line_count
        stop = (last + 1, 0) if behind else buffer.end
        within = AskedLines(buffer, buffer.mark(start[0]), buffer.mark(*stop, right=True))
        brief = f"{words} ({path}, {where})"
        way = TurnWay(takes_notes=False, within=within, words=words, brief=brief)
        self._send(text, way)

    def take(self, turn: int) -> str:
        """What the model is told of the notes that wait; from now on they are sent ones."""
        waiting = self._notes.waiting
        if not waiting:
            return ""
        self._notes.sent(waiting, turn)
        self._state.note(turn, "\n".join(f"note on {note_words(note)}" for note in waiting))
        self.changed()
        head = "The user's notes on lines of files, as these stand in the editor now:"
        return "\n".join([head, *map(self._for_model, waiting)])

    def _for_model(self, note: Note) -> str:
        where = f"{shown(note.path)}, line {(note.row or 0) + 1}"
        if note.lost:
            where = f"{shown(note.path)}, a line that is gone and stood above line {note.row}"
        quoted = note.line.strip()[:_LINE_CHARS]
        if quoted and not self._open_files.privacy(note.path):
            where += f" (`{quoted}`)"
        return f"- {where}: {note.text}"


def note_words(note: Note) -> str:
    """A note in a line: where it is, and what it says; not safe to show as it is."""
    place = note.path if note.row is None else f"{note.path}:{note.row + 1}"
    severity = f"{note.severity}: " if note.by_model else ""
    return f"{place} {severity}{note.text}"


def list_words(notes: Iterable[Note]) -> str:
    """All notes, a line each, with their numbers and what becomes of them; not safe to show."""
    lines = [f"{note.id}. {note_words(note)}{_fate(note)}" for note in notes]
    return "\n".join(lines) or "There are no notes."


def _fate(note: Note) -> str:
    how = "found in" if note.by_model else "sent with"
    fate = f"{how} turn {note.turn}" if note.turn else "goes with the next request"
    lost = ", its line is gone" if note.lost else ""
    return f" ({fate}{lost})"
