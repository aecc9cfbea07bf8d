"""The help: where one is comes first, and what is typed is looked for."""

from __future__ import annotations

import pytest

from tests.support.scripted_app import running
from tests.support.scripted_session import ScriptedSession
from tui.ui.app import DuettoApp
from tui.ui.screens.help import HelpScreen, help_content


def shown(app: DuettoApp) -> str:
    assert isinstance(app.screen, HelpScreen)
    return str(app.screen.query_one("#help-text").render())


async def test_it_begins_with_the_place_where_one_is() -> None:
    session = ScriptedSession()
    session.open("ledger/cache.py")
    async with running(session) as (app, pilot):
        await pilot.press("f1")
        await pilot.pause()
        assert shown(app).startswith("In the prompt")
        await pilot.press("f1")
        await pilot.pause()
        assert app.screen is app.bench
        app.bench.enter_editor()
        await pilot.press("f1")
        await pilot.pause()
        assert shown(app).startswith("In the editor")


async def test_what_is_typed_is_looked_for_and_esc_first_forgets_it() -> None:
    async with running(ScriptedSession(), (80, 24)) as (app, pilot):
        await pilot.press("f1", *"tests run")
        await pilot.pause()
        assert "Run the project's tests" in shown(app)
        assert "Save the file" not in shown(app)
        await pilot.press("escape")
        await pilot.pause()
        assert "Save the file" in shown(app)
        await pilot.press("escape")
        await pilot.pause()
        assert app.screen is app.bench


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("ctrl+s", "Save the file"),
        ("CTRL+N V", "Run the project's tests"),
        ("review_turn", "Review the whole turn"),
        ("/theme", "Change the colours"),
        ("file tree folder", "Open the file; open or close the folder"),
    ],
)
def test_keys_names_words_and_places_are_found(wanted: str, found: str) -> None:
    assert found in help_content(200, wanted=wanted).plain


@pytest.mark.parametrize("wanted", ["xyzzy", "\x1b[31m", "[bold]", "(", "\\"])
def test_anything_may_be_looked_for(wanted: str) -> None:
    text = help_content(60, wanted=wanted).plain
    assert "\x1b" not in text
    assert "Nothing here is called that" in text or wanted in text


def test_every_row_fits() -> None:
    for width in (30, 40, 76, 120):
        for line in help_content(width).plain.splitlines():
            assert len(line) <= width, line


async def test_it_scrolls_by_keys() -> None:
    async with running(ScriptedSession(), (80, 24)) as (app, pilot):
        await pilot.press("f1")
        await pilot.pause()
        scroll = app.screen.query_one("#help-scroll")
        await pilot.press("down", "pagedown")
        await pilot.pause()
        assert scroll.scroll_y == 13
        await pilot.press("up")
        await pilot.pause()
        assert scroll.scroll_y == 12
