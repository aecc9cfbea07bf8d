"""The start: what the first paint waits for, and what comes right after it."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from typing import Literal

import pytest
from textual.widgets import Input

from tests import first_paint
from tests.support.scripted_app import running, scripted_app, settled
from tests.support.scripted_session import ScriptedSession
from tui.cli.open_app import less_motion
from tui.ui import theme, warming
from tui.ui.app import DuettoApp


def test_what_the_first_paint_waits_for_is_on_the_list_with_a_reason() -> None:
    loaded, listed = first_paint.loaded(), first_paint.listed()
    how = "belongs after the first paint, or run `python -m tests.first_paint` and say why"
    assert sorted(loaded - listed) == [], how
    assert sorted(listed - loaded) == [], "no more needed: run `python -m tests.first_paint`"


def test_the_list_is_as_it_is_written() -> None:
    text = first_paint.LIST.read_text(encoding="utf-8")
    assert first_paint.text_of(first_paint.listed()) == text


async def test_right_after_the_first_paint_the_rest_is_loaded() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        assert theme.active().name in app.available_themes
        for _ in range(400):
            await pilot.pause(0.01)
            if gc.get_threshold() == (1000, 10, 1000):
                break
        assert gc.get_threshold() == (1000, 10, 1000)
        assert set(theme.theme_names()) <= set(app.available_themes)
        app.theme = "paper"
        await pilot.pause(0.05)
        assert theme.active().name == "paper"


async def test_a_turn_that_is_over_leaves_no_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    session, tidied = ScriptedSession(), []
    monkeypatch.setattr(warming, "TIDY_S", 0.01)
    monkeypatch.setattr(warming, "tidy", lambda: tidied.append(True))
    async with running(session) as (_, pilot):
        session.status.busy = True
        await settled(session, pilot)
        assert tidied == []
        session.status.busy = False
        await settled(session, pilot)
        await pilot.pause(0.05)
        assert tidied == [True]


async def test_no_cursor_blinks() -> None:
    session = ScriptedSession()
    app = DuettoApp(session.as_session())
    async with app.run_test() as pilot:
        await settled(session, pilot)
        assert not app.bench.prompt_box.prompt.cursor_blink
        app.bench.action_open_file()
        await pilot.pause(0.1)
        assert not app.screen.query_one(Input).cursor_blink


@pytest.mark.parametrize(
    ("setting", "environ", "less"),
    [
        ("auto", {}, False),
        ("auto", {"REDUCE_MOTION": "1"}, True),
        ("auto", {"NO_MOTION": "yes"}, True),
        ("auto", {"REDUCE_MOTION": "0", "NO_MOTION": ""}, False),
        (True, {}, True),
        (False, {"REDUCE_MOTION": "1"}, False),
    ],
)
def test_less_motion_where_it_is_asked_for(
    setting: bool | Literal["auto"], environ: Mapping[str, str], less: bool
) -> None:
    assert less_motion(setting, environ) is less


async def test_with_less_motion_nothing_slides_and_the_meter_is_calm() -> None:
    session = ScriptedSession()
    app = scripted_app(session)
    app.reduce_motion()
    async with app.run_test() as pilot:
        await settled(session, pilot)
        assert app.animation_level == "none"
        status = app.bench.query_one("#status")
        assert vars(status)["_timer"]._interval == 1.0
