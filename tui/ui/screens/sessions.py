"""``/resume`` and ``/fork``: this session is left for another one.

In the list of all sessions what is typed is looked for in all that was said.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from rich.cells import cell_len
from textual.app import App

from tui.core.files import counted
from tui.core.session_record import SessionLine
from tui.engine.ports import SessionArchive
from tui.engine.session import Session
from tui.engine.sessions import Onward, about, title_of, turn_asked
from tui.errors import StoreRefused
from tui.ui import theme
from tui.ui.finding.pick_list import PickList, PickScreen
from tui.ui.leaving import Leaving
from tui.ui.styled_text import Piece, one_line
from tui.ui.terminal.terminal_app import TerminalApp

_LEAST_TITLE = 16


class SessionList(PickList[SessionLine]):
    """A session a row: how it begins, and at the right what else there is to say."""

    def __init__(self) -> None:
        super().__init__()
        self.now_ms = 0

    def row(self, item: SessionLine, width: int) -> tuple[list[Piece], list[Piece]]:
        """The title bright; of what is said at the right the last things stay the longest."""
        style, said = theme.active().style, about(item, self.now_ms)
        while len(said) > 1 and cell_len(one_line(" · ".join(said))) > width - _LEAST_TITLE:
            del said[0]
        colour = "warning" if item.open_hunks else "muted"
        left = [(one_line(title_of(item)), style("foreground"))]
        return left, [(f"  {one_line(' · '.join(said))} ", style(colour))]


class SessionsScreen(PickScreen[SessionLine | None]):
    """Type words, Enter goes on with the one that is lit."""

    title_words = "Go on with a session"
    placeholder = "words that were said, or its name"

    def __init__(self, archive: SessionArchive, here: str, words: str = "") -> None:
        """``here`` is the id of the session that is open: it is not offered."""
        super().__init__()
        self._archive, self._here = archive, here
        self._field.value = words
        self._list: SessionList = SessionList()
        self._lit.display = True
        self._status.update("looking…")
        self._looks = False
        """The store was asked for others than those that are shown."""
        self._keys: list[Callable[[], None]] = []
        """What was pressed meanwhile: it is about those."""

    def action_step(self, rows: int) -> None:
        """Light another one."""
        if self._looks:
            self._keys.append(partial(self.action_step, rows))
        else:
            super().action_step(rows)

    def action_take(self) -> None:
        """Go on with what is lit."""
        if self._looks:
            self._keys.append(self.action_take)
            return
        if self._list.chosen is None:
            return
        if isinstance(self.app, TerminalApp):
            self.app.focus_comes()
        self.dismiss(self._list.chosen)

    def look_for(self, words: str) -> None:
        """Ask the store for those that have these words."""
        self._looks, self._keys = True, []
        self.run_worker(self._found(words), name="looking for sessions", exclusive=True)

    async def _found(self, words: str) -> None:
        try:
            lines = await self._archive.sessions(words)
        except StoreRefused as error:
            self._status.update(one_line(str(error)))
            self._looks = False
            return
        lines = [line for line in lines if line.id != self._here]
        self._list.now_ms = int(time.time() * 1000)
        self._list.show(lines)
        count = counted(len(lines), "session")
        none = "no session has these words" if words.strip() else "no other session is kept"
        ways = f"{count} · ↑↓ choose · Enter go on · Esc leave"
        self._status.update(ways if lines else f"{none} · Esc leave")
        self.lit()
        self._looks = False
        for key in self._keys:
            key()

    def lit(self) -> None:
        """What there is no room for in the row."""
        line = self._list.chosen
        if line is None:
            self._lit.update("")
            return
        turns = counted(line.turns, "turn")
        behind = [f"from {line.parent}, turn {line.parent_turn}"] * bool(line.parent)
        self._lit.update(one_line(" · ".join((line.id, turns, *behind, line.folder))))


async def resume(app: App[int], session: Session, wanted: str = "") -> None:
    """Go on with an earlier session: with the one that was named, else a list is shown."""
    archive, here = session.archive, session.stored_as

    def chosen(line: SessionLine | None) -> None:
        if line is None:
            return
        if line.id == here:
            app.notify("That is this session.")
        elif line.alive:
            words = f"Session {line.id} goes on in another duetto."
            app.notify(words, severity="warning", markup=False)
        else:
            app.call_later(_leave, app, Onward(line.id))

    if archive is None:
        app.notify("No sessions are kept here.", severity="warning")
        return
    try:
        line = await archive.find(wanted) if wanted else None
    except StoreRefused:
        line = None  # then these are words
    if line is not None:
        chosen(line)
    elif not isinstance(app.screen, SessionsScreen):
        app.push_screen(SessionsScreen(archive, here, wanted), chosen)


async def fork(app: App[int], session: Session, argument: str) -> None:
    """Leave for a new session that begins with this one up to a turn."""
    turn = turn_asked(argument, session.last_turn)
    if isinstance(turn, str):
        app.notify(turn, severity="warning", markup=False)
    elif not session.stored_as:
        app.notify("This session is not kept: nothing can be taken over.", severity="warning")
    else:
        await _leave(app, Onward(session.stored_as, fork=True, turn=turn))


async def _leave(app: App[int], onward: Onward) -> None:
    leaving = getattr(app, "leaving", None)
    if isinstance(leaving, Leaving):
        await leaving.ask(onward)
