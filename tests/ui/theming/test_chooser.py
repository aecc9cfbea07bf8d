"""The list of themes: moving tries on, Enter keeps, Esc restores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.support.scripted_app import exercise, running
from tests.support.scripted_session import ScriptedSession
from tui.ui import theme
from tui.ui.app import DuettoApp
from tui.ui.theming.chooser import ThemeChooser


@asynccontextmanager
async def choosing(
    size: tuple[int, int] = (120, 40),
) -> AsyncIterator[tuple[DuettoApp, Pilot[int], list[str]]]:
    """The list is open, over a turn with everything in it; and what was kept."""
    session = ScriptedSession()
    exercise(session)
    kept: list[str] = []
    async with running(session, size) as (app, pilot):
        app.themes.keep = kept.append
        app.bench.slash.run("/theme")
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


@pytest.mark.slow
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


async def test_a_file_that_changes_is_put_on_while_it_is_worn(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('base = "dusk"\n[palette]\naccent = "#ff8800"\n')
    theme.library.own_folder(tmp_path)
    session = ScriptedSession()
    try:
        async with running(session) as (app, pilot):
            app.bench.slash.run("/theme mine")
            await pilot.pause()
            assert theme.active().colours["accent"] == "#ff8800"
            file.write_text('base = "dusk"\n[palette]\naccent = "#00aaff"\nfats = "#fff"\n')
            await app.themes.reload()
            await pilot.pause()
            assert theme.active().colours["accent"] == "#00aaff"
            assert app.current_theme.primary == "#00aaff"
            assert "#00aaff" in inks(app, "sends the prompt below"), "the welcome follows"
            said = [note.message for note in app._notifications]
            assert any("mine.toml line 4" in words and "'fast'" in words for words in said)
            file.write_text("")
            await app.themes.reload()
            assert theme.active().colours["accent"] == "#00aaff", "half written: it stays"
            file.write_text("[palette]\naccent = 'blue'\n")
            await app.themes.reload()
            await pilot.pause()
            *_, before, last = [note.message for note in app._notifications]
            assert "mine.toml: no colour is set in it" in before
            assert "mine.toml line 2: accent must look like #a1b2c3, not 'blue'" in last
            file.unlink()
            await app.themes.reload()
            assert theme.active().colours["accent"] == "#00aaff"
    finally:
        theme.library.own_folder(None)
        theme.activate(theme.DEFAULT_THEME)
