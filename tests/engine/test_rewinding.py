"""Rewind: to before a turn or a hunk and forward again, in one run and over several."""

from __future__ import annotations

import asyncio
import random
import time
from functools import partial
from pathlib import Path

import pytest

from tests.engine.test_project import Own
from tests.engine.test_resuming import Watched
from tests.support.fakes import World, settle
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.stored_sessions import resumed
from tests.support.tables import case
from tests.support.turns import CACHE, begun, notes, texts, update
from tui.core.document.hunk import Decision
from tui.core.session_record import StoredRecord
from tui.effects.store import reading
from tui.effects.store.database import Database
from tui.effects.store.writing import StoreWriter
from tui.engine import intents
from tui.engine.compaction import LANE
from tui.engine.ports import RoleSpec
from tui.engine.resuming import Resumption, up_to
from tui.engine.rewinding import LEAVE, REWIND, TOO
from tui.engine.rewound_files import RewindPlan, preview_words
from tui.engine.session import SessionOptions

BASE = update("cache.py", "-class Cache:", "+class Cache(Base):")
ONE = update("cache.py", "-        return key", "+        return 1")
NEW = "*** Begin Patch\n*** Add File: new.py\n+x = 1\n*** End Patch\n"
GONE = "*** Begin Patch\n*** Delete File: old.py\n*** End Patch\n"
MOVED = update("old.py", "-y = 1", "+y = 2").replace("@@", "*** Move to: moved.py\n@@")
FILES = {"cache.py": CACHE, "old.py": "y = 1\nz = 2\n"}


def told(world: World, what: str) -> None:
    world.session.submit(intents.Prompt(what))


async def a_turn(
    world: World, patch: str, text: str = "do it", *, accept: bool = True, said: str = "Done."
) -> None:
    """A model lands a patch and says so, and the user accepts it."""
    model = await begun(world, text)
    count = len(world.wire.requests)
    model.patch(patch, f"call_{count}")
    model.complete()
    await world.wire.request(count + 1)
    model.answers(said)
    await settle()
    if accept:
        world.session.submit(intents.Accept())
        await settle()


async def rewound(world: World, turn: int, part: intents.Part = "both", hunk: int = 0) -> None:
    world.session.submit(intents.Rewind(turn, hunk, part))
    await settled(world)


async def settled(world: World) -> None:
    await settle()
    while world.session.rewinding.busy and not world.session.status.asks:
        await asyncio.sleep(0)
    await settle()


async def forward(world: World) -> None:
    world.session.submit(intents.Forward())
    await settled(world)


def disk(world: World) -> dict[str, str]:
    return {path: data.decode() for path, data in sorted(world.files.data.items())}


class Runs:
    """One session in a store, in one duetto after the other."""

    def __init__(self, folder: Path, files: dict[str, str]) -> None:
        self.folder = folder
        self.store = StoreWriter(folder, time.monotonic)
        self.world = World(files, options=SessionOptions(ask=True))
        self.world.ports.store = lambda: self.store

    async def begin(self) -> World:
        await self.world.runs()
        return self.world

    async def again(self, *, killed: bool = False) -> World:
        """The next start; ``killed``: the last one had no time to say that it ends."""
        if not killed:
            await self.world.session.close()
        await asyncio.to_thread(self.store.close)
        kept = reading.load(self.folder, self.store.id)
        resumption = Resumption(kept, lambda sha: reading.data(self.folder, sha))
        other = World(self.world.files.data, options=SessionOptions(ask=True, resumed=resumption))
        goes_on = (kept.line.id, kept.seq)
        self.store = StoreWriter(self.folder, time.monotonic, resumed=goes_on)
        other.ports.store = lambda: self.store
        await other.runs()
        self.world = other
        await settled(other)
        return other


async def test_files_and_conversation_go_back_and_come_forward_byte_for_byte() -> None:
    world = World(FILES)
    before = disk(world)
    await a_turn(world, BASE, "first")
    between = disk(world)
    await a_turn(world, ONE, "second")
    await a_turn(world, NEW, "third")
    after = disk(world)
    await rewound(world, 2)
    assert disk(world) == between
    assert world.session.status.unsent == "second"
    model = await begun(world, "and now")
    request = world.wire.requests[-1]
    said = texts(request)
    model.answers("Done.")
    await settle()
    assert "previous_response_id" not in request
    assert any("first" in one for one in said)
    assert not any("second" in one or "third" in one for one in said)
    note = next(one for one in said if "rewound" in one)
    assert "cache.py, new.py are as before that" in note
    await forward(world)
    assert disk(world) == between
    assert "turn 4 came since" in world.session.drain().troubles[-1].why
    await rewound(world, 4)
    world.session.submit(intents.Forward(2))
    await settled(world)
    assert disk(world) == after
    await rewound(world, 1)
    assert disk(world) == before
    await forward(world)
    assert disk(world) == after


async def test_what_was_typed_since_stays() -> None:
    world = World(FILES)
    await a_turn(world, BASE)
    await a_turn(world, ONE)
    world.session.workspace.edit("cache.py", (1, 0), (1, 0), "    # mine\n")
    world.session.submit(intents.SaveFile("cache.py"))
    after = disk(world)
    await rewound(world, 1, "files")
    assert disk(world)["cache.py"] == CACHE.replace("    def", "    # mine\n    def")
    await forward(world)
    assert disk(world) == after


async def test_only_the_files_or_only_the_conversation() -> None:
    world = World(FILES)
    await a_turn(world, BASE, "first")
    after = disk(world)
    await rewound(world, 1, "talk")
    assert disk(world) == after
    assert [turn.rewound for turn in world.session.rewinding.turns()] == [True]
    await forward(world)
    await rewound(world, 1, "files")
    assert disk(world) == FILES
    told(world, "what now")
    said = texts(await world.wire.request(len(world.wire.requests) + 1))
    assert any("first" in one for one in said)
    assert any("rewound the files to before turn 1" in one for one in said)


async def test_to_before_a_hunk_of_a_turn() -> None:
    world = World(FILES)
    await a_turn(
        world,
        update(
            "cache.py",
            "-class Cache:",
            "+class C:",
            "@@",
            "-        return key",
            "+        return 1",
        ),
    )
    plan = await world.session.rewinding.plan(0, 2)
    assert isinstance(plan, RewindPlan)
    assert preview_words(plan)[-1] == "the conversation ends there"
    await rewound(world, 0, "both", hunk=2)
    assert disk(world)["cache.py"] == CACHE.replace("Cache", "C", 1)
    assert [hunk.decision for hunk in world.session.workspace.hunks] == ["accepted", "rejected"]
    told(world, "go on")
    said = texts(await world.wire.request(len(world.wire.requests) + 1))
    assert any("do it" in one for one in said)
    assert any("cache.py is as before hunk 2, with what the user typed" in one for one in said)


async def test_pending_and_cut_hunks_go_and_wait_again() -> None:
    world = World(FILES)
    await a_turn(world, BASE, accept=False)
    await rewound(world, 1)
    assert world.session.workspace.buffers["cache.py"].text() == CACHE
    await forward(world)
    assert "class Cache(Base)" in world.session.workspace.buffers["cache.py"].text()
    assert world.session.workspace.hunks[0].decision is Decision.PENDING


async def test_deleted_and_moved_files_come_back() -> None:
    for patch in (GONE, MOVED):
        world = World(FILES)
        await a_turn(world, patch)
        after = disk(world)
        assert after != FILES
        plan = await world.session.rewinding.plan(1)
        assert isinstance(plan, RewindPlan)
        assert ("old.py", "comes back") in [(one.path, one.words) for one in plan.files]
        await rewound(world, 1)
        assert disk(world) == FILES
        await forward(world)
        assert disk(world) == after


async def test_what_the_preview_says_is_what_comes() -> None:
    world = World(FILES)
    await a_turn(world, BASE)
    await a_turn(world, NEW, accept=False)
    plan = await world.session.rewinding.plan(1)
    assert isinstance(plan, RewindPlan)
    assert {one.path: one.then for one in plan.files} == {"cache.py": CACHE, "new.py": None}
    assert plan.prompts == ["do it", "do it"]
    await rewound(world, 1)
    assert disk(world) == FILES


async def test_a_file_that_others_changed_is_asked_about() -> None:
    for choice in (LEAVE, TOO):
        world = World(FILES, options=SessionOptions(ask=True))
        await world.runs()
        await a_turn(world, BASE)
        await a_turn(world, NEW)
        world.files.data["cache.py"] += b"other = 1\n"
        world.changed_outside("cache.py")
        await settle()
        await rewound(world, 1)
        await world.answers(choice)
        await settled(world)
        assert "new.py" not in disk(world)
        head = "class Cache:" if choice == TOO else "class Cache(Base):"
        assert disk(world)["cache.py"].startswith(head)
        assert disk(world)["cache.py"].endswith("other = 1\n")


async def test_a_file_that_others_change_while_a_rewind_is_asked_about_is_asked_about_too() -> None:
    world = World(FILES, options=SessionOptions(ask=True))
    await world.runs()
    await a_turn(world, BASE)
    world.session.submit(intents.Rewind(1, ask=True))
    await settled(world)
    world.files.data["cache.py"] += b"other = 1\n"
    world.changed_outside("cache.py")
    await settle()
    await world.answers(REWIND)
    await settled(world)
    await world.answers(LEAVE)
    await settled(world)
    assert disk(world)["cache.py"].startswith("class Cache(Base):")


async def test_lines_that_others_wrote_over_a_hunk_and_beside_it_stay() -> None:
    for newline in ("\n", "\r\n"):
        theirs = CACHE.replace("class Cache:", "class Cache(Base):  # theirs")
        theirs = theirs.replace("key", "name").replace("\n", newline)
        world = World(FILES, options=SessionOptions(ask=True))
        await world.runs()
        await a_turn(world, BASE)
        await a_turn(world, NEW)
        world.files.data["cache.py"] = theirs.encode()
        world.changed_outside("cache.py")
        await settle()
        plan = await world.session.rewinding.plan(1)
        assert isinstance(plan, RewindPlan)
        shown = next(one for one in plan.files if one.path == "cache.py")
        assert (shown.then, shown.stays) == (theirs, "hunk 1: lines were changed since")
        await rewound(world, 1)
        await world.answers(TOO)
        await settled(world)
        assert "stays as it is: cache.py: hunk 1: lines were changed since" in notes(world)[-1]
        world.session.submit(intents.SaveFile("cache.py"))
        await settle()
        assert open_texts(world)["cache.py"] == theirs
        assert disk(world) == FILES | {"cache.py": theirs}
        await forward(world)
        assert disk(world) == FILES | {"cache.py": theirs, "new.py": "x = 1\n"}


async def test_line_endings_that_another_program_changed_stay_and_the_hunk_goes() -> None:
    world = World(FILES, options=SessionOptions(ask=True))
    await world.runs()
    await a_turn(world, BASE)
    for newline in ("\r\n", "\n"):
        wrote = disk(world)["cache.py"].replace("\r\n", "\n").replace("\n", newline)
        world.files.data["cache.py"] = wrote.encode()
        world.changed_outside("cache.py")
        await settle()
        await rewound(world, 1)
        await world.answers(TOO)
        await settled(world)
        assert disk(world)["cache.py"] == CACHE.replace("\n", newline)
        await forward(world)
        assert disk(world)["cache.py"] == wrote


async def test_while_an_answer_streams_it_is_refused_in_a_sentence() -> None:
    world = World(FILES)
    await a_turn(world, BASE)
    await begun(world, "more")
    after = disk(world)
    await rewound(world, 1)
    assert disk(world) == after
    assert "an answer streams: stop it first" in world.session.drain().troubles[-1].why


async def test_no_such_turn_no_such_hunk() -> None:
    world = World(FILES)
    assert await world.session.rewinding.plan(1) == "No turn yet."
    await a_turn(world, BASE)
    assert await world.session.rewinding.plan(7) == "There is no turn 7: there are 1 to 1."
    assert await world.session.rewinding.plan(0, 9) == "There is no hunk 9."


async def test_undo_and_redo_take_a_rewind_back() -> None:
    world = World(FILES)
    await a_turn(world, BASE)
    after = disk(world)
    for intent in (intents.RedoDecision(), intents.UndoDecision()):
        await rewound(world, 1)
        assert disk(world) == FILES
        world.session.submit(intent)
        await settled(world)
        assert disk(world) == after


async def test_turns_of_an_earlier_start(tmp_path: Path) -> None:
    runs = Runs(tmp_path, FILES)
    world = await runs.begin()
    await a_turn(world, BASE, "first")
    between = disk(world)
    await a_turn(world, ONE, "second")
    await a_turn(world, GONE, "third")
    await a_turn(world, NEW, "fourth")
    after = disk(world)
    world = await runs.again()
    await rewound(world, 2)
    assert disk(world) == between
    await forward(world)
    assert disk(world) == after
    await rewound(world, 1)
    assert disk(world) == FILES
    world = await runs.again()
    assert disk(world) == FILES
    assert [one.rewound for one in world.session.rewinding.turns()] == [True] * 4
    await forward(world)
    assert disk(world) == after
    told(world, "now")
    said = texts(await world.wire.request(1))
    assert [one for one in said if one in ("first", "second", "third", "fourth")] == [
        "first",
        "second",
        "third",
        "fourth",
    ]


async def test_a_move_of_an_earlier_start_with_what_was_typed_since(tmp_path: Path) -> None:
    runs = Runs(tmp_path, FILES)
    world = await runs.begin()
    await a_turn(world, MOVED)
    world.session.workspace.edit("moved.py", (2, 0), (2, 0), "mine = 3\n")
    world.session.submit(intents.SaveFile("moved.py"))
    after = disk(world)
    world = await runs.again()
    await rewound(world, 1)
    assert disk(world) == FILES | {"old.py": "y = 1\nz = 2\nmine = 3\n"}
    await forward(world)
    assert disk(world) == after


async def test_line_endings_and_blanks_that_changed_since_are_no_conflict(tmp_path: Path) -> None:
    for change in (
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("return 1", "return  1"),
    ):
        runs = Runs(tmp_path / str(id(change)), FILES)
        world = await runs.begin()
        await a_turn(world, ONE)
        world.files.data["cache.py"] = change(disk(world)["cache.py"]).encode()
        wanted = change(CACHE)
        world = await runs.again()
        await rewound(world, 1)
        await world.answers(TOO)
        await settled(world)
        assert disk(world)["cache.py"] == wanted


async def test_lines_that_were_changed_since_stay_and_are_named(tmp_path: Path) -> None:
    runs = Runs(tmp_path, FILES)
    world = await runs.begin()
    await a_turn(world, ONE)
    world.session.workspace.edit("cache.py", (3, 15), (3, 16), "me")
    world.session.submit(intents.SaveFile("cache.py"))
    mine = disk(world)
    world = await runs.again()
    await rewound(world, 1)
    assert disk(world) == mine
    assert any("stays as it is: cache.py: hunk 1" in one for one in notes(world))


async def test_alt_u_after_a_resume_takes_all_of_the_turn_back(tmp_path: Path) -> None:
    runs = Runs(tmp_path, FILES)
    world = await runs.begin()
    await a_turn(world, BASE)
    world = await runs.again()
    world.session.submit(intents.UndoTurn())
    await settled(world)
    assert disk(world) == FILES


async def test_a_hunk_that_waited_in_an_earlier_start_waits_again_after_forward(
    tmp_path: Path,
) -> None:
    runs = Runs(tmp_path, FILES)
    world = await runs.begin()
    await a_turn(world, BASE, accept=False)
    await rewound(world, 1)
    world = await runs.again()
    await forward(world)
    assert world.session.workspace.hunks[0].decision is Decision.PENDING
    world.session.submit(intents.Accept())
    await settle()
    assert "Cache(Base)" in disk(world)["cache.py"]


@pytest.mark.slow
async def test_killed_at_any_record_of_a_rewind_all_is_old_or_new(tmp_path: Path) -> None:
    store = Watched(tmp_path / "first", time.monotonic)
    world = World(FILES, options=SessionOptions(ask=True))
    store.files, store.rows = world.files.data, []
    world.ports.store = lambda: store
    await world.runs()
    await a_turn(world, BASE, "first")
    await a_turn(world, NEW, "second")
    await a_turn(world, GONE, "third")
    old, began = disk(world), len(store.rows)
    await rewound(world, 1)
    await asyncio.to_thread(store.close)
    found = set()
    for count in range(began, len(store.rows) + 1):
        folder = tmp_path / str(count)
        database = Database(folder)
        records = (StoredRecord(n, n, 0.0, r) for n, (r, _) in enumerate(store.rows[:count], 1))
        database.take("killed00", records)
        database.left("killed00")
        database.close()
        kept = reading.load(folder, "killed00")
        resumption = Resumption(kept, partial(reading.data, folder))
        options = SessionOptions(ask=True, resumed=resumption)
        other = World(store.rows[count - 1][1], options=options)
        await other.runs()
        await settled(other)
        told(other, "now")
        said = texts(await other.wire.request(1))
        new = disk(other) == FILES
        with case(f"{count} of {len(store.rows)}: {store.rows[count - 1][0]!r}"):
            assert new or disk(other) == old
            assert ("first" in said, "third" in said) == (not new, not new)
            wanted = Decision.REJECTED if new else Decision.ACCEPTED
            assert {hunk.decision for hunk in other.session.workspace.hunks} == {wanted}
        found.add(new)
    assert found == {True, False}


async def test_any_session_goes_back_as_shown_and_forward_byte_for_byte() -> None:
    for seed in range(12):
        dice = random.Random(seed)
        text = "".join(f"line {n}\n" for n in range(20))
        outside = {"outside.py": "x\n"}
        world = World({f"{name}.py": text for name in "ab"} | outside)
        for turn in range(1, 4):
            path = dice.choice(("a.py", "b.py"))
            row = dice.randrange(18)
            await a_turn(world, landing_at(world, path, row, turn), f"<{turn}>", accept=False)
            for hunk in list(world.session.workspace.hunks):
                if hunk.decidable and dice.random() < 0.8:
                    decide = intents.Accept if dice.random() < 0.7 else intents.Reject
                    world.session.submit(decide((hunk.id,)))
            await settle()
            if dice.random() < 0.6:
                at = (dice.randrange(15), 0)
                world.session.workspace.edit(path, at, at, f"mine {turn}\n")
            world.session.submit(intents.SaveFile(path))
            await settle()
        before, buffers = disk(world), open_texts(world)
        turn = dice.randint(1, 3)
        with case(f"seed {seed}, turn {turn}"):
            plan = await world.session.rewinding.plan(turn)
            assert isinstance(plan, RewindPlan)
            await rewound(world, turn)
            stays = {one.path for one in plan.files if one.stays}
            now = {one.path: open_texts(world).get(one.path) for one in plan.files}
            assert now == {one.path: one.then for one in plan.files if one.path not in stays}
            assert disk(world)["outside.py"] == "x\n"
            mine = [line for t in now.values() for line in (t or "").split("\n") if "mine" in line]
            assert len(mine) == len({*mine})
            await forward(world)
            assert disk(world) == before
            assert open_texts(world) == buffers


def open_texts(world: World) -> dict[str, str]:
    return {path: one.text() for path, one in world.session.workspace.buffers.items()}


def landing_at(world: World, path: str, row: int, turn: int) -> str:
    """A patch that replaces a line of a file, and puts one below it."""
    buffer = world.session.workspace.open(path)
    lines = buffer.lines[:-1]
    row = min(row, len(lines) - 2)
    return update(path, f" {lines[row]}", f"-{lines[row + 1]}", f"+m{turn}.1", f"+m{turn}.2")


async def test_a_file_that_is_no_text_any_more_stays_and_is_not_said_to_be_as_before(
    tmp_path: Path,
) -> None:
    runs = Runs(tmp_path, FILES)
    world = await runs.begin()
    await a_turn(world, BASE)
    await a_turn(world, NEW)
    for data in (b"\0", b"x" * 9_000_000, b"other\n"):
        world.files.data["cache.py"] = data
        world = await runs.again()
        await rewound(world, 1)
        await world.answers(TOO)
        await settled(world)
        assert world.files.data == {"cache.py": data, "old.py": b"y = 1\nz = 2\n"}
        assert "1 file as before: new.py\nstays as it is: cache.py: " in notes(world)[-1]
        await forward(world)
        assert world.files.data["new.py"] == b"x = 1\n"


async def test_a_turn_that_was_taken_out_is_not_certain_in_a_summary() -> None:
    world = World(FILES, roles={"fast": RoleSpec("fast", "quick-1", "main")})
    await a_turn(world, BASE, "the first", said="and so on " * 500)
    await a_turn(world, ONE, "the wrong one")
    await rewound(world, 2)
    await a_turn(world, NEW, "the right one")
    world.session.submit(intents.Compact())
    lane = world.ports.wires("main", LANE)
    await lane.request(1)
    SteppedRehearsal(lane).answers("- nothing")
    await settle()
    text = world.session.compaction().text
    assert "turn 1: the first" in text
    assert "the wrong one" not in text
    assert "return 1" not in text


async def test_forward_after_clear_brings_files_and_says_nothing_of_what_was_cleared() -> None:
    world = World(FILES)
    await a_turn(world, BASE, "the first")
    await a_turn(world, ONE, "the second")
    before = disk(world)
    await rewound(world, 2)
    world.session.submit(intents.NewConversation())
    await settle()
    await forward(world)
    assert disk(world) == before
    assert "what was said was cleared since" in notes(world)[-1]
    await begun(world, "anew")
    assert "the second" not in str(world.wire.requests[-1])


async def test_what_was_told_in_turns_that_went_is_told_again_once() -> None:
    files = {**FILES, "a/AGENTS.md": "rules of a", "a/x.py": "x = 1\n"}
    world = World(files)
    world.ports.project = lambda: Own()
    (await begun(world, "the first")).finishes("yes")
    await settle()
    world.session.submit(intents.Pin("never touch the API"))
    (await begun(world, "look at a/x.py")).finishes("yes")
    await settle()
    for _ in range(2):
        await rewound(world, 2 if "anew" not in str(world.wire.requests[-1]) else 3)
        (await begun(world, "anew, with a/x.py")).finishes("yes")
        await settle()
        request = world.wire.requests[-1]
        assert str(request).count("never touch the API") == 1
        assert str(request).count("rules of a") == 1
    (await begun(world, "and again")).finishes("yes")
    assert "rules of a" not in str(texts(world.wire.requests[-1]))


async def test_what_others_changed_and_was_told_in_turns_that_went_is_told_again_once() -> None:
    world = World({**FILES, "read.py": "x = 1\n"})
    await world.runs()
    model = await begun(world, "the first")
    model.call("read_file", {"path": "read.py"}, "call_r")
    count = len(world.wire.requests)
    model.complete()
    await world.wire.request(count + 1)
    model.answers("Read.")
    await settle()
    world.files.data["read.py"] = b"x = 2\n"
    world.changed_outside("read.py")
    (await begun(world, "the second")).finishes("yes")
    await settle()
    assert "read.py at line 1" in str(texts(world.wire.requests[-1]))
    await rewound(world, 2, "talk")
    (await begun(world, "the second, again")).finishes("yes")
    await settle()
    assert str(texts(world.wire.requests[-1])).count("read.py at line 1") == 1
    await rewound(world, 3, "talk")
    await forward(world)
    (await begun(world, "the third")).finishes("yes")
    assert str(texts(world.wire.requests[-1])).count("read.py at line 1") == 1


@pytest.mark.parametrize("restarted", [False, True])
async def test_what_others_changed_is_told_again_however_often_its_turn_goes(
    tmp_path: Path, restarted: bool
) -> None:
    runs = Runs(tmp_path, {**FILES, "read.py": "x = 1\n"})
    world = await runs.begin()
    model = await begun(world, "the first")
    model.call("read_file", {"path": "read.py"}, "call_r")
    model.complete()
    await world.wire.request(2)
    model.answers("Read.")
    await settle()
    world.files.data["read.py"] = b"x = 2\n"
    world.changed_outside("read.py")
    for prompt in ("the second", "the third", "the fourth"):
        (await begun(world, prompt)).finishes("yes")
        await settle()
        assert str(texts(world.wire.requests[-1])).count("read.py at line 1") == 1
        if restarted:
            world = await runs.again()
        await rewound(world, world.session.last_turn, "talk")


async def test_what_others_changed_is_not_told_again_by_the_next_start(tmp_path: Path) -> None:
    runs = Runs(tmp_path, {**FILES, "read.py": "x = 1\n"})
    world = await runs.begin()
    model = await begun(world, "the first")
    model.call("read_file", {"path": "read.py"}, "call_r")
    model.complete()
    await world.wire.request(2)
    model.answers("Read.")
    await settle()
    for value in (2, 1, 2):
        world.files.data["read.py"] = b"x = %d\n" % value
        world.changed_outside("read.py")
        (await begun(world, "look")).finishes("yes")
        await settle()
    for _ in range(2):
        world = await runs.again()
        (await begun(world, "go on")).finishes("yes")
        await settle()
        assert str(texts(world.wire.requests[-1])).count("read.py at line 1") == 3
    world.files.data["read.py"] = b"x = 3\n"
    world.changed_outside("read.py")
    (await begun(world, "look")).finishes("yes")
    assert "read.py at line 1:\n-x = 2\n+x = 3" in texts(world.wire.requests[-1])[-2]


async def test_notes_that_went_with_a_turn_are_not_sent_twice_after_a_restart(
    tmp_path: Path,
) -> None:
    runs = Runs(tmp_path, FILES)
    world = await runs.begin()
    (await begun(world, "hello")).finishes("yes")
    await settle()
    world.session.submit(intents.PutNote("cache.py", 2, "guard this"))
    await a_turn(world, BASE, "the second")
    await rewound(world, 2)
    assert world.session.status.notes == 1
    world = await runs.again()
    assert world.session.status.notes == 1
    await forward(world)
    assert not world.session.status.notes
    await begun(world, "the third")
    assert str(texts(world.wire.requests[-1])).count("guard this") == 1


async def test_notes_on_lines_that_went_with_a_turn_wait_again_until_it_comes_back() -> None:
    world = World(FILES)
    world.session.submit(intents.PutNote("cache.py", 2, "guard this"))
    await a_turn(world, BASE, "the first")
    assert not world.session.status.notes
    await rewound(world, 1)
    assert world.session.status.notes == 1
    await forward(world)
    assert not world.session.status.notes
    await rewound(world, 1)
    await begun(world, "the first, again")
    assert str(texts(world.wire.requests[-1])).count("guard this") == 1


async def test_a_fork_knows_only_rewinds_of_its_own_turns(tmp_path: Path) -> None:
    runs = Runs(tmp_path, FILES)
    world = await runs.begin()
    for text in ("one", "two", "three"):
        (await begun(world, text)).finishes("yes")
        await settle()
    await rewound(world, 3, "talk")
    await rewound(world, 2, "talk")
    await world.session.close()
    await asyncio.to_thread(runs.store.close)
    kept = reading.load(tmp_path, runs.store.id)
    assert len(kept.rewinds) == 2
    other = await resumed(world, up_to(kept, 1), is_fork=True)
    (await begun(other, "another second one")).finishes("yes")
    await settle()
    assert [one.rewound for one in other.session.rewinding.turns()] == [False, False]
    await forward(other)
    assert "three" not in str(other.session.services.requests.history.entries)


async def test_a_rewind_that_waits_for_an_answer_is_named_to_the_next_one() -> None:
    world = World(FILES)
    await a_turn(world, BASE)
    world.session.submit(intents.Rewind(1, ask=True))
    assert not world.session.at_rest  # from the first moment: a line behind it waits
    await settled(world)
    world.session.submit(intents.Forward())
    (refused,) = world.session.drain().troubles
    assert refused.why == "another rewind is under way, or waits for your answer"
    (ask,) = world.session.status.asks
    world.session.submit(intents.Answer(ask.id, ask.choices[0]))
    await settled(world)
    assert "Base" not in disk(world)["cache.py"]
    await forward(world)
    assert "Base" in disk(world)["cache.py"]
