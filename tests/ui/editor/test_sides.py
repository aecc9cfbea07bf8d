"""Two editors side by side: one buffer, two views, the model followed where the user is not."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from tests.support.patches import patch
from tests.support.scripted_app import running, settled, until
from tests.support.scripted_session import ScriptedSession
from tests.support.stepped_pair import stepped
from tui.ui.app import DuettoApp
from tui.ui.editor.pane import EditorPane

CACHE, TEST, READ = "ledger/cache.py", "tests/test_cache.py", "README.md"
LONG = "long.py"
ROOMY = (120, 36)


def files() -> dict[str, str]:
    return {
        CACHE: "import threading\n\n\nclass Cache:\n    pass\n",
        TEST: "def test_put():\n    assert True\n",
        READ: "# ledger\n",
        LONG: "".join(f"value = {number}\n" for number in range(400)),
    }


def session() -> ScriptedSession:
    made = ScriptedSession(files())
    made.open(CACHE)
    return made


async def divided(app: DuettoApp, pilot: Pilot[int]) -> EditorPane:
    """Split, with the cursor in the left one."""
    await pilot.press("alt+2", "alt+2", "ctrl+backslash")
    pane = app.bench.editor
    await until(pilot, lambda: len(pane.sides) == 2 and any(side.region for side in pane.sides))
    await pilot.pause()
    return pane


async def land(s: ScriptedSession, pilot: Pilot[int], path: str, line: int) -> None:
    """The model writes a line."""
    s.status.busy = True
    s.workspace.open(path)
    s.state.landed(path, line)
    await settled(s, pilot)


async def test_the_key_goes_to_the_other_side_and_typing_goes_there() -> None:
    s = session()
    async with running(s, ROOMY) as (app, pilot):
        pane = await divided(app, pilot)
        await pilot.press("alt+3", "ctrl+end", "z")
        assert app.focused is pane.sides[1].editor
        assert pane.sides.used is pane.sides[1]
        assert s.workspace.buffers[CACHE].lines[-1] == "z"
        await pilot.press("alt+3")
        assert app.focused is pane.sides[0].editor


async def test_scrolling_the_side_that_follows_lets_go_of_it() -> None:
    s = session()
    async with running(s, ROOMY) as (app, pilot):
        pane = await divided(app, pilot)
        await land(s, pilot, LONG, 300)
        pane.sides[1].editor.scroll_lines(-100)
        await land(s, pilot, LONG, 399)
        right = pane.sides[1].editor.view
        assert right.top < 250
        assert not pane.sides.follow.on
        await pilot.press("alt+l")
        await land(s, pilot, LONG, 390)
        assert right.top > 340


async def test_one_again_is_that_of_the_user() -> None:
    s = session()
    s.open(TEST)
    async with running(s, ROOMY) as (app, pilot):
        pane = await divided(app, pilot)
        await pilot.press("alt+3", "alt+comma", "down", "ctrl+backslash")
        await settled(s, pilot)
        assert not pane.sides.divided
        assert pane.files.active == CACHE
        assert app.focused is pane.editor is pane.sides[0].editor
        assert pane.editor.view.cursor.position == (1, 0)
        assert not pane.sides[1].region
        assert app.bench.transcript.region


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (96, 30), (40, 12)])
async def test_where_two_do_not_fit_the_one_of_the_user_is_seen(size: tuple[int, int]) -> None:
    s = session()
    fits = size[0] >= 90
    async with running(s, size) as (app, pilot):
        pane = await divided(app, pilot)
        left, right = pane.sides
        assert (bool(left.region), bool(right.region)) == (True, fits)
        await pilot.press("alt+3")
        await until(pilot, lambda: (bool(left.region), bool(right.region)) == (fits, True))
        assert app.focused is right.editor
        await land(s, pilot, LONG, 200)
        assert pane.sides.leader is (left if fits else right)
        shown = pane.sides.leader.editor.view
        assert shown.path == LONG


FILES = {"a.py": "".join(f"row {number}\n" for number in range(40)), "b.py": "x = 1\n"}
TWO_LINES = patch("@@", "-x = 1", "+x = 2", "+y = 3", file="b.py")


async def test_two_models_in_two_files_both_paint() -> None:
    async with stepped(FILES, "b.py", "a.py", size=(220, 30)) as pair:
        await pair.pane.sides.divide()
        pair.pane.files.choose("b.py")
        await pair.pilot.pause()
        for side in pair.pane.sides:
            side.editor.let_go()
        pair.session.start(patch("@@", " row 10", "+one", "+two", file="a.py"))
        pair.session.start(TWO_LINES)
        pair.session.feed(70)
        await pair.frame()
        tabs = pair.pane.files.tabs.render_line(0).text
        assert "a.py ✎" in tabs
        assert "b.py ✎" in tabs
        shown = {side.path: side.editor for side in pair.pane.sides}
        assert set(shown) == {"a.py", "b.py"}
        for number, path in enumerate(("a.py", "b.py"), 1):
            editor = shown[path]
            assert any("▌" in row for row in pair.rows(editor))
            assert f"hunk {number}: landing at line" in pair.rows(editor)[-1]
        while pair.session.streams:
            pair.session.feed(5)
            await pair.frame()
        assert "✎" not in pair.pane.files.tabs.render_line(0).text
        assert pair.session.workspace.buffers["b.py"].text() == "x = 2\ny = 3\n"
