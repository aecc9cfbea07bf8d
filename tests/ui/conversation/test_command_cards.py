"""Cards of the model's commands: what they say while they run, their keys, how they ended."""

from __future__ import annotations

from textual.pilot import Pilot

from tests.support.scripted_app import running, settled
from tests.support.scripted_session import ScriptedSession
from tests.support.tables import each
from tui.core.conversation import BlockState
from tui.engine.intents import StopTask, ToBackground
from tui.ui.app import DuettoApp


def card(app: DuettoApp) -> list[str]:
    pane = app.bench.transcript
    rows = [pane.render_line(y).text.rstrip(" ▐") for y in range(pane.size.height)]
    begins = next(at for at, row in enumerate(rows) if row.startswith("  $ "))
    return [row[2:] for row in rows[begins:] if row]


async def told(session: ScriptedSession, pilot: Pilot[int], text: str) -> None:
    session.stream(session.transcript.blocks[-1], text)
    await settled(session, pilot)


async def test_it_shows_the_newest_lines_and_counts_the_others_and_the_seconds() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        block = session.runs("make")
        await told(session, pilot, "".join(f"line {number}\n" for number in range(100)))
        session.now_s += 7
        app.bench.transcript.commands._tick()
        rows = card(app)
        assert rows[0].endswith("7 s  running")
        assert "94 more lines" in rows[1]
        assert rows[2:8] == [f"│ line {number}" for number in range(94, 100)]
        # the middle is left out: another text of the same length
        block.say("x" * (block.length - 5) + "\nend\n")
        session.state.changed(block)
        await settled(session, pilot)
        assert "│ end" in card(app)
        session.ran(block, "exit 0 after 9.0 s")
        await settled(session, pilot)
        assert card(app)[0].endswith("9.0 s  ✓ exit 0")
        assert not any("[exit" in row or "stop" in row for row in card(app))


async def test_output_without_a_line_break_and_with_signs_for_the_terminal_stays_small() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        session.runs("cat /dev/urandom")
        await told(session, pilot, "\x1b]0;evil\x07" * 10_000 + "end")
        rows = card(app)
        assert len(rows) < 8
        assert rows[-2].endswith("nd")
        assert "\x1b" not in "".join(rows)


@each(
    "state, ending, says",
    [
        ("failed", "exit 1 after 0.4 s", "0.4 s  ✗ exit 1"),
        ("cut", "stopped after 1.2 s", "1.2 s  ■ stopped"),
        ("failed", "stopped at its deadline of 60 s", "✗ stopped at its deadline of 60 s"),
    ],
)
async def test_it_says_how_it_ended(state: BlockState, ending: str, says: str) -> None:
    session = ScriptedSession()
    async with running(session, (160, 36)) as (app, pilot):
        session.ran(session.runs("make"), ending, state)
        await settled(session, pilot)
        assert card(app)[0].endswith(says)


async def test_keys_act_on_the_selected_command_and_are_text_elsewhere() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        session.runs("make serve", background=True)
        session.runs("make test")
        await settled(session, pilot)
        await pilot.press("alt+1", "b", "up", "s", "b")
        assert session.intents == [ToBackground(2), StopTask(1)]
        assert app.bench.prompt_box.prompt.text == "b", "one in the background cannot go there"


async def test_a_click_on_its_words_does_what_they_say() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        session.runs("make")
        await settled(session, pilot)
        pane = app.bench.transcript
        for words in ("b background", "s stop"):
            texts = [pane.render_line(y).text for y in range(pane.size.height)]
            y = next(at for at, text in enumerate(texts) if words in text)
            await pilot.click(pane, (texts[y].index(words) + 3, y))
            await settled(session, pilot)
        assert session.intents == [ToBackground(1), StopTask(1)]


async def test_the_list_of_all_leads_to_a_card_and_stops_what_runs() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        session.runs("make serve", background=True)
        session.ran(session.runs("make lint", background=True), "exit 2 after 3.0 s", "failed")
        session.say("text", "word\n\n" * 60)
        app.bench.prompt_box.prompt.restore("/tasks")
        await pilot.press("enter")
        await pilot.pause()
        await pilot.press("s", "down", "s", "enter")
        await pilot.pause()
        assert session.intents == [StopTask(1)], "the other one has ended"
        assert app.screen is app.bench
        assert app.focused is app.bench.transcript
        assert any("make lint" in row for row in card(app))
