"""What others do to files and folders on the disk: taken over, merged, asked about, listed."""

from __future__ import annotations

import asyncio
from asyncio import Future, Task, sleep
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from tui.core.document.disk_changes import doubt, follow, is_formatted, outside_change
from tui.core.document.workspace import Workspace
from tui.core.files import FileRead, FolderEntry, GitStates, summed
from tui.core.text.change_set import Author
from tui.engine import intents
from tui.engine.notices import Trouble
from tui.engine.services import Services
from tui.errors import EditRefused, FileRefused

KEEP_MINE = "Keep mine: write it over the file"
MAKE_AGAIN = "Keep mine: make the file again"
TAKE_THEIRS = "Take theirs: undo brings mine back"
SHOW_DIFF = "Show the difference first"
DECIDE_LATER = "Decide later: it is not saved until then"
FOLLOW = "Follow it under its new name"
STAY = "Keep the old name, unsaved"
TURN_S = 0.006
"""Of one turn of the event loop; the rest of a burst waits for the next one."""
MOST_MOVES = 200
"""New files of a burst that are read to see whether an open one was moved there."""
_CHANGED = "Your text (or a hunk) and the new text on disk change the same lines."
_DELETED = "Your text is still here, unsaved."
_STILL_HERE = "your text is still here, and is not saved until the file can be read"


class DiskChanges:
    """Looks at what the watcher names, a few files a turn of the event loop."""

    def __init__(
        self, services: Services, overwrite: Callable[[str], None], can_ask: bool = False
    ) -> None:
        """``overwrite`` writes a file over what lies there; ``can_ask``: somebody is there."""
        self._state = services.state
        self._clock = services.ports.clock
        self._files = services.ports.files
        self._open_files = services.open_files
        self._catalogue = services.open_files.catalogue
        self._supervisor = services.supervisor
        self._workspace: Workspace = services.state.workspace
        self._overwrite = overwrite
        self._can_ask = can_ask
        self._asked: dict[str, Future[str]] = {}
        """Path -> the question which text is to stay."""
        self._later: set[str] = set()
        """Paths of which the user said that he answers it later."""
        self._waiting: dict[str, None] = {}
        self._gone: list[str] = []
        """Open files of this burst that are not there any more."""
        self._strange: list[str] = []
        """Files of this burst that are not open."""
        self._task: Task[None] | None = None
        self._known: frozenset[str] = frozenset()
        """The open files that the watcher knows of."""
        self._opened = services.ports.opened
        services.state.before_drain.append(self._tell_watcher)
        self._doubtful: dict[str, bytes | None] = {}
        """What a formatter left that is no text, or half of it: nothing of it is taken over."""
        self.held: dict[str, bytes] = {}
        """Files that the formatter is at work on, as it found them.

        They are looked at when it is done, and not written before.
        """
        self.on_released: Callable[[], None] = lambda: None
        """Called when files may be written that could not be."""

    def reload(self, intent: intents.Reload) -> None:
        """Take a file as it is on the disk."""
        self._reload(intent.path)
        self.on_released()
        self._state.hunks_changed()
        self._state.retabbed()

    def outside(self, paths: Iterable[str]) -> None:
        """Somebody changed files: take the changes over, but not our own echoes.

        No path: look at all open ones. What takes too long for one turn of the event loop goes
        on in the next ones: a checkout may change 500 files while a model writes.
        """
        self._open_files.on_changed(paths)
        self._waiting.update(dict.fromkeys(sorted(paths) or sorted(self._workspace.buffers)))
        if self._task is None and not self._turn():
            self._task = self._supervisor.start(self._rest(), "looking at changed files")

    def _tell_watcher(self) -> None:
        """Other files are open: their folders are to be watched."""
        paths = self._workspace.buffers.keys()
        if paths != self._known:
            self._known = frozenset(paths)
            self._opened(self._known)

    def hold(self, paths: Iterable[str]) -> list[str]:
        """The formatter begins; returns those that it may work on.

        That is what lies on the disk as it was written: what somebody else wrote since is looked
        at first.
        """
        held = []
        for path in paths:
            self._look(path)
            record = self._workspace.documents.records.get(path)
            known = record is not None and not record.gone and path not in self._workspace.conflicts
            if known and record is not None and record.disk is not None:
                self.held[path] = record.disk
                held.append(path)
        return held

    def release(self, paths: Iterable[str], author: Author, *, put_back: bool = False) -> None:
        """The formatter is done. By ``DISK`` it was ended: what it left is doubtful.

        ``put_back``: nobody will look at it any more, so what lay there lies there again.
        """
        started = {path: self.held.pop(path) for path in paths}
        for path, data in started.items():
            if put_back:
                self._put_back(path, data)
            self._formatted(path, author, data)
        self.on_released()

    def _put_back(self, path: str, data: bytes) -> None:
        read = self._files.read(path)
        if read.data != data and not read.refusal:
            with suppress(FileRefused):
                self._files.write(path, data, read.data)

    def _formatted(self, path: str, author: Author, started: bytes) -> None:
        """Take over what the formatter made of the bytes that it started from.

        It is, as far as it fits what was typed meanwhile; the rest of it comes with the next save.
        """
        documents, read = self._workspace.documents, self._files.read(path)
        record = documents.records.get(path)
        if record is None or record.gone:  # its text goes, whatever became of it
            if record is not None and read.data is not None and record.disk is not None:
                record.disk = read.data
            return
        if record.disk != started and not record.saved:
            record.disk = started  # it was read again meanwhile, and changed
        if read.data == record.disk:
            return
        if author is Author.TOOL and not is_formatted(documents, path, read):
            author = Author.DISK
            what, step = f"The formatter left no text in {path}", "your text is still here"
            self._state.warn(what, "", step)
        if author is Author.TOOL:
            outside_change(documents, path, read, author)
            self._state.touched(path)
        else:
            doubt(documents, path)
            self._doubtful[path] = read.data
        if path in self._workspace.conflicts:
            self.conflict(path)
        self._state.hunks_changed()

    async def _rest(self) -> None:
        try:
            done = False
            while not done:
                await sleep(0)
                done = self._turn()
        finally:
            self._task = None

    def _turn(self) -> bool:
        """Look at as many as fit into a turn; True: at all of them."""
        until_s = self._clock.now() + TURN_S
        while self._waiting:
            path = next(iter(self._waiting))
            del self._waiting[path]
            if path not in self.held:
                self._look(path)
            if self._clock.now() >= until_s:
                break
        if self._waiting:
            return False
        gone, strange, self._gone, self._strange = self._gone, self._strange, [], []
        self._tell_of_gone(gone, strange)
        self.on_released()
        self._state.hunks_changed()
        return True

    def _look(self, path: str) -> None:
        """Take over what became of one file."""
        if path not in self._workspace.buffers:
            self._catalogue.expire(path)
            self._strange.append(path)
            # of a folder that was moved away or removed, nothing else is told
            inside = [open_ for open_ in self._workspace.buffers if open_.startswith(f"{path}/")]
            self._waiting.update(dict.fromkeys(sorted(inside)))
            return
        read = self._files.read(path)
        known = path in self._workspace.conflicts
        if known and (read.refusal or read.data == self._doubtful.get(path, b"\0")):
            return
        documents, rights = self._workspace.documents, self._workspace.read_only(path)
        record = documents.records[path]
        if not known and not record.view and read.data == record.disk:
            outside_change(documents, path, read)  # an echo; the rights may have changed
            if bool(self._workspace.read_only(path)) != bool(rights):
                self._rights(path)
            return
        # it may be a link to a secret now, or say what is ignored
        self._catalogue.expire(path)
        outside_change(documents, path, read)
        if record.view and read.data is None and not read.head:
            self._lost_sight(path, read.refusal)
        if path in self._workspace.conflicts and not known:
            if read.data is None and not read.refusal:
                self._gone.append(path)  # it may have been moved
            else:
                self.conflict(path)
        elif known and path not in self._workspace.conflicts and path in self._asked:
            self._asked[path].cancel()
        if bool(self._workspace.read_only(path)) != bool(rights):
            self._rights(path)
        self._state.touched(path)

    def settle(self) -> None:
        """A decision or an undo may have ended a conflict: take the disk's text over."""
        for path in sorted(self._workspace.conflicts - self.held.keys()):
            self._look(path)

    def _tell_of_gone(self, gone: list[str], strange: list[str]) -> None:
        """Ask what is to be done with open files that are not there any more."""
        at = self._moved_to(gone, strange[:MOST_MOVES]) if gone and strange else {}
        for path in gone:
            if path not in self._workspace.conflicts:
                continue
            if path in at and path not in self._asked:
                self._moved(path, at[path])
            else:
                self.conflict(path)

    def _moved_to(self, gone: list[str], strange: list[str]) -> dict[str, str]:
        """Where files that are gone lie now, by their bytes: each if there is one such place."""
        wanted: dict[bytes, list[str]] = {}
        for path in gone:
            data = self._workspace.documents.records[path].disk
            if data:
                wanted.setdefault(data, []).append(path)
        places: dict[str, list[str]] = {}
        for path in strange if wanted else ():
            data = self._files.read(path).data
            for lost in wanted.get(data, ()) if data else ():
                places.setdefault(lost, []).append(path)
        return {lost: there[0] for lost, there in places.items() if not there[1:]}

    def _moved(self, path: str, target: str) -> None:
        """Offer to go on under another name."""
        what = f"{path} was moved to {target}"
        if not self._can_ask:
            self._state.warn(what, "", _STILL_HERE)
            return
        detail = "The same text is there. Your edits, undo and hunks would move with it."
        answer = self._state.questions.ask(f"{what}: follow it?", detail, (FOLLOW, STAY))
        self._asked[path] = answer
        answer.add_done_callback(partial(self._followed, path, target))

    def _followed(self, path: str, target: str, answer: Future[str]) -> None:
        self._asked.pop(path, None)
        if answer.cancelled() or path not in self._workspace.conflicts:
            return
        if answer.result() != FOLLOW:
            return
        try:
            follow(self._workspace.documents, path, self._files.read(target), target)
        except EditRefused as error:
            self._state.trouble(Trouble(f"{path} was not followed", str(error)))
            return
        self._open_files.renamed(path, target)
        self._catalogue.expire(path)
        self._catalogue.expire(target)
        self._state.note(0, f"{path} was moved to {target}: it is edited there now")
        self._state.touched(target)
        self._state.hunks_changed()

    def _rights(self, path: str) -> None:
        """Whether an open file may be edited has changed: say so."""
        why = self._workspace.read_only(path)
        what = "Read-only" if why else f"{path} may be edited again"
        self._state.trouble(Trouble(what, why and f"{why}.", severity="information"))
        self._state.retabbed()

    def _lost_sight(self, path: str, why: str) -> None:
        """A file that was only looked at can no longer be read."""
        what, step = f"{path} was deleted from the disk", "this is its last known text"
        if why:
            what = f"{path} can no longer be read"
        self._state.warn(what, why, step)

    @property
    def put_off(self) -> set[str]:
        """Files that contradict the disk, of which the user decides later."""
        return self._later & self._workspace.conflicts

    def conflict(self, path: str) -> None:
        """Ask which text is to stay; where nobody can be asked, say what is to be done."""
        read = self._files.read(path)
        if read.refusal:
            what = f"{path} can no longer be read"
            self._state.warn(what, read.refusal, _STILL_HERE)
            return
        gone = read.data is None
        what = f"{path} was deleted on disk" if gone else f"{path} changed on disk"
        if not self._can_ask:
            why = "your unsaved changes conflict with the new text"
            why = "its text is in the editor only" if gone else why
            self._state.warn(what, why, "it is not saved")
            return
        if path not in self._asked:
            self._ask(path, what, read)

    def _ask(self, path: str, what: str, read: FileRead) -> None:
        if read.data is None:
            answer = self._state.questions.ask(
                f"{what}: keep your text?", _DELETED, (MAKE_AGAIN, DECIDE_LATER)
            )
        else:
            choices = (KEEP_MINE, TAKE_THEIRS, SHOW_DIFF, DECIDE_LATER)
            answer = self._state.questions.ask(f"{what}: whose text stays?", _CHANGED, choices)
        self._asked[path] = answer
        self._later.discard(path)
        answer.add_done_callback(partial(self._answered, path))

    def _answered(self, path: str, answer: Future[str]) -> None:
        self._asked.pop(path, None)
        if answer.cancelled() or path not in self._workspace.conflicts:
            return
        choice = answer.result()
        if choice == DECIDE_LATER:
            self._later.add(path)
        elif choice in (KEEP_MINE, MAKE_AGAIN):
            self._overwrite(path)
        elif choice == TAKE_THEIRS:
            self.reload(intents.Reload(path))
        elif choice == SHOW_DIFF:
            self._state.show_diff(path, "disk")
            self.conflict(path)  # the question stays while it is looked at

    def _reload(self, path: str) -> None:
        try:
            self._workspace.outside_change(path, self._files.read(path), theirs=True)
        except EditRefused as error:
            self._state.trouble(Trouble(f"{path} was not read again", str(error)))
        self._state.touched(path)


PAUSE_S = 0.5
"""Between two questions to git, however much changes; longer where an answer takes long."""
_SHARE = 4
"""git works at most one part in so many of the time."""
_GIT_FOLDER = ".git/"
_LIST_PAUSE_S, _LIST_SHARE = 1.0, 10
"""Files are listed anew so long after one came or went, and at most one part in so many of the
time: 50,000 take half a second."""


class Folders:
    """Lists folders, and holds git's states while the tree is in sight."""

    def __init__(self, services: Services) -> None:
        self.states = GitStates()
        """What git said last; empty: nothing yet, or there is no repository."""
        self._ports = services.ports
        self._state = services.state
        self._supervisor = services.supervisor
        self._seen = False
        self._stale = True
        self._asking = False
        self._open_files = services.open_files
        self._catalogue = services.open_files.catalogue
        self._outside = services.open_files.outside
        self._looking = self._keeping = False
        self._look_at_branch()
        services.state.before_turn.append(lambda turn: self._look_at_branch())

    async def entries(self, folder: str) -> Sequence[FolderEntry]:
        """What lies in a folder; the root is the empty string. Raises FileRefused."""
        if self._ports.folder is not None:
            return await asyncio.to_thread(self._ports.folder, folder)
        listed = await asyncio.to_thread(self._ports.files.listing)
        return entries_below(listed, folder)

    async def sizes(self, paths: Sequence[str]) -> Mapping[str, int]:
        """Bytes of these files; of one that is gone nothing."""
        return await asyncio.to_thread(self._ports.sizes, paths)

    def watch(self, *, seen: bool) -> None:
        """The tree came into sight (again), or went out of it.

        The user looks at it: git is asked, for not all that it reads is watched everywhere.
        """
        self._seen = seen
        self._stale |= seen
        self._ask()
        if seen:
            self.look()

    def look(self) -> None:
        """The user looks for a file: list all of them anew, if any came or went since."""
        if not self._looking and not self._catalogue.ready():
            self._looking = True
            self._supervisor.start(self._list(), "listing the files")

    def telling(self, outside: Callable[[set[str]], None]) -> Callable[[set[str]], None]:
        """For the watcher: tells ``outside`` of the files, and the tree of what it shows."""

        def tell(paths: set[str]) -> None:
            self._look_at_branch()
            self._outside.changed(paths)
            files = {path for path in paths if not path.startswith(_GIT_FOLDER)}
            if files or not paths:
                outside(files)
            self._changed(files)

        return tell

    def _look_at_branch(self) -> None:
        """Whatever was told: git's own folder may lie where it is not watched."""
        branch = self._ports.branch()
        if branch != self._state.status.branch:
            self._state.status.branch = branch
            self._state.restated()

    def _changed(self, files: set[str]) -> None:
        self._stale = True
        if files and not self._keeping and not self._catalogue.ready():
            self._keeping = True
            self._supervisor.start(self._keep(), "listing the files")
        if self._seen:
            if files:
                self._state.folders_changed({path.rpartition("/")[0] for path in files})
            self._ask()

    def _ask(self) -> None:
        """Ask git, unless nobody looks, nothing changed, or it is being asked."""
        if self._seen and self._stale and not self._asking and self._ports.git_status is not None:
            self._asking = True
            self._supervisor.start(self._look(), "looking at git's states")

    async def _list(self) -> None:
        try:
            await self._catalogue.prepare()
        finally:
            self._looking = False

    async def _keep(self) -> None:
        """List the files ahead of the next prompt, which waits for that, and for the map."""
        rest_s = _LIST_PAUSE_S
        try:
            while not self._catalogue.ready():
                await self._ports.sleep(rest_s)
                began_s = self._ports.clock.now()
                await self._catalogue.prepare()
                took_s = self._ports.clock.now() - began_s
                rest_s = max(_LIST_PAUSE_S, took_s * (_LIST_SHARE - 1))
            if self._open_files.on_listed is not None:
                await self._open_files.on_listed(())
        finally:
            self._keeping = False

    async def _look(self) -> None:
        ask, clock = self._ports.git_status, self._ports.clock
        try:
            while ask is not None and self._seen and self._stale:
                self._stale = False
                began_s = clock.now()
                files = await ask()
                if files != self.states.files:
                    self.states = await asyncio.to_thread(summed, files)
                    self._state.folders_changed(git=True)
                await self._ports.sleep(max(PAUSE_S, (clock.now() - began_s) * (_SHARE - 1)))
        finally:
            self._asking = False


def entries_below(paths: Iterable[str], folder: str) -> list[FolderEntry]:
    """The names that files of these paths have in a folder: folders first, by name."""
    start = f"{folder}/" if folder else ""
    names: dict[str, FolderEntry] = {}
    for path in paths:
        if path.startswith(start):
            name, slash, _ = path[len(start) :].partition("/")
            names[name] = FolderEntry(name, "folder" if slash else "file")
    return sorted(names.values(), key=lambda e: (e.kind == "file", e.name.casefold(), e.name))
