"""Sheets that are read behind the first paint are there when their screen opens before that."""

from __future__ import annotations

import pytest

from tests.support.scripted_app import scripted_app
from tests.support.scripted_session import ScriptedSession
from tests.support.sources import package
from tui.ui import sheets
from tui.ui.app import DuettoApp
from tui.ui.screens.leave import LeaveScreen


def test_a_sheet_is_read_once() -> None:
    every = sorted(sheets.sheet("base").parent.glob("*.tcss"))
    assert sorted([*sheets.at_start(), *sheets.behind()]) == every
    assert list(sheets.at_start()) == DuettoApp.CSS_PATH


@pytest.mark.parametrize("path", sheets.behind(), ids=lambda path: path.stem)
def test_a_screen_names_the_sheet_that_is_read_behind_the_first_paint(path: object) -> None:
    named = f'CSS_PATH = sheet("{getattr(path, "stem", "")}")'
    assert len([source.path for source in package() if named in source.text]) == 1


async def test_a_screen_that_opens_at_once_has_its_sheet() -> None:
    app = scripted_app(ScriptedSession())
    async with app.run_test(size=(80, 24)) as pilot:
        assert not app.stylesheet.has_source(str(sheets.sheet("leave")))
        app.push_screen(LeaveScreen(["a reason"], unsaved=True))
        await pilot.pause()
        box = app.screen.query_one("#leave-box")
        assert box.region.width < 80
        assert box.region.height < 24
