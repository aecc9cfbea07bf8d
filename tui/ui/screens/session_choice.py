"""``/resume`` and ``/fork``: this session is left for another one."""

from __future__ import annotations

from textual.app import App

from tui.core.session_record import SessionLine
from tui.engine.session import Session
from tui.engine.sessions import Onward, turn_asked
from tui.errors import StoreRefused
from tui.ui.leaving import Leaving
from tui.ui.screens.sessions import SessionsScreen


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
