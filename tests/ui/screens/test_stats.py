"""``/stats``: what is read from the store is shown, copied and scrolled as other reports."""

from __future__ import annotations

from tests.engine.test_stats_words import cycle, told
from tests.support.scripted_app import running, until
from tests.support.scripted_session import ScriptedSession
from tui.core.cycles import CycleReport
from tui.engine.feeling import CONSENT
from tui.engine.intents import Felt, SetAsking
from tui.errors import StoreRefused
from tui.ui.screens.status import StatsScreen


class Kept:
    """A store's statistics, in memory."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    async def stats(self, since_ms: int) -> CycleReport:
        self.asked.append(since_ms)
        if len(self.asked) > 1:
            raise StoreRefused("the store is \x1b[31mlocked")
        return told(cycle(1, 9), cycle(2, 9))


async def test_it_is_read_and_shown_and_a_store_that_refuses_says_why(
    session: ScriptedSession,
) -> None:
    kept = session.kept = Kept()
    async with running(session, size=(80, 24)) as (app, pilot):
        app.bench.slash.run("/stats all")
        await until(pilot, lambda: isinstance(app.screen, StatsScreen))
        screen = app.screen
        assert isinstance(screen, StatsScreen)
        await until(pilot, lambda: "2 turns since 1970-01-01" in str(screen.report(70)))
        assert kept.asked == [0]
        assert CONSENT[:20] in str(screen.report(70))
        await pilot.press("escape")
        app.bench.slash.run("/stats")
        await until(pilot, lambda: isinstance(app.screen, StatsScreen) and len(kept.asked) == 2)
        other = app.screen
        assert isinstance(other, StatsScreen)
        await until(pilot, lambda: "the store is" in str(other.report(70)))
        assert "\x1b" not in str(other.report(70))


async def test_what_it_felt_like_is_said_in_one_command(session: ScriptedSession) -> None:
    async with running(session, size=(80, 24)) as (app, pilot):
        for words in ("felt 1.5x", "felt 2", "ask on", "ask off"):
            app.bench.slash.run(f"/stats {words}")
        assert session.intents[-4:] == [Felt("1.5"), Felt("2"), SetAsking(True), SetAsking(False)]
        for wrong in ("felt", "felt much", "felt -1", "felt 0", "felt 1e9", "ask", "ask me", "foo"):
            app.bench.slash.run(f"/stats {wrong}")
        await pilot.pause()
        assert len([one for one in session.intents if isinstance(one, Felt | SetAsking)]) == 4
        app.bench.slash.run("/stats")
        await until(pilot, lambda: any("No sessions" in n.message for n in app._notifications))
