"""Bars, panes and rows of the workbench."""

from __future__ import annotations

import pytest
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.strip import Strip

from tests.support.scripted_app import exercise, running, settled
from tests.support.scripted_session import ScriptedSession
from tui.core.wire.rate_limits import Limit
from tui.ui.app import DuettoApp
from tui.ui.widgets.painted import Bar, PaintedWidget


def row(app: DuettoApp, name: str) -> str:
    return app.bench.query_one(f"#{name}", Bar).render_line(0).text


async def test_the_header_lights_who_answers_and_says_rehearsal(session: ScriptedSession) -> None:
    session.status.rehearsal = True
    async with running(session) as (app, pilot):
        shown = row(app, "header")
        for part in (
            "duetto",
            "ledger/",
            "main*",
            "REHEARSAL",
            "fast rehearsal-fast · low",
            "deep rehearsal-deep",
        ):
            assert part in shown, part
        assert "▸ ↯ fast" in shown
        assert "▸ ◆" not in shown
        await pilot.press("f2")
        await settled(session, pilot)
        shown = row(app, "header")
        assert "▸ ◆ deep" in shown
        assert "▸ ↯" not in shown
    async with running(session, (80, 24)) as (app, _):
        assert "deep rehearsal-deep" in row(app, "header")
        assert "fast" not in row(app, "header")


def line(app: DuettoApp) -> str:
    return app.bench.status_line.render_line(0).text


async def test_a_limit_counts_down_while_nothing_else_happens_and_then_all_is_still() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        bar = app.bench.status_line
        assert not bar._counts(), "nothing in it goes on by itself"
        session.status.limits = (Limit("requests", 2, 60, session.now_s + 42),)
        await settled(session, pilot)
        assert "2 of 60 requests left, 42 s" in line(app)
        session.now_s += 30
        bar._look()
        assert "2 of 60 requests left, 12 s" in line(app)
        assert bar._counts()
        session.now_s += 12
        bar._look()
        assert "requests" not in line(app)
        assert not bar._counts()


class Rows(PaintedWidget):
    """Says which rows it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[int] = []

    def render_line(self, y: int) -> Strip:
        self.asked.append(y)
        return Strip([Segment(f"{len(self.asked):<{self.size.width}}")])


class OneWidget(App[None]):
    def compose(self) -> ComposeResult:
        yield Rows()


async def test_only_rows_that_changed_are_made_again() -> None:
    app = OneWidget()
    async with app.run_test(size=(20, 6)) as pilot:
        await pilot.pause()
        rows = app.query_one(Rows)
        whole = Region(0, 0, *rows.size)
        rows.render_lines(whole)
        rows.asked.clear()
        before = list(rows.render_lines(whole))
        assert rows.asked == []
        rows.refresh(Region(0, 2, 20, 2), Region(0, 5, 20, 9))
        assert list(rows.render_lines(whole))[:2] == before[:2]
        assert sorted(rows.asked) == [2, 3, 5]
        rows.asked.clear()
        rows.refresh()
        assert len(rows.render_lines(whole)) == 6
        assert sorted(rows.asked) == [0, 1, 2, 3, 4, 5]


async def test_no_color_is_no_colour_at_all_also_in_pictures_of_the_screen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is chosen is in reverse, and nothing has a colour, greys among them."""
    monkeypatch.setenv("NO_COLOR", "1")
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        await pilot.press("ctrl+p")
        await pilot.pause()
        await pilot.pause()
        styles = [
            segment.style
            for row in app.screen._compositor.render_strips()
            for segment in row
            if segment.style
        ]
        assert {style.color for style in styles} | {style.bgcolor for style in styles} == {None}
        assert any(style.reverse for style in styles)
