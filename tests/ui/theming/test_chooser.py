"""The list of themes: moving tries on, Enter keeps, Esc restores."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.support.scripted_app import exercise, running, scripted_app
from tests.support.scripted_session import ScriptedSession
from tui.ui import theme
from tui.ui.app import DuettoApp
from tui.ui.theming.chooser import ThemeChooser
from tui.ui.theming.wardrobe import Pair


@asynccontextmanager
async def choosing(
    size: tuple[int, int] = (120, 40),
) -> AsyncIterator[tuple[DuettoApp, Pilot[int], list[str]]]:
    """The list is open, over a turn with everything in it; and what was kept."""
    session = ScriptedSession()
    exercise(session)
    kept: list[str] = []
    async with running(session, size) as (app, pilot):
        app.wardrobe.keep = kept.append
        app.bench.run_slash("/theme")
        await pilot.pause()
        await pilot.pause()
        yield app, pilot, kept
    theme.activate(theme.DEFAULT_THEME)


def inks(app: DuettoApp, words: str) -> set[str]:
    """The colours of the row with these words."""
    rows = app.screen._compositor.render_strips()
    row = next(strip for strip in rows if words in strip.text)
    found = [part.style.color for part in row if part.style]
    return {colour.triplet.hex for colour in found if colour and colour.triplet}


def shown(app: DuettoApp) -> str:
    rows = app.screen._compositor.render_strips()
    return "\n".join(strip.text for strip in rows)


async def test_moving_tries_a_theme_on_and_esc_brings_the_old_one_back() -> None:
    async with choosing() as (app, pilot, kept):
        assert isinstance(app.screen, ThemeChooser)
        before = app.bench.transcript.render_line(3)
        assert "Dusk" in shown(app)
        await pilot.press("down", "down")
        await pilot.pause()
        assert app.theme != theme.DEFAULT_THEME
        assert theme.active().name == app.theme
        after = app.bench.transcript.render_line(3)
        assert (before.text, list(before)) != (after.text, list(after))
        assert before.text == after.text, "the app behind the list is the preview"
        await pilot.press("escape")
        await pilot.pause()
        assert app.screen is app.bench
        assert app.theme == theme.DEFAULT_THEME
        assert list(app.bench.transcript.render_line(3)) == list(before)
        assert kept == []


async def test_enter_keeps_what_the_letters_found() -> None:
    async with choosing() as (app, pilot, kept):
        await pilot.press(*"nord", "enter")
        await pilot.pause()
        assert app.screen is app.bench
        assert app.theme == "nord"
        assert kept == ["nord"]


async def test_letters_that_no_theme_has_change_nothing() -> None:
    async with choosing() as (app, pilot, kept):
        await pilot.press(*"zzz", "enter")
        assert "no theme has these letters" in shown(app)
        assert isinstance(app.screen, ThemeChooser)
        assert app.theme == theme.DEFAULT_THEME
        assert kept == []


async def test_the_sample_shows_code_a_diff_and_the_meter() -> None:
    async with choosing() as (app, _, _):
        text = shown(app)
        for words in ("class Cache", "raise Full", "✓ accepted", "! conflict", "tok/s", "ghost"):
            assert words in text
        assert "contrast of text" in text


async def test_auto_is_the_first_and_says_what_it_chooses_from() -> None:
    async with choosing() as (app, pilot, kept):
        app.wardrobe.dark = False
        await pilot.press("up", "enter")
        await pilot.pause()
        assert app.theme == "paper"
        assert kept == ["auto"]
        app.wardrobe.background_is(True)
        await pilot.pause()
        assert app.theme == "dusk"


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_it_fits_small_terminals(size: tuple[int, int]) -> None:
    async with choosing(size) as (app, pilot, _):
        await pilot.press("down")
        await pilot.pause()
        assert "▸" in shown(app)
        assert "Enter keeps" in shown(app)


async def test_a_click_tries_on_and_a_second_one_keeps() -> None:
    async with choosing() as (app, pilot, kept):
        await pilot.click("#theme-list", offset=(6, 4))
        await pilot.pause()
        tried = app.theme
        assert tried != theme.DEFAULT_THEME
        assert kept == []
        await pilot.click("#theme-list", offset=(6, 4))
        await pilot.pause()
        assert kept == [tried]
        assert app.screen is app.bench


async def test_a_name_and_auto_are_taken_by_the_command() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        kept: list[str] = []
        app.wardrobe.keep = kept.append
        assert app.bench.run_slash("/theme ember")
        await pilot.pause()
        assert app.theme == theme.active().name == "ember"
        app.wardrobe.pair = Pair("solarized-light", "nord")
        assert app.bench.run_slash("/theme auto")
        await pilot.pause()
        assert app.theme == "nord"
        assert kept == ["ember", "auto"]
    theme.activate(theme.DEFAULT_THEME)


async def test_a_file_that_changes_is_put_on_while_it_is_worn(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('base = "dusk"\n[palette]\naccent = "#ff8800"\n')
    theme.own_folder(tmp_path)
    session = ScriptedSession()
    try:
        async with running(session) as (app, pilot):
            app.bench.run_slash("/theme mine")
            await pilot.pause()
            assert theme.active().colours["accent"] == "#ff8800"
            file.write_text('base = "dusk"\n[palette]\naccent = "#00aaff"\nfats = "#fff"\n')
            await app.wardrobe.reload()
            await pilot.pause()
            assert theme.active().colours["accent"] == "#00aaff"
            assert app.current_theme.primary == "#00aaff"
            assert "#00aaff" in inks(app, "sends the prompt below"), "the welcome follows"
            said = [note.message for note in app._notifications]
            assert any("mine.toml line 4" in words and "'fast'" in words for words in said)
            file.write_text("")
            await app.wardrobe.reload()
            assert theme.active().colours["accent"] == "#00aaff", "half written: it stays"
            file.write_text("[palette]\naccent = 'blue'\n")
            await app.wardrobe.reload()
            await pilot.pause()
            *_, before, last = [note.message for note in app._notifications]
            assert "mine.toml: no colour is set in it" in before
            assert "mine.toml line 2: accent must look like #a1b2c3, not 'blue'" in last
            file.unlink()
            await app.wardrobe.reload()
            assert theme.active().colours["accent"] == "#00aaff"
    finally:
        theme.own_folder(None)
        theme.activate(theme.DEFAULT_THEME)


async def test_what_changes_in_the_folder_is_read_when_it_is_told(tmp_path: Path) -> None:
    """The watch is an effect's; here it is a test that tells."""
    file, news = tmp_path / "mine.toml", asyncio.Event()
    file.write_text('base = "dusk"\n')

    async def watch(told: Callable[[], None]) -> None:
        while await news.wait():
            news.clear()
            told()

    theme.own_folder(tmp_path)
    app = scripted_app(ScriptedSession(), "mine")
    app.wardrobe.watch = watch
    try:
        async with app.run_test() as pilot:
            file.write_text('base = "paper"\n')
            for _ in range(200):
                news.set()
                await pilot.pause(0.01)
                if not theme.active().dark:
                    break
            assert theme.active().name == "mine"
            assert not app.current_theme.dark
    finally:
        theme.own_folder(None)
        theme.activate(theme.DEFAULT_THEME)


async def test_a_file_that_is_no_text_breaks_neither_the_list_nor_the_palette(
    tmp_path: Path,
) -> None:
    (tmp_path / "mine.toml").write_bytes(b"\xff\xfe")
    theme.own_folder(tmp_path)
    try:
        async with choosing() as (app, pilot, _):
            await pilot.press(*"mine")
            await pilot.pause()
            assert "1 line of it wrong" in shown(app)
            (tmp_path / "mine.toml").unlink()
            await app.wardrobe.reload()
            await pilot.press("backspace", "escape", "ctrl+p")
            await pilot.pause(0.1)
            assert app.is_running
    finally:
        theme.own_folder(None)
