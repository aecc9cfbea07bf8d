"""Two editors side by side: one buffer, two views, the model followed where the user is not."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from tests.support.scripted_app import running, settled
from tests.support.scripted_session import ScriptedSession
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
    await pilot.pause(0.1)
    return app.bench.editor


async def land(s: ScriptedSession, pilot: Pilot[int], path: str, line: int) -> None:
    """The model writes a line."""
    s.status.busy = True
    s.workspace.open(path)
    s.board.landed(path, line)
    await settled(s, pilot)


def paths(pane: EditorPane) -> list[str]:
    return [side.path for side in pane.sides]


async def test_both_show_one_buffer_in_one_set_of_colours() -> None:
    s = session()
    async with running(s, ROOMY) as (app, pilot):
        pane = await divided(app, pilot)
        left, right = pane.sides
        assert left.region.width == right.region.width == 60
        assert app.focused is left.editor
        assert left.editor.view is not None
        assert right.editor.view is not None
        assert left.editor.view is not right.editor.view
        assert left.editor.view.buffer is right.editor.view.buffer
        assert left.editor.view.colours is right.editor.view.colours
        await pilot.press("x")
        await settled(s, pilot)
        assert right.editor.render_line(0).text.split()[1] == "ximport"
        assert left.editor.view.cursor.position == (0, 1)
        assert right.editor.view.cursor.position == (0, 1)


async def test_each_side_keeps_its_own_place() -> None:
    s = session()
    s.open(LONG)
    async with running(s, ROOMY) as (app, pilot):
        pane = await divided(app, pilot)
        await pilot.press("ctrl+end")
        left, right = (side.editor.view for side in pane.sides)
        assert left is not None
        assert right is not None
        assert left.top > 300
        assert right.top == 0
        await pilot.press("ctrl+home", "enter")
        assert right.cursor.position[0] == 1


async def test_the_key_goes_to_the_other_side_and_typing_goes_there() -> None:
    s = session()
    async with running(s, ROOMY) as (app, pilot):
        pane = await divided(app, pilot)
        await pilot.press("alt+3", "ctrl+end", "z")
        assert app.focused is pane.sides[1].editor
        assert pane.side is pane.sides[1]
        assert s.workspace.buffers[CACHE].lines[-1] == "z"
        await pilot.press("alt+3")
        assert app.focused is pane.sides[0].editor


async def test_without_two_the_key_makes_two() -> None:
    async with running(session(), ROOMY) as (app, pilot):
        await pilot.press("alt+3")
        await pilot.pause(0.1)
        assert app.focused is app.bench.editor.sides[1].editor


async def test_a_key_right_behind_the_one_for_the_other_side_is_meant_for_it() -> None:
    s = session()
    async with running(s, ROOMY) as (app, pilot):
        pane = await divided(app, pilot)
        pane.sides[1].editor.go((3, 0))
        app.simulate_key("alt+3")
        app.simulate_key("q")
        await pilot.pause(0.1)
        assert s.workspace.buffers[CACHE].lines[3] == "qclass Cache:"


async def test_files_are_chosen_for_the_side_of_the_user() -> None:
    s = session()
    s.open(TEST)
    async with running(s, ROOMY) as (app, pilot):
        pane = await divided(app, pilot)
        await pilot.press("alt+3", "alt+comma")
        await settled(s, pilot)
        assert paths(pane) == [TEST, CACHE]
        assert s.status.active_path == CACHE
        await pilot.press("alt+3")
        await settled(s, pilot)
        assert s.status.active_path == TEST
        assert pane.active == TEST


async def test_a_click_says_which_side_is_meant() -> None:
    s = session()
    async with running(s, ROOMY) as (app, pilot):
        pane = await divided(app, pilot)
        await pilot.click(pane.sides[1].editor, offset=(12, 3))
        await settled(s, pilot)
        assert pane.side is pane.sides[1]
        assert pane.sides[1].title.render_line(0).text.startswith("▎")
        assert not pane.sides[0].title.render_line(0).text.startswith("▎")


async def test_the_landing_edit_is_followed_where_the_user_is_not() -> None:
    s = session()
    async with running(s, ROOMY) as (app, pilot):
        pane = await divided(app, pilot)
        await pilot.press("down", "y")
        await land(s, pilot, LONG, 300)
        assert paths(pane) == [CACHE, LONG]
        assert s.status.active_path == CACHE
        right = pane.sides[1].editor.view
        assert right is not None
        assert right.top <= 300 < right.top + 40
        assert app.focused is pane.sides[0].editor
        assert pane.following


async def test_the_other_way_round_too() -> None:
    s = session()
    async with running(s, ROOMY) as (app, pilot):
        pane = await divided(app, pilot)
        await pilot.press("alt+3", "down")
        await land(s, pilot, TEST, 1)
        assert paths(pane) == [TEST, CACHE]
        assert s.status.active_path == CACHE


async def test_in_the_same_file_the_user_is_not_moved() -> None:
    s = session()
    s.open(LONG)
    async with running(s, ROOMY) as (app, pilot):
        pane = await divided(app, pilot)
        await land(s, pilot, LONG, 350)
        left, right = (side.editor.view for side in pane.sides)
        assert left is not None
        assert right is not None
        assert left.top == 0
        assert right.top > 250
        assert left.pen.line == right.pen.line == 350


async def test_scrolling_the_side_that_follows_lets_go_of_it() -> None:
    s = session()
    async with running(s, ROOMY) as (app, pilot):
        pane = await divided(app, pilot)
        await land(s, pilot, LONG, 300)
        pane.sides[1].editor.scroll_lines(-100)
        await land(s, pilot, LONG, 399)
        right = pane.sides[1].editor.view
        assert right is not None
        assert right.top < 250
        assert not pane.following
        await pilot.press("alt+l")
        await land(s, pilot, LONG, 390)
        assert right.top > 340


async def test_who_goes_where_the_model_writes_finds_their_own_file_again() -> None:
    s = session()
    async with running(s, ROOMY) as (app, pilot):
        pane = await divided(app, pilot)
        await land(s, pilot, LONG, 300)
        assert paths(pane) == [CACHE, LONG]
        await pilot.press("alt+3")
        await land(s, pilot, LONG, 301)
        await land(s, pilot, TEST, 1)
        assert paths(pane) == [CACHE, LONG]
        assert not pane.following
        await pilot.press("alt+3", "alt+l")
        await land(s, pilot, TEST, 2)
        assert paths(pane) == [CACHE, TEST]


async def test_who_does_not_follow_does_not_begin_to_by_dividing() -> None:
    s = session()
    async with running(s, ROOMY) as (app, pilot):
        await pilot.press("alt+l")
        pane = await divided(app, pilot)
        assert not pane.following
        await land(s, pilot, LONG, 300)
        assert paths(pane) == [CACHE, CACHE]
        await pilot.press("alt+l", "ctrl+backslash")
        assert pane.following


async def test_one_again_is_that_of_the_user() -> None:
    s = session()
    s.open(TEST)
    async with running(s, ROOMY) as (app, pilot):
        pane = await divided(app, pilot)
        await pilot.press("alt+3", "alt+comma", "down", "ctrl+backslash")
        await settled(s, pilot)
        assert not pane.split
        assert pane.active == CACHE
        assert app.focused is pane.editor is pane.sides[0].editor
        assert pane.editor.view is not None
        assert pane.editor.view.cursor.position == (1, 0)
        assert not pane.sides[1].region
        assert app.bench.transcript.region


async def test_closing_files_leaves_no_side_without_one() -> None:
    s = session()
    s.open(TEST)
    async with running(s, ROOMY) as (app, pilot):
        pane = await divided(app, pilot)
        s.status.open_paths.remove(TEST)
        s.status.active_path = CACHE
        s.board.retabbed()
        await settled(s, pilot)
        assert paths(pane) == [CACHE, CACHE]
        s.status.open_paths.clear()
        s.status.active_path = ""
        s.board.retabbed()
        await settled(s, pilot)
        assert paths(pane) == ["", ""]
        assert pane.has_class("-notice")


@pytest.mark.parametrize("size", [(80, 24), (96, 30), (40, 12)])
async def test_where_two_do_not_fit_the_one_of_the_user_is_seen(size: tuple[int, int]) -> None:
    s = session()
    fits = size[0] >= 90
    async with running(s, size) as (app, pilot):
        pane = await divided(app, pilot)
        left, right = pane.sides
        assert (bool(left.region), bool(right.region)) == (True, fits)
        await pilot.press("alt+3")
        await pilot.pause(0.1)
        assert (bool(left.region), bool(right.region)) == (fits, True)
        assert app.focused is right.editor
        await land(s, pilot, LONG, 200)
        assert pane.follower is (left if fits else right)
        shown = pane.follower.editor.view
        assert shown is not None
        assert shown.path == LONG


async def test_the_cursors_place_is_said_when_the_window_changes_too() -> None:
    s = session()
    async with running(s, (200, 36)) as (app, pilot):
        pane = await divided(app, pilot)
        await pilot.press("down")
        await pilot.pause()
        assert "2:1" not in pane.tabs.render_line(0).text
        assert "2:1" in pane.side.title.render_line(0).text
        await pilot.resize_terminal(80, 24)
        await pilot.pause(0.1)
        assert "2:1" in pane.tabs.render_line(0).text
        await pilot.resize_terminal(200, 36)
        await pilot.pause(0.1)
        assert "2:1" not in pane.tabs.render_line(0).text


async def test_beside_the_conversation_there_is_room_on_a_wide_screen_only() -> None:
    s = session()
    async with running(s, (180, 40)) as (app, pilot):
        await divided(app, pilot)
        assert app.bench.transcript.region
        await pilot.resize_terminal(120, 36)
        await pilot.pause(0.1)
        assert not app.bench.transcript.region
        await pilot.press("f6")
        assert app.bench.transcript.region
        assert not app.bench.editor.region


async def test_the_line_between_them_can_be_dragged() -> None:
    s = session()
    async with running(s, ROOMY) as (app, pilot):
        pane = await divided(app, pilot)
        left, right = pane.sides
        await pilot.mouse_down(offset=(right.region.x, 10))
        await pilot.hover(offset=(80, 10))
        await pilot.mouse_up(offset=(80, 10))
        await pilot.pause(0.1)
        assert (left.region.width, right.region.width) == (80, 40)
        await pilot.mouse_down(offset=(80, 10))
        await pilot.hover(offset=(2, 10))
        await pilot.mouse_up(offset=(2, 10))
        await pilot.pause(0.1)
        assert left.region.width == 15
        await pilot.press("ctrl+backslash", "ctrl+backslash")
        await pilot.pause(0.1)
        assert (left.region.width, right.region.width) == (60, 60)


async def test_find_goes_on_in_the_other_side() -> None:
    s = session()
    s.open(TEST)
    async with running(s, ROOMY) as (app, pilot):
        pane = await divided(app, pilot)
        await pilot.press("alt+3", "alt+comma", "ctrl+f", *"class")
        await pilot.pause(0.1)
        assert pane.editor.selected_text == "class"
        assert pane.side is pane.sides[1]


async def test_the_title_says_which_side_was_gone_to_while_only_one_fitted() -> None:
    s = session()
    async with running(s, ROOMY) as (app, pilot):
        pane = await divided(app, pilot)
        await pilot.resize_terminal(70, 30)
        await pilot.press("alt+3")
        await pilot.resize_terminal(*ROOMY)
        await pilot.pause(0.1)
        assert pane.side is pane.sides[1]
        assert [side.title.render_line(0).text[0] for side in pane.sides] == [" ", "▎"]


@pytest.mark.parametrize(("width", "said"), [(80, True), (89, True), (90, False), (200, False)])
async def test_where_two_are_not_seen_it_is_said_how_to_reach_the_other(
    width: int, said: bool
) -> None:
    s = session()
    async with running(s, (width, 24)) as (app, pilot):
        pane = await divided(app, pilot)
        assert pane.beside is not said
        told = [note.message for note in app._notifications if "Alt+3" in note.message]
        assert bool(told) is said
