from __future__ import annotations

from tests.support.prompt_rows import hint as words_under
from tests.support.scripted_app import running, scripted_app, settled
from tests.support.scripted_session import ScriptedSession
from tui.engine.notices import Ask
from tui.ui.prompt.hint import tips
from tui.ui.terminal.facts import TerminalFacts
from tui.ui.widgets.bar import Bar

NARROWEST_OF_TWO = (100, 30)
"""The conversation has 46 columns beside the editor."""


async def test_the_suggestion_is_offered_in_full() -> None:
    session = ScriptedSession()
    session.status.prompts = [f"do {number}" for number in range(8)]
    async with running(session, NARROWEST_OF_TWO) as (app, pilot):
        hint = app.bench.query_one("#hint", Bar)
        assert "Tab takes the suggestion · ↓ 1 of 8" in hint.render_line(0).text
        await pilot.press("down")
        assert "↓ 2 of 8" in hint.render_line(0).text


async def test_no_tip_is_cut() -> None:
    session = ScriptedSession()
    async with running(session, NARROWEST_OF_TWO) as (app, pilot):
        hint = app.bench.query_one("#hint", Bar)
        for number, tip in enumerate(tips()):
            assert tip in hint.render_line(0).text
            await pilot.press(*str(number), "enter")


async def test_how_to_answer_is_said_in_full() -> None:
    session = ScriptedSession()
    async with running(session, NARROWEST_OF_TWO) as (app, pilot):
        session.status.asks = [Ask(7, "Send .env?", "It may hold keys.", ("send it", "do not"))]
        await settled(session, pilot)
        assert "Esc refuses · Tab: prompt" in app.bench.query_one("#hint", Bar).render_line(0).text


async def test_how_to_get_to_the_question_is_said_where_a_digit_is_text() -> None:
    session = ScriptedSession()
    async with running(session, NARROWEST_OF_TWO) as (app, pilot):
        session.status.asks = [Ask(7, "Send .env?", "It may hold keys.", ("send it", "do not"))]
        await settled(session, pilot)
        hint = app.bench.query_one("#hint", Bar)
        await pilot.press("tab")
        assert "Shift+Tab answer  the question above" in hint.render_line(0).text
        await pilot.press("shift+tab")
        assert "Esc refuses · Tab: prompt" in hint.render_line(0).text


async def test_a_failed_run_and_a_running_one_say_what_to_press() -> None:
    session = ScriptedSession()
    async with running(session, NARROWEST_OF_TWO) as (app, pilot):
        hint, keys = app.bench.query_one("#hint", Bar), app.bench.query_one("#keys", Bar)
        session.status.running = "pytest -q"
        await settled(session, pilot)
        assert "Esc stops the command" in hint.render_line(0).text
        assert keys.render_line(0).text.startswith(" Esc stop")
        session.status.running, session.status.can_send_failure = "", True
        await settled(session, pilot)
        assert "Alt+S sends the failure" in hint.render_line(0).text
        assert keys.render_line(0).text.startswith(" Alt+S send failure")


async def test_messages_that_wait_come_before_a_suggestion() -> None:
    """A suggestion is sent with one key; the queue would go after it, unlooked for."""
    session = ScriptedSession()
    session.status.prompts = ["do it"]
    session.status.queued = ["and then that"]
    async with running(session, (120, 36)) as (app, _):
        assert "goes to the queue" in app.bench.query_one("#hint", Bar).render_line(0).text


async def test_at_a_long_paste_it_says_how_to_see_it() -> None:
    async with running(ScriptedSession(), NARROWEST_OF_TWO) as (app, pilot):
        hint = app.bench.query_one("#hint", Bar)
        app.bench.prompt_box.prompt.restore("line\n" * 200)
        await pilot.pause()
        assert "Alt+X shows what was pasted" in hint.render_line(0).text
        await pilot.press("space")
        assert "Alt+X" not in hint.render_line(0).text


async def test_enter_is_named_where_its_sign_cannot_be_drawn() -> None:
    """Its stand-in would be the key <: Alt+<."""
    session = ScriptedSession()
    session.status.busy = True
    app = scripted_app(session)
    app.draw_on(TerminalFacts(glyphs="ascii"))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(session, pilot)
        assert words_under(app).startswith("  Enter redirect  Alt+Enter steer  Tab queue")
    async with running(session, (80, 24)) as (app, _):
        assert words_under(app).startswith("  ⏎ redirect  Alt+⏎ steer  Tab queue")
