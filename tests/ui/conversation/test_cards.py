"""Hunk cards: folded file by file, looked into, and gone to and back from lines."""

from __future__ import annotations

from tests.support.scripted_app import exercise, running, settled
from tests.support.scripted_session import ScriptedSession
from tui.core.edits.hunk import Stage
from tui.ui.app import DuettoApp


def shown(app: DuettoApp) -> list[str]:
    pane = app.bench.transcript
    rows = (pane.render_line(y).text for y in range(pane.size.height))
    return [row[:-1].strip() for row in rows]


async def test_a_file_of_a_card_is_folded_to_its_counts() -> None:
    session = ScriptedSession()
    session.say("patch", speaker="fast")
    session.hunk(Stage.LANDED, 0, added=1)
    session.hunk(Stage.LANDED, 7, added=3, removed=1)
    session.hunk(Stage.LANDED, 2, added=5, path="README.md")
    async with running(session) as (app, pilot):
        await pilot.press("shift+tab", "up", "enter")
        rows = [row for row in shown(app) if row]
        assert rows[1].startswith("▸ ledger/cache.py")
        assert "2 hunks" in rows[1]
        assert "+4" in rows[1]
        assert rows[2].startswith("✎ README.md")
        await pilot.press("space")
        assert len([row for row in shown(app) if "pending" in row]) == 3


async def test_a_hunk_that_waits_is_unfolded_by_the_review() -> None:
    session = ScriptedSession()
    session.say("patch", speaker="fast")
    session.hunk(Stage.LANDED, 0, added=1)
    async with running(session) as (app, pilot):
        await pilot.press("shift+tab", "up", "enter")
        assert not any("pending" in row for row in shown(app))
        await pilot.press("alt+j")
        assert any("pending" in row for row in shown(app))
        hunk = app.bench.transcript.selected_hunk()
        assert hunk is not None
        assert hunk.id == 1


async def test_space_shows_the_lines_of_a_hunk_in_its_card() -> None:
    session = ScriptedSession()
    session.say("patch", speaker="fast")
    hunk = session.hunk(Stage.LANDED, 7, added=1, removed=1)
    hunk.base, hunk.agent = "old line\n", "new \x1b[2Jline\n"
    async with running(session) as (app, pilot):
        await pilot.press("shift+tab", "space")
        rows = "\n".join(shown(app))
        assert "\N{MINUS SIGN}old line" in rows
        assert "+new \N{SYMBOL FOR ESCAPE}[2Jline" in rows
        await pilot.press("space")
        assert "old line" not in "\n".join(shown(app))


async def test_from_a_card_to_its_lines_and_back_to_the_card() -> None:
    session = ScriptedSession()
    exercise(session)
    for size in ((120, 36), (80, 24)):
        async with running(session, size) as (app, pilot):
            await pilot.press("shift+tab")
            hunk = app.bench.transcript.selected_hunk()
            assert hunk is not None
            await pilot.press("alt+k")
            await settled(session, pilot)
            assert app.bench.in_editor(app.bench.focused)
            assert app.bench.panes.in_sight("editor")
            await pilot.press("alt+k")
            assert app.bench.focused is app.bench.transcript
            assert app.bench.transcript.selected_hunk() is hunk
            assert app.bench.panes.in_sight("conversation")


async def test_lines_that_no_card_wrote_lead_back_to_where_one_was() -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        await pilot.press("alt+2", "ctrl+end", "alt+k")
        assert app.bench.focused is app.bench.transcript
        assert any("No card wrote" in told.message for told in app._notifications)
