"""The way out of the app: asked first, in order when a signal ends it, nothing lost on the way."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from textual.app import App

from tui.core.unsaved import Unsaved
from tui.engine.intents import SaveFile
from tui.engine.session import Session, reasons_to_stay, unsaved_paths
from tui.ui.terminal.terminal_app import ENDING

if TYPE_CHECKING:
    from tui.engine.sessions import Onward
    from tui.ui.screens.dialogs import Choice


class Leaving:
    """Whether the user wants to leave, and what would be lost."""

    def __init__(self, app: App[int], session: Session, draft: Callable[[], str]) -> None:
        """``draft`` is what was typed and not sent."""
        self._app, self._session, self._draft = app, session, draft
        self.onward: Onward | None = None
        """The session to go to then; None: the shell."""
        self._left = False
        """The user wants to leave, and was asked about what would be lost."""
        self._later = frozenset[str]()
        """What was on its way to the disk then."""
        self.before: Callable[[], None] = lambda: None
        """Called when the session is about to be closed: no more frames."""
        self.on_forced: Callable[[], None] = lambda: None
        """Called when a signal ends the app, before anything else."""
        self.on_begun: Callable[[int], None] = lambda code: None
        """Called with the exit code when the way out begins, maybe in a signal's handler."""

    async def ask(self, onward: Onward | None = None) -> None:
        """Leave, for another session maybe; ask first when something would be left behind."""
        from tui.ui.screens.dialogs import LeaveScreen

        self.onward = onward
        if isinstance(self._app.screen, LeaveScreen):
            return
        if reasons := reasons_to_stay(self._session, self._draft()):
            unsaved = bool(unsaved_paths(self._session))
            self._app.push_screen(LeaveScreen(reasons, unsaved=unsaved), self._answered)
        else:
            await self._leave()

    def _answered(self, choice: Choice | None) -> None:
        """What cannot be saved is a reason to stay."""
        if choice == "save":
            for path in unsaved_paths(self._session):
                self._session.submit(SaveFile(path))
        if choice == "leave" or (choice == "save" and not unsaved_paths(self._session)):
            self._app.call_later(self._leave)

    async def _leave(self) -> None:
        self._later, self._left = self._session.written_later(), True
        self.on_begun(0)
        self.before()
        await self._session.close()
        self._app.exit(0)

    def give_terminal_back(self) -> None:
        """Whatever the app does."""
        if self._app._driver is not None:
            self._app._driver.stop_application_mode()

    def unsaved(self) -> Unsaved:
        """What would be lost if the app ended now; nothing if the user left it behind.

        What was on its way to the disk and could not be written is kept as after a crash.
        """
        left = self._left and not any(map(self._session.workspace.is_dirty, self._later))
        return Unsaved() if left else self._session.unsaved(self._draft())

    def catch_signals(self) -> None:
        """What would end the process ends the app in order: the terminal is restored.

        Where the loop is held up the way out begins all the same: Python calls its own handlers
        between any two steps.
        """
        loop = asyncio.get_running_loop()
        for number in ENDING:
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, self._end, 128 + number)
                signal.signal(number, lambda number, frame: self.on_begun(128 + number))

    def _end(self, code: int) -> None:
        """By force; a terminal that is gone may hold up the way out, so the text is kept first."""
        self.onward = None  # what was asked for before is not begun without a terminal
        self.on_forced()
        self._app.exit(code, code)
