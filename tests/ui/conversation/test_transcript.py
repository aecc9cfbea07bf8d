from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.support.fakes import World
from tests.support.scripted_app import exercise, running, settled
from tests.support.scripted_session import ScriptedSession
from tui.core.edits.hunk import Hunk, Stage
from tui.core.edits.patches.landing import Landing
from tui.core.turn import Block, BlockKind
from tui.engine.intents import OpenFile, Place
from tui.engine.session import Options
from tui.ui.app import DuettoApp


def shown(app: DuettoApp) -> list[str]:
    """The rows of the conversation that are in sight, without the scroll bar."""
    pane = app.bench.transcript
    rows = (pane.render_line(y).text for y in range(pane.size.height))
    return [row[:-1].rstrip() for row in rows]


async def test_everything_of_a_turn_is_there() -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session, (120, 60)) as (app, _):
        text = "\n".join(shown(app))
    for part in (
        "▌ make the cache safe",
        "↯ fast",
        "∴ thought ▸ Mutations first",
        "one lock",
        "→ read_file ledger/cache.py",
        "1. __init__ makes the lock",
        "with self._lock:",
        "✎ ledger/cache.py",
        "✓ accepted L1",
        "⚑ indentation was changed",
        "$ python -m pytest -q",
        "✗ failed",
        "tests/test_cache.py:14",
    ):
        assert part in text, part


async def test_an_answer_grows_at_its_end_and_stays_in_sight() -> None:
    session = ScriptedSession()
    async with running(session, (80, 24)) as (app, pilot):
        block = session.say("text", speaker="fast", state="open")
        for number in range(60):
            session.stream(block, f"Paragraph {number}.\n\n")
        await settled(session, pilot)
        assert "  Paragraph 59." in shown(app)
        assert app.bench.transcript.follows


async def test_it_stands_still_while_the_user_reads_further_up() -> None:
    session = ScriptedSession()
    async with running(session, (80, 24)) as (app, pilot):
        block = session.say("text", "line\n\n" * 60, speaker="fast", state="open")
        await settled(session, pilot)
        pane = app.bench.transcript
        await pilot.press("pageup")
        top = pane.top
        session.stream(block, "more\n\n" * 10)
        await settled(session, pilot)
        assert pane.top == top
        assert "↓ new" in shown(app)[-1]
        await pilot.click("#transcript", offset=(5, pane.size.height - 1))
        assert pane.follows
        assert "↓ new" not in shown(app)[-1]


async def test_the_wheel_scrolls_and_at_the_end_it_follows_again() -> None:
    session = ScriptedSession()
    session.say("text", "line\n\n" * 60, speaker="fast")
    async with running(session, (80, 24)) as (app, _):
        pane = app.bench.transcript
        pane.scroll_pages(-1)
        assert not pane.follows
        pane.scroll_pages(9)
        assert pane.follows


async def test_an_answer_that_broke_off_makes_room_for_the_new_one() -> None:
    session = ScriptedSession()
    session.say("user", "explain it")
    broken = session.say("text", speaker="fast", state="open")
    async with running(session, (80, 24)) as (app, pilot):
        session.stream(broken, "One lock guards it.\n\n" * 5)
        await settled(session, pilot)
        before = len("\n".join(shown(app)).split("One lock")) - 1
        session.board.close(broken, "failed")
        session.say("text", "One lock guards it.", speaker="fast")
        await settled(session, pilot)
        rows = [row for row in shown(app) if "One lock" in row]
        assert (before, len(rows)) == (5, 2)
        assert rows[0].lstrip().startswith("⋯ One lock")
        assert rows[0].endswith("broke off")
        app.bench.transcript.focus()
        await pilot.press("enter")
        assert len([row for row in shown(app) if "One lock" in row]) == 1 + 5 + 1


async def test_reasoning_unfolds() -> None:
    session = ScriptedSession()
    session.say("reasoning", "First the mutations.\nThen the eviction.", speaker="fast")
    async with running(session) as (app, pilot):
        app.bench.transcript.focus()
        await pilot.press("enter")
        rows = shown(app)
        assert "  ▎ First the mutations." in rows
        assert "  ▎ Then the eviction." in rows
        await pilot.press("enter")
        assert "  ▎ Then the eviction." not in shown(app)


async def test_long_output_is_folded_to_its_end() -> None:
    session = ScriptedSession()
    output = "".join(f"line {number}\n" for number in range(40))
    session.say("run", output, title="make test")
    async with running(session, (120, 60)) as (app, pilot):
        rows = shown(app)
        assert "  │ line 39" in rows
        assert "  │ line 3" not in rows
        assert any("28 more lines" in row for row in rows)
        app.bench.transcript.focus()
        await pilot.press("enter")
        assert "  │ line 3" in shown(app)


async def test_a_click_on_a_traceback_opens_the_file() -> None:
    session = ScriptedSession()
    session.say("run", "ledger/cache.py:8: boom\n", title="pytest", state="failed")
    async with running(session) as (app, pilot):
        at = next(y for y, row in enumerate(shown(app)) if "boom" in row)
        await pilot.click("#transcript", offset=(8, at))
        await pilot.pause()
        assert session.intents == [OpenFile("ledger/cache.py", 7)]


@pytest.mark.parametrize("key", ["a", "enter"])
async def test_an_ambiguous_hunk_is_placed(key: str) -> None:
    session = ScriptedSession()
    session.say("patch", speaker="fast")
    hunk = session.hunk(Stage.CANDIDATES)
    hunk.candidates, hunk.reason = (3, 9), "ambiguous: it fits at lines 4 and 10"
    async with running(session) as (app, pilot):
        await pilot.press("alt+j")
        await pilot.pause()
        view = app.bench.editor.editor.view
        assert view is not None
        assert (view.path, view.cursor.position) == ("ledger/cache.py", (3, 0))
        await pilot.press("right")
        await pilot.pause()
        assert view.cursor.position == (9, 0)
        assert any("2 candidates:  L4 [L10]" in row for row in shown(app))
        app.bench.transcript.focus()
        await pilot.press(key)
        assert session.intents[-1] == Place(1, 9)


async def test_the_candidates_are_seen_in_the_editor_and_the_chosen_one_is_placed() -> None:
    text = "one = 1\nend\n\ntwo = 2\nend\n"
    world = World({"a.py": text}, options=Options(ask=True))
    session = world.session
    app = DuettoApp(session, theme_name="dusk", workspace="/workspace", branch="")
    async with app.run_test(size=(120, 36)) as pilot:
        session._board.add(Block(BlockKind.PATCH, 1, call_id="call", state="done"))
        landing = Landing(session.workspace, turn=1, call_id="call")
        patch = "@@\n-end\n+done\n*** End Patch\n"
        landing.feed(f"*** Begin Patch\n*** Update File: a.py\n{patch}")
        landing.finish(cut=False)
        session._board.hunks_changed()
        await pilot.pause(0.1)
        await pilot.press("alt+j", "left")
        await pilot.pause(0.1)
        assert session.workspace.decorations("a.py", 0, 9) == {1: "candidate", 4: "candidate"}
        view = app.bench.editor.editor.view
        assert view is not None
        assert view.cursor.position == (4, 0)
        await pilot.press("enter")
        await pilot.pause(0.1)
        assert session.workspace.buffers["a.py"].text() == text[:-4] + "done\n"
        assert not any("candidates:" in row for row in shown(app))


async def test_what_was_streamed_of_a_dropped_hunk_is_shown_and_copied() -> None:
    session = ScriptedSession()
    session.say("patch", speaker="fast", state="cut")
    hunk = session.hunk(Stage.DROPPED)
    hunk.agent, hunk.reason = "with self._lock:\n", "incomplete"
    async with running(session) as (app, pilot):
        app.bench.transcript.focus()
        await pilot.press("enter")
        assert any("+with self._lock:" in row for row in shown(app))
        await pilot.press("enter")
        assert not any("+with self._lock:" in row for row in shown(app))
        await pilot.press("e")
        assert app.clipboard == "with self._lock:\n"


async def test_a_new_width_wraps_everything_anew() -> None:
    session = ScriptedSession()
    session.say("text", "word " * 40, speaker="fast")
    async with running(session, (120, 36)) as (app, pilot):
        narrow = len([row for row in shown(app) if "word" in row])
        await pilot.resize_terminal(90, 36)
        await pilot.pause(0.1)
        assert len([row for row in shown(app) if "word" in row]) < narrow
        assert all(len(row) <= 90 for row in shown(app))


async def test_nothing_that_a_model_or_a_program_says_acts() -> None:
    session = ScriptedSession()
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


async def test_a_new_conversation_is_empty_and_says_welcome() -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        session.transcript.blocks.clear()
        session.board.hunks_changed()
        await settled(session, pilot)
        assert any("interruptible" in row for row in shown(app))


async def test_wide_characters_keep_the_columns() -> None:
    session = ScriptedSession()
    session.say("text", "日本語のテキスト" * 20, speaker="fast")
    async with running(session) as (app, _):
        pane = app.bench.transcript
        widths = {pane.render_line(y).cell_length for y in range(pane.size.height)}
        assert widths == {pane.size.width}


async def test_a_long_message_is_folded_to_its_beginning() -> None:
    session = ScriptedSession()
    session.say("user", "\n".join(f"line {number}" for number in range(40)))
    async with running(session, (80, 60)) as (app, pilot):
        assert "  ▌ line 11" in shown(app)
        assert "  ▌ line 12" not in shown(app)
        assert any("28 more lines" in row for row in shown(app))
        await pilot.press("shift+tab", "enter")
        assert "  ▌ line 39" in shown(app)


@pytest.mark.parametrize(
    ("text", "says", "more"),
    [
        ("word = 1\n" * 1_000_000, "999,988 more lines", "998,000 more lines"),
        ("x" * 9_000_000, "of 9,000,000 characters", "of 9,000,000 characters"),
        ("é\tx\n" * 10_000, "9,988 more lines", "8,000 more lines"),
        ("short\n" + "y" * 30_000 + "\nend", "2 more lines", "end"),
    ],
    ids=["lines", "one line", "tabs", "one long line"],
)
async def test_a_very_long_message_is_wrapped_only_as_far_as_it_is_shown(
    text: str, says: str, more: str
) -> None:
    """Wrapping 10 MB held the loop up for 1.8 s."""
    session = ScriptedSession()
    async with running(session, (80, 60)) as (app, pilot):
        session.say("user", text)
        started_s = time.process_time()
        await settled(session, pilot)
        assert time.process_time() - started_s < 0.3
        assert any(says in row for row in shown(app))
        await pilot.press("shift+tab", "enter")
        await settled(session, pilot)
        await pilot.press("end")
        await settled(session, pilot)
        assert any(more in row for row in shown(app))


class CountedHunks(list[Hunk]):
    """Hunks that count how often somebody walks through all of them."""

    walks = 0

    def __iter__(self) -> Iterator[Hunk]:
        self.walks += 1
        return super().__iter__()

    def __reversed__(self) -> Iterator[Hunk]:
        self.walks += 1
        return super().__reversed__()


async def test_finding_what_waits_walks_through_the_hunks_once() -> None:
    session = ScriptedSession()
    session.say("patch", speaker="fast")
    for line in range(200):
        session.hunk(Stage.LANDED, line, added=1)
    async with running(session) as (app, _):
        hunks = CountedHunks(session.workspace.hunks)
        session.workspace.hunks = hunks
        transcript = app.bench.transcript
        assert transcript.select_pending()
        transcript.action_next_hunk(waiting=True)
        assert transcript.has_waiting()
        assert hunks.walks < 20


async def test_a_card_promises_its_keys_only_while_they_reach_it() -> None:
    """In the prompt an `a` is a letter."""
    session = ScriptedSession()
    session.say("patch", speaker="fast")
    session.hunk(Stage.LANDED, 7, added=3, removed=1)
    async with running(session, (120, 40)) as (app, pilot):
        await pilot.press("alt+j")
        await pilot.pause()
        assert any("a accept" in row for row in shown(app))
        await pilot.press("i")
        await pilot.pause()
        assert not any("a accept" in row for row in shown(app))
        await pilot.press("shift+tab")
        await pilot.pause()
        assert any("a accept" in row for row in shown(app))


@pytest.mark.parametrize("reason", ["", "partial: the patch broke off at line 9: what"])
async def test_why_a_patch_broke_off_is_said_once_beside_its_hunks(reason: str) -> None:
    session = ScriptedSession()
    session.say("patch", "broke off: line 9: what", speaker="fast", state="failed")
    session.hunk(Stage.PARTIAL if reason else Stage.LANDED, 3).reason = reason
    async with running(session) as (app, _):
        text = " ".join(row.strip() for row in shown(app))
        assert "L4" in text
        assert text.count("line 9: what") == 1


async def test_up_selects_what_is_in_sight_and_scrolls_through_what_is_only_read() -> None:
    session = ScriptedSession()
    session.say("reasoning", "First the mutations.", speaker="fast")
    session.say("text", "word\n\n" * 60, speaker="fast")
    async with running(session) as (app, pilot):
        pane = app.bench.transcript
        await pilot.press("shift+tab")
        assert pane.marked is None, "what is far above is not jumped to"
        top = pane.top
        await pilot.press("up", "up")
        assert (pane.top, pane.marked) == (top - 2, None)
        await pilot.press("home", "up")
        assert pane.marked is not None
        await pilot.press("end", "up")
        assert pane.top > 3, "a selection that is out of sight is not jumped back to"
