"""What others do to the files on the disk: taken over, merged, or asked about."""

from __future__ import annotations

from asyncio import Future, Task, sleep
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial

from tui.core.edits.disk.outside import doubt, follow, is_formatted, outside_change
from tui.core.edits.ledger import Author
from tui.core.edits.workspace import FileRead, Workspace
from tui.engine import intents
from tui.engine.intents import Intent
from tui.engine.kit import Kit
from tui.engine.notices import Trouble
from tui.errors import EditRefused, FileRefused

KEEP_MINE = "Keep mine: write it over the file"
TAKE_THEIRS = "Take theirs: undo brings mine back"
SHOW_DIFF = "Show the difference first"
DECIDE_LATER = "Decide later: it is not saved until then"
FOLLOW = "Follow it under its new name"
STAY = "Stay: the old name, unsaved"
TURN_S = 0.006
"""Of one turn of the event loop; the rest of a burst waits for the next one."""
MOST_MOVES = 200
"""New files of a burst that are read to see whether an open one was moved there."""
_CHANGED = "Your text (or a hunk) and the new text on disk change the same lines."
_DELETED = "Your text is still here, unsaved."
_STILL_HERE = "your text is still here, and is not saved until the file can be read"


class DiskChanges:
    """Looks at what the watcher names, a few files a turn of the event loop."""

    def __init__(self, kit: Kit, overwrite: Callable[[str], None], can_ask: bool = False) -> None:
        """``overwrite`` writes a file over what lies there; ``can_ask``: somebody is there."""
        self._board = kit.board
        self._clock = kit.ports.clock
        self._files = kit.ports.files
        self._desk = kit.desk
        self._catalogue = kit.desk.catalogue
        self._supervisor = kit.supervisor
        self._workspace: Workspace = kit.board.workspace
        self._overwrite = overwrite
        self._can_ask = can_ask
        self._asked: dict[str, Future[str]] = {}
        """Path -> the question which text is to stay."""
        self._waiting: dict[str, None] = {}
        self._gone: list[str] = []
        """Open files of this burst that are not there any more."""
        self._strange: list[str] = []
        """Files of this burst that are not open."""
        self._task: Task[None] | None = None
        self._known: frozenset[str] = frozenset()
        """The open files that the watcher knows of."""
        self._opened = kit.ports.opened
        kit.board.before_drain.append(self._tell_watcher)
        self._doubtful: dict[str, bytes | None] = {}
        """What a formatter left that is no text, or half of it: nothing of it is taken over."""
        self.held: dict[str, bytes] = {}
        """Files that the formatter is at work on, as it found them.

        They are looked at when it is done, and not written before.
        """
        self.on_released: Callable[[], None] = lambda: None
        """Called when files may be written that could not be."""

    def handle(self, intent: Intent) -> bool:
        """Do it, if it is about what lies on the disk."""
        match intent:
            case intents.Reload(path):
                self._reload(path)
                self.on_released()
            case _:
                return False
        self._board.hunks_changed()
        self._board.retabbed()
        return True

    def outside(self, paths: Iterable[str]) -> None:
        """Somebody changed files: take the changes over, but not our own echoes.

        No path: look at all open ones. What takes too long for one turn of the event loop goes
        on in the next ones: a checkout may change 500 files while a model writes.
        """
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
            record = self._workspace.ledger.records.get(path)
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
        ledger, read = self._workspace.ledger, self._files.read(path)
        record = ledger.records.get(path)
        if record is None or record.gone:  # its text goes, whatever became of it
            if record is not None and read.data is not None and record.disk is not None:
                record.disk = read.data
            return
        if record.disk != started and not record.saved:
            record.disk = started  # it was read again meanwhile, and changed
        if read.data == record.disk:
            return
        if author is Author.TOOL and not is_formatted(ledger, path, read):
            author = Author.DISK
            what, step = f"The formatter left no text in {path}", "your text is still here"
            self._board.trouble(Trouble(what, "", step, severity="warning"))
        if author is Author.TOOL:
            outside_change(ledger, path, read, author)
            self._board.touched(path)
        else:
            doubt(ledger, path)
            self._doubtful[path] = read.data
        if path in self._workspace.conflicts:
            self.conflict(path)
        self._board.hunks_changed()

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
        self._board.hunks_changed()
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
        ledger, rights = self._workspace.ledger, self._workspace.read_only(path)
        record = ledger.records[path]
        if not known and not record.view and read.data == record.disk:
            outside_change(ledger, path, read)  # an echo; the rights may have changed
            if bool(self._workspace.read_only(path)) != bool(rights):
                self._rights(path)
            return
        # it may be a link to a secret now, or say what is ignored
        self._catalogue.expire(path)
        outside_change(ledger, path, read)
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
        self._board.touched(path)

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
            data = self._workspace.ledger.records[path].disk
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
            self._board.trouble(Trouble(what, "", _STILL_HERE, severity="warning"))
            return
        detail = "The same text lies there. Your edits, your undo and the hunks would go along."
        answer = self._board.questions.ask(f"{what}: follow it?", detail, (FOLLOW, STAY))
        self._asked[path] = answer
        answer.add_done_callback(partial(self._followed, path, target))

    def _followed(self, path: str, target: str, answer: Future[str]) -> None:
        self._asked.pop(path, None)
        if answer.cancelled() or path not in self._workspace.conflicts:
            return
        if answer.result() != FOLLOW:
            return
        try:
            follow(self._workspace.ledger, path, self._files.read(target), target)
        except EditRefused as error:
            self._board.trouble(Trouble(f"{path} was not followed", str(error)))
            return
        self._desk.renamed(path, target)
        self._catalogue.expire(path)
        self._catalogue.expire(target)
        self._board.note(0, f"{path} was moved to {target}: it is edited there now")
        self._board.touched(target)
        self._board.hunks_changed()

    def _rights(self, path: str) -> None:
        """Whether an open file may be edited has changed: say so."""
        why = self._workspace.read_only(path)
        what = "Read-only" if why else f"{path} may be edited again"
        self._board.trouble(Trouble(what, why and f"{why}.", severity="information"))
        self._board.retabbed()

    def _lost_sight(self, path: str, why: str) -> None:
        """A file that was only looked at cannot be read any more."""
        what, step = f"{path} is gone from the disk", "what is shown is how it was"
        if why:
            what = f"{path} cannot be read any more"
        self._board.trouble(Trouble(what, why, step, severity="warning"))

    def conflict(self, path: str) -> None:
        """Ask which text is to stay; where nobody can be asked, say what is to be done."""
        read = self._files.read(path)
        if read.refusal:
            what = f"{path} cannot be read any more"
            self._board.trouble(Trouble(what, read.refusal, _STILL_HERE, severity="warning"))
            return
        gone = read.data is None
        what = f"{path} was deleted on disk" if gone else f"{path} changed on disk"
        if not self._can_ask:
            why = "your unsaved changes and the new text do not fit together"
            self._board.trouble(Trouble(what, why, "it is not saved", severity="warning"))
            return
        if path not in self._asked:
            self._ask(path, what, read)

    def _ask(self, path: str, what: str, read: FileRead) -> None:
        if read.data is None:
            answer = self._board.questions.ask(
                f"{what}: keep mine?", _DELETED, (KEEP_MINE, DECIDE_LATER)
            )
        else:
            choices = (KEEP_MINE, TAKE_THEIRS, SHOW_DIFF, DECIDE_LATER)
            answer = self._board.questions.ask(
                f"{what}: keep mine / take theirs", _CHANGED, choices
            )
        self._asked[path] = answer
        answer.add_done_callback(partial(self._answered, path))

    def _answered(self, path: str, answer: Future[str]) -> None:
        self._asked.pop(path, None)
        if answer.cancelled() or path not in self._workspace.conflicts:
            return
        choice = answer.result()
        if choice == KEEP_MINE:
            self._overwrite(path)
        elif choice == TAKE_THEIRS:
            self.handle(intents.Reload(path))
        elif choice == SHOW_DIFF:
            self._board.show_diff(path, "disk")
            self.conflict(path)  # the question stays while it is looked at

    def _reload(self, path: str) -> None:
        try:
            self._workspace.outside_change(path, self._files.read(path), theirs=True)
        except EditRefused as error:
            self._board.trouble(Trouble(f"{path} was not read again", str(error)))
        self._board.touched(path)
