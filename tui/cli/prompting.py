"""What the prompt needs of this machine: its history's file, and the user's editor."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tui.cli.workplace import Workplace
from tui.core.edited import Edited
from tui.core.prompt_past import PastPrompt
from tui.engine.notices import Trouble

if TYPE_CHECKING:
    from tui.effects.prompt_history import PromptHistory
    from tui.effects.text_editor import TextEditor
    from tui.ui.prompt.box import PromptBox


class Prompting:
    """History and editor of one workspace; neither is loaded before it is asked for."""

    def __init__(self, workplace: Workplace, environment: Mapping[str, str]) -> None:
        """``environment`` is that of other programs, where no key is."""
        self._workplace = workplace
        self._environment = environment

    def serve(self, box: PromptBox) -> None:
        """Be what the prompt asks."""
        chosen = self._workplace.settings.prompt
        if chosen.history:
            box.prompt.past.kept = self
        if chosen.vi:
            box.prompt.use_vi()
        box.outside = self

    def load(self) -> list[PastPrompt]:
        """What was asked in earlier runs."""
        return self._history.load()

    def keep(self, text: str) -> None:
        """What was asked now."""
        self._history.keep(text)

    def refusal(self) -> str:
        """Why no editor can be opened."""
        return self._editor.refusal()

    async def edit(self, text: str) -> Edited:
        """Have the draft edited."""
        return await self._editor.edit(text)

    def written(self) -> str | None:
        """What the editor has saved by now."""
        return self._editor.written() if "_editor" in self.__dict__ else None

    async def leave(self) -> str:
        """End the editor, too; where what is in it can be found, in a sentence."""
        return await self._editor.leave() if "_editor" in self.__dict__ else ""

    def left_over(self) -> Trouble | None:
        """What is said at the start of texts that did not come back from an editor."""
        if not any(self._workplace.paths.state_dir.glob("editing-*")):
            return None
        from tui.effects.text_editor import left_behind

        folders = left_behind(self._workplace.paths.state_dir)
        if not folders:
            return None
        what = "duetto was ended while your editor had a prompt"
        why = "What it had is in " + ", ".join(map(str, folders))
        step = "take what you need of it, and remove the folder"
        return Trouble(what, why, step, severity="warning", noted=True)

    def close(self) -> None:
        """Have written what is to be kept."""
        if "_history" in self.__dict__:
            self._history.close()

    @functools.cached_property
    def _history(self) -> PromptHistory:
        from tui.effects.prompt_history import PromptHistory

        workplace = self._workplace
        return PromptHistory(workplace.paths.state_dir, os.path.realpath(workplace.root))

    @functools.cached_property
    def _editor(self) -> TextEditor:
        from tui.effects.text_editor import TextEditor

        workplace = self._workplace
        chosen = workplace.settings.prompt.editor
        return TextEditor(workplace.paths.state_dir, self._environment, chosen)
