from __future__ import annotations

import pytest
from textual import events

from tests.support.scripted_app import exercise, running, settled
from tests.support.scripted_session import ScriptedSession
from tui.core.edits.hunk import Stage
from tui.engine.intents import (
    Accept,
    Answer,
    CloseFile,
    Interrupt,
    NewConversation,
    OpenFile,
    Prompt,
    Queue,
    Reject,
    RunCommand,
    SaveFile,
    SendFailure,
    SetEffort,
    SetTier,
    Switch,
    Throttle,
    UndoTurn,
    Unqueue,
    Verify,
)
from tui.engine.notices import Ask


async def test_the_prompt_has_the_focus_and_the_session_starts_after_the_first_paint() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        assert app.focused is app.bench.prompt_box.prompt
        await pilot.pause(0.1)
        assert session.started


async def test_enter_sends_and_the_next_line_is_a_redirect() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await pilot.press("h", "i", "ctrl+j", "x", "enter")
        assert session.intents == [Prompt("hi\nx")]
        session.status.busy = True
        await settled(session, pilot)
        assert "redirect" in row(app, "hint")
        await pilot.press("n", "o", "enter")
        assert session.intents[-1] == Prompt("no")


async def test_tab_queues_while_busy_and_the_queue_can_be_taken_back() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        session.status.busy = True
        await settled(session, pilot)
        await pilot.press("l", "a", "t", "e", "r", "tab")
        assert session.intents == [Queue("later")]
        session.status.queued = ["later"]
        await settled(session, pilot)
        assert app.bench.query_one("#queue").display
        await pilot.press("alt+up")
        assert session.intents[-1] == Unqueue(0)
        assert app.bench.prompt_box.prompt.text == "later"


async def test_escape_stops_first_and_at_once() -> None:
    session = ScriptedSession()
    async with running(session) as (_, pilot):
        session.status.busy = True
        await settled(session, pilot)
        await pilot.press("d", "escape")
        assert session.intents == [Interrupt()]
        await settled(session, pilot)
        await pilot.press("escape")
        assert session.intents == [Interrupt()]


async def test_ctrl_c_stops_then_clears_then_leaves() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        session.status.busy = True
        await settled(session, pilot)
        await pilot.press("d", "r", "ctrl+c")
        assert session.intents == [Interrupt()]
        await pilot.press("ctrl+c")
        assert app.bench.prompt_box.prompt.text == ""
        await pilot.press("up")
        assert app.bench.prompt_box.prompt.text == "dr"
        await pilot.press("ctrl+c", "ctrl+c", "ctrl+c")
        await pilot.pause()
        assert session.closed.is_set()


async def test_ctrl_c_copies_a_selection() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await pilot.press("a", "b", "shift+left", "ctrl+c")
        assert app.clipboard == "b"
        assert app.bench.prompt_box.prompt.text == "ab"


@pytest.mark.parametrize(
    ("key", "intent"),
    [
        ("f2", Switch("deep")),
        ("alt+m", Switch("deep")),
        ("f3", SetEffort("medium")),
        ("f5", Verify()),
        ("alt+v", Verify()),
        ("alt+a", Accept()),
        ("alt+r", Reject()),
        ("alt+u", UndoTurn()),
        ("alt+s", SendFailure()),
    ],
)
async def test_keys_work_from_everywhere(key: str, intent: object) -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await pilot.press(key)
        app.bench.transcript.focus()
        await pilot.press(key)
        assert session.intents[0] == intent
        assert len(session.intents) == 2


@pytest.mark.parametrize(
    ("typed", "intent"),
    [
        ("/deep", Switch("deep")),
        ("/model fast", Switch("fast")),
        ("/effort high", SetEffort("high")),
        ("/tier priority", SetTier("priority")),
        ("/tier off", SetTier("")),
        ("/throttle 50", Throttle(50.0)),
        ("/throttle off", Throttle(None)),
        ("/verify", Verify()),
        ("/undo", UndoTurn()),
        ("/clear", NewConversation()),
        ("!ls -la", RunCommand("ls -la")),
    ],
)
async def test_commands(typed: str, intent: object) -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        app.bench.prompt_box.prompt.restore(typed)
        await pilot.press("enter")
        await pilot.pause()
        assert session.intents == [intent]


@pytest.mark.parametrize(
    "typed", ["/verfy", "/effort huge", "/tier so fast", "/throttle 0", "/theme noon"]
)
async def test_a_wrong_command_comes_back_with_a_sentence(typed: str) -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        app.bench.prompt_box.prompt.restore(typed)
        await pilot.press("enter")
        await pilot.pause()
        assert session.intents == []
        assert app.bench.prompt_box.prompt.text == typed


async def test_an_offered_prompt_is_taken_with_tab() -> None:
    session = ScriptedSession()
    session.status.prompts = ["fix the cache", "add a limit"]
    session.status.suggestion = "fix the cache"
    async with running(session) as (app, pilot):
        prompt = app.bench.prompt_box.prompt
        assert prompt.suggestion_shown == "fix the cache"
        await pilot.press("down")
        assert prompt.suggestion_shown == "add a limit"
        await pilot.press("tab")
        assert prompt.text == "add a limit"
        await pilot.press("enter")
        assert session.intents == [Prompt("add a limit")]


async def test_files_are_completed_behind_an_at() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await pilot.press("s", "e", "e", "space", "at", "c", "a", "tab")
        assert app.bench.prompt_box.prompt.text == "see @ledger/cache.py "


async def test_a_question_is_answered_by_its_number() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        session.status.asks = [Ask(7, "Send .env?", "It may hold keys.", ("send it", "do not"))]
        await settled(session, pilot)
        await pilot.press("1")
        assert session.intents == [Answer(7, "send it")]
        session.status.asks = []
        await settled(session, pilot)
        assert app.focused is app.bench.prompt_box.prompt


async def test_a_question_does_not_take_the_focus_from_a_draft() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await pilot.press("1")
        session.status.asks = [Ask(7, "Send .env?", "", ("send it", "do not"))]
        await settled(session, pilot)
        await pilot.press("1")
        assert app.bench.prompt_box.prompt.text == "11"
        assert session.intents == []
        await pilot.press("shift+tab", "enter")
        assert session.intents == [Answer(7, "do not")]


async def test_escape_refuses_a_question() -> None:
    session = ScriptedSession()
    async with running(session) as (_, pilot):
        session.status.asks = [Ask(7, "Run it?", "make test", ("run", "do not"))]
        await settled(session, pilot)
        await pilot.press("escape")
        assert session.intents == [Answer(7, "do not")]


async def test_hunks_are_reviewed_in_the_conversation() -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        await pilot.press("alt+j")
        assert app.focused is app.bench.transcript
        await pilot.press("a")
        assert session.intents == [Accept((2,))]
        await pilot.press("p", "enter")
        assert session.intents[-1] == OpenFile("ledger/cache.py", 7)
        await pilot.press("alt+j", "r")
        assert session.intents[-1] == Reject((3,))


async def test_a_traceback_opens_the_editor() -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        app.bench.transcript.focus()
        await pilot.press("end", "alt+j", *["down"] * 4, "enter")
        await pilot.pause(0.1)
        opened = [intent for intent in session.intents if isinstance(intent, OpenFile)]
        assert opened
        assert opened[-1].path in ("ledger/cache.py", "tests/test_cache.py")
        assert app.bench.in_editor(app.focused)


async def test_typing_in_the_conversation_goes_to_the_prompt() -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        app.bench.transcript.focus()
        await pilot.press("t", "h", "y")
        assert app.bench.prompt_box.prompt.text == "thy"
        assert app.focused is app.bench.prompt_box.prompt


async def test_a_tiny_terminal_gets_one_sentence() -> None:
    session = ScriptedSession()
    async with running(session, (39, 11)) as (app, pilot):
        assert not app.bench.query_one("#whole").region
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert app.bench.query_one("#whole").region


@pytest.mark.parametrize("key", ["", "alt+2"])
async def test_a_terminal_that_grows_again_has_the_focus_where_it_was(key: str) -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session, (120, 36)) as (app, pilot):
        if key:
            await pilot.press(key)
        before = app.focused
        assert before is not None
        await pilot.resize_terminal(38, 10)
        await pilot.pause()
        await pilot.resize_terminal(80, 24)
        await pilot.pause(0.05)
        assert app.focused is before


async def test_leaving_asks_when_hunks_are_pending() -> None:
    session = ScriptedSession()
    session.hunk(Stage.LANDED, 3)
    async with running(session) as (app, pilot):
        await pilot.press("ctrl+q")
        assert app.screen is not app.bench
        await pilot.press("n")
        assert app.screen is app.bench
        await pilot.press("ctrl+q", "y")
        await pilot.pause()
        assert session.closed.is_set()


@pytest.mark.parametrize("saves", [True, False])
async def test_leaving_can_save_and_stays_if_that_fails(saves: bool) -> None:
    session = ScriptedSession()
    session.open("ledger/cache.py")
    session.scripted.dirty.add("ledger/cache.py")
    session.saves = saves
    async with running(session) as (app, pilot):
        await pilot.press("ctrl+q")
        await pilot.press("s")
        await pilot.pause()
        assert session.intents == [SaveFile("ledger/cache.py")]
        assert session.closed.is_set() is saves
        assert saves or app.screen is app.bench


async def test_an_unsaved_tab_closes_the_second_time() -> None:
    session = ScriptedSession()
    session.open("ledger/cache.py")
    session.scripted.dirty.add("ledger/cache.py")
    async with running(session) as (app, pilot):
        await pilot.press("f6", "ctrl+w")
        assert session.intents == []
        assert "not saved" in next(iter(app._notifications)).message
        await pilot.press("ctrl+w")
        assert session.intents == [CloseFile("ledger/cache.py")]


async def test_themes_switch_live() -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        before = app.bench.transcript.render_line(3)
        app.bench.prompt_box.prompt.restore("/theme paper")
        await pilot.press("enter")
        await pilot.pause()
        after = app.bench.transcript.render_line(3)
        assert before.text == after.text
        assert list(before) != list(after)


async def test_help_opens_and_closes() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await pilot.press("f1")
        assert app.screen is not app.bench
        await pilot.press("escape")
        assert app.screen is app.bench


def row(app: object, name: str) -> str:
    """The text of a bar."""
    from tui.ui.app import DuettoApp
    from tui.ui.widgets.bar import Bar

    assert isinstance(app, DuettoApp)
    return app.bench.query_one(f"#{name}", Bar).render_line(0).text


async def test_keys_that_come_before_the_focus_has_moved_are_text_too() -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        app.bench.transcript.focus()
        await pilot.pause()
        transcript = app.bench.transcript
        for key in ("x", "e", "a", "r", "enter"):
            transcript.post_message(events.Key(key, None if key == "enter" else key))
        await pilot.pause(0.1)
        assert session.intents == [Prompt("xear")]


async def test_the_last_decision_leads_back_to_the_prompt() -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        await pilot.press("alt+j", "alt+a")
        await settled(session, pilot)
        assert app.focused is app.bench.prompt_box.prompt
