"""Decisions on hunks, and what lies on the disk: writes, refusals, changes from outside."""

from __future__ import annotations

from asyncio import Future
from collections.abc import Sequence
from functools import partial
from typing import Literal

from tui.core.privacy import is_ignore_file
from tui.core.workspace import DiskPlan, Workspace
from tui.engine import intents
from tui.engine.intents import Intent
from tui.engine.kit import Kit
from tui.engine.notices import Trouble
from tui.engine.write_set import bring
from tui.errors import EditRefused

SaveMode = Literal["on-accept", "manual"]
KEEP_MINE = "Keep mine: write it over the file"
TAKE_THEIRS = "Take theirs: undo brings mine back"
DECIDE_LATER = "Decide later: it is not saved until then"
_CHANGED = "Your text (or a hunk) and the new text on disk change the same lines."
_GONE = "it was deleted on disk, and is not made again without being asked"
_DELETED = "Your text is still here, unsaved."
_STILL_HERE = "your text is still here, and is not saved until the file can be read"


class Saving:
    """Workspace decides what must lie on the disk; this writes it and reports back."""

    def __init__(self, kit: Kit, mode: SaveMode, can_ask: bool = False) -> None:
        """``can_ask``: somebody is there to answer."""
        self._board = kit.board
        self._files = kit.ports.files
        self._catalogue = kit.desk.catalogue
        self._workspace: Workspace = kit.board.workspace
        self._mode = mode
        self._can_ask = can_ask
        self._asked: dict[str, Future[str]] = {}
        """Path -> the question which text is to stay."""

    def handle(self, intent: Intent) -> bool:
        """Do it, if it is about hunks or saving."""
        match intent:
            case intents.Accept(hunk_ids):
                self._accept(hunk_ids)
            case intents.Reject(hunk_ids, words):
                self._write(*self._workspace.reject(hunk_ids, words))
            case intents.Place(hunk_id, line):
                self._place(hunk_id, line)
            case intents.UndoTurn():
                self._undo_turn()
            case intents.SaveFile(path, force):
                self._write(path, force=force)
            case intents.Reload(path):
                self._reload(path)
            case _:
                return False
        self._board.hunks_changed()
        self._board.retabbed()
        return True

    def outside(self, paths: set[str]) -> None:
        """Somebody changed files: take the changes over, but not our own echoes.

        No path: look at all open ones.
        """
        for path in sorted(paths or self._workspace.buffers):
            if path not in self._workspace.buffers:
                self._catalogue.expire(path)
                continue
            read = self._files.read(path)
            known = path in self._workspace.conflicts
            if known and read.refusal:
                continue
            record, rights = self._workspace.ledger.records[path], self._workspace.read_only(path)
            if not known and not record.view and read.data == record.disk:
                self._workspace.outside_change(path, read)  # an echo; the rights may have changed
                if bool(self._workspace.read_only(path)) != bool(rights):
                    self._rights(path)
                continue
            # it may be a link to a secret now, or say what is ignored
            self._catalogue.expire(path)
            self._workspace.outside_change(path, read)
            if record.view and read.data is None and not read.head:
                self._lost_sight(path, read.refusal)
            if path in self._workspace.conflicts and not known:
                self._conflict(path)
            elif known and path not in self._workspace.conflicts and path in self._asked:
                self._asked[path].cancel()
            if bool(self._workspace.read_only(path)) != bool(rights):
                self._rights(path)
            self._board.touched(path)
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

    def _conflict(self, path: str) -> None:
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
        if path in self._asked:
            return
        if gone:
            answer = self._board.ask(f"{what}: keep mine?", _DELETED, (KEEP_MINE, DECIDE_LATER))
        else:
            choices = (KEEP_MINE, TAKE_THEIRS, DECIDE_LATER)
            answer = self._board.ask(f"{what}: keep mine / take theirs", _CHANGED, choices)
        self._asked[path] = answer
        answer.add_done_callback(partial(self._answered, path))

    def _answered(self, path: str, answer: Future[str]) -> None:
        self._asked.pop(path, None)
        if answer.cancelled() or path not in self._workspace.conflicts:
            return
        if answer.result() == KEEP_MINE:
            self.handle(intents.SaveFile(path, force=True))
        elif answer.result() == TAKE_THEIRS:
            self.handle(intents.Reload(path))

    def _reload(self, path: str) -> None:
        try:
            self._workspace.outside_change(path, self._files.read(path), theirs=True)
        except EditRefused as error:
            self._board.trouble(Trouble(f"{path} was not read again", str(error)))
        self._board.touched(path)

    def _accept(self, hunk_ids: tuple[int, ...] | None) -> None:
        try:
            paths = self._workspace.accept(hunk_ids)
        except (EditRefused, KeyError) as error:
            self._board.trouble(Trouble("That hunk was not accepted", str(error)))
            return
        if self._mode == "on-accept":
            self._write(*paths)

    def _place(self, hunk_id: int, line: int) -> None:
        try:
            self._workspace.place(hunk_id, line)
        except (EditRefused, KeyError) as error:
            self._board.trouble(Trouble("That hunk was not placed", str(error)))

    def _undo_turn(self) -> None:
        if not self._workspace.model_turns:
            self._board.trouble(
                Trouble("Nothing to take back", "the model has changed nothing", severity="warning")
            )
            return
        turn = self._workspace.model_turns[-1]
        unsaved = self._unsaved()
        try:
            paths = self._workspace.undo_turn()
        except EditRefused as error:
            self._board.trouble(Trouble("The turn was not taken back", str(error)))
            return
        # where saving is the user's, nothing of theirs goes to the disk with it
        if self._mode == "on-accept" or unsaved.isdisjoint(paths):
            self._write(*paths)
        self._board.note(turn, "the model's last turn was taken back")

    def _unsaved(self) -> set[str]:
        """Of the files that a model worked on, those that are not on the disk as they are."""
        paths = {path for hunk in self._workspace.hunks for path in (hunk.path, hunk.target)}
        return {path for path in paths if self._workspace.is_dirty(path)}

    def _write(self, *paths: str, force: bool = False) -> None:
        """Bring the disk to what the workspace says: all of these files, or none.

        On a refusal the hunks are pending again.
        """
        blocked = [path for path in paths if path in self._workspace.conflicts and not force]
        if blocked:
            self._blocked(paths, blocked)
            return
        try:
            plans = {path: self._plan(path, force) for path in paths}
        except EditRefused as error:
            self._board.trouble(Trouble(f"{paths[0]} was not saved", str(error)))
            return
        if refusals := bring(self._files, plans):
            self._refused(paths, refusals)
            return
        for path, plan in plans.items():
            if plan.data is None or plan.expected is None or is_ignore_file(path):
                self._catalogue.expire(path)
            self._workspace.written(path, plan.data)

    def _plan(self, path: str, force: bool) -> DiskPlan:
        """What is to be written; ``force``: whatever lies there now. Raises EditRefused."""
        plan = self._workspace.disk_plan(path)
        if plan.expected is plan.data is None and self._workspace.ledger.records[path].blank:
            plan = DiskPlan(None, b"")
        return DiskPlan(self._files.read(path).data, plan.data) if force else plan

    def _blocked(self, paths: Sequence[str], conflicts: list[str]) -> None:
        """Nothing is written while a file on the disk contradicts its buffer."""
        self._reopen(paths)
        for path in conflicts:
            read = self._files.read(path)
            if not read.refusal:
                gone = read.data is None
                why = _GONE if gone else "it changed on disk and does not fit your changes"
                self._board.trouble(Trouble(f"{path} was not saved", why))
            self._conflict(path)

    def _refused(self, paths: Sequence[str], refusals: dict[str, str]) -> None:
        step = self._reopen(paths)
        for path, why in refusals.items():
            self._board.trouble(Trouble(f"{path} was not written", why, step))
        self.outside(set(refusals))

    def _reopen(self, paths: Sequence[str]) -> str:
        """Nothing of these was written; what that means for their hunks, in words."""
        pending = [path for path in paths if self._workspace.write_failed(path)]
        if not pending:
            return ""
        return (
            "nothing was written, the hunks stay pending" if paths[1:] else "its hunks stay pending"
        )
