"""What others did on the disk to files that the model knows: told once, with who it was.

Of open files the records know it. Of files that the model has only read the text is kept as it was
sent: what the watcher names is read again ahead of the next request, and compared. Where git went
elsewhere meanwhile (another branch, a pull, a rebase, a stash) what it changed is one sentence and
a list.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from tui.core.document.file_record import UserChange, changes_of
from tui.core.document.workspace import Workspace
from tui.core.files import FileRead, GitMove, GitPlace, decoded
from tui.core.text.buffer import plain_text
from tui.engine.ports import Ports
from tui.errors import EditRefused

MOST_KNOWN = 300
"""Files whose texts are kept; the ones that were sent first go."""
MOST_CHARS = 200_000
"""Of a longer text only that it changed is told."""
_LATE_S = 10.0
"""So long after git was seen to go elsewhere, what comes of its files still is its doing."""
_MANY = 4
"""So many files at once may be git's doing, where its own are not watched."""
_COMMITTED = "commit"
"""What the log of HEAD calls that which changes no file on the disk begins so."""
GIT_FILES = frozenset({".git/HEAD", ".git/index"})


class OutsideChanges:
    """Keeps what the model was sent of files that are not open, and sees what becomes of them."""

    def __init__(self, workspace: Workspace, ports: Ports) -> None:
        self._workspace, self._ports = workspace, ports
        self._known: dict[str, str | None] = {}
        """As the model knows them; None: not any more."""
        self._now: dict[str, str | None] = {}
        """As they were found, where that is something else; None: gone, or no text."""
        self._stirred: set[str] = set()
        """Files that somebody wrote since they were looked at."""
        self._touched: set[str] = set()
        """All files that others changed since the last request."""
        self._edits: dict[str, list[UserChange]] = {}
        self._place: GitPlace | None = None
        self._git_stirred = True
        self._moves: list[GitMove] = []
        self._late: tuple[float, frozenset[str], str] = (0.0, frozenset(), "")
        """Until when files are git's doing that it was seen to change, and what it did."""
        documents = workspace.documents
        self._read, documents.read = documents.read, self._reading

    def forget(self) -> None:
        """A new conversation: the model knows nothing."""
        for held in (self._known, self._now, self._edits):
            held.clear()
        self._touched.clear()
        self._moves.clear()

    def sent(self, path: str, text: str) -> None:
        """The model was sent this text of a file that is not open."""
        self._now.pop(path, None)
        self._edits.pop(path, None)
        self._known.pop(path, None)
        self._known[path] = text
        if len(self._known) > MOST_KNOWN:
            oldest = next(iter(self._known))
            del self._known[oldest]
            self._now.pop(oldest, None)

    def changed(self, paths: Iterable[str]) -> None:
        """The watcher names these; none: whatever may have changed."""
        named = set(paths)
        self._git_stirred |= not named or bool(named & GIT_FILES) or len(named) >= _MANY
        self._touched |= named - GIT_FILES
        self._stirred |= (named & self._known.keys()) if named else self._known.keys()

    @property
    def ready(self) -> bool:
        """True if there is nothing to be looked at before a request."""
        asks = self._git_stirred and self._place is not None and self._is_watched
        unseen = self._ports.watch is None and self._known
        return not (self._stirred or asks or unseen or self._now.keys() - self._edits.keys())

    @property
    def _is_watched(self) -> bool:
        return self._ports.watch is not None and self._ports.git is not None

    async def prepare(self) -> None:
        """Look at what was named, and ask git where it is."""
        if self._ports.watch is None:
            self._stirred |= self._known.keys()
        while self._stirred:
            path = self._stirred.pop()
            if path in self._known and path not in self._workspace.buffers:
                self._found(path, await asyncio.to_thread(self._ports.files.read, path))
        for path in list(self._now.keys() - self._edits.keys()):
            before, now = self._known.get(path), self._now[path]
            edits = await asyncio.to_thread(_edits, path, before, now)
            if self._now.get(path) is now and path in self._now:
                self._edits[path] = edits
        if self._git_stirred and self._is_watched and self._ports.git is not None:
            self._git_stirred = False
            git = self._ports.git()
            now_at, before_at = await git.place(), self._place
            self._place = now_at
            if before_at is not None and now_at != before_at:
                self._moved(await git.moved(before_at, now_at))

    def _moved(self, move: GitMove) -> None:
        if all(step.startswith(_COMMITTED) for step in move.words.split("; ")):
            return
        until_s = self._ports.clock.now() + _LATE_S
        self._late = (until_s, frozenset(move.paths), move.words)
        touched = [path for path in move.paths if path in self._touched]
        if touched:
            known = [path for path in touched if path in self._known or self._is_open(path)]
            rest = [path for path in touched if path not in known]
            self._moves.append(GitMove(move.words, (*known, *rest)))

    def _is_open(self, path: str) -> bool:
        return path in self._workspace.buffers

    def take(
        self, of_open: Sequence[UserChange], private: Callable[[str], str]
    ) -> tuple[list[UserChange], list[GitMove]]:
        """What the next request tells of others' changes; ``of_open``: those of open files."""
        until_s, late, words = self._late
        moves, self._moves = self._moves, []
        by_git = {path for move in moves for path in move.paths}
        if self._ports.clock.now() <= until_s:
            fresh = {*self._edits, *(edit.path for edit in of_open)} & late - by_git
            moves += [GitMove(words, sorted(fresh))] if fresh else []
            by_git |= fresh
            self._late = (until_s, late - by_git, words)  # what comes now is another's doing
        told = [edit for edit in of_open if edit.path not in by_git and not private(edit.path)]
        for path, edits in self._edits.items():
            now = self._now.pop(path, None)
            self._known[path] = now
            if now is None or path in by_git or self._is_open(path):
                del self._known[path]
            if path not in by_git and not private(path):
                told += edits
        self._edits = {}
        self._touched.clear()
        return told, moves

    def _reading(self, path: str) -> FileRead:
        """A file may be opened: from then on its record knows what changes."""
        found = self._read(path)
        if path in self._known and path not in self._workspace.buffers:
            self._stirred.discard(path)
            self._found(path, found)
        return found

    def _found(self, path: str, read: FileRead) -> None:
        """What lies there now."""
        if read.refusal:
            return
        try:
            text = None if read.data is None else plain_text(decoded(path, read.data))
        except EditRefused:
            text = None
        self._edits.pop(path, None)
        if text == self._known[path]:
            self._now.pop(path, None)
        else:
            self._now[path] = text


def _edits(path: str, before: str | None, now: str | None) -> list[UserChange]:
    """The regions that differ; of a file that is gone, or very long, one without its text."""
    if before is None or now is None:
        return []  # that a file is gone is told by its name
    if max(len(before), len(now)) > MOST_CHARS:
        return [UserChange(path, 0, "", "(the file is another one: read it again)\n")]
    return changes_of(path, before, now)
