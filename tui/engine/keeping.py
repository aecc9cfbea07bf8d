"""Keeps what is typed in the state folder while it is typed, so that a crash loses a second of it.

Nothing is done per key but to note the time. Each key is on the disk within a second: at once, but
`SOON_S` after the write before began and when that is done, the changed texts are copied, and a
thread of its own writes them. What did not change since is neither copied nor
written; what was saved, undone or sent is taken out.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.core.edits.workspace import Workspace
from tui.core.unsaved import TypedText, Unsaved, UnsavedFile, all_of, typed_text
from tui.engine.kit import Kit
from tui.engine.notices import Trouble
from tui.errors import DuettoError, FileRefused

if TYPE_CHECKING:
    from concurrent.futures import Executor

_log = logging.getLogger(__name__)

SOON_S = 0.3
"""Between the beginnings of two writes; what is left of the second is for the write."""
AGAIN_S = 10.0
"""After it could not be written."""
_SLACK_S = 0.001
_BROKEN = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
"""What a bug raises: the text is wanted all the same when it was a bug that ended duetto."""

Text = TypedText | UnsavedFile | None
"""Not made yet, or made; None: nothing of the file would be lost."""
Version = tuple[tuple[int, int], int]
"""The user's state and the decisions; and which bytes lie on the disk, by identity."""


@dataclass(frozen=True, slots=True)
class _Moment:
    """All that would be lost now, each file with its version."""

    files: dict[str, tuple[Version, Text]]
    draft: str
    queued: tuple[str, ...]

    def same_as(self, other: _Moment | None) -> bool:
        """True if nothing of it changed."""
        if other is None or (self.draft, self.queued) != (other.draft, other.queued):
            return False
        return {path: version for path, (version, _) in self.files.items()} == {
            path: version for path, (version, _) in other.files.items()
        }


class Keeping:
    """Writes what would be lost, soon after it changed."""

    def __init__(self, kit: Kit, queued: Callable[[], list[str]]) -> None:
        """``queued`` gives the prompts that wait."""
        self.draft: Callable[[], str] = str
        """Gives what stands in the prompt box; the screen sets it."""
        self.thread: Executor | None = None
        """Writes, and does nothing else: searches and listings may fill those of asyncio."""
        self._ports = kit.ports
        self._board = kit.board
        self._workspace: Workspace = kit.board.workspace
        self._supervisor = kit.supervisor
        self._queued = queued
        self._changed = False
        """Something may have changed that is not kept."""
        self._began_s = -SOON_S
        """When the last write began."""
        self._task: asyncio.Task[None] | None = None
        self._again: asyncio.Task[None] | None = None
        self._kept: _Moment | None = _Moment({}, "", ())
        """What the folder holds; None: it is not known."""
        self._told = False
        self._last_draft = ""

    def changed(self) -> None:
        """Something may have been typed, saved, queued or decided; cheap, never waits."""
        if self._ports.rescue is None:
            return
        self._changed = True
        if self._task is None:
            self._task = self._supervisor.start(self._work(), "keeping what is typed")

    def at_once(self, prompts: str) -> None:
        """Write before something else happens; ``prompts`` are on their way to the prompt box.

        Raises:
            FileRefused: not all of it is on the disk.
        """
        moment = self._moment()
        draft = "\n\n".join(filter(str.strip, (prompts, moment.draft)))
        self.changed()
        if why := self._write(_Moment(moment.files, draft, moment.queued)):
            raise FileRefused(why)

    async def _work(self) -> None:
        try:
            while self._changed:
                wait_s = self._began_s + SOON_S - self._ports.clock.now()
                if wait_s > _SLACK_S:
                    await self._ports.sleep(wait_s)
                    continue
                self._changed = False
                self._began_s = self._ports.clock.now()
                moment = self._moment()
                if not moment.same_as(self._kept):
                    await self._keep(moment)
        finally:
            self._task = None

    async def _keep(self, moment: _Moment) -> None:
        try:
            why = await self._beside(moment)
        except FileRefused as error:
            why = str(error)
        if why and not self._told:
            what, step = "What you type is not kept against a crash", "save the files"
            self._board.trouble(Trouble(what, why, step, severity="warning"))
        self._told = bool(why)
        if why and self._again is None:
            self._again = self._supervisor.start(self._try_again(), "keeping what is typed")

    async def _beside(self, moment: _Moment) -> str:
        """Write in the thread."""
        if self.thread is None:
            from concurrent.futures import ThreadPoolExecutor  # not before the first paint

            self.thread = ThreadPoolExecutor(1, "keeping")
        return await asyncio.get_running_loop().run_in_executor(self.thread, self._write, moment)

    async def _try_again(self) -> None:
        """There may be room by then, and nobody types any more."""
        await self._ports.sleep(AGAIN_S)
        self._again = None
        if self._kept is None:
            self.changed()

    def _write(self, moment: _Moment) -> str:
        """In a thread: make the bytes and write them; returns what was not written, and why.

        Raises:
            FileRefused: nothing can be written.
        """
        if self._ports.rescue is None:
            return ""
        self._kept = None
        files = {path: (version, file_of(text)) for path, (version, text) in moment.files.items()}
        there = tuple(file for _, file in files.values() if file is not None)
        _, failed = self._ports.rescue.keep(Unsaved(there, moment.draft, moment.queued))
        if not failed:
            self._kept = _Moment(dict(files), moment.draft, moment.queued)
        return ", ".join(failed)

    def _moment(self) -> _Moment:
        """As it stands now; files that did not change since are not copied again."""
        known = self._kept.files if self._kept is not None else {}
        files: dict[str, tuple[Version, Text]] = {}
        for path in sorted(self._workspace.buffers):
            if not self._workspace.is_dirty(path):
                continue
            record = self._workspace.ledger.records[path]
            version: Version = (record.version, id(record.disk))
            if path in known and known[path][0] == version:
                files[path] = known[path]
            else:
                files[path] = (version, text_of(self._workspace, path))
        return _Moment(files, self._drafted(), tuple(self._queued()))

    def _drafted(self) -> str:
        """The draft; if the screen is broken, the last one: the files are wanted all the same."""
        try:
            self._last_draft = self.draft()
        except _BROKEN:
            _log.exception("the draft is not to be had")
        return self._last_draft


def text_of(workspace: Workspace, path: str) -> TypedText | None:
    """What would be lost of a file, be there a bug in how that is found out."""
    try:
        return typed_text(workspace.ledger, path)
    except (*_BROKEN, DuettoError):
        return all_of(workspace.buffers[path])


def file_of(text: Text) -> UnsavedFile | None:
    """In any thread: the bytes to keep, be there a bug in how they are found out."""
    if not isinstance(text, TypedText):
        return text
    try:
        return text.file()
    except (*_BROKEN, DuettoError):
        return text.whole()
