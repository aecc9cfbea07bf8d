"""A command of the model that waits for the user's answer, over the prompt."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from tests.support.prompt_rows import hint, keys
from tests.support.scripted_app import running, settled
from tests.support.scripted_session import MAY_ANSWERS, ScriptedSession
from tui.engine.intents import Answer, Interrupt, Prompt
from tui.engine.notices import Ask, Notices
from tui.ui.app import DuettoApp
from tui.ui.prompt.question_box import QuestionBox, answers

DETAIL = "in the workspace\nnot sandboxed"


def rows(app: DuettoApp) -> list[str]:
    box = app.bench.query_one(QuestionBox)
    return [box.render_line(y).text.rstrip() for y in range(box.rows)]


async def asked(session: ScriptedSession, pilot: Pilot[int], *commands: str) -> None:
    for command in commands:
        session.asks_to_run(command, DETAIL)
    await settled(session, pilot)


async def test_who_types_answers_nothing_and_sees_where_it_waits() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await asked(session, pilot, "rm -rf build")
        assert app.focused is app.bench.prompt_box.prompt, "also with nothing typed"
        await pilot.press(*keys("yes, n 1"), "enter")
        assert session.intents == [Prompt("yes, n 1")]
        (row,) = rows(app)
        assert "rm -rf build" in row
        assert row.endswith("Alt+N")
        assert "in the workspace" not in row


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "choice"), [("y", 0), ("s", 1), ("p", 2), ("n", 3), ("enter", 3), ("1", None)]
)
async def test_its_keys_count_when_it_has_the_focus(key: str, choice: int | None) -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await asked(session, pilot, "pytest -q", "git stash")
        await pilot.press("alt+n")
        shown = rows(app)
        assert shown[0].endswith("1 of 2")
        assert shown[1:4] == ["   $ pytest -q", "   in the workspace", "   not sandboxed"]
        await pilot.press(key)
        await pilot.press(key)  # what comes next is not answered by the same key
        said = [one for one in session.intents if isinstance(one, Answer)]
        first = session.status.asks[0].id
        assert said == ([] if choice is None else [Answer(first, MAY_ANSWERS[choice])])


async def test_who_went_elsewhere_stays_there_when_the_question_is_gone() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await asked(session, pilot, "pytest -q")
        await pilot.press("alt+n")
        session.status.asks.clear()
        app.bench.pane_actions.pane("conversation")
        app.bench.prompt_box.sync(Notices(status=True))  # before the question hears of it
        assert app.focused is app.bench.transcript


async def test_a_refusal_has_words_for_the_model() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await asked(session, pilot, "pytest -q")
        await pilot.press("up", "w", *keys("only the cache"), "tab", "w", *keys("!"))
        assert "refuse" in hint(app)
        await pilot.press("enter")
        await settled(session, pilot)
        (ask,) = session.status.asks
        assert session.intents == [Answer(ask.id, MAY_ANSWERS[-1], "only the cache!")]
        assert app.focused is app.bench.prompt_box.prompt


async def test_words_of_a_refusal_that_nobody_waits_for_any_more_are_kept() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await asked(session, pilot, "pytest -q")
        await pilot.press("alt+n", "w", *keys("only one"))
        session.status.asks.clear()
        await settled(session, pilot)
        await pilot.press("!")
        assert app.bench.prompt_box.prompt.text == "only one!"


@pytest.mark.parametrize(
    "size",
    [
        pytest.param((120, 40), marks=pytest.mark.slow),
        (80, 24),
        pytest.param((40, 12), marks=pytest.mark.slow),
    ],
)
async def test_all_of_a_long_command_can_be_seen_and_nothing_in_it_acts(
    size: tuple[int, int],
) -> None:
    command = "".join(f"echo {number} \x1b[2J\u202e\n" for number in range(60)) + "rm -rf ~"
    session = ScriptedSession()
    async with running(session, size) as (app, pilot):
        await asked(session, pilot, command)
        await pilot.press("alt+n")
        seen = set(rows(app))
        assert any("rows" in row and "PgDn" in row for row in seen)
        assert any("Do not run it" in row for row in seen)
        for _ in range(70):
            await pilot.press("pagedown")
            seen |= set(rows(app))
        text = "\n".join(seen)
        assert all(f"echo {number} ␛[2J�" in text for number in range(60))
        assert "     rm -rf ~" in rows(app)
        assert "\x1b" not in text
        assert app.bench.prompt_box.prompt.region.height


async def test_a_click_opens_it_and_only_the_next_one_answers() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await asked(session, pilot, "pytest -q")
        box = app.bench.query_one(QuestionBox)
        await pilot.click(box, (3, 0))
        await settled(session, pilot)
        assert (len(rows(app)) > 5, session.intents) == (True, [])
        at = next(y for y, row in enumerate(rows(app)) if MAY_ANSWERS[0] in row)
        await pilot.click(box, (5, at))
        assert session.intents == [Answer(session.status.asks[0].id, MAY_ANSWERS[0])]


async def test_esc_stops_the_answer_and_never_answers() -> None:
    session = ScriptedSession()
    async with running(session) as (_, pilot):
        await asked(session, pilot, "pytest -q")
        await pilot.press("alt+n", "escape")
        assert session.intents == [Interrupt()]


def test_answers_have_the_keys_that_the_question_gives_them() -> None:
    choices = ("once", "always", "no")
    assert [one.key for one in answers(Ask(1, "", "", choices, "ls", True, "oan"))] == list("oawn")
    assert [one.key for one in answers(Ask(1, "", "", choices))] == list("123")


async def test_enter_with_nothing_typed_lets_a_stopped_answer_go_on() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await pilot.press("enter")
        session.status.can_go_on = True
        await settled(session, pilot)
        assert "go on" in hint(app)
        await pilot.press("x", "backspace", "enter")
        assert session.intents == [Prompt("go on")]
