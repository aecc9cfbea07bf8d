"""What lies on the disk because the user saves or decides: writes and refusals."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Iterable, Sequence

from tui.core.edits.workspace import DiskPlan, Workspace
from tui.core.privacy import is_ignore_file
from tui.core.steps import AT_ONCE, Work, finished
from tui.engine import intents
from tui.engine.disk_changes import DiskChanges
from tui.engine.file_consent import SAVE
from tui.engine.intents import Intent
from tui.engine.kit import Kit
from tui.engine.later_writes import LaterWrites
from tui.engine.notices import Trouble
from tui.engine.write_set import bring
from tui.errors import EditRefused

LONG_S = 1.0
"""After so much waiting for the formatter it is said."""
_LINKED = "it is not known where its other names are"
_GONE = "it was deleted on disk, and is not made again without being asked"


class Saving:
    """Workspace decides what must lie on the disk; this writes it and reports back."""

    def __init__(self, kit: Kit, can_ask: bool = False, *, linked: bool = False) -> None:
        """``can_ask``: somebody is there to answer; ``linked``: hard links are written unasked."""
        self._linked = linked
        self._board = kit.board
        self._can_ask = can_ask
        self._files = kit.ports.files
        self.clock = kit.ports.clock
        self._journal = kit.ports.journal
        self.catalogue = kit.desk.catalogue
        """Which files there are, and which of them are private."""
        self._workspace: Workspace = kit.board.workspace
        self._consents = kit.desk.consents
        self._asking: set[str] = set()
        """Hard links of which the user is asked whether they are to be written."""
        self.looking = 0
        """Looks for the other names of files that are to be written."""
        self._answers: dict[str, str] = {}
        """Hard links that are known: why one is not to be written; empty: it may be."""
        self._told: set[int] = set()
        """Hunks of which it was said that what is typed in them is not saved."""
        self.changes = DiskChanges(kit, self._overwrite, can_ask)
        """What others do to the files."""
        self.changes.on_released = self._write_waiting
        self._sleep, self._supervisor = kit.ports.sleep, kit.supervisor
        self.later = LaterWrites()
        """What is written when the formatter is done: till then hunks stay accepted."""
        self.on_written: Callable[[list[str]], None] = lambda paths: None
        """Called with the paths whose new text lies on the disk."""

    def handle(self, intent: Intent) -> bool:
        """Do it, if it is about saving."""
        match intent:
            case intents.SaveFile(path, force):
                self._told.clear()
                self.write(path, force=force)
                self._say_what_is_left_out(path)
            case _:
                return self.changes.handle(intent)
        self._board.hunks_changed()
        self._board.retabbed()
        return True

    def outside(self, paths: Iterable[str]) -> None:
        """Somebody changed files (no path: maybe any open one): take the changes over."""
        self.changes.outside(paths)

    def written_later(self) -> frozenset[str]:
        """Files that are written when the formatter is done, at the latest when duetto ends."""
        return self.later.paths - self._workspace.conflicts - self._asking

    def write(self, *paths: str, force: bool = False) -> None:
        """Bring the disk to what the workspace says: all of these files, or none.

        On a refusal the hunks are pending again. While the formatter is at work on one of them
        nothing is written: what it makes of the old text would take the new one away.
        """
        finished(self.writing(*paths, force=force))

    def writing(self, *paths: str, force: bool = False) -> Work[None]:
        """The same, with pauses while it is found out what belongs on the disk."""
        forced = dict.fromkeys(paths, force)
        if not self._must_wait(forced):
            yield from self._write(forced)

    def _must_wait(self, forced: dict[str, bool]) -> bool:
        """Whether the formatter is at work on a file: then all are written later."""
        if self.changes.held.keys().isdisjoint(forced):
            return False
        if not self.later:
            self._supervisor.start(self._say_it_takes_long(), "waiting for the formatter")
        self.later.add(forced)
        return True

    async def _say_it_takes_long(self) -> None:
        await self._sleep(LONG_S)
        if paths := sorted(self.written_later()):
            what = f"{paths[0]} is" if not paths[1:] else f"{len(paths)} files are"
            why, step = (
                "the formatter is at work on it",
                "it is written when that is done or stopped",
            )
            trouble = Trouble(f"{what} not written yet", why, step, severity="information")
            self._board.trouble(trouble)

    def _write_waiting(self) -> None:
        """The formatter is done with some files, or a question about one is answered."""
        asked = self._workspace.conflicts if self._can_ask else ()
        for plans in self.later.take({*self.changes.held, *asked, *self._asking}):
            finished(self._write(plans))

    def _write(self, forced: dict[str, bool]) -> Work[None]:
        """Write these files; those that are forced over whatever lies there."""
        paths = tuple(forced)
        blocked = [path for path in paths if path in self._workspace.conflicts and not forced[path]]
        if blocked:
            self._blocked(paths, blocked)
            return
        try:
            plans = dict[str, DiskPlan]()
            for path in paths:
                plans[path] = yield from self._plan(path, forced[path])
                yield AT_ONCE  # its bytes took as long
            for path in paths:
                if not forced[path] and self._is_outdated(path, plans[path]):
                    plans[path] = finished(self._plan(path, force=False))
        except EditRefused as error:
            self._board.trouble(Trouble(f"{paths[0]} was not saved", str(error)))
            return
        if refusals := bring(self._files, plans, self._journal, self._why_linked):
            linked = [path for path, why in refusals.items() if why == _LINKED]
            if len(linked) == len(refusals):
                self._ask_about(linked, forced)
            else:
                self._refused(paths, {p: why for p, why in refusals.items() if why != _LINKED})
            return
        for path, plan in plans.items():
            if plan.data is None or plan.expected is None or is_ignore_file(path):
                self.catalogue.expire(path)
            self._workspace.written(path, plan.data)
            self._say_what_is_held(path, plan)
        changed = [path for path, plan in plans.items() if plan.data not in (None, plan.expected)]
        if changed:
            self.on_written(changed)

    def _why_linked(self, path: str) -> str:
        """Why a file is not written because of its other names; empty if it may be."""
        if self._linked or path not in self._files.linked:
            return ""
        return self._answers.get(path, _LINKED)

    def _ask_about(self, linked: Sequence[str], forced: dict[str, bool]) -> None:
        """Write these when it is known what their hard links lead to, and the user allows it."""
        self.later.add(forced)
        self._asking.update(linked)
        self._supervisor.start(self._settle_links(linked), "asking about hard links")

    async def _settle_links(self, linked: Sequence[str]) -> None:
        try:
            self.looking += 1
            try:
                reasons = await to_thread(self._files.links_of, linked)
            finally:
                self.looking -= 1
            for path, reason in reasons.items():
                allowed = not reason or await self._consents.ask(SAVE, path, reason)
                self._answers[path] = "" if allowed else f"{reason}; you have to allow it"
            self._asking.difference_update(linked)
            self._write_waiting()
        finally:
            self._asking.difference_update(linked)
            for path in linked:
                self._answers.pop(path, None)
        self._board.hunks_changed()
        self._board.retabbed()

    def _overwrite(self, path: str) -> None:
        self.handle(intents.SaveFile(path, force=True))
        self._write_waiting()

    def _say_what_is_left_out(self, path: str) -> None:
        """A model writes in this file: what it has written so far is not saved (G06)."""
        record = self._workspace.ledger.records.get(path)
        saved = not self._workspace.is_dirty(path) and path not in self._workspace.conflicts
        if saved and record is not None and record.landing is not None:
            why = "a model writes in it: saved without what is not decided"
            self._board.trouble(Trouble(f"{path} is saved", why, severity="information"))

    def _say_what_is_held(self, path: str, plan: DiskPlan) -> None:
        """What is typed in a hunk that is not decided is on the disk with it, or not at all."""
        held = self._workspace.ledger.records[path].held
        if all(hunk.id in self._told for hunk in held):
            return
        self._told.update(hunk.id for hunk in held)
        which = f"hunk {held[0].id}" if not held[1:] else f"{len(held)} hunks"
        why = f"you typed in {which}, and what the model wrote there is not accepted"
        step = "accept or reject it; your text stays in the editor, not saved, till then"
        done = "was not saved" if plan.data is None else f"is saved without the lines of {which}"
        self._board.trouble(Trouble(f"{path} {done}", why, step, severity="warning"))

    def _plan(self, path: str, force: bool) -> Work[DiskPlan]:
        """What is to be written; ``force``: whatever lies there now. Raises EditRefused."""
        plan = yield from self._workspace.planning(path)
        if plan.expected is plan.data is None and self._workspace.ledger.records[path].blank:
            plan = DiskPlan(None, b"")
        if force:
            return DiskPlan(self._files.read(path).data, plan.data, plan.hunks)
        return plan

    def _is_outdated(self, path: str, plan: DiskPlan) -> bool:
        """Whether the user, or the disk, changed a file since it was planned."""
        record = self._workspace.ledger.records[path]
        same = record.planned is not None and record.planned[1] == record.version
        return not same or plan.expected is not record.disk

    def _blocked(self, paths: Sequence[str], conflicts: list[str]) -> None:
        """Nothing is written while a file on the disk contradicts its buffer."""
        self._reopen(paths)
        for path in conflicts:
            read = self._files.read(path)
            if not read.refusal:
                gone = read.data is None
                why = _GONE if gone else "it changed on disk and does not fit your changes"
                self._board.trouble(Trouble(f"{path} was not saved", why))
            self.changes.conflict(path)

    def _refused(self, paths: Sequence[str], refusals: dict[str, str]) -> None:
        step = self._reopen(paths)
        for path, why in refusals.items():
            self._board.trouble(Trouble(f"{path} was not written", why, step))
        self.outside(refusals)

    def _reopen(self, paths: Sequence[str]) -> str:
        """Nothing of these was written; what that means for their hunks, in words."""
        pending = [path for path in paths if self._workspace.write_failed(path)]
        if not pending:
            return ""
        return (
            "nothing was written, the hunks stay pending" if paths[1:] else "its hunks stay pending"
        )
