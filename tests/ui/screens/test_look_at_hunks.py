"""A hunk that is selected in the conversation is shown in the editor, which it does not enter."""

from __future__ import annotations

from tests.support.scripted_app import running, settled
from tests.support.scripted_session import ScriptedSession
from tui.core.edits.hunk import Stage
from tui.engine.intents import OpenFile
from tui.ui.app import DuettoApp

LONG = "".join(f"line {number}\n" for number in range(200))


def patched() -> ScriptedSession:
    """Two hunks wait in one file, one in another; a third file is on the screen."""
    session = ScriptedSession({"a.py": LONG, "b.py": LONG, "c.py": LONG})
    session.say("patch", speaker="fast")
    session.hunk(Stage.LANDED, 120, path="a.py", added=1)
    session.hunk(Stage.LANDED, 30, path="a.py", added=1)
    session.hunk(Stage.LANDED, 77, path="b.py", added=1)
    session.open("c.py")
    return session


def shown(app: DuettoApp) -> tuple[str, int]:
    """The file in the editor and its cursor's line, which is in the view."""
    editor = app.bench.editor.editor
    view = editor.view
    assert view is not None
    assert view.path == app.bench.editor.active
    line, _ = view.cursor.position
    assert view.top <= line < view.top + editor.size.height
    return view.path, line


def land(session: ScriptedSession, path: str, line: int) -> None:
    session.workspace.open(path)
    session.board.landed(path, line)


async def test_the_review_keys_show_each_hunk_and_keep_the_focus() -> None:
    session = patched()
    async with running(session) as (app, pilot):
        for key, place in (
            ("alt+j", ("a.py", 120)),
            ("n", ("a.py", 30)),
            ("n", ("b.py", 77)),
            ("p", ("a.py", 30)),
            ("a", ("b.py", 77)),
        ):
            await pilot.press(key)
            await settled(session, pilot)
            assert shown(app) == place
            assert app.focused is app.bench.transcript
        assert session.status.active_path == "b.py"
        assert app.bench.editor.editor.following
        await pilot.press("p", "p", "r")
        await settled(session, pilot)
        assert shown(app) == ("b.py", 77)


async def test_the_key_shows_the_selected_hunk_again_after_a_look_elsewhere() -> None:
    session = patched()
    async with running(session) as (app, pilot):
        await pilot.press("alt+j", "n", "n")
        session.submit(OpenFile("c.py", 5))
        await settled(session, pilot)
        assert shown(app) == ("c.py", 5)
        await pilot.press("alt+j", "alt+j", "alt+j")
        await settled(session, pilot)
        assert shown(app) == ("b.py", 77)


async def test_a_file_that_is_not_there_leaves_the_editor_alone() -> None:
    session = patched()
    session.workspace.hunks[0].path = "gone.py"
    async with running(session) as (app, pilot):
        await pilot.press("alt+j")
        await settled(session, pilot)
        assert app.bench.editor.active == "c.py"
        assert session.intents == []


async def test_all_of_a_hunk_is_in_the_view() -> None:
    session = patched()
    mark = session.workspace.hunks[0].end
    assert mark is not None
    mark.line = 132
    async with running(session) as (app, pilot):
        session.submit(OpenFile("a.py", 95))
        await settled(session, pilot)
        await pilot.press("alt+j")
        await settled(session, pilot)
        assert shown(app) == ("a.py", 120)
        editor = app.bench.editor.editor
        assert editor.view is not None
        assert editor.view.top + editor.size.height > 131


async def test_where_one_pane_has_the_width_the_card_keeps_it() -> None:
    session = patched()
    async with running(session, (80, 24)) as (app, pilot):
        land(session, "b.py", 5)
        await settled(session, pilot)
        await pilot.press("alt+j", "n", "n")
        await settled(session, pilot)
        assert app.bench.panes.shown == "conversation"
        assert app.focused is app.bench.transcript
        await pilot.press("alt+2")
        await settled(session, pilot)
        assert shown(app) == ("b.py", 77)


async def test_a_review_does_not_end_follow_mode() -> None:
    session = patched()
    async with running(session) as (app, pilot):
        await pilot.press("alt+j", "n", "enter")
        await settled(session, pilot)
        session.status.busy = True
        await settled(session, pilot)
        await pilot.press("alt+j")
        land(session, "c.py", 150)
        await settled(session, pilot)
        view = app.bench.editor.editor.view
        assert view is not None
        assert view.path == "c.py"
        assert view.top < 150 < view.top + app.bench.editor.editor.size.height


async def test_what_the_user_does_between_two_turns_does_not_end_it_either() -> None:
    session = patched()
    async with running(session) as (app, pilot):
        app.bench.enter_editor()
        await pilot.press("x", "pagedown")
        assert not app.bench.editor.editor.following
        session.status.busy = True
        await settled(session, pilot)
        assert app.bench.editor.editor.following


async def test_who_scrolls_in_an_answer_or_turns_it_off_is_left_alone() -> None:
    session = patched()
    async with running(session) as (app, pilot):
        app.bench.enter_editor()
        for keys in (["pagedown"], ["alt+l", "alt+l"]):
            session.status.busy = True
            await settled(session, pilot)
            await pilot.press(*keys)
            session.status.busy = False
            await settled(session, pilot)
            await pilot.press("pagedown")
            session.status.busy = True
            await settled(session, pilot)
            assert not app.bench.editor.editor.following
            session.status.busy = False
            await settled(session, pilot)
