"""No control character of a file or of the clipboard reaches the terminal by way of a field."""

from __future__ import annotations

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.widgets import Input

from tests.support.scripted_app import exercise, running, until
from tests.support.scripted_session import ScriptedSession
from tui.ui.widgets.field import Field

EVIL = "a\x1b[31mb\x1b]2;title\x07c\x9b5md\u202ee\tf\rg\x08h\ud800i\u200bj\x7f"
BAD = {chr(code) for code in (*range(32), *range(0x7F, 0xA0), 0x202E, 0x200B, 0xD800)}


def shown(app: App[int]) -> str:
    strips = app.screen._compositor.render_strips()
    return "".join(segment.text for strip in strips for segment in strip)


@pytest.mark.slow
async def test_what_is_pasted_is_inert_on_the_screen(session: ScriptedSession) -> None:
    exercise(session)
    async with running(session, (120, 36)) as (app, pilot):
        for keys in ("ctrl+f", "ctrl+r", "ctrl+r tab", "ctrl+g", "ctrl+o", "ctrl+t", "ctrl+p"):
            app.bench.pane_actions.enter_editor()
            await pilot.pause()
            await pilot.press(*keys.split())
            await until(pilot, lambda: isinstance(app.focused, Input))
            field = app.focused
            assert isinstance(field, Input)
            field.value = ""
            for piece in EVIL.split("\r"):
                field.post_message(events.Paste(piece))
            await until(pilot, lambda field=field: "\x1b]2;title" in field.value)
            await until(pilot, lambda: "␛[31mb␛]2;title" in shown(app))
            assert not BAD & set(shown(app)), keys
            field.value = ""
            await pilot.press("escape")
            await until(pilot, lambda: not isinstance(app.focused, Input))


class OneField(App[None]):
    def compose(self) -> ComposeResult:
        yield Field()


@pytest.mark.slow
async def test_each_character_has_its_place() -> None:
    app = OneField()
    async with app.run_test(size=(60, 3)) as pilot:
        field = app.query_one(Field)
        field.value = EVIL
        field.cursor_position = 0
        left = field.cursor_screen_offset.x
        for column in range(len(EVIL)):
            field.cursor_position = column
            assert field.cursor_screen_offset == Offset(left + column, field.content_region.y)
            await pilot.click(Field, offset=(left + column, field.content_region.y))
            assert field.cursor_position == column
        field.value = "日本\x1b語"
        for column, cell in enumerate((0, 2, 4, 5)):
            field.cursor_position = column
            assert field.cursor_screen_offset.x == left + cell
            await pilot.click(Field, offset=(left + cell, field.content_region.y))
            assert field.cursor_position == column
