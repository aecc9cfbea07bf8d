from __future__ import annotations

import pytest
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.strip import Strip

from tests.support.scripted_app import exercise, running
from tests.support.scripted_session import ScriptedSession
from tui.engine.notices import Notices
from tui.ui.widgets.painted import Painted


class Rows(Painted):
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


async def test_a_part_of_the_widget_and_another_size() -> None:
    app = OneWidget()
    async with app.run_test(size=(20, 6)) as pilot:
        await pilot.pause()
        rows = app.query_one(Rows)
        part = rows.render_lines(Region(0, 1, 20, 2))
        assert part == rows.render_lines(Region(0, 0, 20, 6))[1:3]
        assert [strip.cell_length for strip in rows.render_lines(Region(2, 1, 5, 1))] == [5]
        await pilot.resize_terminal(30, 4)
        await pilot.pause()
        strips = rows.render_lines(Region(0, 0, 30, 4))
        assert [strip.cell_length for strip in strips] == [30] * 4


async def test_an_editor_without_a_file_asks_for_no_paint() -> None:
    """A hidden widget that is refreshed makes Textual arrange the whole screen, every frame."""
    async with running(ScriptedSession(), (120, 40)) as (app, pilot):
        await pilot.pause()
        editor = app.bench.editor.editor
        refreshed: list[object] = []
        vars(editor)["refresh"] = lambda *regions, **_: refreshed.append(regions)
        app.bench.sync(Notices(meter=True))
        assert refreshed == []


async def test_no_color_holds_for_every_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    session = ScriptedSession()
    exercise(session)
    session.status.queued = ["and then that"]
    async with running(session) as (app, _):
        painted = [widget for widget in app.bench.query(Painted) if widget.size]
        assert len(painted) > 3
        for widget in painted:
            for strip in widget.render_lines(Region(0, 0, *widget.size)):
                for segment in strip:
                    style = segment.style
                    for colour in (style.color, style.bgcolor) if style else ():
                        shades = set(colour.get_truecolor()) if colour else set()
                        assert len(shades) <= 1, (widget, segment)


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
