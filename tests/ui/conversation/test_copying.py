"""What is copied is the source: code without what leads its lines, a hunk's text, a message."""

from __future__ import annotations

import pytest

from tests.support.scripted_app import exercise, running, settled
from tests.support.scripted_session import ScriptedSession
from tui.core.edits.hunk import Stage
from tui.ui.conversation.copying import fenced_code

CODE = "def f(x):\n    return x\n"


@pytest.mark.parametrize(
    "source",
    [
        f"```python\n{CODE}```\n",
        f"~~~\n{CODE}~~~\n",
        f"```python\n{CODE}",
        "```python\r\ndef f(x):\r\n    return x\r\n```\r\n",
        "- ```python\n  def f(x):\n      return x\n  ```\n",
        "> ```python\n> def f(x):\n>     return x\n> ```\n",
        "> 1. ```python\n>    def f(x):\n>        return x\n>    ```\n",
    ],
)
def test_code_is_copied_as_it_is_meant(source: str) -> None:
    assert fenced_code(source, 0) == CODE


async def test_c_copies_the_code_that_is_selected() -> None:
    session = ScriptedSession()
    text = f"Two.\n\n```python\n{CODE}```\n\nand\n\n1. in a list\n\n   ```sh\n   ls -l\n   ```\n"
    session.say("text", text, speaker="fast")
    async with running(session) as (app, pilot):
        await pilot.press("shift+tab", "c")
        assert app.clipboard == "ls -l\n"
        await pilot.press("up", "c")
        assert app.clipboard == CODE
        await pilot.press("C")
        assert app.clipboard == text


@pytest.mark.parametrize("chunk", [1, 7, 700])
async def test_code_is_found_again_in_a_long_answer_that_streamed(chunk: int) -> None:
    session = ScriptedSession()
    text = ("A paragraph of some words.\n\n" * 400) + f"```python\n{CODE}```\n"
    async with running(session) as (app, pilot):
        block = session.say("text", speaker="fast", state="open")
        for at in range(0, len(text), max(chunk, len(text) // 40)):
            session.stream(block, text[at : at + max(chunk, len(text) // 40)])
            app._paint()
        session.board.close(block)
        await settled(session, pilot)
        await pilot.press("shift+tab", "c")
        assert app.clipboard == CODE


async def test_hunks_commands_and_patches_are_copied() -> None:
    session = ScriptedSession()
    exercise(session)
    hunk = session.hunk(Stage.LANDED, 3, added=1)
    hunk.agent = "    lock = 1\n"
    async with running(session, (120, 60)) as (app, pilot):
        await pilot.press("shift+tab")
        app.bench.transcript.select_pending()
        app.bench.transcript.select_pending()
        await pilot.press("n", "n", "c")
        assert app.clipboard == "    lock = 1\n"
        await pilot.press("C")
        assert "@@ ledger/cache.py line 4 @@\n+    lock = 1\n" in app.clipboard
        await pilot.press("end", "J", "down", "down", "down", "c")
        assert app.clipboard.startswith("$ python -m pytest -q\n")


async def test_messages_are_stepped_through_and_copied() -> None:
    session = ScriptedSession()
    for turn in range(40):
        session.say("user", f"prompt {turn}")
        session.say("text", f"answer **{turn}**\n\n" * 9, speaker="fast")
    async with running(session, (120, 30)) as (app, pilot):
        await pilot.press("shift+tab", "K", "K", "c")
        assert app.clipboard == "prompt 39"
        await pilot.press("K", "c")
        assert app.clipboard.startswith("answer **38**")
        await pilot.press("J", "J", "c")
        assert app.clipboard.startswith("answer **39**")
        pane = app.bench.transcript
        rows = [pane.render_line(y).text for y in range(pane.size.height)]
        assert any(row.startswith("▌") and "answer 39" in row for row in rows)


async def test_a_click_selects_a_message_and_its_code() -> None:
    session = ScriptedSession()
    session.say("user", "prompt")
    session.say("text", f"answer\n\n```python\n{CODE}```\n", speaker="fast")
    async with running(session) as (app, pilot):
        pane = app.bench.transcript
        rows = [pane.render_line(y).text for y in range(pane.size.height)]
        await pilot.click(
            "#transcript", offset=(4, rows.index(next(r for r in rows if "answer" in r)))
        )
        await pilot.press("c")
        assert app.clipboard.startswith("answer\n")
        await pilot.click(
            "#transcript", offset=(6, rows.index(next(r for r in rows if "def f" in r)))
        )
        assert app.clipboard == CODE
