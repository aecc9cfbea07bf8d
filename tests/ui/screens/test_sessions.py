"""The list of sessions: what a row says, what is typed, where Enter leads."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Iterable

from tests.support.scripted_app import running, until
from tests.support.scripted_session import ScriptedSession
from tui.core.session_record import SessionLine
from tui.engine.sessions import Onward
from tui.errors import StoreRefused
from tui.ui.screens.dialogs import LeaveScreen
from tui.ui.screens.sessions import SessionList, SessionsScreen


def line(name: str, words: str, *, open_hunks: int = 0, alive: bool = False) -> SessionLine:
    now_ms = int(time.time() * 1000) - 3 * 3_600_000
    return SessionLine(
        name, "/home/me/ledger", "app", "", words, now_ms, now_ms, True, 4, open_hunks, alive=alive
    )


class Kept:
    """The sessions of a store, in memory."""

    def __init__(self, *lines: SessionLine) -> None:
        self.lines = lines

    async def sessions(self, words: str) -> list[SessionLine]:
        if words == "broken":
            raise StoreRefused("the store is \x1b[31mlocked")
        return [one for one in self.lines if words in one.first_words]

    async def find(self, session_id: str) -> SessionLine:
        for one in self.lines:
            if one.id == session_id:
                return one
        raise StoreRefused(f"no session is called {session_id!r}")


class Busy(Kept):
    """Words are looked for until it is free again."""

    def __init__(self, *lines: SessionLine) -> None:
        super().__init__(*lines)
        self.free = asyncio.Event()

    async def sessions(self, words: str) -> list[SessionLine]:
        if words:
            await self.free.wait()
        return await super().sessions(words)


LINES = (
    line("7f3k2m00", "this one"),
    line("7f3k2m11", "make the \x1b[31mcache safe", open_hunks=2),
    line("7f3k2m22", "write tests", alive=True),
)


def texts(rows: SessionList) -> Iterable[str]:
    return ["".join(s.text for s in rows.render_line(y)).strip() for y in range(rows.size.height)]


async def test_it_lists_looks_for_words_and_leads_to_one(session: ScriptedSession) -> None:
    session.kept = Kept(*LINES)
    async with running(session, size=(80, 24)) as (app, pilot):
        app.bench.slash.run("/resume")
        await until(pilot, lambda: isinstance(app.screen, SessionsScreen))
        rows = app.screen.query_one(SessionList)
        await until(pilot, lambda: rows.chosen is not None)
        first, second, *_ = texts(rows)
        assert first.startswith("▸ make the")
        assert first.endswith("2 hunks open · ledger · 3 hours ago")
        assert "\x1b" not in first
        assert second.endswith("runs now · ledger · 3 hours ago"), "not the one that is open"
        await pilot.press(*"broken")
        await pilot.pause()
        assert isinstance(app.screen, SessionsScreen)
        await pilot.press(*["backspace"] * 6, *"cache")
        await until(pilot, lambda: len([one for one in texts(rows) if one]) == 1)
        await pilot.press("enter")
        await until(pilot, lambda: app.leaving.onward == Onward("7f3k2m11"))


async def test_enter_behind_words_goes_on_with_one_that_has_them(session: ScriptedSession) -> None:
    found = [line(f"7f3k2m3{number}", "write docs") for number in range(3)]
    session.kept = store = Busy(*LINES, *found)
    async with running(session, size=(80, 24)) as (app, pilot):
        app.bench.slash.run("/resume")
        await until(pilot, lambda: isinstance(app.screen, SessionsScreen))
        rows = app.screen.query_one(SessionList)
        await until(pilot, lambda: rows.chosen is not None)
        await pilot.press(*"docs", "down", "enter")
        assert app.leaving.onward is None
        assert isinstance(app.screen, SessionsScreen)
        store.free.set()
        await until(pilot, lambda: app.leaving.onward == Onward("7f3k2m31"))


async def test_by_its_id_and_one_that_runs_elsewhere(session: ScriptedSession) -> None:
    session.kept = Kept(*LINES)
    async with running(session, size=(80, 24)) as (app, pilot):
        app.bench.slash.run("/resume 7f3k2m22")
        await until(pilot, lambda: any("another duetto" in n.message for n in app._notifications))
        assert app.leaving.onward is None
        app.bench.slash.run("/resume 7f3k2m11")
        await until(pilot, lambda: app.leaving.onward == Onward("7f3k2m11"))


async def test_a_terminal_that_is_gone_while_it_is_asked_begins_no_other_session(
    session: ScriptedSession,
) -> None:
    """/resume, and /fork alike, ask first where something would be left behind."""
    session.kept = Kept(*LINES)
    session.status.queued = ["and then"]
    async with running(session, size=(80, 24)) as (app, pilot):
        app.bench.slash.run("/resume 7f3k2m11")
        await until(pilot, lambda: isinstance(app.screen, LeaveScreen))
        assert app.leaving.onward == Onward("7f3k2m11")
        signal.raise_signal(signal.SIGHUP)
        await until(pilot, lambda: app.return_code == 128 + signal.SIGHUP)
        assert app.leaving.onward is None


async def test_words_that_are_no_id_are_looked_for(session: ScriptedSession) -> None:
    session.kept = Kept(*LINES)
    async with running(session, size=(80, 24)) as (app, pilot):
        app.bench.slash.run("/resume tests")
        await until(pilot, lambda: isinstance(app.screen, SessionsScreen))
        rows = app.screen.query_one(SessionList)
        await until(pilot, lambda: rows.chosen == LINES[2])
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.bench)
