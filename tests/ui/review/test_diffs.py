"""Diffs that are only looked at: against the disk, HEAD and the turn's start."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.pilot import Pilot

from tests.support.review_session import CACHE, ReviewSession
from tests.support.scripted_app import scripted_app, settled
from tests.ui.review.test_screen import seen, whole
from tui.engine.intents import OpenFile
from tui.ui.app import DuettoApp
from tui.ui.review.screen import ReviewScreen


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
    for _ in range(100):
        await pilot.pause(0.02)
        if screen.view.files or "moment" not in screen.view.words:
            break
    return screen


async def test_slash_diff_shows_the_buffer_against_the_disk() -> None:
    async with working() as (session, app, pilot):
        assert app.bench.run_slash("/diff disk ledger/cache.py")
        screen = await shown(app, pilot)
        assert "against the disk · 1 file" in whole(screen)
        rows = seen(screen)
        assert any('− """A small cache."""' in row for row in rows)
        assert any('+ """One small cache."""' in row for row in rows)
        await pilot.press("a")
        assert all(state != "accepted" for state in session.states())


async def test_against_the_turns_start_what_was_typed_before_is_no_difference() -> None:
    async with working() as (_, app, pilot):
        app.bench.run_slash("/diff turn ledger/cache.py")
        rows = seen(await shown(app, pilot))
        assert not any('− """A small cache."""' in row for row in rows)
        assert any("+ import threading" in row for row in rows)


async def test_against_head() -> None:
    async with working() as (_, app, pilot):
        app.bench.run_slash("/diff head ledger/cache.py")
        screen = await shown(app, pilot)
        assert "git's HEAD" in whole(screen)
        assert any("Keeps the latest values" in row and "−" in row for row in seen(screen))


async def test_without_a_path_all_that_differs_is_shown() -> None:
    async with working() as (_, app, pilot):
        app.bench.run_slash("/diff turn")
        screen = await shown(app, pilot)
        paths = [file.path for file in screen.view.files]
        assert paths == ["ledger/cache.py", "ledger/lock.py", "tests/test_cache.py"]


async def test_d_goes_round_and_back_to_the_hunk() -> None:
    async with working() as (session, app, pilot):
        await pilot.press("f7")
        screen = await shown(app, pilot)
        screen.view.choose_hunk(3)
        for words in ("the disk", "git's HEAD", "the turn's start"):
            await pilot.press("d")
            await shown(app, pilot)
            assert f"against {words}" in whole(screen)
        await pilot.press("d")
        assert screen.decides
        assert screen.view.hunk is session.workspace.hunk(3)


async def test_a_banner_leads_to_the_diff() -> None:
    """`ShowDiff` comes to the screen as a notice."""
    async with working() as (session, app, pilot):
        session.board.show_diff("", "disk")
        await settled(session, pilot)
        screen = await shown(app, pilot)
        assert "against the disk" in whole(screen)
        await pilot.press("enter")
        await settled(session, pilot)
        assert isinstance(session.intents[-1], OpenFile)


async def test_a_file_that_is_the_same_says_so() -> None:
    async with working() as (session, app, pilot):
        session.open("tests/test_cache.py")
        session.workspace.reject(None, "")
        app.bench.run_slash("/diff disk tests/test_cache.py")
        screen = await shown(app, pilot)
        assert "'tests/test_cache.py' is the same as the disk." in " ".join(seen(screen))


async def test_it_follows_what_is_typed_elsewhere() -> None:
    async with working() as (session, app, pilot):
        app.bench.run_slash("/diff disk ledger/cache.py")
        screen = await shown(app, pilot)
        session.files["ledger/cache.py"] = "all else\n"
        session.board.touched("ledger/cache.py")
        for _ in range(100):
            await settled(session, pilot)
            if any("all else" in row for row in seen(screen)):
                break
        assert any("− all else" in row for row in seen(screen))


async def test_a_file_that_is_not_there_is_not_the_same_as_anything() -> None:
    async with working() as (_, app, pilot):
        for against in ("disk", "head", "turn"):
            app.bench.run_slash(f"/diff {against} nonsense.py")
            rows = " ".join(seen(await shown(app, pilot)))
            assert "There is no file 'nonsense.py'." in rows
            await pilot.press("escape")


async def test_without_a_commit_nothing_is_the_same_as_head() -> None:
    async with working() as (session, app, pilot):
        session.no_head = "this folder has no git commit yet"
        app.bench.run_slash("/diff head")
        rows = " ".join(seen(await shown(app, pilot)))
        assert "Nothing is compared: this folder has no git commit yet." in rows


async def test_a_hunks_number_is_the_one_that_the_model_is_told() -> None:
    async with working() as (session, app, pilot):
        session.turn_of("*** Begin Patch\n*** Add File: b.py\n+b = 1\n*** End Patch\n")
        await settled(session, pilot)
        await pilot.press("f7")
        await pilot.pause(0.1)
        screen = await shown(app, pilot)
        number = session.workspace.hunks[-1].id
        assert number > 1
        assert any(f" {number} ● pending" in row for row in seen(screen))
