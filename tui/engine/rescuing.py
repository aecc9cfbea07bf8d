"""Bringing back what was typed and not saved when duetto was ended by force."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from tui.core.edits.workspace import Workspace
from tui.core.unsaved import Unsaved, bring_back
from tui.engine import intents
from tui.engine.intents import Intent
from tui.engine.keeping import file_of, text_of
from tui.engine.kit import Kit
from tui.engine.notices import Trouble
from tui.engine.ports import Rescue
from tui.errors import EditRefused, FileRefused


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

    def __init__(self, kit: Kit, keep: Callable[[str], None]) -> None:
        """``keep`` writes what was brought back, and the prompts that it is given."""
        self._keep = keep
        self._board = kit.board
        self._desk = kit.desk
        self._kept: list[Unsaved] = []

    async def look(self, rescue: Rescue) -> None:
        """Tell at the start what is there."""
        self._kept = await asyncio.to_thread(rescue.kept)
        self._announce()

    def handle(self, intent: Intent, rescue: Rescue | None) -> bool:
        """Do it, if it is about what was kept."""
        match intent:
            case intents.Restore():
                self._act(rescue, restore=True)
            case intents.Dismiss():
                self._act(rescue, restore=False)
            case _:
                return False
        return True

    def _act(self, rescue: Rescue | None, *, restore: bool) -> None:
        if rescue is None or not self._kept:
            self._board.trouble(
                Trouble("Nothing was rescued for this workspace", severity="information")
            )
            return
        unsaved = self._kept[0]
        if unsaved.folder not in {other.folder for other in rescue.kept()}:
            del self._kept[0]
            what, step = f"{unsaved.words}: not there any more", "another duetto may have taken it"
            self._board.trouble(Trouble(what, "", step, severity="warning"))
            self._announce()
            return
        if restore and (refused := self._restore(unsaved)):
            why = "\n".join(refused)
            self._board.trouble(
                Trouble("Not all was brought back", why, f"it is all in {unsaved.folder}")
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
            self._board.trouble(Trouble("The rescued text is still kept", str(error)))
            return
        del self._kept[0]
        done = "brought back, not saved yet" if restore else "removed"
        self._board.note(0, f"{unsaved.words}: {done}")
        self._announce()

    def _restore(self, unsaved: Unsaved) -> list[str]:
        """Into the buffers and the prompt box; returns what was refused, and why."""
        refused, board = [], self._board
        for file in unsaved.files:
            try:
                fits = bring_back(board.workspace.ledger, file)
            except EditRefused as error:
                refused.append(str(error))
                continue
            self._desk.open(file.path, None, 0)
            board.touched(file.path)
            if not fits:
                why = "it changed since; your text stands there instead"
                step = "undo takes that back"
                board.trouble(Trouble(f"Look through {file.path}", why, step, severity="warning"))
        board.hunks_changed()
        if unsaved.prompts:
            board.status.unsent = unsaved.prompts
        board.retabbed()
        return refused

    def _announce(self) -> None:
        if not self._kept:
            return
        unsaved = self._kept[0]
        self._board.note(
            0,
            f"duetto was ended before this was saved: {unsaved.words}\n"
            f"It is kept in {unsaved.folder}\n"
            "/rescue brings it back, /rescue forget removes it",
        )
