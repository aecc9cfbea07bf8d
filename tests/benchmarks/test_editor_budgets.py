"""What a key costs where it hurts most (EDIT-CASES.md, group J): processor time, the cheapest of
several tries, for other programs on the machine only add."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import process_time

import pytest
from textual.pilot import Pilot

from tests.benchmarks.screen.replay_text import long_file
from tests.support.editor_app import EditorApp
from tests.support.fake_session import FakeSession
from tui.ui.editor.changes import insert
from tui.ui.editor.editor import Editor

pytestmark = pytest.mark.slow
FRAME_MS, LONG_LINE_MS = 16.0, 50.0
"""Of J02 and J03."""
TRIES = 5
LINES = 10_000
LONG = 300_000


def paint(editor: Editor) -> None:
    """Make the strips of all rows; those that did not change come from the cache."""
    for y in range(editor.size.height):
        editor.render_line(y)


@asynccontextmanager
async def editing(path: str, text: str) -> AsyncIterator[tuple[Editor, Pilot[object]]]:
    """A file in an editor of 120x50, all of it coloured."""
    app = EditorApp(FakeSession({path: text}), path)
    async with app.run_test(size=(120, 50)) as pilot:
        editor = app.pane.editor
        assert editor.view is not None
        while editor.view.colours.pending:
            editor.view.colours.advance(editor.view.buffer.line_count, 1.0)
        await pilot.pause()
        yield editor, pilot


def cheapest_ms(editor: Editor, key: str) -> float:
    """A key that is pressed again and again, up to the strips of all rows."""
    view = editor.view
    assert view is not None
    spent: list[float] = []
    for _ in range(TRIES):
        began_s = process_time()
        editor.change(insert(view.cursor, key))
        paint(editor)
        spent.append((process_time() - began_s) * 1000)
    return min(spent)


def idle_ms(step: Callable[[], object]) -> float:
    """The dearest of some slices of idle work."""
    dearest = 0.0
    for _ in range(TRIES):
        began_s = process_time()
        step()
        dearest = max(dearest, (process_time() - began_s) * 1000)
    return dearest


@pytest.mark.parametrize(("path", "opens"), [("a.py", '"""'), ("a.ts", "`")])
async def test_j02_a_quote_that_is_not_closed_costs_no_frame(path: str, opens: str) -> None:
    async with editing(path, long_file(LINES)) as (editor, _):
        view = editor.view
        assert view is not None
        editor.go((10, 0))
        began_s = process_time()
        editor.change(insert(view.cursor, opens))
        paint(editor)
        first_ms = (process_time() - began_s) * 1000
        again_ms = cheapest_ms(editor, "x")
        assert min(first_ms, again_ms) < FRAME_MS
        assert first_ms < 2 * FRAME_MS
        # what is out of sight is coloured in slices, between which keys have their turn
        budget_s = 0.004
        assert idle_ms(lambda: view.colours.idle(budget_s)) < 2 * FRAME_MS


@pytest.mark.parametrize("path", ["a.py", "a.txt"])
async def test_j03_a_line_of_300_kb_costs_no_frame(path: str) -> None:
    async with editing(path, f"first = 1\n{'x = 1; ' * (LONG // 7)}\nlast = 2\n") as (editor, _):
        for at in ((1, 0), (1, LONG // 2), (1, LONG - 7)):
            editor.go(at)
            assert cheapest_ms(editor, "y") < LONG_LINE_MS
