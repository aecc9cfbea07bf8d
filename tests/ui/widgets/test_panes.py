from __future__ import annotations

import pytest
from textual.pilot import Pilot

from tests.support.scripted_app import exercise, running, settled
from tests.support.scripted_session import ScriptedSession
from tui.engine.intents import OpenFile
from tui.ui.app import DuettoApp

NARROW = (80, 24)


def seen(app: DuettoApp) -> str:
    """Which pane is on the screen; the prompt must always be."""
    bench = app.bench
    assert bench.prompt_box.prompt.region.height, "the prompt is out of sight"
    assert bench.prompt_box.region.bottom <= bench.query_one("#status").region.y
    parts = {"editor": bench.editor.region, "conversation": bench.transcript.region}
    return " ".join(name for name, region in parts.items() if region)


async def test_where_there_is_room_both_are_seen() -> None:
    async with running(ScriptedSession(), (100, 30)) as (app, _):
        assert seen(app) == "editor conversation"
        assert app.bench.transcript.region.width == 46
        assert app.bench.editor.region.right == 100
        assert app.bench.prompt_box.region.width == 46


async def test_a_pane_that_comes_into_sight_leaves_the_focus_in_the_prompt() -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session, NARROW) as (app, pilot):
        prompt = app.bench.prompt_box.prompt
        await pilot.press("alt+1")
        assert (seen(app), app.focused) == ("conversation", prompt)
        await pilot.press("f6")
        assert (seen(app), app.focused) == ("editor", prompt)
        assert app.bench.editor.region.width == 80
        await pilot.press("f6")
        assert (seen(app), app.focused) == ("conversation", prompt)


async def test_each_pane_has_its_key() -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session, NARROW) as (app, pilot):
        prompt = app.bench.prompt_box.prompt
        await pilot.press("alt+1", "alt+2")
        assert (seen(app), app.focused) == ("editor", prompt)
        await pilot.press("alt+2")
        assert app.focused is app.bench.editor.editor
        await pilot.press("escape")
        assert (seen(app), app.focused) == ("editor", prompt)
        await pilot.press("alt+1")
        assert (seen(app), app.focused) == ("conversation", prompt)


async def test_it_starts_with_the_conversation() -> None:
    async with running(ScriptedSession(), NARROW) as (app, _):
        assert (seen(app), app.focused) == ("conversation", app.bench.prompt_box.prompt)


async def test_what_came_while_the_conversation_was_out_of_sight_is_there() -> None:
    session = ScriptedSession()
    async with running(session, NARROW) as (app, pilot):
        block = session.say("text", "begun", speaker="fast", state="open")
        await settled(session, pilot)
        await pilot.press("alt+2")
        session.stream(block, "\n\nthe second\n\n" + "more\n\n" * 30 + "the last")
        await settled(session, pilot)
        await pilot.press("alt+1")
        await pilot.pause()
        transcript = app.bench.transcript
        rows = [transcript.render_line(y).text for y in range(transcript.size.height)]
        assert any("the last" in row for row in rows)


async def test_the_first_edit_that_lands_is_seen() -> None:
    session = ScriptedSession()
    async with running(session, NARROW) as (app, pilot):
        await pilot.press("h", "i", "enter")
        assert seen(app) == "conversation"
        await landed(session, app, pilot)
        assert (seen(app), app.focused) == ("editor", app.bench.prompt_box.prompt)
        await pilot.press("n", "o", "enter")
        assert seen(app) == "conversation", "the next answer begins with words"


async def test_a_pane_that_was_chosen_stays() -> None:
    session = ScriptedSession()
    async with running(session, NARROW) as (app, pilot):
        await pilot.press("h", "i", "enter", "alt+1")
        await landed(session, app, pilot)
        assert seen(app) == "conversation"


async def test_nothing_changes_for_who_does_not_follow() -> None:
    session = ScriptedSession()
    async with running(session, NARROW) as (app, pilot):
        await pilot.press("h", "i", "enter", "alt+l")
        await landed(session, app, pilot)
        assert seen(app) == "conversation"


@pytest.mark.parametrize("line", [None, 3])
async def test_over_a_file_the_prompt_has_the_focus(line: int | None) -> None:
    session = ScriptedSession()
    if line is None:
        session.open("ledger/cache.py")
    else:
        session.submit(OpenFile("ledger/cache.py", line))
    async with running(session, NARROW) as (app, pilot):
        await settled(session, pilot)
        assert (seen(app), app.focused) == ("editor", app.bench.prompt_box.prompt)


async def test_the_finder_leads_into_the_editor() -> None:
    session = ScriptedSession()
    async with running(session, NARROW) as (app, pilot):
        await pilot.press("ctrl+o", *"cache", "enter")
        await settled(session, pilot)
        assert (seen(app), app.focused) == ("editor", app.bench.editor.editor)


async def test_the_pane_with_the_focus_stays_when_it_gets_narrow() -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        await pilot.press("f6")
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert (seen(app), app.focused) == ("editor", app.bench.editor.editor)


async def test_following_can_be_off_from_the_start() -> None:
    session = ScriptedSession()
    app = DuettoApp(session.as_session(), follow=False)
    async with app.run_test(size=NARROW) as pilot:
        await landed(session, app, pilot)
        assert seen(app) == "conversation"
        assert not app.bench.editor.editor.following


async def test_what_is_said_does_not_hide_the_prompt() -> None:
    app = DuettoApp(ScriptedSession().as_session())
    async with app.run_test(size=NARROW, notifications=True) as pilot:
        app.notify("one thing\n" * 6)
        await pilot.pause(0.1)
        said = app.screen.query("Toast").last().region
        assert 0 < said.bottom <= app.bench.prompt_box.region.y


async def test_a_key_right_after_the_one_for_the_editor_is_the_editors() -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        app.simulate_key("f6")
        app.simulate_key("x")
        await pilot.pause(0.1)
        assert app.bench.prompt_box.prompt.text == ""
        assert session.workspace.buffers["ledger/cache.py"].lines[0].startswith("x")


async def test_what_is_looked_for_is_seen_beside_the_conversation() -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session, (100, 30)) as (app, pilot):
        await pilot.press("f6", "ctrl+f", *"lock")
        await pilot.pause(0.1)
        assert app.bench.editor.find_bar.query_one("Input").size.width > 20


@pytest.mark.parametrize("size", [NARROW, (120, 36)])
async def test_an_editor_without_a_file_leaves_the_keys_to_the_prompt(
    size: tuple[int, int],
) -> None:
    session = ScriptedSession()
    session.status.prompts = ["fix it"]
    async with running(session, size) as (app, pilot):
        await pilot.press("f6", "alt+2", "tab", "x")
        assert app.bench.prompt_box.prompt.text == "fix itx"


async def landed(session: ScriptedSession, app: DuettoApp, pilot: Pilot[int]) -> None:
    """The model writes a line."""
    session.status.busy = True
    session.open("ledger/cache.py")
    session.board.landed("ledger/cache.py", 4)
    await settled(session, pilot)


async def test_the_output_of_a_test_run_is_seen() -> None:
    """Also after a landed edit has taken the width, and from the prompt: typing goes on there."""
    session = ScriptedSession()
    exercise(session)
    async with running(session, NARROW) as (app, pilot):
        await pilot.press("alt+1", "f6")
        assert seen(app) == "editor"
        await pilot.press("f5")
        assert (seen(app), app.focused) == ("conversation", app.bench.prompt_box.prompt)
