"""Tool calls under each other are one row that counts them; the keys show them all."""

from __future__ import annotations

from textual.pilot import Pilot

from tests.support.scripted_app import running, settled
from tests.support.scripted_session import ScriptedSession
from tui.core.turn import Block
from tui.ui.app import DuettoApp
from tui.ui.conversation.views import duration


def shown(app: DuettoApp) -> list[str]:
    pane = app.bench.transcript
    rows = (pane.render_line(y).text for y in range(pane.size.height))
    return [row[:-1].strip() for row in rows]


async def called(session: ScriptedSession, pilot: Pilot[int], title: str, took_s: float) -> Block:
    block = session.say("tool", title=title, speaker="fast", state="open")
    await settled(session, pilot)
    session.now_s += took_s
    session.stream(block, "42 lines")
    session.board.close(block)
    await settled(session, pilot)
    return block


async def test_a_call_says_how_long_it_took() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await called(session, pilot, "read_file a.py", 1.25)
        assert any(row.startswith("→ read_file a.py · 42 lines") for row in shown(app))
        assert any(row.endswith("1.2 s") for row in shown(app))


async def test_three_calls_are_one_row_that_counts_and_unfolds() -> None:
    session = ScriptedSession()
    session.say("text", "I look around.", speaker="fast")
    async with running(session) as (app, pilot):
        for name in ("read_file a.py", "read_file b.py", "search lock"):
            await called(session, pilot, name, 0.5)
        rows = [row for row in shown(app) if row]
        assert rows[2].startswith("→ 3 calls ▸ 2 read_file · 1 search")
        assert rows[2].endswith("1.5 s")
        assert len(rows) == 3
        running_one = session.say("tool", title="search put", speaker="fast", state="open")
        await settled(session, pilot)
        assert any(row.startswith("… 4 calls ▸ search put") for row in shown(app))
        session.board.close(running_one, "failed")
        session.say("text", "Found it.", speaker="fast")
        await settled(session, pilot)
        assert any("4 calls" in row and "1 failed" in row for row in shown(app))
        await pilot.press("shift+tab", "enter")
        rows = [row for row in shown(app) if row]
        assert [row.split(" · ")[0] for row in rows[3:6]] == [
            "→ read_file a.py",
            "→ read_file b.py",
            "→ search lock",
        ]
        assert rows[6].startswith("✗ search put failed")
        await pilot.press("enter")
        assert len([row for row in shown(app) if row]) == 4


async def test_a_result_that_does_not_fit_is_shown_whole() -> None:
    session = ScriptedSession()
    result = "the whole of a result that is long " * 6
    session.say("tool", result, title="search lock", speaker="fast")
    async with running(session) as (app, pilot):
        assert any(row.endswith("…") for row in shown(app))
        await pilot.press("shift+tab", "enter")
        said = " ".join(row.removeprefix("│ ") for row in shown(app) if row.startswith("│"))
        assert said.split() == result.split()


async def test_rows_agree_however_many_calls_come() -> None:
    session = ScriptedSession()
    async with running(session, (80, 24)) as (app, pilot):
        rows = app.bench.transcript.rows
        for number in range(12):
            session.say("tool", "x", title=f"read_file {number}", speaker="fast")
            await settled(session, pilot)
            assert rows.total == sum(page.height for view in rows.views for page in view.pages)
        session.say("text", "done", speaker="fast")
        for number in range(200):
            session.say("tool", "x", title=f"search {number}", speaker="deep")
        await settled(session, pilot)
        assert any("200 calls" in row for row in shown(app))
        app.bench.transcript.go_to(0)
        assert any("12 calls" in row for row in shown(app))
        assert rows.total == sum(page.height for view in rows.views for page in view.pages)


def test_times_are_said_as_people_say_them() -> None:
    assert [duration(seconds) for seconds in (0.01, 0.42, 12.3, 125)] == [
        "",
        "0.4 s",
        "12 s",
        "2 min 5 s",
    ]
