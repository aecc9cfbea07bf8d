"""A race on the screen: two sides, their clocks, and what can be kept of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.scripted_app import running, until
from tests.support.scripted_session import ScriptedSession
from tui.core.attempts import AttemptPlan, Result
from tui.core.conversation import Block, BlockKind
from tui.core.meter import GhostStretch, MeterView, TurnClocks
from tui.core.patches.bringing_home import LaneFile
from tui.engine.attempts import Attempt, AttemptView
from tui.engine.intents import MakeAttempts, StopAttempts, TakeAttempt
from tui.engine.ports import RoleSpec
from tui.ui.screens.attempts import AttemptScreen, RaceScreen

FAST, DEEP = RoleSpec("fast", "quick-1", "main"), RoleSpec("deep", "slow-1", "main", effort="high")


def side(number: int, spec: RoleSpec, text: bytes, result: Result) -> AttemptView:
    clocks = TurnClocks(100.0, 0.084, 1.5, 2.25)
    row = Attempt(number, spec, "over", changes={"a.py": LaneFile(b"x = 0\n", text)})
    row.clocks, row.judged_s, row.result, row.said = clocks, 103.5, result, "Done."
    meter = MeterView(tokens=400, tokens_s=900.0)
    return AttemptView(row, "passes" if result.passes else "fails", meter, 1, 1, 3.5)


@dataclass
class Shown:
    """The race as the screen reads it."""

    sides: list[AttemptView]
    active: bool = False
    race: bool = True
    asked: str = "make it one"
    said: str = "race: make it one"
    rows: list[Attempt] = field(default_factory=list)

    def views(self) -> list[AttemptView]:
        return self.sides


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_two_sides_with_their_clocks_and_either_is_kept(size: tuple[int, int]) -> None:
    passed, failed = Result(1, "passed", texts=b"1"), Result(2, "failed", texts=b"2")
    left, right = side(1, FAST, b"x = 1\n", passed), side(2, DEEP, b"x = 2\n", failed)
    session = ScriptedSession()
    session.attempts = shown = Shown([left, right], active=True)
    async with running(session, size=size) as (app, pilot):
        app.bench.prompt_box.prompt.restore("/race make it one")
        await pilot.press("enter")
        await pilot.pause()
        [asked] = session.intents
        assert isinstance(asked, MakeAttempts)
        assert asked.plan == AttemptPlan(2, "make it one", ("fast", "deep"), all=True, race=True)
        assert isinstance(app.screen, RaceScreen)
        rows = str(app.screen.report(70)).splitlines()
        assert [words.strip() for words in rows[0].split("│")] == [
            *("1  quick-1", "2  slow-1 · high"),
        ]
        for name, told in (("ttft", "84 ms"), ("first hunk", "1.50 s"), ("last token", "2.25 s")):
            [row] = [row for row in rows if row.startswith(name)]
            assert row.count(told) == 2
        [row] = [row for row in rows if row.startswith("verified")]
        assert [words.split() for words in row.split("│")] == [
            *(["verified", "3.50", "s"], ["judged", "3.50", "s"]),
        ]
        [row] = [row for row in rows if row.startswith("+x = 1")]
        assert "+x = 2" in row
        await pilot.press("2", "escape")
        assert session.intents[1:] == [TakeAttempt(2), StopAttempts()]
        right.attempt.home = "1 hunk in 1 file waits for you"
        assert "taken: 1 hunk" in str(app.screen.report(70))
        shown.active = False
        await pilot.press("escape")
        assert not isinstance(app.screen, RaceScreen)


async def test_a_side_is_looked_into_whole_and_single_hunks_of_it_are_kept() -> None:
    passed, failed = Result(1, "passed", texts=b"1"), Result(2, "failed", texts=b"2")
    line = b"x = 1  # " + b"a line that half of the screen has no room for " * 2 + b"\n"
    left, right = side(1, FAST, line, passed), side(2, DEEP, b"x = 2\n", failed)
    session = ScriptedSession()
    session.attempts = Shown([left, right], rows=[left.attempt, right.attempt])
    async with running(session, size=(120, 40)) as (app, pilot):
        app.bench.prompt_box.prompt.restore("/race show")
        await pilot.press("enter")
        await pilot.pause()
        await pilot.press("left")
        assert isinstance(app.screen, AttemptScreen)
        assert app.screen.box.border_title == "1 · quick-1"
        assert app.screen.box.size.width > 110
        told = " ".join(str(app.screen.report(60)).split())
        assert f"+{' '.join(line.decode().split())}" in told, "a long line goes on in the next row"
        await pilot.press("1", "escape", "right")
        assert isinstance(app.screen, AttemptScreen)
        assert app.screen.box.border_title == "2 · slow-1 · high"
        await pilot.press("q", "q")
        assert app.screen is app.bench
        assert session.intents == [TakeAttempt(1, hunks=(1,))]
        app.bench.prompt_box.prompt.restore("/race show 2")
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, AttemptScreen)
        assert app.screen.box.border_title == "2 · slow-1 · high"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "offers"),
    [
        ((1, 2), "1 / 2 take a side's change · "),
        ((2,), "2 takes its change · "),
        ((), ""),
    ],
)
async def test_only_what_a_side_changed_is_offered(changed: tuple[int, ...], offers: str) -> None:
    passed = Result(1, "passed", texts=b"1")
    sides = [side(1, FAST, b"x = 1\n", passed), side(2, DEEP, b"x = 2\n", passed)]
    for one in sides:
        if one.attempt.number not in changed:
            one.attempt.changes = {}
    session = ScriptedSession()
    session.attempts = Shown(sides, rows=[one.attempt for one in sides])
    async with running(session) as (app, pilot):
        app.bench.prompt_box.prompt.restore("/race show")
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, RaceScreen)
        ways = f"{offers}← → look into it · c copies · Esc closes"
        await until(pilot, lambda: app.screen.query_one("#status-box").border_subtitle == ways)
        await pilot.press("left")
        await pilot.pause()
        takes = "t takes its change · " if 1 in changed else ""
        screen = app.screen
        assert isinstance(screen, AttemptScreen)
        assert screen.box.border_subtitle == f"{takes}c copies · Esc closes"


async def test_a_side_is_offered_when_its_answer_ends() -> None:
    sides = [streaming(1, BlockKind.TEXT), streaming(2, BlockKind.TEXT)]
    session = ScriptedSession()
    session.attempts = Shown(sides, active=True, rows=[one.attempt for one in sides])
    async with running(session) as (app, pilot):
        app.bench.prompt_box.prompt.restore("/race show")
        await pilot.press("enter")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, RaceScreen)
        assert "take" not in (screen.box.border_subtitle or "")
        sides[0].attempt.changes = {"a.py": LaneFile(b"x = 0\n", b"x = 1\n")}
        sides[0].attempt.state = "judging"
        await until(pilot, lambda: "1 takes its change" in (screen.box.border_subtitle or ""))


def streaming(number: int, *kinds: BlockKind) -> AttemptView:
    """A side that goes on: it has said 60 lines, and changed a file."""
    row = Attempt(number, FAST, "answering")
    blocks = [Block(kind, 1) for kind in kinds]
    for block in blocks:
        if block.kind is BlockKind.TEXT:
            block.append("\n".join(f"word {n}" for n in range(60)))
    meter, transcript = SimpleNamespace(clocks=TurnClocks), SimpleNamespace(blocks=blocks)
    lane: Any = SimpleNamespace(
        changes={"a.py": LaneFile(b"x = 0\n", b"x = 1\n")},
        state=SimpleNamespace(meter=meter, transcript=transcript),
    )
    row.lane = lane
    return AttemptView(row, "answering", MeterView(), 0, 0, 1.0)


async def test_while_both_stream_what_is_written_now_is_seen_in_all_the_room_there_is() -> None:
    sides = [streaming(1, BlockKind.TEXT, BlockKind.PATCH), streaming(2, BlockKind.TEXT)]
    session = ScriptedSession()
    session.attempts = Shown(sides, active=True, rows=[one.attempt for one in sides])
    async with running(session, size=(120, 40)) as (app, pilot):
        app.bench.prompt_box.prompt.restore("/race show")
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, RaceScreen)
        rows = [row.split("│") for row in str(app.screen.report(70)).splitlines()]
        assert len(rows) > 30
        assert [words.strip() for words in rows[-1]] == ["+x = 1", "word 59"]
        app.screen.look()
        await pilot.pause()
        assert not app.screen.box.show_vertical_scrollbar


async def test_each_side_is_the_ghost_of_the_other_by_the_time_since_its_own_request() -> None:
    passed, failed = Result(1, "passed", texts=b"1"), Result(2, "failed", texts=b"2")
    lines = b"".join(b"x%d = 1\n" % n for n in range(20))
    left, right = side(1, FAST, lines, passed), side(2, DEEP, lines, failed)
    quick, slow = GhostStretch(100.0, 104.0, 400.0, 1600), GhostStretch(300.0, 340.0, 400.0, 1600)
    left.attempt.clocks = TurnClocks(100.0, 0.0, 1.0, 4.0, 0.0, (quick,))
    right.attempt.clocks = TurnClocks(300.0, 0.0, 9.0, 40.0, 0.0, (slow,))
    assert left.ghost(right) == 0.1, "in the 4 s that this one took"
    assert right.ghost(left) is None, "the other one was done before"
    session = ScriptedSession()
    session.attempts = Shown([left, right])
    async with running(session, size=(80, 40)) as (app, pilot):
        app.bench.prompt_box.prompt.restore("/race show")
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, RaceScreen)
        rows = [row.split("│") for row in str(app.screen.report(70)).splitlines()]
        [at] = [at for at, row in enumerate(rows) if "◆ slow-1 · high was here" in row[0]]
        assert at < len(rows) // 2
        assert not any("◆" in row[1] for row in rows)
