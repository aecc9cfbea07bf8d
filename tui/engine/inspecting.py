"""Has the model review a difference; what it finds in lines becomes notes on them.

It is read leniently from the lines of its answer.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple
from urllib.parse import quote, unquote

from tui.core.conversation import BlockKind
from tui.core.document.line_notes import Severity
from tui.core.files import FileRead, counted, decoded
from tui.core.text.buffer import plain_text
from tui.core.text.diff import line_changes
from tui.core.text.patterns import pattern
from tui.core.text.rows import keep_ends
from tui.engine.intents import TurnWay
from tui.engine.notices import Trouble
from tui.engine.services import Services
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
_LINE_CHARS = 2_000


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
        line = line[:_LINE_CHARS]
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
            found.append(last._replace(text=f"{last.text} {line.strip()}"[:_LINE_CHARS]))
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
        listed = open_files.catalogue.paths()
        inside = (one for path in paths for one in listed if one.startswith(f"{path}/"))
        paths = sorted({*paths, *inside})  # of a new folder git names only that
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
