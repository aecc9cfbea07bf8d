from __future__ import annotations

import pytest

from tests.support.scripted_app import running, settled, until
from tests.support.scripted_session import ScriptedSession
from tui.core.conversation import UNREAD, Block, BlockKind
from tui.core.document.hunk import Stage
from tui.engine.intents import PlaceHunk, Reject
from tui.ui.app import DuettoApp


def shown(app: DuettoApp) -> list[str]:
    """The rows of the conversation that are in sight, without the scroll bar."""
    pane = app.bench.transcript
    rows = (pane.render_line(y).text for y in range(pane.size.height))
    return [row[:-1].rstrip() for row in rows]


async def test_the_hint_of_new_rows_leads_to_the_end(session: ScriptedSession) -> None:
    async with running(session, (80, 24)) as (app, pilot):
        block = session.say("text", "line\n\n" * 60, speaker="fast", state="open")
        await settled(session, pilot)
        await pilot.press("pageup")
        session.stream(block, "more\n\n" * 10)
        await settled(session, pilot)
        assert "↓ new" in shown(app)[-1]
        height = app.bench.transcript.size.height
        await pilot.click("#transcript", offset=(5, height - 1))
        assert app.bench.transcript.viewport.follows
        assert "↓ new" not in shown(app)[-1]


async def test_a_taller_pane_that_shows_the_end_hints_at_nothing_new(
    session: ScriptedSession,
) -> None:
    async with running(session, (80, 20)) as (app, pilot):
        session.say("text", "line\n\n" * 14, speaker="fast", state="open")
        await settled(session, pilot)
        await pilot.press("pageup")
        session.say("note", "one more")
        await settled(session, pilot)
        assert "↓ new" in shown(app)[-1]
        await pilot.resize_terminal(80, 60)
        await settled(session, pilot)
        assert "↓ new" not in shown(app)[-1]
        assert app.bench.transcript.viewport.follows


async def test_an_answer_that_broke_off_makes_room_for_the_new_one() -> None:
    session = ScriptedSession()
    session.say("user", "explain it")
    broken = session.say("text", speaker="fast", state="open")
    async with running(session, (80, 24)) as (app, pilot):
        session.stream(broken, "One lock guards it.\n\n" * 5)
        await settled(session, pilot)
        before = len("\n".join(shown(app)).split("One lock")) - 1
        session.state.close(broken, "failed")
        session.say("text", "One lock guards it.", speaker="fast")
        await settled(session, pilot)
        rows = [row for row in shown(app) if "One lock" in row]
        assert (before, len(rows)) == (5, 2)
        assert rows[0].lstrip().startswith("⋯ One lock")
        assert rows[0].endswith("broke off")
        app.bench.transcript.focus()
        await pilot.press("enter")
        assert len([row for row in shown(app) if "One lock" in row]) == 1 + 5 + 1


@pytest.mark.parametrize("key", ["a", "enter"])
async def test_an_ambiguous_hunk_is_placed(session: ScriptedSession, key: str) -> None:
    session.say("patch", speaker="fast")
    hunk = session.hunk(Stage.CANDIDATES)
    hunk.candidates, hunk.reason = (3, 9), "ambiguous: it fits at lines 4 and 10"
    async with running(session) as (app, pilot):
        await pilot.press("alt+j")
        await pilot.pause()
        view = app.bench.editor.editor.view
        assert (view.path, view.cursor.position) == ("ledger/cache.py", (3, 0))
        await pilot.press("right")
        await pilot.pause()
        assert view.cursor.position == (9, 0)
        assert any("2 candidates:  L4 [L10]" in row for row in shown(app))
        app.bench.transcript.focus()
        await pilot.press(key)
        assert session.intents[-1] == PlaceHunk(1, 9)


async def test_the_hunk_that_breaks_a_test_is_next_and_one_key_rejects_it(
    session: ScriptedSession,
) -> None:
    session.say("patch", speaker="fast")
    for row in (3, 9, 12):
        session.hunk(Stage.LANDED, row)
    session.workspace.hunks[1].flags = ("breaks test_put",)
    async with running(session) as (app, pilot):
        rows = [row for row in shown(app) if "blamed" in row or "✗ breaks test_put" in row]
        assert len(rows) == 2
        await pilot.press("alt+j", "r")
        assert session.intents[-1] == Reject((2,))


async def test_nothing_that_a_model_or_a_program_says_acts(session: ScriptedSession) -> None:
    evil = "\x1b]0;owned\x07 [red]x[/red] \x9b2J \u202e"
    for kind in ("user", "text", "reasoning", "note"):
        session.say(kind, evil, speaker="fast")
    session.say("tool", evil, title=evil, speaker="fast")
    session.say("run", evil, title=evil)
    async with running(session, (120, 60)) as (app, _):
        text = "\n".join(shown(app))
        for character in "\x1b\x07\x9b\u202e":
            assert character not in text
        assert "[red]x[/red]" in text


async def test_what_was_said_earlier_comes_above_what_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where a frame makes a part of it only, and nothing else changes meanwhile."""
    monkeypatch.setattr("tui.ui.conversation.layout._GROWING_S", 0.0001)
    session = ScriptedSession()
    session.state.transcript.blocks.extend([UNREAD] * 400)
    session.say("user", "the newest words")
    earlier = [Block(BlockKind.USER, n, state="done") for n in range(400)]
    for number, block in enumerate(earlier):
        block.append(f"prompt {number}")
    async with running(session, (80, 24)) as (app, pilot):
        await settled(session, pilot)
        assert "the newest words" in "\n".join(shown(app))
        session.state.read_earlier(earlier)
        pane = app.bench.transcript
        await until(pilot, lambda: pane.rows.views[0].block is earlier[0])
        assert "the newest words" in "\n".join(shown(app))
        pane.focus()
        await pilot.pause()
        pane.action_scroll_home()
        await pilot.pause()
        assert "prompt 0" in shown(app)[1]
        assert [view.block for view in pane.rows.views] == session.transcript.blocks
        assert [view.index for view in pane.rows.views] == list(range(401))
