"""The practice workspace with the guide: which exercise it plays, what is offered, what is kept."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tui.bridge.rehearsal.script import Script, load_scripts
from tui.cli import practice
from tui.cli.options import ModelFlags

if TYPE_CHECKING:
    from tui.engine.session import SessionOptions
    from tui.ui.app import DuettoApp
    from tui.ui.guide.guide import Ending


@dataclass(slots=True)
class Guided:
    """One run of the guide over the practice workspace."""

    root: Path
    script: Script
    """An exercise that was not begun, and that can be redirected."""
    kept: Path | None = None
    """Where the old workspace went, if it had to make room."""
    is_over: bool = field(default=False)

    def options(self, options: SessionOptions) -> SessionOptions:
        """The exercise's prompt and a redirect are offered first, then what is left.

        What the settings say of reviewing holds from the next start on: the lesson is about it.
        """
        first = [self.script.prompt, next(iter(self.script.asks.values())).example]
        others = [one.prompt for one in practice.offered_prompts() if one.prompt not in first]
        return dataclasses.replace(
            options,
            prompts=(*first, *others),
            suggest=self._suggested,
            save="on-accept",
            auto_accept=False,
        )

    def begin(self, app: DuettoApp) -> None:
        """Put the guide onto the screen; called when it shows its first picture."""
        from tui.ui.guide.guide import Guide

        if self.kept is not None:
            words = f"Your old practice workspace is kept in {self.kept}"
            app.notify(words, timeout=8, markup=False)
        Guide(app.bench, self._ended).begin()

    def _suggested(self) -> str:
        return practice.suggested(self.root) if self.is_over else self.script.prompt

    def _ended(self, ending: Ending) -> None:
        self.is_over = True


def guided(data_dir: Path, now: datetime) -> Guided:
    """The practice workspace with an exercise that the guide can play.

    Where all of them were begun it starts over, and the old workspace is kept beside it. Raises
    UsageError: the workspace cannot be made.
    """
    root = practice.ensure(data_dir)
    script, kept = _fresh(root), None
    if script is None:
        root, kept = practice.start_over(data_dir, now)
        script = _fresh(root)
    assert script is not None, "a new workspace has exercises"
    return Guided(root, script, kept)


def _fresh(root: Path) -> Script | None:
    """The first exercise that was not begun and knows a redirect; None: there is none."""
    begun = {exercise.exercise for exercise in practice.begun(root)}
    return next((one for one in load_scripts() if one.asks and one.name not in begun), None)


def rehearsed(flags: ModelFlags) -> ModelFlags:
    """The guide plays with the rehearsal, unless a model is named for this run.

    Nothing is asked of a server, and nothing is paid, for a first look.
    """
    if flags.endpoint or flags.fast or flags.deep:
        return flags
    return dataclasses.replace(flags, fast="rehearsal-fast", deep="rehearsal-deep")
