"""The review in the app, its diffs, odd hunks, and the turn's map."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from tests.support.review_screen import reviewing, seen, whole
from tests.support.review_session import CACHE, FILES, ReviewSession
from tests.support.scripted_app import scripted_app, settled, until
from tests.support.scripted_session import ScriptedSession
from tests.support.tables import each
from tui.core.document.hunk import Stage
from tui.engine.intents import (
    Accept,
    RedoDecision,
    RedoHunk,
    Reject,
    StopDeciding,
    StopRedoing,
    UndoDecision,
    UndoTurn,
)
from tui.ui.app import DuettoApp
from tui.ui.prompt.hint import Hint
from tui.ui.review.screen import ReviewScreen
from tui.ui.review.turn_map import fitted
from tui.ui.screens.workbench import Workbench


async def test_a_file_and_all_that_is_shown() -> None:
    async with reviewing() as (session, screen, pilot):
        await pilot.press("f")
        await settled(session, pilot)
        assert session.asked[-1] == Accept((1, 2, 3, 4))
        assert screen.view.cursor.file.path == "ledger/lock.py"
        await pilot.press("F")
        await settled(session, pilot)
        assert session.asked[-1] == Reject((6,))
        await pilot.press("R")
        await settled(session, pilot)
        assert session.asked[-1] == Reject((7, 8))
        assert "ledger/lock.py" not in session.files
        assert session.files["ledger/old.py"] == FILES["ledger/old.py"]


async def test_a_rejection_with_words() -> None:
    async with reviewing() as (session, screen, pilot):
        await pilot.press("w")
        await pilot.press(*"keep it", "enter")
        await settled(session, pilot)
        assert session.asked[-1] == Reject((1,), "keep it")
        assert session.workspace.hunk_list.by_id(1).words == "keep it"
        assert any("you said: keep it" in row for row in seen(screen))
        await pilot.press("w", "x", "escape")
        await settled(session, pilot)
        assert session.workspace.hunk_list.by_id(2).decidable


async def test_words_that_are_sent_now() -> None:
    async with reviewing() as (session, screen, pilot):
        await pilot.press("w")
        await pilot.press(*"keep it", "alt+enter")
        await settled(session, pilot)
        assert session.asked[-1] == RedoHunk(1, "keep it")
        hunk = session.workspace.hunk_list.by_id(1)
        assert hunk.decidable
        hunk.redone = "redoing: 812 tok/s"
        session.workspace.documents.bump()
        session.changed()
        await pilot.press("p")
        await settled(session, pilot)
        assert any("… redoing" in row for row in seen(screen))
        assert any("812 tok/s" in row for row in seen(screen))
        await pilot.press("x")
        await settled(session, pilot)
        assert session.asked[-1] == StopRedoing(1)


async def test_decisions_are_undone_and_done_again() -> None:
    async with reviewing() as (session, _, pilot):
        text = session.files["ledger/cache.py"]
        await pilot.press("a", "u")
        await settled(session, pilot)
        assert session.asked[-1] == UndoDecision()
        assert session.states()[0] == "landed"
        assert session.files["ledger/cache.py"] == text
        await pilot.press("U")
        await settled(session, pilot)
        assert session.asked[-1] == RedoDecision()
        assert session.states()[0] == "accepted"


async def test_the_turn_is_taken_back_from_here_too() -> None:
    async with reviewing() as (session, _, pilot):
        await pilot.press("alt+u")
        await settled(session, pilot)
        assert session.asked[-1] == UndoTurn()


@pytest.mark.slow
async def test_editing_leads_to_the_editor_and_back_to_a_decision() -> None:
    async with reviewing() as (session, _, pilot):
        await pilot.press("n", "e")
        await settled(session, pilot)
        bench = pilot.app.screen
        assert isinstance(bench, Workbench)
        assert bench.pane_actions.in_editor(bench.focused)
        await pilot.press("alt+y")
        await settled(session, pilot)
        assert session.asked[-1] == Accept((2,))
        again = pilot.app.screen
        assert isinstance(again, ReviewScreen), "back to where e was pressed"
        await until(pilot, lambda: again.view.cursor.hunk is session.workspace.hunk_list.by_id(3))


async def test_it_is_live_while_the_turn_streams() -> None:
    async with reviewing(begin=False) as (session, screen, pilot):
        assert "No model has changed a file yet" in " ".join(seen(screen))
        session.begin()
        said = []
        while session.streams:
            session.feed(60)
            await settled(session, pilot)
            said.append(whole(screen))
        assert any("landing…" in one for one in said)
        assert any("▸ landing" in one for one in said)
        await until(pilot, lambda: "8 hunks · 7 pending" in whole(screen))


@pytest.mark.parametrize("size", [(40, 12), (120, 40)])
async def test_no_row_is_wider_or_narrower_than_the_screen(size: tuple[int, int]) -> None:
    async with reviewing(size) as (_, screen, pilot):
        for key in ("s", "c", "G", "right", "s"):
            await pilot.press(key)
            for name in ("title", "files", "diff", "keys"):
                widget = screen.query_one(f"#review-{name}")
                for y in range(widget.size.height):
                    width = widget.size.width
                    assert widget.render_line(y).cell_length == width, (key, name, y)


async def test_esc_stops_a_decision_on_very_many_hunks_before_it_closes_anything() -> None:
    async with reviewing() as (session, screen, pilot):
        session.status.deciding = "accepting 3 of 8 hunks"
        screen.update_bars()
        await settled(session, pilot)
        assert "accepting 3 of 8 hunks, Esc stops" in whole(screen)
        await pilot.press("escape")
        assert (session.asked[-1], pilot.app.screen) == (StopDeciding(), screen)
        session.status.deciding = ""
        await pilot.press("escape")
        await settled(session, pilot)
        bench = pilot.app.screen
        assert isinstance(bench, Workbench)
        session.status.deciding = "rejecting 4 of 8 hunks"
        hint = " ".join(text for text, _ in bench.query_one(Hint).pieces(100))
        assert "rejecting 4 of 8 hunks · Esc stops" in hint
        session.asked.clear()
        await pilot.press("escape")
        assert session.asked == [StopDeciding()]


async def test_hostile_text_does_not_reach_the_screen() -> None:
    async with reviewing(begin=False) as (session, screen, pilot):
        session.turn_of(
            "*** Begin Patch\n*** Add File: a.py\n+\x1b]0;owned\x07[bold]x\u202e\n*** End Patch\n"
        )
        await until(pilot, lambda: "[bold]x" in whole(screen))
        text = whole(screen)
        assert not {"\x1b", "\x07", "\u202e"} & set(text)


async def test_an_ambiguous_hunk_is_placed() -> None:
    async with reviewing(begin=False) as (session, screen, pilot):
        session.files["twice.py"] = "x = 1\ny = 0\nx = 1\n"
        session.turn_of(
            "*** Begin Patch\n*** Update File: twice.py\n@@\n-x = 1\n+x = 2\n*** End Patch\n"
        )
        await until(pilot, lambda: any("L1 (1/2)" in row for row in seen(screen)))
        assert "a place" in whole(screen)
        await pilot.press("right", "enter")
        await settled(session, pilot)
        assert session.workspace.open("twice.py").text() == "x = 1\ny = 0\nx = 2\n"
        assert pilot.app.screen is screen, "what was placed is now to be decided on"
        assert session.workspace.hunk_list.by_id(1).decidable


async def test_a_conflict_is_shown_where_it_is_with_what_can_be_done() -> None:
    """The user's line, below it what the model wanted of the old one."""
    async with reviewing((100, 30), begin=False) as (session, screen, pilot):
        session.files["two.py"] = (
            "def one():\n    return 1\n\n\ndef two():\n    return 2\n\n\n" + "z = 0\n" * 9
        )
        session.open("two.py")
        session.begin(
            "*** Begin Patch\n*** Update File: two.py\n@@\n def one():\n-    return 1\n"
            "+    return 111\n \n \n def two():\n-    return 2\n+    return 222\n*** End Patch\n"
        )
        while "return 111" not in session.workspace.open("two.py").text():
            session.feed(4)
        lines = session.workspace.open("two.py").lines
        row = lines.index("    return 1")
        session.workspace.edit("two.py", (row, 12), (row, 12), "7")
        while session.streams:
            session.feed(200)
        await until(pilot, lambda: "2 hunks · 2 in conflict" in whole(screen))
        assert session.states() == ["conflict", "conflict"]
        said = whole(screen)
        rows = seen(screen)
        at = next(y for y, text in enumerate(rows) if "return 17" in text)
        wanted = next(y for y, text in enumerate(rows) if "+     return 111" in text)
        assert abs(wanted - at) <= 4
        assert "r reject" in said


@each("height", [1, 2, 5, 12, 400])
def test_what_does_not_fit_is_counted_and_what_waits_comes_first(height: int) -> None:
    session = ScriptedSession()
    done = [session.hunk(Stage.REFUSED, n, path="a.py") for n in range(1, 30)]
    waiting = [session.hunk(Stage.LANDED, n, path="b.py") for n in range(1, 30)]
    found = fitted({"a.py": done, "b.py": waiting}, height)
    assert len(found) <= max(height, 3)
    if height == 400:
        assert [row.text for row in found if row.kind == "file"] == ["a.py", "b.py"]
    elif height == 12:
        assert [row.text for row in found if row.kind == "file"] == ["b.py"]
        shown = sum(row.kind == "hunk" for row in found)
        assert found[-1].text == f"… {58 - shown} more hunks"


@asynccontextmanager
async def working() -> AsyncIterator[tuple[ReviewSession, DuettoApp, Pilot[int]]]:
    """The app with a file in which the user typed and a model's turn is pending."""
    session = ReviewSession()
    session.open("ledger/cache.py")
    session.workspace.edit("ledger/cache.py", (0, 3), (0, 4), "One")
    session.turn_of()
    session.head["ledger/cache.py"] = CACHE.replace("newest", "latest")
    app = scripted_app(session)
    async with app.run_test(size=(100, 40)) as pilot:
        await settled(session, pilot)
        yield session, app, pilot


async def shown(app: DuettoApp, pilot: Pilot[int]) -> ReviewScreen:
    """The screen, when its diff is there."""
    screen = app.screen
    assert isinstance(screen, ReviewScreen)
    await until(pilot, lambda: screen.query("#review-title") and screen.view.words)
    await until(pilot, lambda: screen.view.cursor.files or "moment" not in screen.view.words)
    return screen


async def test_slash_diff_shows_the_buffer_against_the_disk() -> None:
    async with working() as (session, app, pilot):
        assert app.bench.slash.run("/diff disk ledger/cache.py")
        screen = await shown(app, pilot)
        assert "against the disk · 1 file" in whole(screen)
        rows = seen(screen)
        assert any('− """A small cache."""' in row for row in rows)
        assert any('+ """One small cache."""' in row for row in rows)
        await pilot.press("a")
        assert all(state != "accepted" for state in session.states())


async def test_a_file_that_is_not_there_is_not_the_same_as_anything() -> None:
    async with working() as (_, app, pilot):
        for against in ("disk", "head", "turn"):
            app.bench.slash.run(f"/diff {against} nonsense.py")
            rows = " ".join(seen(await shown(app, pilot)))
            assert "There is no file 'nonsense.py'." in rows
            await pilot.press("escape")
