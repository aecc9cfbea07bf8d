"""What files are compared with: the disk's bytes, git's HEAD, their text when the turn began."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from difflib import unified_diff
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from tui.core.attachments import files_of
from tui.core.document.disk_plan import still_text
from tui.core.document.hunk import Decision, Hunk, Kind
from tui.core.files import FileRead, decoded
from tui.core.text.buffer import Buffer, plain_text, split_text
from tui.engine.intents import Against
from tui.engine.services import Services
from tui.errors import EditRefused

MOST_FILES = 500
"""Files that are compared at once."""
MOST_DIFFERENCE_CHARS = 60_000
"""Of what a prompt attaches."""


class Old(Struct, frozen=True):
    """A file's old text, and the new one it is compared with."""

    path: str
    lines: Sequence[str]
    new: Sequence[str]
    buffer: Buffer | None = None
    """Of the new text, if it is an open file's."""
    words: str = ""
    """``new file``, ``deleted``, or empty."""
    note: str = ""
    """A sentence to be told beside the lines, or instead of them."""


class _FileText(Struct, frozen=True):
    """A text, or none with the reason."""

    lines: Sequence[str] | None
    note: str = ""
    newline: str = ""


class Diffs:
    """Old texts of a workspace's files; a copy of the open ones is kept where a turn begins."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._workspace = services.state.workspace
        self._began: dict[str, tuple[int, list[str]]] = {}
        """Open file -> revision and lines when the turn began."""
        self._turn = 0

    def turn_begins(self, turn: int) -> None:
        """A turn begins: keep how the open files are. Costs a copy of their lists of lines."""
        before, self._began, self._turn = self._began, {}, turn
        for path, buffer in self._workspace.buffers.items():
            kept = before.get(path)
            if kept is not None and kept[0] == buffer.revision:
                self._began[path] = kept
            else:
                self._began[path] = (buffer.revision, buffer.lines.copy())

    async def olds(self, against: Against, path: str = "") -> list[Old]:
        """A file (empty path: all that may differ) and what it is compared with. Never raises."""
        paths = [path] if path else (await self._candidates(against))[:MOST_FILES]
        return [await self._old(against, one) for one in paths]

    async def _candidates(self, against: Against) -> list[str]:
        """Files that may differ."""
        found: dict[str, None] = {}
        if against == "head" and self._services.ports.git_status is not None:
            paths = await self._services.ports.git_status()
            catalogue = self._services.open_files.catalogue
            await catalogue.prepare(paths)
            found.update(dict.fromkeys(files_of(sorted(paths), catalogue.paths())))
        if against == "turn":
            found.update((one, None) for hunk in self._hunks() for one in (hunk.path, hunk.target))
            found.update(dict.fromkeys(self._began))
        found.update(dict.fromkeys(self._workspace.buffers))
        return [one for one in found if one]

    async def _old(self, against: Against, path: str) -> Old:
        old = await self._text(against, path)
        buffer = self._workspace.buffers.get(path)
        new = _of_buffer(buffer) if buffer is not None else await self._on_disk(path)
        lines, new_lines = old.lines or [], new.lines or []
        note = old.note or new.note
        if old.lines is None and new.lines is None and not new.note:
            return Old(path, (), (), None, note=f"There is no file '{path}'.")
        if note and (old.lines is None or new.lines is None):
            return Old(path, (), (), None, note=note)
        words = "new file" if old.lines is None else "deleted" if new.lines is None else ""
        if list(lines) == list(new_lines) and old.newline != new.newline and old.newline:
            note = f"The lines are the same; their endings are {new.newline}, not {old.newline}."
        return Old(path, lines, new_lines, buffer, words, note)

    async def _text(self, against: Against, path: str) -> _FileText:
        if against == "disk":
            return await self._on_disk(path)
        if against == "turn":
            return self._at_turn(path)
        if self._services.ports.git_head is None:
            return _FileText(None, "git is not asked here")
        return _read(path, await self._services.ports.git_head(path))

    async def _on_disk(self, path: str) -> _FileText:
        read = await asyncio.to_thread(self._services.ports.files.read, path)
        return _read(path, read)

    def _at_turn(self, path: str) -> _FileText:
        """Its text when the turn began; of a file that was opened since, without the turn."""
        source = next(
            (h.path for h in self._hunks() if h.kind is Kind.MOVE and h.target == path), path
        )
        if (began := self._began.get(source)) is not None:
            return _FileText(began[1])
        record = self._workspace.documents.records.get(path)
        if record is None or record.view:
            return _FileText(None, f"'{path}' was not open in this turn")
        deleted = next((h for h in self._hunks() if h.path == path and h.kind is Kind.DELETE), None)
        if record.gone:
            return _FileText(None if deleted is None else split_text(deleted.base)[0])
        still = still_text(self._workspace.documents, record)
        stood = tuple(one._replace(is_open=one.hunk.turn >= self._turn) for one in still.stood)
        made = any(h.kind is Kind.ADD and h.path == path and not h.base for h in self._hunks())
        text = replace(still, stood=stood).backed_out()
        return _FileText(None if made and text.lines == [""] else text.lines)

    def _hunks(self) -> list[Hunk]:
        """Those of the turn, without the rejected ones."""
        found: list[Hunk] = []
        for hunk in reversed(self._workspace.hunks):
            if hunk.turn < self._turn:
                break
            if hunk.decision is not Decision.REJECTED:
                found.append(hunk)
        return found[::-1]


def _of_buffer(buffer: Buffer) -> _FileText:
    return _FileText(buffer.lines.copy(), newline=_newline(buffer.endings))


def _read(path: str, read: FileRead) -> _FileText:
    if read.data is None:
        return _FileText(None, read.refusal)
    try:
        lines, endings = split_text(plain_text(decoded(path, read.data)))
    except EditRefused as refused:
        return _FileText(None, str(refused))
    return _FileText(lines, newline=_newline(endings))


def _newline(endings: Sequence[str]) -> str:
    """What the lines end with, by its name; empty if none does."""
    kinds = set(endings) - {""}
    if len(kinds) > 1:
        return "mixed"
    return {"\n": "LF", "\r\n": "CRLF"}.get(next(iter(kinds), ""), "")


async def difference_from_head(services: Services, diffs: Diffs) -> str:
    """What differs from HEAD as a unified difference, as a prompt attaches it; no private file.

    Raises EditRefused: why nothing can be quoted, though something differs.
    """
    every = await diffs.olds("head")
    olds = [old for old in every if list(old.lines) != list(old.new)]
    if not olds and (note := next((old.note for old in every if old.note), "")):
        raise EditRefused(note.rstrip("."))
    await services.open_files.catalogue.prepare([old.path for old in olds])
    public = [old for old in olds if not services.open_files.privacy(old.path)]
    if olds and not public:
        raise EditRefused("what differs from HEAD is private")
    return await asyncio.to_thread(_unified, public)


def _unified(olds: Sequence[Old]) -> str:
    parts, left, left_out = list[str](), MOST_DIFFERENCE_CHARS, list[str]()
    for old in olds:
        names = f"a/{old.path}", f"b/{old.path}"
        lines = unified_diff(old.lines, old.new, *names, lineterm="")
        text = "\n".join(islice(lines, MOST_DIFFERENCE_CHARS))
        if len(text) > left:
            left_out.append(old.path)
            continue
        left -= len(text)
        parts.append(text)
    if left_out:
        parts.append(f"(too long to be quoted here: {', '.join(left_out[:100])})")
    return "\n".join(parts)
