from __future__ import annotations

import pytest
from textual.widgets import Input

from tests.support.scripted_app import exercise, running, settled
from tests.support.scripted_session import ScriptedSession
from tui.ui.finding.find_bar import parse_place


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("12", (11, 0)),
        (" 3:5 ", (2, 4)),
        (":7", (6, 0)),
        ("0", (0, 0)),
        ("", None),
        ("a", None),
        ("3:x", None),
    ],
)
def test_places_are_counted_from_one(text: str, place: tuple[int, int] | None) -> None:
    assert parse_place(text) == place


@pytest.mark.parametrize(("width", "beside"), [(80, False), (230, True)])
async def test_what_its_keys_do_is_said_in_a_narrow_bar_too(width: int, beside: bool) -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session, (width, 24)) as (app, pilot):
        await settled(session, pilot)
        app.bench.enter_editor()
        for key, words in (("ctrl+f", "Alt+X regex"), ("ctrl+r", "Alt+X regex"), ("ctrl+g", "+3")):
            await pilot.pause()
            await pilot.press(key)
            await pilot.pause()
            needle = app.bench.query_one("#find-needle", Input)
            assert (words in needle.placeholder) is not beside
            assert app.bench.query("FindBar .hint").first().display is beside
