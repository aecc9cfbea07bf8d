"""Keeps what is typed in the state folder while it is typed, so that a crash loses a second of it.

Nothing is done per key but to note the time. Each key is kept within a second: at once, but
`SOON_S` after the time before, the changed texts are copied, and a thread of its own jots them
down, which waits for no disk: a kill loses nothing of that, however busy the machine is. Another
thread brings them to the disk behind it, for a power cut. What did not change since is neither
copied nor written; what was saved, undone or sent is taken out.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from tui.core.document.workspace import Workspace
from tui.core.unsaved import TypedText, Unsaved, UnsavedFile, all_of, bring_back, typed_text
from tui.engine import intents
from tui.engine.notices import Trouble
from tui.engine.ports import Rescue
from tui.engine.services import Services
from tui.errors import DuettoError, EditRefused, FileRefused

if TYPE_CHECKING:
    from concurrent.futures import Executor


_log = logging.getLogger(__name__)

SOON_S = 0.2
"""Between the beginnings of two writes; what is left of the second is for the write."""
BRING_S = 0.3
"""The same of what is brought to the disk: that costs more."""
AGAIN_S = 10.0
"""After it could not be written."""
_SLACK_S = 0.001
_BROKEN = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
"""What a bug raises: the text is wanted all the same when it was a bug that ended duetto."""

T = TypeVar("T")
Text = TypedText | UnsavedFile | None
"""Not made yet, or made; None: nothing of the file would be lost."""
Version = tuple[tuple[int, int], int]
"""The user's state and the decisions; and which bytes lie on the disk, by identity."""


class _Moment(Struct, frozen=True):
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

    def __init__(self, services: Services, queued: Callable[[], list[str]]) -> None:
        """``queued`` gives the prompts that wait."""
        self.draft: Callable[[], str] = str
        """Gives what stands in the prompt box; the screen sets it."""
        self.deciding: Callable[[], bool] = bool
        """Whether a decision on very many hunks is being made; the session sets it."""
        self.threads: tuple[Executor, Executor] | None = None
        """They jot down, and bring to the disk; searches and listings may fill asyncio's."""
        self._ports = services.ports
        self._state = services.state
        self._workspace: Workspace = services.state.workspace
        self._supervisor = services.supervisor
        self._queued = queued
        self._changed = False
        """Something may have changed that is not kept."""
        self._began_s = -SOON_S
        """When the last write began."""
        self._task: asyncio.Task[None] | None = None
        self._bringing: asyncio.Task[None] | None = None
        self._again: asyncio.Task[None] | None = None
        self._kept: _Moment | None = _Moment({}, "", ())
        """What is jotted down; None: it is not known."""
        self._brought: _Moment | None = self._kept
        """What was, when the last one was brought to the disk."""
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
        moment = next(filter(None, self._gathering(whole=True)))
        draft = "\n\n".join(filter(str.strip, (prompts, moment.draft)))
        self.changed()
        self._jot(_Moment(moment.files, draft, moment.queued))
        if why := self._bring():
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
                for moment in self._gathering():
                    if moment is None:
                        await asyncio.sleep(0)  # keys go first
                if moment is not None and not moment.same_as(self._kept):
                    await self._beside(0, self._jot, moment)
                    if self._bringing is None:
                        bringing = self._bring_on()
                        self._bringing = self._supervisor.start(bringing, "keeping what is typed")
        finally:
            self._task = None

    async def _bring_on(self) -> None:
        """As long as there is something newer than what is on the disk."""
        try:
            while self._brought is not self._kept:
                began_s = self._ports.clock.now()
                await self._told_of(self._beside(1, self._bring))
                wait_s = began_s + BRING_S - self._ports.clock.now()
                if self._brought is not self._kept and self._kept is not None:
                    await self._ports.sleep(max(0.0, wait_s))
        finally:
            self._bringing = None

    async def _told_of(self, work: Awaitable[str]) -> None:
        """Say once why something cannot be kept, and try again later."""
        try:
            why = await work
        except FileRefused as error:
            why = str(error)
        if why and not self._told:
            what, step = "A crash would lose what you type", "save the files"
            self._state.warn(what, why, step)
        self._told = bool(why)
        if why and self._again is None:
            self._again = self._supervisor.start(self._try_again(), "keeping what is typed")

    def _beside(self, which: int, work: Callable[..., T], *given: _Moment) -> Awaitable[T]:
        """Do it in one of the threads."""
        if self.threads is None:
            from concurrent.futures import ThreadPoolExecutor  # not before the first paint

            self.threads = (ThreadPoolExecutor(1, "jotting"), ThreadPoolExecutor(1, "keeping"))
        return asyncio.get_running_loop().run_in_executor(self.threads[which], work, *given)

    async def _try_again(self) -> None:
        """There may be room by then, and nobody types any more."""
        await self._ports.sleep(AGAIN_S)
        self._again = None
        if self._kept is None:
            self.changed()

    def _jot(self, moment: _Moment) -> None:
        """In a thread: make the bytes, and jot them down."""
        if self._ports.rescue is None:
            return
        files = {path: (version, file_of(text)) for path, (version, text) in moment.files.items()}
        there = tuple(file for _, file in files.values() if file is not None)
        self._ports.rescue.jot(Unsaved(there, moment.draft, moment.queued))
        self._kept = _Moment(dict(files), moment.draft, moment.queued)

    def _bring(self) -> str:
        """In a thread: bring it to the disk; returns what was not written, and why.

        Raises:
            FileRefused: nothing can be written.
        """
        if self._ports.rescue is None:
            return ""
        self._brought, failed = self._kept, ["nothing was written"]
        try:
            _, failed = self._ports.rescue.bring()
        finally:
            if failed:
                self._brought = self._kept = None
        return ", ".join(failed)

    def _gathering(self, *, whole: bool = False) -> Iterator[_Moment | None]:
        """All as it stands now, at last; None after each file that was copied.

        Files that did not change since they were kept are not copied again; and while a decision
        on very many hunks is made, which is written in the end, only what was typed is copied
        (``whole``: all the same).
        """
        deciding = self.deciding() and not whole
        known = self._kept.files if self._kept is not None else {}
        files: dict[str, tuple[Version, Text]] = {}
        for path in sorted(self._workspace.buffers):
            if path not in self._workspace.buffers or not self._workspace.is_dirty(path):
                continue
            record = self._workspace.documents.records[path]
            version: Version = (record.version, id(record.disk))
            if path in known and known[path][0] == version:
                files[path] = known[path]
            elif not (deciding and record.typed_on_disk):
                files[path] = (version, text_of(self._workspace, path))
                yield None
        yield _Moment(files, self._drafted(), tuple(self._queued()))

    def _drafted(self) -> str:
        """The draft; if the screen is broken, the last one: the files are wanted all the same."""
        try:
            self._last_draft = self.draft()
        except _BROKEN:
            _log.exception("the draft cannot be read")
        return self._last_draft


def text_of(workspace: Workspace, path: str) -> TypedText | None:
    """What would be lost of a file, be there a bug in how that is found out."""
    try:
        return typed_text(workspace.documents, path)
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


def unsaved_of(workspace: Workspace, draft: str, prompts: Sequence[str]) -> Unsaved:
    """All that would be lost if duetto ended now."""
    files = [
        file
        for path in sorted(workspace.buffers)
        if workspace.is_dirty(path) and (file := file_of(text_of(workspace, path))) is not None
    ]
    return Unsaved(tuple(files), draft, tuple(prompts))


class Rescuing:
    """Says what was kept for this workspace; restores or dismisses it when the user says so."""

    def __init__(self, services: Services, keep: Callable[[str], None]) -> None:
        """``keep`` writes what was brought back, and the prompts that it is given."""
        self._keep = keep
        self._state = services.state
        self._open_files = services.open_files
        self._kept: list[Unsaved] = []
        self._ports = services.ports

    async def look(self, rescue: Rescue) -> None:
        """Tell at the start what is there."""
        self._kept = await asyncio.to_thread(rescue.kept)
        self._announce()

    def handle(self, intent: intents.Restore | intents.Dismiss) -> None:
        """Bring back what was kept, or remove it."""
        rescue, restore = self._ports.rescue, isinstance(intent, intents.Restore)
        if rescue is None or not self._kept:
            self._state.trouble(
                Trouble("Nothing was rescued for this workspace", severity="information")
            )
            return
        unsaved = self._kept[0]
        if unsaved.folder not in {other.folder for other in rescue.kept()}:
            del self._kept[0]
            what, step = f"{unsaved.words}: not there any more", "another duetto may have taken it"
            self._state.warn(what, "", step)
            self._announce()
            return
        if restore and (refused := self._restore(unsaved)):
            why = "\n".join(refused)
            self._state.trouble(
                Trouble(
                    "Some of it was not brought back", why, f"everything is in {unsaved.folder}"
                )
            )
            if self._kept[1:]:  # it is not in the way of the others
                self._kept.append(self._kept.pop(0))
                self._announce()
            return
        try:
            if restore:
                self._keep(unsaved.prompts)  # there is always one copy of it on the disk
            rescue.dismiss(unsaved.folder)
        except FileRefused as error:
            self._state.trouble(Trouble("The rescued text is still kept", str(error)))
            return
        del self._kept[0]
        done = "brought back, not saved yet" if restore else "removed"
        self._state.note(0, f"{unsaved.words}: {done}")
        self._announce()

    def _restore(self, unsaved: Unsaved) -> list[str]:
        """Into the buffers and the prompt box; returns what was refused, and why."""
        refused, state = [], self._state
        for file in unsaved.files:
            try:
                fits = bring_back(state.workspace.documents, file)
            except EditRefused as error:
                refused.append(str(error))
                continue
            self._open_files.open(file.path, None, 0)
            state.touched(file.path)
            if not fits:
                why = "it changed since; your text stands there instead"
                step = "undo takes that back"
                state.warn(f"Look through {file.path}", why, step)
        state.hunks_changed()
        if unsaved.prompts:
            state.status.unsent = unsaved.prompts
        state.retabbed()
        return refused

    def _announce(self) -> None:
        if not self._kept:
            return
        unsaved = self._kept[0]
        self._state.note(
            0,
            f"duetto ended with unsaved work: {unsaved.words}\n"
            f"It is kept in {unsaved.folder}\n"
            "/rescue brings it back, /rescue forget removes it",
        )
