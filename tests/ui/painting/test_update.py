"""Screens that Textual puts together come out as Textual would write them, in what there is."""

from __future__ import annotations

import pyte
from rich.color import ColorSystem
from textual.geometry import Region
from textual.strip import Strip

from tests.support.scripted_app import exercise, running
from tests.support.scripted_session import ScriptedSession
from tui.ui.app import DuettoApp
from tui.ui.painting.update import Parts, Whole, update_bytes

SIZE = (100, 30)


def screen_of(*frames: str) -> list[list[object]]:
    """What a terminal shows after these bytes."""
    screen = pyte.Screen(*SIZE)
    stream = pyte.Stream(screen)
    for frame in frames:
        stream.feed(frame)
    return [[screen.buffer[y][x] for x in range(SIZE[0])] for y in range(SIZE[1])]


def update(app: DuettoApp, *regions: Region) -> object:
    """What Textual would have written: these regions, or all."""
    compositor = app.screen._compositor
    compositor._dirty_regions.clear()
    compositor._dirty_regions.update(regions)
    return compositor.render_update(full=not regions, screen_stack=app._background_screens)


async def test_whole_and_in_parts() -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session, SIZE) as (app, pilot):
        await pilot.press("f1")
        await pilot.pause()
        whole = update(app)
        assert isinstance(whole, Whole)
        ours = update_bytes(whole)
        app.console._color_system = ColorSystem.TRUECOLOR
        told = "".join(
            f"\x1b[{y + 1};1H{''.join(Strip([*strip]).render(app.console) for strip in row)}"
            for y, row in enumerate(whole.strips)
        )
        assert screen_of(ours) == screen_of(told)
        parts = update(app, Region(3, 4, 40, 5), Region(60, 20, 11, 2))
        assert isinstance(parts, Parts)
        said = update_bytes(parts)
        assert screen_of(ours, said) == screen_of(ours)
        shown = screen_of(said)
        wanted = screen_of(ours)
        for x, y in ((3, 4), (42, 8), (60, 20), (70, 21)):
            assert shown[y][x] == wanted[y][x]
        assert shown[0][0] == screen_of("")[0][0], "nothing else is written"
        assert shown[4][2] == screen_of("")[0][0]
