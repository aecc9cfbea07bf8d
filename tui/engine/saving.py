"""Decisions on hunks, and what lies on the disk: writes, refusals, changes from outside."""

from __future__ import annotations

from typing import Literal

from tui.core.workspace import Workspace
from tui.engine import intents
from tui.engine.intents import Intent
from tui.engine.kit import Kit
from tui.engine.notices import Trouble
from tui.errors import EditRefused, FileRefused

SaveMode = Literal["on-accept", "manual"]


class Saving:
    """Workspace decides what must lie on the disk; this writes it and reports back."""

    def __init__(self, kit: Kit, mode: SaveMode) -> None:
        self._board = kit.board
        self._files = kit.ports.files
        self._catalogue = kit.desk.catalogue
        self._workspace: Workspace = kit.board.workspace
        self._mode = mode

    def handle(self, intent: Intent) -> bool:
        """Do it, if it is about hunks or saving."""
        match intent:
            case intents.Accept(hunk_ids):
                self._accept(hunk_ids)
            case intents.Reject(hunk_ids, words):
                self._write_all(self._workspace.reject(hunk_ids, words))
            case intents.Place(hunk_id, line):
                self._place(hunk_id, line)
            case intents.UndoTurn():
                self._undo_turn()
            case intents.SaveFile(path, force):
                self._save(path, force=force)
            case _:
                return False
        self._board.hunks_changed()
        self._board.retabbed()
        return True

    def outside(self, paths: set[str]) -> None:
        """Somebody changed files: take the changes over, but not our own echoes."""
        for path in sorted(paths):
            if path not in self._workspace.buffers:
                self._catalogue.expire()
                continue
            read = self._files.read(path)
            if read.refusal or read.data == self._workspace.disk_plan(path).expected:
                continue
            known = path in self._workspace.conflicts
            self._workspace.outside_change(path, read)
            if path in self._workspace.conflicts and not known:
                self._board.trouble(
                    Trouble(
                        f"{path} was changed outside",
                        "your unsaved changes and the new text do not fit together",
                        "save again to keep yours",
                        severity="warning",
                    )
                )
            self._board.touched(path)
        self._board.hunks_changed()

    def _accept(self, hunk_ids: tuple[int, ...] | None) -> None:
        try:
            paths = self._workspace.accept(hunk_ids)
        except (EditRefused, KeyError) as error:
            self._board.trouble(Trouble("That hunk was not accepted", str(error)))
            return
        if self._mode == "on-accept":
            self._write_all(paths)

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
        try:
            paths = self._workspace.undo_turn()
        except EditRefused as error:
            self._board.trouble(Trouble("The turn was not taken back", str(error)))
            return
        self._write_all(paths)
        self._board.note(turn, "the model's last turn was taken back")

    def _save(self, path: str, *, force: bool) -> None:
        if path in self._workspace.conflicts and not force:
            self._board.trouble(
                Trouble(
                    f"{path} was not saved",
                    "it was changed outside and does not fit your changes",
                    "save again to overwrite it",
                )
            )
            return
        self._write(path, force=force)

    def _write_all(self, paths: list[str]) -> None:
        for path in paths:
            self._write(path)

    def _write(self, path: str, *, force: bool = False) -> None:
        """Bring the disk to what the workspace says; on a refusal the hunks are pending again."""
        plan = self._workspace.disk_plan(path)
        expected = self._files.read(path).data if force else plan.expected
        try:
            if plan.data is not None and plan.data != expected:
                self._files.write(path, plan.data, expected)
            elif plan.data is None and expected is not None:
                self._files.delete(path, expected)
        except FileRefused as error:
            self._refused(path, error)
            return
        if (plan.data is None) != (expected is None):
            self._catalogue.expire()
        self._workspace.written(path, plan.data)

    def _refused(self, path: str, error: FileRefused) -> None:
        self._workspace.write_failed(path)
        self._board.trouble(
            Trouble(f"{path} was not written", str(error), "its hunks stay pending")
        )
        self.outside({path})
