"""What an editor paints stands still when the answer ends in the middle of a line."""

from __future__ import annotations

import pytest

from tests.support.notations import NOTATIONS, told
from tests.support.pair_session import PairSession
from tests.support.patches import Edit
from tests.support.scripted_app import scripted_app
from tests.support.tables import each
from tests.support.turns import update
from tui.core.edit_stream.events import Notation
from tui.ui.app import DuettoApp
from tui.ui.editor.editor import Editor
from tui.ui.editor.paint import gutter_width
from tui.ui.review.turn_map import TurnMap

LINES = [
    f"def f{number}(x): return {number} * {'very ' * (number % 3 * 9)}x" for number in range(40)
]
EDITS = [
    Edit(6, 8, ("def g(x):", "    return x  # one")),
    Edit(12, 12, ("a new line", "and one more")),
    Edit(17, 30, ("in the place of many",)),
    Edit(33, 35, ()),
]


def painted(editor: Editor) -> list[str]:
    """The number and the words of each row: without signs, labels and the pen."""
    assert editor.view is not None
    gutter, found = gutter_width(editor.view.digits), list[str]()
    for y in range(editor.size.height):
        row = editor._rows[y]._replace(chips=())
        number = "" if row.number is None else row.number
        text = editor._painter.strip(row, editor._frame).text[gutter:]
        found.append(f"{number} {text.translate(str.maketrans('▍␍␊', '   '))}".rstrip())
    return found


def frame(app: DuettoApp, session: PairSession) -> Editor:
    """As a tick of the app does."""
    notices = session.drain()
    notices.status = True
    app.bench.sync(notices)
    editor = app.bench.editor.editor
    editor.render_line(0)
    return editor


async def check(fmt: Notation, ends: list[int], size: tuple[int, int], wrap: bool) -> None:
    text = told(fmt, LINES, EDITS, 2, "a.py")
    for end in ends:
        session = PairSession({"a.py": "\n".join([*LINES, ""])})
        session.workspace.documents.freeze = True
        session.open("a.py")
        app = scripted_app(session)
        async with app.run_test(size=size) as pilot:
            app.bench.panes.show("editor")
            await pilot.pause()
            if wrap:
                app.bench.editor.action_wrap()
            frame(app, session)
            session.start(text, fmt)
            for at in range(0, end, 40):
                session.feed(min(40, end - at))
                editor = frame(app, session)
            before = painted(editor)
            for stream in session.streams:
                stream.landing.finish(cut=True)
            session.streams.clear()
            session.status.busy = False
            session.state.hunks_changed()
            editor = frame(app, session)
            assert any(before), "the editor is in sight"
            assert painted(editor) == before, text[max(0, end - 60) : end]


@pytest.mark.slow
@each("fmt", NOTATIONS)
@each("size", [(80, 24), (120, 40)])
async def test_no_row_moves(fmt: Notation, size: tuple[int, int]) -> None:
    text = told(fmt, LINES, EDITS, 2, "a.py")
    step = len(text) // 3
    await check(fmt, list(range(size[0] % step + step, len(text), step)), size, wrap=size[0] > 80)


async def test_the_column_of_changes_has_the_numbers_that_stay() -> None:
    """Lines that are struck while a section lands have none, there either."""
    session = PairSession({"a.py": "one\ntwo\nthree\nfour\nfive\n"})
    text = update("a.py", " one", "-two", "-three", "+2", " four", "+more", " five")
    app = scripted_app(session)
    async with app.run_test(size=(210, 40)) as pilot:
        session.start(text)
        session.feed(text.index("+more") + 5)
        app.bench.sync(session.drain())
        changes = app.bench.query_one(TurnMap)
        await pilot.pause()
        changes.on_resize()
        rows = [changes.render_line(y).text for y in range(changes.size.height)]
        assert [row.split("L")[1].split()[0] for row in rows if "landing" in row] == ["2", "4"]


@pytest.mark.slow
@each("fmt", NOTATIONS)
async def test_no_row_moves_at_many_places(fmt: Notation) -> None:
    text = told(fmt, LINES, EDITS, 2, "a.py")
    await check(fmt, list(range(1, len(text), 23)), (80, 24), wrap=False)
