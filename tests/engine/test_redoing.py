"""A hunk is made anew by the user's words, on a lane of its own, while the review goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from tests.support.fakes import FakeWire, World, settle
from tests.support.judged_runs import TESTS, Files, Judge, judged, read
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.stored_sessions import resumed, stored
from tests.support.turns import begun, land, notes, texts, update
from tui.core.document.hunk import Decision, Hunk
from tui.core.programs import RunResult
from tui.core.run_report import RunCounts, RunReport
from tui.core.wire.events import ErrorEvent
from tui.engine import intents, lane_session
from tui.engine.notices import Status, Trouble
from tui.engine.ports import Abilities, Part, VerifyCommand
from tui.engine.session import reasons_to_stay
from tui.engine.slash import asked

FILES = {"a.py": "".join(f"x{n} = 0\n" for n in range(9)), "b.py": "b = 1\n"}


@pytest.fixture(autouse=True)
def no_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has changed is looked at in the next turn of the event loop."""
    monkeypatch.setattr(lane_session, "FRAME_S", 0.0)


class Review:
    """Two hunks wait, and the server of each lane is at hand."""

    def __init__(self, world: World) -> None:
        self.world, self.session = world, world.session
        land(
            world, update("a.py", "-x2 = 0", "+x2 = 1", " x3 = 0", " x4 = 0", "-x5 = 0", "+x5 = 1")
        )

    @property
    def hunks(self) -> list[Hunk]:
        return self.session.workspace.hunks

    @property
    def text(self) -> str:
        return self.session.workspace.open("a.py").text()

    def redo(self, hunk_id: int, words: str = "use two") -> None:
        self.session.submit(intents.RedoHunk(hunk_id, words))

    async def asked(self, number: int = 1) -> Server:
        """The server of this lane has its request."""
        async with asyncio.timeout(60):
            while len(self.world.lanes) < number:
                await settle()
        wire = self.world.lanes[number - 1]
        await wire.request(1)
        return Server(wire, self)

    async def rests(self) -> None:
        while not self.session.at_rest:
            self.session.drain()
            await settle()
        self.session.drain()


class Server:
    def __init__(self, wire: FakeWire, review: Review) -> None:
        self.wire, self.review = wire, review
        self.model = SteppedRehearsal(wire)
        self.model.begin()

    async def patches(self, patch: str, *, rest: bool = True) -> None:
        """This, and no more; not ``rest``: till the new hunk is there."""
        self.model.patch(patch, "c1")
        self.model.complete()
        await self.wire.request(2)
        hunks = len(self.review.hunks)
        self.model.answers("Done.")
        while len(self.review.hunks) == hunks and not rest:
            self.review.session.drain()
            await settle()
        await (self.review.rests() if rest else settle())


@pytest.fixture
async def review() -> AsyncIterator[Review]:
    world = World(FILES)
    world.verify = None
    yield Review(world)
    await world.session.close()


def replaced(*numbers: int, text: str = "2") -> str:
    lines = [f"x{n} = {text if n in numbers else 1 if n in (2, 5) else 0}\n" for n in range(9)]
    return "".join(lines)


async def test_the_new_hunk_takes_the_place_of_the_old_one(review: Review) -> None:
    review.redo(1, "use two, not one")
    server = await review.asked()
    (request,) = (one for one in texts(server.wire.requests[0]) if "rejected" in one)
    assert "The user rejected that: use two, not one" in request
    assert "Line 3 of a.py was" in request
    assert "-x2 = 0\n+x2 = 1" in request
    assert "x2 = 0\nx3 = 0\nx4 = 0\nx5 = 1" in "\n".join(texts(server.wire.requests[0]))
    assert review.hunks[0].redone == "redoing"
    assert review.text == replaced()
    frames = asyncio.get_running_loop()
    troubles: list[Trouble] = []
    review.session.on_wake = lambda: (
        frames.call_soon(lambda: troubles.extend(review.session.drain().troubles)) and None
    )
    await server.patches(update("a.py", "-x2 = 0", "+x2 = 2"))
    old, other, new = review.hunks
    assert (old.decision, old.words) == (Decision.REJECTED, "use two, not one")
    assert (other.decidable, new.decidable) == (True, True)
    assert (new.call_id, new.turn, new.redone) == (old.call_id, old.turn, "redone from hunk 1")
    assert review.text == replaced(2)
    assert review.world.files.writes == []
    assert not troubles
    review.session.submit(intents.Accept((new.id,)))
    assert b"x2 = 2\nx3 = 0\nx4 = 0\nx5 = 0\n" in review.world.files.data["a.py"]
    await begun(review.world, "go on")
    told = str(review.world.wire.requests[-1]["input"])
    assert "another model made it anew as hunk 3: use two, not one" in told


async def test_undo_and_a_resume_know_both(review: Review) -> None:
    review.redo(1)
    server = await review.asked()
    await server.patches(update("a.py", "-x2 = 0", "+x2 = 2"))
    again = await resumed(review.world, stored(review.world))
    decisions = [(hunk.decision, hunk.call_id) for hunk in again.session.workspace.hunks]
    assert decisions == [(hunk.decision, hunk.call_id) for hunk in review.hunks]
    assert [hunk.redone for hunk in again.session.workspace.hunks] == ["", "", "redone from hunk 1"]
    review.session.submit(intents.Reject((3,)))
    assert review.text == replaced().replace("x2 = 1", "x2 = 0")
    review.session.submit(intents.UndoDecision())
    assert review.text == replaced(2)
    review.session.submit(intents.UndoTurn())
    assert review.text == FILES["a.py"]


async def test_undo_brings_the_old_hunk_back_and_redo_the_new_one(review: Review) -> None:
    review.redo(1, "use two")
    server = await review.asked()
    await server.patches(update("a.py", "-x2 = 0", "+x2 = 2"))
    old, _, new = review.hunks
    for _ in range(2):
        review.session.submit(intents.UndoDecision())
        (trouble,) = review.session.drain().troubles
        assert trouble.what == "Undone: redoing hunk 1 of a.py"
        assert review.text == replaced()
        assert (old.decidable, new.decision) == (True, Decision.REJECTED)
        review.session.submit(intents.RedoDecision())
        review.session.drain()
        assert review.text == replaced(2)
        assert (old.decision, old.words, new.decidable) == (Decision.REJECTED, "use two", True)
    review.session.submit(intents.Accept((new.id,)))
    review.session.submit(intents.UndoDecision())
    review.session.submit(intents.UndoDecision())
    assert review.text == replaced()
    assert b"x2 = 2" not in review.world.files.data["a.py"]


async def test_the_old_hunk_stays_away_where_its_lines_are_others_now(review: Review) -> None:
    review.redo(1)
    server = await review.asked()
    await server.patches(update("a.py", "-x2 = 0", "+x2 = 2"))
    review.session.workspace.edit("a.py", (2, 0), (2, 6), "mine = 3")
    before = review.text
    review.session.submit(intents.UndoDecision())
    (trouble,) = review.session.drain().troubles
    assert trouble.what == "Not undone"
    assert review.text == before
    assert [hunk.decidable for hunk in review.hunks] == [False, True, True]


async def test_several_at_once_while_the_user_types_and_a_turn_runs(review: Review) -> None:
    review.redo(1)
    review.redo(2, "use three")
    first, second = await review.asked(1), await review.asked(2)
    model = await begun(review.world, "more")
    review.session.workspace.edit("a.py", (0, 0), (0, 0), "# typed\n")
    second.model.patch(update("a.py", "-x5 = 0", "+x5 = 3"), "c1")
    second.model.answers("")
    first.model.patch(update("a.py", "-x2 = 0", "+x2 = 2"), "c1")
    first.model.complete()
    await first.wire.request(2)
    first.model.answers("Done.")
    await settle()
    second.model.answers("Done.")
    model.finishes("Done.")
    await review.rests()
    assert review.text == "# typed\n" + replaced(2).replace("x5 = 1", "x5 = 3")


async def test_what_is_changed_elsewhere_is_left_out_and_said(review: Review) -> None:
    review.redo(1)
    server = await review.asked()
    await server.patches(
        update(
            "a.py", "-x2 = 0", "+x2 = 2", " x3 = 0", " x4 = 0", " x5 = 1", "-x6 = 0", "+x6 = 9"
        ).replace("*** End Patch\n", "*** Update File: b.py\n@@\n-b = 1\n+b = 2\n*** End Patch\n")
    )
    assert review.text == replaced(2)
    said = "hunk 1 of a.py is redone: hunk 3; left out: changes of b.py, 1 change elsewhere in a.py"
    assert said in notes(review.world)
    assert not [one for one in review.hunks if one.path == "b.py"]


async def test_a_new_file_is_made_anew_as_a_whole(review: Review) -> None:
    add = "*** Begin Patch\n*** Add File: new.py\n+n = {}\n*** End Patch\n"
    land(review.world, add.format(1), turn=2)
    review.redo(3)
    server = await review.asked()
    assert "A new file, new.py, was proposed" in str(texts(server.wire.requests[0]))
    await server.patches(add.format(2))
    assert review.session.workspace.open("new.py").text() == "n = 2\n"
    assert [one.decision for one in review.hunks[2:]] == [Decision.REJECTED, Decision.PENDING]
    review.session.submit(intents.Reject())
    assert "new.py" not in review.world.files.data


async def test_undo_brings_the_old_new_file_back(review: Review) -> None:
    land(review.world, "*** Begin Patch\n*** Add File: c.py\n+c = 1\n*** End Patch\n")
    review.redo(3, "use two")
    server = await review.asked()
    await server.patches("*** Begin Patch\n*** Add File: c.py\n+c = 2\n*** End Patch\n")
    assert review.session.workspace.open("c.py").text() == "c = 2\n"
    review.session.submit(intents.UndoDecision())
    assert review.session.workspace.open("c.py").text() == "c = 1\n"
    review.session.submit(intents.RedoDecision())
    assert review.session.workspace.open("c.py").text() == "c = 2\n"


async def test_what_the_user_does_with_the_hunk_meanwhile_counts(review: Review) -> None:
    def accept() -> None:
        review.session.submit(intents.Accept((1,)))

    def edit() -> None:
        review.session.workspace.edit("a.py", (5, 0), (5, 0), "y")

    def stop() -> None:
        review.session.submit(intents.StopRedoing(3))

    land(review.world, update("a.py", "-x7 = 0", "+x7 = 1"))
    for number, (act, why) in enumerate(
        [(accept, "it is accepted"), (edit, "its text was changed"), (stop, "you stopped it")], 1
    ):
        review.redo(number)
        server = await review.asked(number)
        act()
        troubles = review.session.drain().troubles
        await settle()
        troubles += review.session.drain().troubles
        assert [(one.what, one.why) for one in troubles] == [(f"Hunk {number} was not redone", why)]
        server.model.interrupted()
        await review.rests()
        assert server.wire.interrupts == 1
        assert not review.session.redoing.at_work
    assert len(review.hunks) == 3
    assert review.hunks[2].redone == "not redone: you stopped it"


async def test_an_answer_without_a_change_keeps_the_hunk(review: Review) -> None:
    review.redo(1)
    server = await review.asked()
    server.model.finishes("I would rather not.")
    await review.rests()
    assert review.hunks[0].decidable
    words = "not redone: the model changed nothing: I would rather not."
    assert review.hunks[0].redone == words
    review.redo(1)
    server = await review.asked(2)
    await server.patches(update("b.py", "-b = 1", "+b = 2"))
    assert "the model made only changes of b.py" in review.hunks[0].redone
    review.redo(1)
    server = await review.asked(3)
    await server.patches(update("a.py", "-x2 = 0", "+x2 = 1"))
    assert review.hunks[0].redone == "not redone: the model made the same change again"
    review.redo(1)
    server = await review.asked(4)
    server.wire.give(ErrorEvent(400, "invalid_request", "it broke"))
    await review.rests()
    assert "it broke" in review.hunks[0].redone
    assert review.text == replaced()


async def test_a_patch_that_fits_nowhere_is_said(review: Review) -> None:
    review.redo(1)
    server = await review.asked()
    await server.patches(update("a.py", "-y = 0", "+y = 2"))
    assert "what the model wrote does not fit" in review.hunks[0].redone


async def test_esc_stops_the_foreground_only(review: Review) -> None:
    review.redo(1)
    server = await review.asked()
    await begun(review.world, "more")
    review.session.submit(intents.Interrupt())
    assert review.world.wire.interrupts == 1
    assert server.wire.interrupts == 0
    assert review.session.redoing.at_work == [1]
    assert "1 hunk is being redone: that ends with duetto." in reasons_to_stay(review.session, "")


async def test_one_after_the_other_behind_the_foreground_where_there_are_no_lanes(
    review: Review,
) -> None:
    review.world.wire.can = Abilities(lanes=False)
    model = await begun(review.world, "more")
    review.redo(1)
    review.redo(2)
    await settle()
    assert [one.redone for one in review.hunks] == ["redoing: waits for its turn"] * 2
    assert list(review.world.wires) == ["main"]
    model.finishes("Done.")
    review.session.drain()
    server = await review.asked()
    assert len(review.world.lanes) == 1
    server.model.finishes("No.")
    await settle()
    server = await review.asked(2)
    server.model.finishes("No.")
    await review.rests()


async def test_it_waits_while_a_model_writes_in_the_file(review: Review) -> None:
    review.redo(1)
    server = await review.asked()
    model = await begun(review.world, "more")
    key = model.open_patch("p1")
    model.patch_delta(key, "*** Begin Patch\n*** Update File: a.py\n@@\n x7 = 0\n-x8 = 0\n+x8 =")
    server.model.patch(update("a.py", "-x2 = 0", "+x2 = 2"), "c1")
    server.model.complete()
    await server.wire.request(2)
    server.model.answers("Done.")
    await settle()
    review.session.drain()
    assert review.hunks[0].decidable
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n x7 = 0\n-x8 = 0\n+x8 = 4\n*** End Patch\n"
    model.patch_delta(key, " 4\n*** End Patch\n")
    model.close_patch(key, "p1", patch)
    model.complete()
    await settle()
    model.answers("Done.")
    await review.rests()
    assert review.text == replaced(2).replace("x8 = 0", "x8 = 4")


async def test_what_cannot_be_made_anew_is_said(review: Review) -> None:
    review.session.submit(intents.Accept((1,)))
    review.redo(1)
    review.redo(2, " ")
    review.redo(9)
    whys = [one.why for one in review.session.drain().troubles]
    assert whys == ["it is not pending", "say what is wrong with it", "there is no such hunk"]
    assert not review.session.redoing.at_work


def test_the_command_says_which_hunk_and_what_is_wrong() -> None:
    asks = {
        "2 use a plain Lock": intents.RedoHunk(2, "use a plain Lock"),
        "stop": intents.StopRedoing(),
        "stop 2": intents.StopRedoing(2),
    }
    assert {line: asked("repair", line, Status()) for line in asks} == asks
    for line in ("", "2", "two words", "stop it"):
        assert "/repair HUNK WORDS" in str(asked("repair", line, Status()))


def part(wanted: Part) -> VerifyCommand | None:
    return TESTS if wanted.changed == ("a.py",) else None


async def test_the_tests_that_belong_to_it_say_what_they_think_of_it() -> None:
    def failing(files: Files) -> list[str]:
        return ["test_a"] if b"x2 = 2" in (files["a.py"] or b"") else []

    world, judge = judged(9, failing)
    world.verify = VerifyCommand(("pytest",), "pytest found", reader=read, part=part)
    review = Review(world)
    for number, value, verdict in ((1, 2, "✗ 1 failed · 9 passed"), (3, 3, "10 passed")):
        review.redo(number)
        server = await review.asked((number + 1) // 2)
        await server.patches(update("a.py", "-x2 = 0", f"+x2 = {value}"))
        assert review.hunks[-1].redone == f"redone from hunk {number} · {verdict}"
    assert isinstance(judge, Judge)
    assert "hunk 3: 1 failed · 9 passed (test_a)" in notes(world)
    assert world.session.status.verdict == ""
    assert b"x5 = 1" in (judge.seen[-1]["a.py"] or b"")
    assert len(judge.seen) == 3, "what failed ran once more, without the new hunk"
    await world.session.close()


@pytest.mark.parametrize("whole", [False, True])
async def test_all_tests_run_where_none_or_all_belong_to_it(whole: bool) -> None:
    """And what other hunks break is not said of it."""

    def failing(files: Files) -> list[str]:
        text = files["a.py"] or b""
        return ["test_a"] * (b"x5 = 1" in text) + ["test_b"] * (b"x2 = 3" in text)

    world, judge = judged(9, failing)
    if not whole:
        world.verify = TESTS
    review = Review(world)
    for number, value, verdict in (
        (1, 2, "9 passed · 1 failed before, too"),
        (3, 3, "✗ 1 failed · 8 passed · 1 failed before, too"),
    ):
        review.redo(number)
        server = await review.asked((number + 1) // 2)
        await server.patches(update("a.py", "-x2 = 0", f"+x2 = {value}"))
        assert review.hunks[-1].redone == f"redone from hunk {number} · {verdict}"
    assert b"x5 = 1" in (judge.seen[0]["a.py"] or b"")
    await world.session.close()


async def test_a_run_that_used_the_disk_says_nothing_of_it() -> None:
    world = World(FILES)
    world.verify = VerifyCommand(("pytest",), "pytest found")
    world.runner.result = RunResult(0, 0.5, strayed="a.py")
    review = Review(world)
    review.redo(1)
    server = await review.asked()
    await server.patches(update("a.py", "-x2 = 0", "+x2 = 2"))
    assert review.hunks[-1].redone == "redone from hunk 1 · nothing could be judged"
    await world.session.close()


async def test_what_failed_before_is_looked_at_again_when_other_files_were_changed() -> None:
    """What others have mended is no excuse for a hunk that fails in the same test."""

    def failing(files: Files) -> list[str]:
        mended = files["b.py"] == b"mended\n" and b"x2 = 3" not in (files["a.py"] or b"")
        return [] if mended else ["test_a"]

    world, _ = judged(9, failing)
    world.files.data["b.py"] = b"broken\n"
    await world.runs()
    review = Review(world)
    review.redo(1)
    await (await review.asked(1)).patches(update("a.py", "-x2 = 0", "+x2 = 2"))
    assert review.hunks[-1].redone == "redone from hunk 1 · 9 passed · 1 failed before, too"
    world.files.data["b.py"] = b"mended\n"
    world.changed_outside("b.py")
    await settle()
    review.redo(3)
    await (await review.asked(2)).patches(update("a.py", "-x2 = 0", "+x2 = 3"))
    assert review.hunks[-1].redone == "redone from hunk 3 · ✗ 1 failed · 9 passed"
    await world.session.close()


async def test_its_tests_run_beside_no_other_run_and_give_way_to_one_that_is_asked_for() -> None:
    world, judge = judged(9, lambda files: [])
    judge.hold = asyncio.Event()
    review = Review(world)
    world.session.submit(intents.Verify())
    await settle()
    review.redo(1)
    await (await review.asked()).patches(update("a.py", "-x2 = 0", "+x2 = 2"), rest=False)
    assert review.hunks[-1].redone == "redone from hunk 1"
    assert len(judge.seen) == 1, "F5 runs"
    judge.hold.set()
    await review.rests()
    assert review.hunks[-1].redone == "redone from hunk 1 · 10 passed"
    judge.hold.clear()
    review.redo(3)
    await (await review.asked(2)).patches(update("a.py", "-x2 = 0", "+x2 = 3"), rest=False)
    assert review.hunks[-1].redone == "redone from hunk 3 · its tests run"
    world.session.submit(intents.Verify())
    await settle()
    world.session.drain()
    await settle()
    assert judge.running == 1, "F5 alone"
    assert review.hunks[-1].redone == "redone from hunk 3"
    judge.hold.set()
    await review.rests()
    assert review.hunks[-1].redone == "redone from hunk 3 · 10 passed"
    await world.session.close()


async def test_all_tests_run_where_none_that_belongs_to_it_runs() -> None:
    def part(wanted: Part) -> VerifyCommand | None:
        empty = RunReport((), "all tests were deselected", counts=RunCounts())
        return replace(TESTS, reader=lambda output, passed: empty) if wanted.changed else None

    world, judge = judged(9, lambda files: [])
    world.verify = replace(TESTS, part=part)
    review = Review(world)
    review.redo(1)
    await (await review.asked()).patches(update("a.py", "-x2 = 0", "+x2 = 2"))
    assert review.hunks[-1].redone == "redone from hunk 1 · 10 passed"
    assert len(judge.seen) == 2
    await world.session.close()
