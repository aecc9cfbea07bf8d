from __future__ import annotations

from collections.abc import Callable

import pytest
from textual.widgets import Static

from tests.support.scripted_app import running
from tests.support.scripted_session import ScriptedSession
from tui.ui.app import DuettoApp


async def asked(session: ScriptedSession, draft: str = "") -> str:
    """What is said before leaving; empty if nothing is asked."""
    async with running(session) as (app, pilot):
        if draft:
            app.bench.prompt_box.prompt.restore(draft)
        await pilot.press("ctrl+q")
        await pilot.pause()
        return words(app)


def words(app: DuettoApp) -> str:
    if app.screen is app.bench:
        return ""
    return str(app.screen.query_one("#leave-reasons", Static).content)


async def test_file_names_are_shown_inert() -> None:
    path = "a\x9b31mred\u202egpj.py"
    session = ScriptedSession({path: "x\n"})
    session.open(path)
    session.scripted.dirty.add(path)
    said = await asked(session)
    assert "Not saved: a" in said
    assert "\x9b" not in said
    assert "\u202e" not in said


def queue(session: ScriptedSession) -> None:
    session.status.queued = ["and then the tests", "and then the docs"]


def run(session: ScriptedSession) -> None:
    session.status.running = "sleep [b]5[/b]\x1b[2J"


@pytest.mark.parametrize(
    ("set_up", "draft", "said"),
    [
        (lambda session: None, "half a thought", "A draft in the prompt is not sent."),
        (queue, "", "2 queued prompts are not sent."),
        (run, "", "A command still runs: sleep [b]5[/b]\\x1b[2J."),
    ],
)
async def test_what_would_be_lost_is_asked_about(
    set_up: Callable[[ScriptedSession], None], draft: str, said: str
) -> None:
    session = ScriptedSession()
    set_up(session)
    assert await asked(session, draft) == said
    assert not session.closed.is_set()


async def test_nothing_to_lose_is_no_question() -> None:
    session = ScriptedSession()
    assert await asked(session, "  \n") == ""
    assert session.closed.is_set()
