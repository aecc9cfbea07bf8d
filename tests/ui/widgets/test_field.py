"""No control character of a file or of the clipboard reaches the terminal by way of a field."""

from __future__ import annotations

import ast
from time import process_time

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.widgets import Input

from tests.support.scripted_app import exercise, running, settled
from tests.support.scripted_session import ScriptedSession
from tests.support.sources import Source, package
from tui.ui.widgets.field import MOST_CHARS, Field

EVIL = "a\x1b[31mb\x1b]2;title\x07c\x9b5md\u202ee\tf\rg\x08h\ud800i\u200bj\x7f"
BAD = {chr(code) for code in (*range(32), *range(0x7F, 0xA0), 0x202E, 0x200B, 0xD800)}


def shown(app: App[int]) -> str:
    strips = app.screen._compositor.render_strips()
    return "".join(segment.text for strip in strips for segment in strip)


@pytest.mark.parametrize("source", package(), ids=lambda source: source.path)
def test_no_other_field_is_made(source: Source) -> None:
    """A bare `Input` paints what is in it as it is."""
    made = [
        node.lineno
        for node in ast.walk(source.tree)
        if (isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "Input")
        or (
            isinstance(node, ast.ClassDef)
            and any(ast.unparse(base).split(".")[-1] == "Input" for base in node.bases)
        )
    ]
    assert not made or source.path == "tui/ui/widgets/field.py"


@pytest.mark.parametrize(
    "keys", ["ctrl+f", "ctrl+r", "ctrl+r tab", "ctrl+g", "ctrl+o", "ctrl+t", "ctrl+p"]
)
async def test_what_is_pasted_is_inert_on_the_screen(keys: str) -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session, (120, 36)) as (app, pilot):
        await settled(session, pilot)
        app.bench.enter_editor()
        await pilot.pause()
        await pilot.press(*keys.split())
        for _ in range(50):
            await pilot.pause(0.01)
            if isinstance(app.focused, Input):
                break
        field = app.focused
        assert isinstance(field, Input)
        field.value = ""
        for piece in EVIL.split("\r"):
            field.post_message(events.Paste(piece))
        await pilot.pause(0.05)
        assert "\x1b]2;title" in field.value
        assert "␛[31mb␛]2;title" in shown(app)
        assert not BAD & set(shown(app))


async def test_what_is_selected_in_a_file_is_looked_for_as_it_is_and_shown_inert() -> None:
    session = ScriptedSession({"a.txt": "one\n\x1b]2;title\x1b\\\n"})
    session.open("a.txt")
    async with running(session, (120, 36)) as (app, pilot):
        await settled(session, pilot)
        app.bench.enter_editor()
        await pilot.pause()
        app.bench.editor.editor.go((1, 0), select_to=(1, 11))
        await pilot.press("ctrl+f")
        await pilot.pause(0.05)
        field = app.bench.query_one("#find-needle", Field)
        assert field.value == "\x1b]2;title\x1b\\"
        view = app.bench.editor.editor.view
        assert view is not None
        assert view.search.count == 1
        assert not BAD & set(shown(app))


class OneField(App[None]):
    def compose(self) -> ComposeResult:
        yield Field()


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


async def test_a_megabyte_is_cut_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    app = OneField()
    async with app.run_test(size=(60, 3)) as pilot:
        said: list[str] = []
        monkeypatch.setattr(app, "notify", lambda words, **more: said.append(words))
        field = app.query_one(Field)
        field.post_message(events.Paste("é\x1b" * 500_000))
        await pilot.pause()
        assert said == [f"Only the first {MOST_CHARS:,} characters fit here."]
        assert field.value == "é\x1b" * (MOST_CHARS // 2)
        assert field.cursor_position == MOST_CHARS
        began = process_time()
        field.action_cursor_left()
        field.delete_selection()
        await pilot.press("backspace", "x")
        assert process_time() - began < 0.5
        assert field.value.endswith("x\x1b")
