"""What the user notes on lines, or asks about them: notes, changes of a selection, questions.

Or the model reviews a difference: what it finds in lines is read leniently from its answer, and
becomes notes on them.
"""

from __future__ import annotations

import asyncio
import re
from asyncio import Task
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple
from urllib.parse import quote, unquote

from tui.core.attachments import files_of
from tui.core.conversation import BlockKind
from tui.core.document.documents import AskedLines
from tui.core.document.line_notes import Note, Severity
from tui.core.document.report import shown
from tui.core.files import FileRead, counted, decoded, file_block
from tui.core.text.buffer import plain_text
from tui.core.text.diff import line_changes
from tui.core.text.patterns import pattern
from tui.core.text.rows import keep_ends
from tui.engine import intents
from tui.engine.intents import PLAIN, Intent, TurnWay
from tui.engine.notices import Trouble
from tui.engine.services import Services
from tui.engine.slash import DO_THEM
from tui.errors import EditRefused

_SEVERITIES: dict[str, Severity] = {
    **dict.fromkeys(("error", "critical", "bug", "blocker", "high", "severe", "fatal"), "error"),
    **dict.fromkeys(("warning", "warn", "medium", "major", "moderate", "risk"), "warning"),
    **dict.fromkeys(("hint", "info", "note", "nit", "minor", "low", "style"), "hint"),
    "suggestion": "hint",
}
_FINDING = pattern(
    r"[\s>*\-•+]{0,12}(?:\d{1,3}[.)]\s{1,3})?[*\[(`\"]{0,4}"
    r"(?P<path>[^\s:`*|\",#]{1,400})[`*\]\"]{0,3}"
    r"(?::\s?(?:lines?\s{0,2}|L)?|[\s,(#]{1,4}(?:lines?\s{1,2}|L))"
    r"(?P<line>\d{1,9})(?!\w)(?:\s?[-–]\s?L?\d{1,9})?(?::\d{1,6})?"
    r"[`*\])\"]{0,4}\s{0,4}[:,\-–—]{0,3}\s{0,4}[\[(*`]{0,4}"
    rf"(?:(?P<severity>{'|'.join(_SEVERITIES)})\b"
    r"(?:[\])*`]{1,4}\s{0,4}[:\-–—]{0,3}|\s{0,4}[:\-–—]{1,3})[*`]{0,4}\s{0,4})?"
    r"(?P<text>\S.*)",
    re.IGNORECASE,
)
_ODD = pattern(r"[\s:`*|\",#]")
"""What a path has seldom, and what stands around one often."""
_MOST = 200
"""Findings of one answer."""
_FINDING_CHARS = 2_000


class Finding(NamedTuple):
    """One of them."""

    path: str
    """As the model wrote it."""
    line: int
    """From 1."""
    severity: Severity
    text: str


def findings(answer: str, paths: Iterable[str] = ()) -> list[Finding]:
    """The findings in an answer: ``PATH:LINE: SEVERITY: TEXT``, with whatever stands around it.

    Lines behind one that are indented go on with it. ``paths`` are those that were inspected: one
    with blanks in it is known by that.
    """
    odd = sorted({path for path in paths if _ODD.search(path)}, key=len, reverse=True)
    found: list[Finding] = []
    goes_on = False
    for line in answer.splitlines():
        line = line[:_FINDING_CHARS]
        named = min((path for path in odd if path in line), key=line.index, default="")
        said = _FINDING.fullmatch(line.replace(named, quote(named), 1) if named else line)
        if said is not None and (_is_path(said["path"]) or said["severity"]):
            severity = _SEVERITIES.get((said["severity"] or "").lower(), "warning")
            text = said["text"].strip().strip("*")
            path = unquote(said["path"]) if named else said["path"]
            found.append(Finding(path, int(said["line"]), severity, text))
            goes_on = True
        elif goes_on and line[:1].isspace() and line.strip():
            last = found.pop()
            found.append(last._replace(text=f"{last.text} {line.strip()}"[:_FINDING_CHARS]))
        else:
            goes_on = False
    return list(dict.fromkeys(found))[:_MOST]


def _is_path(said: str) -> bool:
    """False for words that only stand before a number."""
    return "/" in said or "." in said.strip(".")


def meant(said: str, paths: Iterable[str]) -> str:
    """Which of the paths is meant; empty: none, or more than one."""
    known = list(paths)
    clean = said.replace("\\", "/")
    for one in (clean, clean.removeprefix("./"), clean[2:] if clean[:2] in ("a/", "b/") else clean):
        if one in known:
            return one
    ends = {path for path in known if path.endswith(f"/{clean}") or clean.endswith(f"/{path}")}
    return ends.pop() if len(ends) == 1 else ""


_AROUND = 3


def numbered_diff(old: str, new: str, most_chars: int) -> str:
    """What differs, each line that is there now with its number; cut where it is too long."""
    lines, parts, shown = keep_ends(new), list[str](), -1
    for change, (first, _), _ in line_changes(old, new).placed():
        added, gone = keep_ends(change.new_text), keep_ends(change.old_text)
        if shown < 0 or first - shown > 2 * _AROUND:
            parts += _rows(lines, shown, shown + _AROUND, " ") if shown >= 0 else []
            parts.append("@@")
            shown = first - _AROUND
        parts += _rows(lines, shown, first, " ")
        parts += [f"      -{line.rstrip(chr(10))}" for line in gone]
        shown = first + len(added)
        parts += _rows(lines, first, shown, "+")
    parts += _rows(lines, shown, shown + _AROUND, " ") if shown >= 0 else []
    text = "\n".join(parts)
    return (
        text if len(text) <= most_chars else f"{text[:most_chars]}\n(cut: read_file has the rest)"
    )


def _rows(lines: Sequence[str], first: int, last: int, sign: str) -> list[str]:
    rows = range(max(first, 0), min(last, len(lines)))
    return [f"{row + 1:>5} {sign}{lines[row].rstrip(chr(10))}" for row in rows]


MOST_FILES = 200
_MOST_CHARS = 120_000
"""Of all differences in one request."""
_ASK = """\
Review what differs between {ref} and the files as they are now, below: bugs, broken callers, \
races, missing checks and tests; no matters of taste. Read what you need around it. Change nothing.

Write each finding on one line of its own, exactly so:
PATH:LINE: SEVERITY: what is wrong, and what to do
PATH is relative to the workspace, LINE a number that stands before a line below (or in the file \
as read_file shows it), SEVERITY is error, warning or hint. The worst first, nothing twice. Behind \
them sum up in one sentence; if nothing is wrong, say only that."""


class Inspection:
    """Asks for findings, and puts them on their lines when the answer is there."""

    def __init__(self, services: Services, send: Callable[[str, TurnWay], None]) -> None:
        """``send`` prompts the model."""
        self._services = services
        self._state = services.state
        self._send = send
        self._inspected: list[str] = []

    def begin(self, ref: str) -> asyncio.Task[None]:
        """Find out what differs, and ask; the task ends when that is sent."""
        return self._services.supervisor.start(self._ask(ref), "the difference")

    async def _ask(self, ref: str) -> None:
        git = self._services.ports.git
        paths, why = ([], "git is not asked here") if git is None else await git().changed(ref)
        if why or git is None:
            self._state.trouble(Trouble("Nothing is inspected", why))
            return
        open_files = self._services.open_files
        workspace = self._state.workspace
        paths = sorted({*paths, *(path for path in workspace.buffers if workspace.is_dirty(path))})
        await open_files.catalogue.prepare(paths)
        paths = sorted({*files_of(paths, open_files.catalogue.paths())})
        left_out = [path for path in paths if open_files.privacy(path)]
        parts, room = list[str](), _MOST_CHARS
        self._inspected = [one for one in paths if one not in left_out]
        for path in self._inspected[:MOST_FILES]:
            read = await git().head(path, ref)
            old, new = _text(path, read), await self._now(path)
            if (old is None and new is None) or old == new:
                continue
            if room > 0:
                said = await asyncio.to_thread(numbered_diff, old or "", new or "", room)
                room -= len(said)
            else:
                said = "(not shown here: read_file has it)"
            state = "new file" if old is None else "deleted" if new is None else "changed"
            parts.append(f"=== {path} ({state})\n{said}")
        if not parts:
            what = f"Nothing differs from {ref}"
            why = "what does is private" if left_out else ""
            self._state.trouble(Trouble(what, why, severity="information"))
            return
        if more := len(self._inspected) - MOST_FILES:
            parts += [f"(and {more} more files)"] * (more > 0)
        text = "\n\n".join([_ASK.format(ref=ref), *parts])
        typed = "/inspect" + (f" {ref}" if ref != "HEAD" else "")
        brief = f"Inspect what differs from {ref} ({counted(len(parts), 'file')})"
        way = TurnWay(takes_notes=False, asks=True, inspects=True, typed=typed, brief=brief)
        self._send(text, way)

    async def _now(self, path: str) -> str | None:
        """The text as it is in the editor, else on the disk; None: there is none."""
        buffer = self._state.workspace.documents.quotable(path)
        if buffer is not None:
            return buffer.text()
        read = await asyncio.to_thread(self._services.ports.files.read, path)
        return _text(path, read)

    def answered(self, turn: int) -> None:
        """The answer is over: put what it found on the lines."""
        blocks = (b for b in self._state.transcript.blocks if b.turn == turn)
        said = "\n".join(block.text for block in blocks if block.kind is BlockKind.TEXT)
        found, notes = findings(said, self._inspected), self._state.workspace.notes
        known = {(note.path, note.row, note.text) for note in notes}
        lost = list[str]()
        paths = [*self._state.workspace.buffers, *self._services.open_files.catalogue.paths()]
        for one in found:
            path = meant(one.path, dict.fromkeys(paths)) or one.path
            if (path, one.line - 1, one.text) in known:
                continue
            try:
                notes.put(path, one.line - 1, one.text, severity=one.severity, turn=turn)
            except EditRefused as error:
                where = f"{one.path}:{one.line}"
                lost.append(f"{where} ({error}): {one.text}")
                text = f"{where} {one.text}"
                notes.put(one.path, None, text, severity=one.severity, turn=turn)
        self._tell(turn, found, lost)
        self._state.witness.noted()

    def _tell(self, turn: int, found: Sequence[Finding], lost: Sequence[str]) -> None:
        count = counted(len(found), "finding")
        kinds = [(kind, sum(one.severity == kind for one in found)) for kind in _KINDS]
        named = ", ".join(f"{n} {kind}{'s' * (n != 1)}" for kind, n in kinds if n)
        none = "No finding: the answer names no line of a file."
        words = [f"{count}: {named}; /notes lists them"] if found else [none]
        words += [f"no such line: {one}" for one in lost]
        self._state.note(turn, "\n".join(words))


_KINDS = ("error", "warning", "hint")


def _text(path: str, read: FileRead) -> str | None:
    if read.data is None:
        return None
    try:
        return plain_text(decoded(path, read.data))
    except EditRefused:
        return None


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
