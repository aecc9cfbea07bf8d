"""The workbench: its keys and commands, prompts that come back, decisions, the way out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from textual.events import Paste
from textual.widgets import Static

from tests.support.scripted_app import exercise, running, settled
from tests.support.scripted_session import ScriptedSession
from tui.core.document.hunk import Decision, Stage
from tui.engine.intents import (
    Accept,
    Answer,
    CloseFile,
    Interrupt,
    NewConversation,
    OpenFile,
    Prompt,
    Reject,
    RunCommand,
    SaveFile,
    SendFailure,
    SetEffort,
    SetTier,
    StopCompacting,
    Switch,
    Throttle,
    UndoTurn,
    Verify,
)
from tui.engine.notices import Ask, Trouble
from tui.ui.app import DuettoApp
from tui.ui.widgets.painted import Bar


async def test_escape_stops_first_and_at_once(session: ScriptedSession) -> None:
    async with running(session) as (_, pilot):
        session.status.busy = True
        await settled(session, pilot)
        await pilot.press("d", "escape")
        assert session.intents == [Interrupt()]
        await settled(session, pilot)
        await pilot.press("escape")
        assert session.intents == [Interrupt()]
        session.status.busy, session.status.compacting = False, True
        await pilot.press("escape")
        assert session.intents[1:] == [StopCompacting()]


async def test_it_is_said_who_has_the_keys_and_escape_leads_to_the_prompt() -> None:
    session = ScriptedSession({"a.py": "one\n"})
    session.status.open_paths = ["a.py"]
    async with running(session) as (app, pilot):
        box = app.bench.prompt_box
        await settled(session, pilot)
        await pilot.press("f6")
        await settled(session, pilot)
        assert app.focused is app.bench.editor.editor
        said = "".join(words for words, _ in box._hint.pieces(60))
        assert said.strip() == "editor has the keys · Esc to write"
        said = "".join(words for words, _ in box._hint.pieces(32))
        assert said.strip() == "editor · Esc to write"
        session.status.compacting = True  # which Esc stops first
        said = "".join(words for words, _ in box._hint.pieces(60))
        assert "Esc" not in said
        session.status.compacting = False
        await pilot.press("escape")
        assert app.focused is box.prompt
        assert "send" in "".join(words for words, _ in box._hint.pieces(60))
        session.status.compacting, session.status.running = True, "pytest"
        said = "".join(words for words, _ in box._hint.pieces(60))
        assert "Esc stops the summary" in said


@pytest.mark.parametrize(
    ("keys", "asked"),
    [([], "plain"), (["alt+n"], "command"), (["alt+1"], ""), (["f4"], "")],
)
async def test_what_is_pasted_where_nothing_takes_it_is_in_the_prompt(
    keys: list[str], asked: str
) -> None:
    session = ScriptedSession({"a.py": "one\n"})
    async with running(session) as (app, pilot):
        if asked == "plain":
            session.status.asks.append(Ask(1, "Run make ?", "", ("Run it", "Do not")))
        elif asked:
            session.asks_to_run("make")
        await settled(session, pilot)
        await pilot.press(*keys)
        app.post_message(Paste("yes\n\x1b[2J 1"))
        await settled(session, pilot)
        await pilot.press("!")
        prompt = app.bench.prompt_box.prompt
        assert (prompt.text, app.focused) == ("yes\n␛[2J 1!", prompt)
        assert session.intents == []


async def test_ctrl_c_stops_then_clears_then_leaves(session: ScriptedSession) -> None:
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


async def test_ctrl_c_copies_what_is_selected_in_the_editor() -> None:
    session = ScriptedSession({"a.py": "one\ntwo\n"})
    async with running(session) as (app, pilot):
        session.submit(OpenFile("a.py"))
        await settled(session, pilot)
        await pilot.press("f6", "ctrl+a", "ctrl+c")
        assert app.clipboard == "one\ntwo\n"


async def test_the_way_behind_the_highest_effort_is_auto(session: ScriptedSession) -> None:
    async with running(session) as (_, pilot):
        session.status.levels, session.status.efforts = {"fast": ("low", "max")}, {"fast": "max"}
        await pilot.press("f3")
        session.status.auto = {"fast": ""}
        await pilot.press("f3")
        assert session.intents[-2:] == [SetEffort("auto"), SetEffort("low")]


async def test_keys_work_from_everywhere(session: ScriptedSession) -> None:
    async with running(session) as (app, pilot):
        for key, intent in (
            ("f2", Switch("deep")),
            ("alt+m", Switch("deep")),
            ("f3", SetEffort("medium")),
            ("f5", Verify()),
            ("alt+v", Verify()),
            ("alt+a", Accept()),
            ("alt+r", Reject()),
            ("alt+u", UndoTurn()),
            ("alt+s", SendFailure()),
        ):
            for place in (app.bench.prompt_box.prompt, app.bench.transcript):
                session.intents.clear()
                session.status.role = "fast"
                place.focus()
                await pilot.press(key)
                assert session.intents == [intent], key


async def test_commands(session: ScriptedSession) -> None:
    async with running(session) as (app, pilot):
        for typed, intent in (
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
        ):
            session.intents.clear()
            app.bench.prompt_box.prompt.restore(typed)
            await pilot.press("enter")
            await pilot.pause()
            assert session.intents == [intent], typed


async def test_on_a_narrow_screen_what_a_command_says_in_the_conversation_is_shown(
    session: ScriptedSession,
) -> None:
    async with running(session, size=(80, 24)) as (app, pilot):
        for typed, pane in (
            ("/context", "conversation"),
            ("/pin use tabs", "conversation"),
            ("/ask what is it?", "conversation"),
            ("/verify", "conversation"),
            ("/budget day 0", "editor"),  # which is refused
            ("/effort high", "editor"),
        ):
            app.bench.panes.choose("editor")
            app.bench.prompt_box.prompt.restore(typed)
            await pilot.press("enter")
            await pilot.pause()
            assert app.bench.panes.shown == pane, typed


async def test_a_wrong_command_comes_back_with_a_sentence(session: ScriptedSession) -> None:
    async with running(session) as (app, pilot):
        wrong = (
            "/verfy",
            "/effort huge",
            "/tier so fast",
            "/throttle",
            "/throttle 0",
            "/theme noon",
        )
        for typed in wrong:
            app.bench.prompt_box.prompt.clear()
            app.bench.prompt_box.prompt.restore(typed)
            await pilot.press("enter")
            await pilot.pause()
            assert (session.intents, app.bench.prompt_box.prompt.text) == ([], typed)


async def test_a_question_does_not_take_the_focus_from_a_draft(session: ScriptedSession) -> None:
    async with running(session) as (app, pilot):
        await pilot.press("1")
        session.status.asks = [Ask(7, "Send .env?", "", ("send it", "do not"))]
        await settled(session, pilot)
        await pilot.press("1")
        assert app.bench.prompt_box.prompt.text == "11"
        assert session.intents == []
        await pilot.press("alt+n", "enter")
        assert session.intents == [Answer(7, "do not")]


async def test_escape_refuses_a_question(session: ScriptedSession) -> None:
    async with running(session) as (_, pilot):
        session.status.asks = [Ask(7, "Run it?", "make test", ("run", "do not"))]
        await settled(session, pilot)
        await pilot.press("escape")
        assert session.intents == [Answer(7, "do not")]


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


async def test_an_unsaved_tab_closes_the_second_time(session: ScriptedSession) -> None:
    session.open("ledger/cache.py")
    session.scripted.dirty.add("ledger/cache.py")
    async with running(session) as (app, pilot):
        await pilot.press("f6", "ctrl+w")
        assert session.intents == []
        assert "not saved" in next(iter(app._notifications)).message
        await pilot.press("ctrl+w")
        assert session.intents == [CloseFile("ledger/cache.py")]


async def test_a_prompt_that_was_not_sent_comes_back_each_time(session: ScriptedSession) -> None:
    async with running(session) as (app, pilot):
        prompt = app.bench.prompt_box.prompt
        for _ in range(2):
            await pilot.press("h", "i", "enter")
            session.status.unsent = "hi"
            await settled(session, pilot)
            assert prompt.text == "hi"
            await settled(session, pilot)
            assert prompt.clear_draft()
            await settled(session, pilot)
            assert prompt.text == ""


async def test_an_enter_that_was_meant_for_a_question_does_not_send_what_came_back(
    session: ScriptedSession,
) -> None:
    async with running(session) as (app, pilot):
        session.status.unsent = "make it safe"
        await settled(session, pilot)
        await pilot.press("enter")
        assert (session.intents, app.bench.prompt_box.prompt.text) == ([], "make it safe")
        session.now_s += 1
        await pilot.press("enter")
        assert session.intents == [Prompt("make it safe")]


async def test_what_the_conversation_says_does_not_cover_it(session: ScriptedSession) -> None:
    noted = Trouble("The connection was lost", "gone", "send it again", noted=True)
    async with running(session, (80, 24)) as (app, pilot):
        session.state.trouble(noted)
        await settled(session, pilot)
        assert list(app._notifications) == []
        await pilot.press("f6")
        session.state.trouble(noted)
        await settled(session, pilot)
        assert [(told.title, told.message) for told in app._notifications] == [
            ("The connection was lost", "gone\n→ send it again")
        ]


def footer(app: DuettoApp) -> str:
    return app.bench.query_one("#keys", Bar).render_line(0).text


async def test_it_is_edited_in_the_editor_and_accepted_with_one_key() -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        await pilot.press("alt+j")
        assert "accept hunk" not in footer(app)
        await pilot.press("e")
        await settled(session, pilot)
        assert session.intents == [OpenFile("ledger/cache.py", 7)]
        assert app.bench.pane_actions.in_editor(app.focused)
        assert "Alt+Y accept hunk" in footer(app)
        await pilot.press("x", "alt+y")
        await settled(session, pilot)
        assert session.intents[-1] == Accept((2,))
        assert app.focused is app.bench.transcript
        selected = app.bench.transcript.selection.hunk
        assert selected.id == 3
        assert "accept hunk" not in footer(app)


async def test_a_hunk_that_was_decided_on_meanwhile_is_not_accepted() -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        await pilot.press("alt+j", "e")
        session.workspace.hunks[1].decision = Decision.REJECTED
        await settled(session, pilot)
        assert "accept hunk" not in footer(app)
        await pilot.press("alt+y")
        assert not any(isinstance(intent, Accept) for intent in session.intents)


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
    assert view.path == app.bench.editor.files.active
    line, _ = view.cursor.position
    assert view.top <= line < view.top + editor.size.height
    return view.path, line


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


async def asked(session: ScriptedSession, draft: str = "") -> str:
    """What is said before leaving; empty if nothing is asked."""
    async with running(session) as (app, pilot):
        if draft:
            app.bench.prompt_box.prompt.restore(draft)
        await pilot.press("ctrl+q")
        await pilot.pause()
        if app.screen is app.bench:
            return ""
        return str(app.screen.query_one("#leave-reasons", Static).content)


def queue(session: ScriptedSession) -> None:
    session.status.queued = ["and then the tests", "and then the docs"]


def run(session: ScriptedSession) -> None:
    session.status.running = "sleep [b]5[/b]\x1b[2J"


ODD = "a\x9b31mred\u202egpj.py"


def odd_file(session: ScriptedSession) -> None:
    session.open(ODD)
    session.scripted.dirty.add(ODD)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("set_up", "draft", "said"),
    [
        (lambda session: None, "  \n", ""),
        (lambda session: None, "half a thought", "A draft in the prompt is not sent."),
        (queue, "", "2 queued prompts are not sent."),
        (run, "", "This still runs, and ends with duetto: sleep [b]5[/b]\\x1b[2J."),
        (odd_file, "", "Not saved: a"),
        (
            lambda session: session.hunk(Stage.LANDED, 7),
            "",
            "1 hunk undecided: not on disk, kept for duetto resume.",
        ),
    ],
)
async def test_what_would_be_lost_is_asked_about(
    set_up: Callable[[ScriptedSession], None], draft: str, said: str
) -> None:
    session = ScriptedSession({ODD: "x\n"})
    set_up(session)
    words = await asked(session, draft)
    assert words.startswith(said)
    assert not {"\x9b", "\u202e"} & set(words), "names of files do not act on the terminal"
    assert session.closed.is_set() is not bool(said)


async def test_troubles_are_shown_inert(session: ScriptedSession) -> None:
    async with running(session) as (app, pilot):
        session.state.trouble(Trouble("No [b]way[/b]\x1b[2J"))
        await settled(session, pilot)
        notification = next(iter(app._notifications))
        assert notification.message == "No [b]way[/b]␛[2J"
        assert not notification.markup
