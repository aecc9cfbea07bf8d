"""The start, its sheets, its frames, and that stopping comes first."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Mapping
from typing import Literal
from unittest.mock import Mock, patch

import pytest

from tests import first_paint
from tests.support.scripted_app import running, scripted_app, settled, until
from tests.support.scripted_session import ScriptedSession
from tests.support.sources import package
from tests.support.tables import each
from tui.cli.open_app import less_motion
from tui.core.document.hunk import Stage
from tui.engine.intents import Interrupt
from tui.ui import stylesheets, theme
from tui.ui.app import DuettoApp
from tui.ui.screens.dialogs import LeaveScreen
from tui.ui.tick import FRAME_S, FrameTimer


def test_what_the_first_paint_waits_for_is_on_the_list_with_a_reason() -> None:
    loaded, listed = first_paint.loaded(), first_paint.listed()
    how = "belongs after the first paint, or run `python -m tests.first_paint` and say why"
    assert sorted(loaded - listed) == [], how
    assert sorted(listed - loaded) == [], "no more needed: run `python -m tests.first_paint`"


async def test_right_after_the_first_paint_the_rest_is_loaded(session: ScriptedSession) -> None:
    async with running(session) as (app, pilot):
        assert theme.active().name in app.available_themes
        await until(pilot, lambda: set(theme.theme_names()) <= set(app.available_themes))
        await until(pilot, lambda: gc.get_threshold() == (1000, 10, 1000))
        app.theme = "paper"
        await until(pilot, lambda: theme.active().name == "paper")


@each(
    "setting, environ, less",
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


@pytest.mark.parametrize("key", ["escape", pytest.param("ctrl+c", marks=pytest.mark.slow)])
async def test_whatever_lies_over_the_screen_the_answer_is_stopped_first(key: str) -> None:
    session = ScriptedSession()
    session.hunk(Stage.LANDED, 3)
    async with running(session) as (app, pilot):
        for opener in ("f1", "ctrl+p", "ctrl+o", "ctrl+q"):
            session.intents.clear()
            session.status.busy = True
            await settled(session, pilot)
            await pilot.press(opener)
            await pilot.pause()
            over = app.screen
            assert over is not app.bench, opener
            await pilot.press(key)
            await pilot.pause()
            assert (session.intents, app.screen) == ([Interrupt()], over), opener
            await pilot.press("escape")
            await pilot.pause()
            assert (session.intents, app.screen) == ([Interrupt()], app.bench), opener


def test_a_sheet_is_read_once() -> None:
    every = sorted(stylesheets.sheet("base").parent.glob("*.tcss"))
    assert sorted([*stylesheets.at_start(), *stylesheets.behind()]) == every
    assert list(stylesheets.at_start()) == DuettoApp.CSS_PATH


@each("path", stylesheets.behind())
def test_a_screen_names_the_sheet_that_is_read_behind_the_first_paint(path: object) -> None:
    named = f'CSS_PATH = sheet("{getattr(path, "stem", "")}")'
    assert any(named in source.text for source in package())


async def test_a_screen_that_opens_at_once_has_its_sheet() -> None:
    app = scripted_app(ScriptedSession())
    async with app.run_test(size=(80, 24)) as pilot:
        assert not app.stylesheet.has_source(str(stylesheets.sheet("dialogs")))
        app.push_screen(LeaveScreen(["a reason"], unsaved=True))
        await pilot.pause()
        box = app.screen.query_one("#leave-box")
        assert box.region.width < 80
        assert box.region.height < 24


def post(call: Callable[[], None]) -> None:
    asyncio.get_running_loop().call_soon(call)


async def test_many_wakes_are_one_frame() -> None:
    painted = asyncio.Event()
    frame = FrameTimer(painted.set, post)
    for _ in range(1000):
        frame.wake()
    await painted.wait()
    assert frame.count == 1


async def test_nothing_is_scheduled_while_nothing_changes() -> None:
    frame = FrameTimer(lambda: None, post)
    await asyncio.sleep(2 * FRAME_S)
    assert frame.count == 0


async def test_a_stopped_frame_never_paints() -> None:
    frame = FrameTimer(lambda: None, post)
    frame.wake()
    frame.stop()
    frame.wake()
    await asyncio.sleep(2 * FRAME_S)
    assert frame.count == 0


class HandLoop:
    """An event loop whose time is what the test makes of it."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.due: list[tuple[float, Callable[[], None]]] = []

    def time(self) -> float:
        return self.now_s

    def call_later(self, delay_s: float, call: Callable[[], None], context: object) -> Mock:
        self.due.append((self.now_s + delay_s, call))
        return Mock()

    def step(self) -> None:
        """Go to the time of the next call, and call it."""
        (self.now_s, call), *self.due = self.due
        call()


@pytest.mark.parametrize("within", [True, False], ids=["woken within", "woken behind"])
@pytest.mark.parametrize(
    ("cost_s", "pause_s"),
    [(0.0, FRAME_S), (0.004, FRAME_S - 0.004), (0.012, 0.012), (0.05, FRAME_S)],
)
def test_an_expensive_frame_is_followed_by_a_bounded_pause(
    cost_s: float, pause_s: float, within: bool
) -> None:
    loop = HandLoop()

    def paint() -> None:
        if within:
            frame.wake()
        loop.now_s += cost_s

    with patch("tui.ui.tick.asyncio.get_running_loop", lambda: loop):
        frame = FrameTimer(paint, post)
    frame.wake()
    for _ in range(5):
        loop.step()
        if not within:
            frame.wake()
        ((next_s, _),) = loop.due
        assert next_s - loop.now_s == pytest.approx(pause_s)
