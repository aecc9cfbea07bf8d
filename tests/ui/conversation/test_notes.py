"""What went wrong is a card: what happened, why, and what can be done, with its keys."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.scripted_app import running
from tests.support.scripted_session import ScriptedSession
from tui.ui.app import DuettoApp
from tui.ui.conversation.notes import Failure, failure

WORDS = "The model could not answer: 529 overloaded\nsend the prompt again when that is settled"


def shown(app: DuettoApp) -> list[str]:
    pane = app.bench.transcript
    rows = (pane.render_line(y).text for y in range(pane.size.height))
    return [row[:-1].strip() for row in rows]


def test_the_parts_of_a_failure() -> None:
    assert failure(WORDS) == Failure(
        "The model could not answer", "529 overloaded", "send the prompt again when that is settled"
    )
    assert failure("It broke") == Failure("It broke", "", "")
    assert failure("It broke: a\nb\nnext") == Failure("It broke", "a\nb", "next")


@given(st.text())
def test_nothing_of_a_failure_is_left_out(text: str) -> None:
    said = "".join("".join(failure(text)).split())
    assert (
        said == "".join(text.split())
        or said == "".join(text.replace(":", "", 1).split())
        or (sorted(said) == sorted("".join(text.split()).replace(":", "", 1)))
    )


async def test_a_failure_is_a_card_with_its_next_step_and_keys() -> None:
    session = ScriptedSession()
    session.say("user", "make it safe")
    session.say("note", WORDS, state="failed")
    async with running(session, (120, 30)) as (app, pilot):
        rows = "\n".join(shown(app))
        assert "✗ The model could not answer" in rows
        assert "529 overloaded" in rows
        assert "→ next: send the prompt again" in rows
        assert "F2 the other model" in rows
        await pilot.press("shift+tab", "c")
        assert app.clipboard == WORDS
        await pilot.press("enter")
        assert app.bench.focused is app.bench.prompt_box.prompt


async def test_what_was_only_stopped_is_no_card() -> None:
    session = ScriptedSession()
    session.say("note", "stopped after 512 tokens, 3 ms", state="cut")
    async with running(session) as (app, _):
        assert "╌ stopped after 512 tokens, 3 ms" in shown(app)


async def test_a_card_shows_foreign_words_and_obeys_none() -> None:
    session = ScriptedSession()
    session.say("note", "No [b]way[/b]: \x1b[2J\x9b\u202e\r\n\tnext [red]step", state="failed")
    async with running(session) as (app, _):
        rows = "\n".join(shown(app))
        assert "No [b]way[/b]" in rows
        assert "[red]step" in rows
        assert not set("\x1b\x9b\u202e\r") & set(rows)
