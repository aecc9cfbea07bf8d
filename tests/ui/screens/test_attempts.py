"""The table of attempts: what a row says, what its keys do, and one looked into."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from msgspec.structs import replace
from textual.widgets import Static

from tests.support.scripted_app import running, until
from tests.support.scripted_session import ScriptedSession
from tui.core.attempts import AttemptPlan, Result
from tui.core.meter import Cost, MeterView
from tui.core.patches.bringing_home import LaneFile
from tui.engine.attempts import NONE_YET, Attempt, AttemptView
from tui.engine.intents import MakeAttempts, StopAttempts, TakeAttempt
from tui.engine.notices import Notices
from tui.engine.ports import RoleSpec
from tui.ui.screens.attempts import (
    AttemptRows,
    AttemptScreen,
    AttemptsScreen,
    figures,
)

FAST = RoleSpec("fast", "quick-1", "main", temperature=0.9)
METER = MeterView(
    "done", 812.0, estimated=False, tokens=1408, tokens_estimated=False, cost=Cost(turn_usd=0.003)
)


def over(number: int, result: Result, words: str, place: int) -> AttemptView:
    row = Attempt(number, FAST, "over", began_s=1.0)
    row.result, row.said = result, "I used a **set**.\x1b[31m"
    row.changes = {"a.py": LaneFile(b"def f():\n    x = 0\n", b"def f():\n    x = 1\n")}
    row.denied = ("rm -rf build",)
    return AttemptView(row, words, METER, 1, 1, 2.5, place, result.passes)


def views() -> list[AttemptView]:
    passed = Result(2, "passed", added=1, removed=1, texts=b"2")
    failed = Result(1, "failed", broke=("test_a",), failed=("test_old",), texts=b"1")
    waits = AttemptView(Attempt(3, FAST), "waiting", MeterView(), 0, 0, 0.0)
    return [over(2, passed, "passes", 1), over(1, failed, "breaks test_a", 2), waits]


@dataclass
class Shown:
    """The attempts as the screen reads them."""

    active: bool = True
    race: bool = False
    asked: str = "make it one"
    said: str = "3 attempts: make it one"

    def __post_init__(self) -> None:
        self._views = views()
        self.rows = [one.attempt for one in self._views]

    def views(self) -> list[AttemptView]:
        return self._views

    def order(self, *numbers: int) -> None:
        self._views.sort(key=lambda one: numbers.index(one.attempt.number))


async def test_where_nothing_was_tried_the_box_says_how_to() -> None:
    session = ScriptedSession()
    session.attempts = shown = Shown(active=False, said="")
    shown.views().clear()
    async with running(session) as (app, pilot):
        app.bench.prompt_box.prompt.restore("/attempts")
        await pilot.press("enter")
        await pilot.pause()
        assert NONE_YET in [str(one.content) for one in app.screen.query(".pick Static")]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_prompt_tried_three_times_is_a_table_with_keys(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    session.attempts = shown = Shown()
    async with running(session, size=size) as (app, pilot):
        app.bench.prompt_box.prompt.restore("/attempts 3 make it one")
        await pilot.press("enter")
        await pilot.pause()
        assert session.intents == [MakeAttempts(AttemptPlan(3, "make it one"))]
        assert isinstance(app.screen, AttemptsScreen)
        await pilot.press("t", "down", "x", "escape")
        assert session.intents[1:] == [TakeAttempt(2), StopAttempts(1), StopAttempts()]
        assert isinstance(app.screen, AttemptsScreen), "Esc stops what runs first"
        await pilot.press("enter")
        await pilot.pause()
        shown.active = False
        assert isinstance(app.screen, AttemptScreen)
        said = str(app.screen.report(60))
        for words in ("breaks test_a", "fails test_old", "not allowed: rm -rf build"):
            assert words in said
        assert "-    x = 0\n+    x = 1" in said, "indented as it is"
        assert "\x1b" not in said
        await pilot.press("t")
        assert session.intents[-1] == TakeAttempt(1)
        await pilot.press("1")
        assert session.intents[-1] == TakeAttempt(1, hunks=(1,))
        shown.views()[1].attempt.home = "1 hunk in 1 file waits for you"
        screen = app.screen
        await until(pilot, lambda: "taken: 1 hunk" in str(screen.query_one(Static).content))
        await pilot.press("escape", "escape")
        assert not isinstance(app.screen, AttemptsScreen | AttemptScreen)


async def test_one_looked_into_offers_the_hunks_that_it_has() -> None:
    session = ScriptedSession()
    session.attempts = shown = Shown()
    first = shown.rows[0]
    lines = [b"x%d = 0\n" % n for n in range(30)]
    changed = [b"x0 = 1\n", *lines[1:20], b"x20 = 1\n", *lines[21:]]
    two_hunks = {"a.py": LaneFile(b"".join(lines), b"".join(changed))}
    first.changes, first.state = {}, "answering"
    async with running(session) as (app, pilot):
        app.bench.prompt_box.prompt.restore("/attempts show 2")
        await pilot.press("enter")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, AttemptScreen)
        assert screen.box.border_subtitle == "c copies · Esc closes"
        first.changes, first.state = two_hunks, "over"
        ways = "t takes its change · 1-2 a hunk · c copies · Esc closes"
        await until(pilot, lambda: screen.box.border_subtitle == ways)


@pytest.mark.slow
@pytest.mark.parametrize(("keys", "lit"), [([], 2), (["down"], 1)])
async def test_the_best_is_lit_at_the_end_where_no_key_lit_another(
    keys: list[str], lit: int
) -> None:
    session = ScriptedSession()
    session.attempts = shown = Shown()
    shown.order(3, 1, 2)
    async with running(session) as (app, pilot):
        app.bench.prompt_box.prompt.restore("/attempts show")
        await pilot.press("enter")
        await pilot.pause()
        await pilot.press(*keys)
        shown.order(2, 1, 3)
        shown.active, shown.said = False, "3 attempts: they ended"
        await until(pilot, lambda: app.screen.query_one(".pick").border_subtitle == shown.said)
        await pilot.press("t")
        assert session.intents == [TakeAttempt(lit)]


async def test_q_leaves_the_table_and_the_attempts_go_on() -> None:
    session = ScriptedSession()
    session.attempts = Shown()
    async with running(session) as (app, pilot):
        app.bench.prompt_box.prompt.restore("/attempts show")
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, AttemptsScreen)
        await pilot.press("q")
        assert not isinstance(app.screen, AttemptsScreen)
        assert session.intents == []


@pytest.mark.slow
@pytest.mark.parametrize("words", ["0 x", "1 x", "500 x", "3 --models"])
async def test_what_cannot_be_is_said_and_the_words_stay(words: str) -> None:
    session = ScriptedSession()
    session.attempts = Shown(active=False)
    async with running(session) as (app, pilot):
        app.bench.prompt_box.prompt.restore(f"/attempts {words}")
        await pilot.press("enter")
        await pilot.pause()
        assert session.intents == []
        assert app.bench.prompt_box.prompt.text == f"/attempts {words}"


def test_figures_stand_in_columns_and_estimates_say_so() -> None:
    passed, *_, waiting = views()
    assert figures(passed, 90) == "      +1 −1   1,408 tok    812/s  $0.0030    2.5 s "
    assert figures(passed, 70) == "      +1 −1   1,408 tok    812/s    2.5 s "
    assert figures(waiting, 70).strip() == ""
    live = replace(METER, estimated=True, tokens_estimated=True)
    assert "~1,408 tok   ~812/s" in figures(passed._replace(meter=live), 90)


async def test_figures_that_move_are_painted_without_a_layout() -> None:
    session = ScriptedSession()
    session.attempts = shown = Shown()
    async with running(session, size=(80, 24)) as (app, pilot):
        app.bench.prompt_box.prompt.restore("/attempts 3 make it one")
        await pilot.press("enter")
        screen = app.screen
        assert isinstance(screen, AttemptsScreen)
        while screen._layout_required:  # the first ones
            await pilot.pause()
        shown._views = [one._replace(meter=replace(METER, tokens=9_999)) for one in views()]
        screen.sync(Notices(status=True))
        asked = {one for one in screen.walk_children() if one._layout_required}
        assert not asked
        assert not screen._layout_required
        row = screen.query_one(AttemptRows)
        assert "9,999 tok" in row.render_line(0).text


async def test_one_that_says_nothing_new_is_not_painted_again() -> None:
    session = ScriptedSession()
    session.attempts = shown = Shown()
    async with running(session, size=(80, 24)) as (app, pilot):
        app.bench.prompt_box.prompt.restore("/attempts 3 make it one")
        await pilot.press("enter", "enter")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, AttemptScreen)
        screen.look()
        report = screen.query_one("#status-report", Static)
        before = report.content
        screen.look()
        assert report.content is before
        shown.rows[0].said = "Something else."
        screen.look()
        assert "Something else." in str(report.content)


def test_of_one_that_goes_on_the_end_is_shown() -> None:
    """All of it would be laid out several times a second."""
    session = ScriptedSession()
    session.attempts = shown = Shown()
    row = shown.rows[0]
    row.said = "\n".join(f"line {number}" for number in range(500))
    screen = AttemptScreen(session.as_session(), row)
    assert "line 7\n" in str(screen.report(60))
    row.state = "answering"
    said = str(screen.report(60))
    assert said.endswith("line 499")
    assert "… 440 more lines when it is over\nline 440\n" in said


async def test_other_words_below_the_table_are_painted() -> None:
    session = ScriptedSession()
    session.attempts = shown = Shown()
    async with running(session, size=(80, 24)) as (app, pilot):
        app.bench.prompt_box.prompt.restore("/attempts 3 make it one")
        await pilot.press("enter")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, AttemptsScreen)
        shown.active, shown.said = False, "none passes"
        screen.sync(Notices(status=True))
        await pilot.pause()
        text = "\n".join(strip.text for strip in screen._compositor.render_strips())
        assert "x stops it" not in text
        assert "none passes" in text


async def test_it_says_what_esc_stops_now_and_what_became_of_what_was_taken() -> None:
    session = ScriptedSession()
    session.attempts = shown = Shown()
    async with running(session, size=(80, 24)) as (app, pilot):
        app.bench.prompt_box.prompt.restore("/attempts show")
        await pilot.press("enter")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, AttemptsScreen)

        def text() -> str:
            return "\n".join(strip.text for strip in screen._compositor.render_strips())

        assert "Esc stops all" in text()
        session.status.busy = True
        shown.views()[0].attempt.home = "comes when the answer ends"
        screen.sync(Notices(status=True))
        await pilot.pause()
        assert "Esc stops the answer" in text()
        assert "taken: comes when the answer ends" in text()
