"""A session and what is kept of it: the same at every moment, whatever kills it."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from tests.engine import test_continue as continue_
from tests.engine.test_conversation_machine import Conversation
from tests.support.fakes import World
from tests.support.fakes import settle as settled
from tests.support.killed_sessions import Script
from tests.support.turns import CACHE, PATCH, begun, notes, texts
from tui.core.cycles import Cycle
from tui.core.document.hunk import BREAKS, JUDGES, Decision
from tui.core.files import file_blocks
from tui.core.patches.bringing_home import LaneFile
from tui.core.price import Quote
from tui.core.programs import RunResult
from tui.core.session_record import Judged, Record, StoredRecord, StoredSession, TurnBegan
from tui.core.wire.events import Usage
from tui.effects.store import reading
from tui.effects.store.database import Database
from tui.effects.store.writing import StoreWriter, settle
from tui.engine import intents
from tui.engine.lane_session import LaneResult
from tui.engine.ports import RoleSpec
from tui.engine.resuming import Resumption, up_to
from tui.engine.session import Session, SessionOptions
from tui.errors import StoreRefused


def same(session: Session, stored: StoredSession) -> None:
    """What is stored is the session."""
    history = session.services.requests.history
    kept = [(one.kind, one.origin, one.said) for one in stored.entries]
    assert kept == [(one.kind, one.origin, one.item) for one in history.entries]
    blocks = session.transcript.blocks
    assert [(b.at, b.turn, b.kind, b.title, b.speaker, b.state, b.text) for b in stored.blocks] == [
        (n, b.turn, b.kind, b.title, b.speaker, b.state, b.text) for n, b in enumerate(blocks)
    ]
    hunks = session.workspace.hunks
    kept_hunks = [
        (h.id, h.path, h.stage, h.decision, h.base, h.agent, h.words) for h in stored.hunks
    ]
    assert kept_hunks == [
        (h.id, h.path, h.stage, h.decision, h.base, h.agent, h.words) for h in hunks
    ]


class Memory:
    """A store that keeps the records."""

    def __init__(self) -> None:
        self.id, self.keeps = "memory", True
        self.on_lost: Callable[[], None] = lambda: None
        self.rows: list[StoredRecord] = []

    def put(self, record: Record) -> None:
        self.rows.append(StoredRecord(len(self.rows) + 1, 1000, 1.0, record))

    commit = put

    def blob(self, data: bytes) -> str:
        return "0" * 64

    def forget(self, *, all_sessions: bool = False) -> None:
        self.rows.clear()

    async def durable(self) -> None:
        """There is no disk."""

    async def settled(self) -> None:
        """Nothing is under way."""

    def loaded(self, folder: Path) -> StoredSession:
        database = Database(folder)
        database.take(self.id, self.rows)
        database.close()
        return reading.load(folder, self.id)


class SlowDisk(Memory):
    """A store whose disk takes its time."""

    def __init__(self) -> None:
        super().__init__()
        self.written = asyncio.Event()

    async def durable(self) -> None:
        await self.written.wait()


async def test_a_prompt_is_sent_and_a_command_run_when_the_disk_has_it() -> None:
    store, world = SlowDisk(), World({"a.py": "x = 1\n"})
    world.ports.store = lambda: store
    await world.runs()
    world.session.submit(intents.Prompt("go on"))
    await settled()
    assert any(isinstance(row.record, TurnBegan) for row in store.rows)
    assert world.wire.requests == []
    world.session.submit(intents.RunCommand("make"))
    await settled()
    assert world.runner.commands == []
    store.written.set()
    await world.wire.request(1)
    await settled()
    assert world.runner.commands == ["make"]


async def test_hunks_of_an_answer_that_goes_on_are_kept(tmp_path: Path) -> None:
    """They come again, under their numbers, before the store has heard that they went."""
    store = Memory()
    world = continue_.world_of(continue_.FILE, "custom", "apply_patch")
    world.ports.store = lambda: store
    model = await continue_.stopped(world, "custom", continue_.PATCH[: continue_.CUT])
    await continue_.goes_on(world, model)
    model.opens("second")
    model.sends(continue_.PATCH)
    model.closes()
    await settled()
    assert [hunk.id for hunk in world.session.workspace.hunks] == [1, 2]
    recording = world.session.recording
    assert recording is not None
    recording.close()
    same(world.session, store.loaded(tmp_path))


async def test_what_marks_a_hunk_later_is_kept_but_for_what_one_run_found(tmp_path: Path) -> None:
    store, world = Memory(), World({"cache.py": CACHE})
    world.ports.store = lambda: store
    model = await begun(world)
    model.patch(PATCH, "call_a")
    await settled()
    world.session.drain()
    (hunk,) = world.session.workspace.hunks
    hunk.flags += (JUDGES, f"{BREAKS}test_a")
    world.session.drain()
    recording = world.session.recording
    assert recording is not None
    recording.close()
    (kept,) = store.loaded(tmp_path).hunks
    assert kept.flags == (JUDGES,)


class KeptConversation(Conversation):
    """The same, kept in a store."""

    folder: Path

    def begun(self) -> None:
        self.memory = Memory()
        self.world.ports.store = lambda: self.memory

    def teardown(self) -> None:
        super().teardown()
        if hasattr(self, "world") and self.memory.rows:
            recording = self.world.session.recording
            assert recording is not None
            recording.close()
            same(self.world.session, self.memory.loaded(Path(mkdtemp(dir=self.folder))))


def kept_conversations(folder: Path, examples: int, **more: Any) -> None:
    KeptConversation.folder = folder
    few = settings(max_examples=examples, stateful_step_count=40, database=None, deadline=None)
    run_state_machine_as_test(KeptConversation, settings=settings(few, **more))


def test_what_is_kept_is_the_conversation(tmp_path: Path) -> None:
    kept_conversations(tmp_path, 6, derandomize=True)


@pytest.mark.slow
def test_what_is_kept_is_any_conversation(tmp_path: Path) -> None:
    kept_conversations(tmp_path, int(os.environ.get("CONVERSATIONS", "60")))


async def test_what_is_kept_has_the_hunks_and_what_was_decided(tmp_path: Path) -> None:
    script = Script(tmp_path, 7, turns=6)
    await script.play()
    await script.session.close()
    await script.store.settled()
    same(script.session, reading.load(tmp_path / "data", script.store.id))
    script.store.close()
    assert not list((tmp_path / "data" / "sessions").iterdir())


def seen(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "seen").read_text().split("\n")
    return [json.loads(line) for line in lines[:-1]]


def killed(folder: Path, seed: int, after_s: float) -> float:
    """Play until it is killed, so long after its first request; when that was."""
    command = [sys.executable, "-m", "tests.support.killed_sessions", str(folder), str(seed)]
    folder.mkdir()
    with subprocess.Popen(command) as process:
        while not (folder / "seen").is_file() or not seen(folder):
            assert process.poll() is None
            time.sleep(0.005)
        time.sleep(after_s)
        killed_s = time.monotonic()
        process.send_signal(signal.SIGKILL)
    return killed_s


def everything_seen_is_kept(folder: Path, killed_s: float) -> None:
    """Whatever the world outside saw stands in the store, once."""
    data = folder / "data"
    assert settle(data) == []
    assert not list((data / "sessions").glob("*.log"))
    [line] = reading.sessions(data)
    stored = reading.load(data, line.id)
    database = Database(data)
    with database.changing() as base:
        ran = [one[0] for one in base.execute("SELECT line FROM commands")]
        requests = base.execute("SELECT count(*) FROM requests").fetchone()[0]
        seqs = [one[0] for one in base.execute("SELECT seq FROM events ORDER BY seq")]
    database.close()
    assert len(set(seqs)) == len(seqs)
    world = seen(folder)
    ran_s = min(killed_s, world[-1]["s"])  # on a busy machine it may not have run until the kill
    items = Counter(json.dumps(one.said, sort_keys=True) for one in stored.entries)
    users = Counter(b.text for b in stored.blocks if b.kind == "user")
    assert all(count == 1 for count in users.values())
    words = "".join(b.text for b in stored.blocks)
    decisions = {one.id: str(one.decision) for one in stored.hunks}
    sent = [one["request"] for one in world if "request" in one]
    assert requests in (len(sent), len(sent) + 1)  # it was about to be sent
    for item in (item for request in sent for item in request):
        said = json.dumps(item, sort_keys=True)
        assert items[said] == 1 or (items[said] and "call_id" not in said and "<" not in said), item
    seen_to_run = [one["ran"] for one in world if "ran" in one]
    assert set(seen_to_run) <= set(ran)
    assert len(set(ran)) == len(ran)
    for one in world:
        for number in one.get("accepted", ()):
            assert decisions[number] == "accepted"
        if "said" in one and one["s"] < ran_s - 1.0:
            assert words.count(one["said"]) == 1
    decided = [one["decided"] for one in world if "decided" in one][-1:]
    for number, decision in (decided[0] if decided else {}).items():
        assert decision == "pending" or decisions[int(number)] == decision


def kills(folder: Path, seeds: range) -> None:
    for seed in seeds:
        after_s = random.Random(seed).uniform(0.0, 2.5)
        killed_s = killed(folder / str(seed), seed, after_s)
        everything_seen_is_kept(folder / str(seed), killed_s)


@pytest.mark.slow
def test_a_kill_loses_nothing_that_took_effect(tmp_path: Path) -> None:
    kills(tmp_path, range(2))


@pytest.mark.slow
def test_no_kill_loses_anything_that_took_effect(tmp_path: Path) -> None:
    """``KILLS=300 pytest --timeout=0 -m "" ...`` kills so often."""
    kills(tmp_path, range(100, 100 + int(os.environ.get("KILLS", "15"))))


async def closed(world: World, store: StoreWriter, folder: Path) -> StoredSession:
    """The session ends; what is kept of it."""
    await world.session.close()
    await asyncio.to_thread(store.close)
    return reading.load(folder / "data", store.id)


async def goes_on(
    world: World, stored: StoredSession, folder: Path, *, is_fork: bool = False
) -> tuple[World, StoreWriter]:
    """Another duetto goes on with it, for one turn."""
    line, rest = None if is_fork else (stored.line.id, stored.seq), None
    if not is_fork:
        stored, rest = reading.begin(folder / "data", stored.line.id)
    store = StoreWriter(folder / "data", time.monotonic, resumed=line)
    data = partial(reading.data, folder / "data")
    options = SessionOptions(ask=True, resumed=Resumption(stored, data, is_fork, rest))
    other = World(world.files.data, options=options)
    other.ports.store = lambda: store
    await other.runs()
    (await begun(other, "<one more>")).answers("done")
    await settled()
    return other, store


@pytest.mark.slow
@pytest.mark.parametrize("shown", [1, 100])
@pytest.mark.parametrize("seed", range(3))
async def test_a_resumed_session_is_kept_on_and_nothing_of_it_twice(
    tmp_path: Path, seed: int, shown: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_TAIL", shown)
    script = Script(tmp_path, seed, turns=4)
    await script.play()
    stored = await closed(script.world, script.store, tmp_path)
    other, store = await goes_on(script.world, stored, tmp_path)
    again = await closed(other, store, tmp_path)
    assert again.line.id == stored.line.id
    assert again.seq > stored.seq
    assert again.turns[: len(stored.turns)] == stored.turns
    same(other.session, again)
    assert len(reading.sessions(tmp_path / "data")) == 1


async def test_a_fork_is_kept_as_a_session_of_its_own(tmp_path: Path) -> None:
    script = Script(tmp_path, 5, turns=4)
    await script.play()
    stored = await closed(script.world, script.store, tmp_path)
    other, store = await goes_on(script.world, up_to(stored, 2), tmp_path, is_fork=True)
    fork = await closed(other, store, tmp_path)
    same(other.session, fork)
    assert (fork.line.parent, fork.line.parent_turn) == (stored.line.id, 2)
    assert [one.began for one in fork.turns][:2] == [one.began for one in stored.turns][:2]
    assert [one.turn for one in fork.entries] == sorted(one.turn for one in fork.entries)
    assert reading.load(tmp_path / "data", stored.line.id) == stored


async def test_tabs_cursors_and_the_length_of_the_conversation_are_as_they_were(
    tmp_path: Path,
) -> None:
    store = StoreWriter(tmp_path / "data", time.monotonic)
    world = World({"a.py": "x = 1\n" * 9, "b.py": "y\n", "gone.py": "z\n"})
    world.ports.store = lambda: store
    await world.runs()
    for path in ("a.py", "gone.py", "b.py"):
        world.session.submit(intents.OpenFile(path))
    world.session.cursor("a.py", (4, 2))
    model = await begun(world)
    model.begin()
    for _ in range(4):
        world.clock.advance(0.25)
        model.text("done and more of it ")
    model.complete(41)
    await settled()
    stored = await closed(world, store, tmp_path)
    del world.files.data["gone.py"]
    world.clock.advance(1.0)
    was = world.session.meter.view(world.clock.now())
    context = was.context_tokens
    assert context
    assert was.tokens_s
    options = SessionOptions(resumed=Resumption(stored, lambda sha: None))
    other = World(world.files.data, options=options)
    view = other.session.meter.view(0.0)
    assert view.context_tokens == context
    assert view.state == "done"
    for name in ("tokens", "tokens_s", "ttft_s", "seconds", "last_s", "scale", "tokens_estimated"):
        assert getattr(view, name) == getattr(was, name), name
    other.session.submit(intents.NewConversation())
    assert other.session.meter.view(0.0).state == "idle"
    status = other.session.status
    assert (status.open_paths, status.active_path) == (["a.py", "b.py"], "a.py")
    assert other.session.services.open_files.open_file("a.py").cursor == (4, 2)


async def test_edits_that_were_saved_behind_the_last_request_are_told_after_a_resume_once(
    tmp_path: Path,
) -> None:
    store = StoreWriter(tmp_path / "data", time.monotonic)
    lines = "".join(f"line {n}\n" for n in range(1, 9))
    world = World({"a.py": lines, "b.py": lines, "c.py": lines})
    world.ports.store = lambda: store
    await world.runs()
    for path in ("a.py", "b.py", "c.py"):
        world.session.submit(intents.OpenFile(path))
    (await begun(world, "look")).answers("done")
    await settled()
    for path in ("a.py", "b.py"):
        world.session.workspace.edit(path, (3, 0), (3, 0), "new ")
        world.session.touched(path)
        world.session.submit(intents.SaveFile(path))
        await settled()
        if path == "a.py":
            (await begun(world, "again")).answers("done")
            await settled()
    world.session.workspace.edit("c.py", (3, 0), (3, 0), "not saved ")
    for path in ("a.py", "b.py", "c.py"):
        world.session.submit(intents.CloseFile(path))
    stored = await closed(world, store, tmp_path)
    other, store = await goes_on(world, stored, tmp_path)
    said = "\n".join(texts(other.wire.requests[-1]))
    assert "The user edited meanwhile:\nb.py at line 4:\n-line 4\n+new line 4" in said
    assert said.count("a.py at line 4") == 1, "it was told before the session ended"
    assert "not saved" not in said
    again = await closed(other, store, tmp_path)
    assert again.changes.edits == ()


async def test_lines_that_were_attached_are_the_same_lines_behind_a_resume(tmp_path: Path) -> None:
    """Also behind a second resume, before which the lines were not sent again."""
    store = StoreWriter(tmp_path / "data", time.monotonic)
    world = World({"a.py": "".join(f"line {n}\n" for n in range(1, 9))})
    world.ports.store = lambda: store
    await world.runs()
    (await begun(world, "look at @a.py:4-5")).answers("done")
    await settled()
    world.session.workspace.edit("a.py", (0, 0), (0, 0), "new\nnew\n")
    world.session.submit(intents.SaveFile("a.py"))
    await settled()
    stored = await closed(world, store, tmp_path)
    assert (stored.attached.parts, stored.attached.lines) == ((("a.py", 4, 5, 1),), ((6, 7),))
    again = StoreWriter(tmp_path / "data", time.monotonic, resumed=(stored.line.id, stored.seq))
    options = SessionOptions(resumed=Resumption(stored, {}.get))
    world = World(world.files.data, options=options)
    world.ports.store = lambda: again
    await world.runs()
    stored = await closed(world, again, tmp_path)
    other = World(world.files.data, options=SessionOptions(resumed=Resumption(stored, {}.get)))
    await other.runs()
    (await begun(other, "and now")).answers("done")
    (file,) = file_blocks("\n".join(texts(other.wire.requests[-1])))
    assert (file.attributes["from"], file.text) == ("6", "line 4\nline 5")


@pytest.mark.parametrize("is_fork", [False, True])
async def test_what_is_attached_pinned_and_left_out_outlives_a_resume(
    tmp_path: Path, is_fork: bool
) -> None:
    store = StoreWriter(tmp_path / "data", time.monotonic)
    world = World({"a.py": "x = 1\n" * 9, "b.py": "y = 2\n", "gone.py": "z\n", "c.py": "z\n"})
    world.ports.store = lambda: store
    await world.runs()
    world.session.submit(intents.OpenFile("c.py"))
    (await begun(world, "look at @a.py:2-3 and @gone.py")).answers("done")
    await settled()
    world.session.submit(intents.Pin("b.py"))
    world.session.submit(intents.Pin("never touch the public API"))
    await settled()
    for name in ("c.py", "listing"):
        world.session.submit(intents.DropPart(name))
        await settled()
    world.session.submit(intents.SetEffort("high"))
    stored = await closed(world, store, tmp_path)
    del world.files.data["gone.py"]
    store = StoreWriter(
        tmp_path / "data", time.monotonic, resumed=None if is_fork else (stored.line.id, stored.seq)
    )
    options = SessionOptions(resumed=Resumption(stored, lambda sha: None, is_fork))
    other = World(world.files.data, options=options)
    other.ports.store = lambda: store
    await other.runs()
    assert other.session.status.efforts["fast"] == "high"
    (await begun(other, "and now")).answers("done")
    await settled()
    request = other.wire.requests[-1]
    said = "\n".join(texts(request))
    assert [(one.path, one.attributes.get("from", "")) for one in file_blocks(said)] == [
        ("a.py", "2"), ("b.py", "")]  # fmt: skip
    assert said.count("never touch the public API") == 1
    assert "are not listed here" in request["instructions"]
    assert "attached before, cannot be read now: gone.py" in "\n".join(notes(other))
    # and what is kept then says so again
    other.session.submit(intents.DropPart("b.py"))
    await settled()
    again = await closed(other, store, tmp_path)
    assert again.attached.parts == (("a.py", 2, 3, 1), ("b.py", 0, 0, 1))
    assert "b.py" in again.attached.dropped, "attached, but not sent"
    assert again.attached.pins == ("never touch the public API",)
    assert again.attached.untold == ()
    assert again.efforts.of[0] == ("fast", "quick-1", "high")


@pytest.mark.parametrize(
    ("at", "old", "text"),
    [(23, 0, "  # mine"), (8, 4, "async with"), (23, 0, "\n            # more"), (0, 23, "")],
)
async def test_what_was_typed_inside_a_hunk_that_waits_is_there_again(
    tmp_path: Path, at: int, old: int, text: str
) -> None:
    store, world = StoreWriter(tmp_path / "data", time.monotonic), World({"cache.py": CACHE})
    world.ports.store = lambda: store
    await world.runs()
    model = await begun(world)
    model.patch(PATCH, "call_1")
    model.complete()
    await settled()
    workspace = world.session.workspace
    row = workspace.buffers["cache.py"].lines.index(f"{' ' * 8}with self.lock:")
    workspace.edit("cache.py", (row, at), (row, at + old), text)
    lines = [*workspace.buffers["cache.py"].lines]
    kept = await closed(world, store, tmp_path)
    resumption = Resumption(kept, lambda sha: None)
    other = World(world.files.data, options=SessionOptions(resumed=resumption)).session
    assert [*other.workspace.buffers["cache.py"].lines] == lines
    (hunk,) = other.workspace.hunks
    assert (hunk.decision, hunk.agent) == (Decision.PENDING, workspace.hunks[0].agent)


async def test_when_the_store_is_lost_all_is_said_again(tmp_path: Path) -> None:
    script = Script(tmp_path, 6, turns=3)
    await script.play()
    await script.store.settled()
    for path in (tmp_path / "data").glob("store.sqlite3*"):
        path.unlink()
    script.session.submit(intents.Throttle(None))
    with pytest.raises(StoreRefused, match="was replaced by another one"):
        await script.store.settled()
    await settled()
    await script.store.settled()
    stored = await closed(script.world, script.store, tmp_path)
    same(script.session, stored)
    assert [one.began.number for one in stored.turns][:3] == [1, 2, 3]


def cycles_in(folder: Path) -> list[Cycle]:
    """All turns of a store, as statistics see them."""
    with reading.open_store(folder) as base:
        query = f"SELECT {', '.join(Cycle._fields)} FROM turns ORDER BY session, number"
        return [Cycle(*row) for row in base.execute(query)]


async def test_a_cycle_is_measured_from_prompt_to_green(tmp_path: Path) -> None:
    store, world = Memory(), World({"cache.py": CACHE})
    world.ports.store = lambda: store
    await world.runs()
    model = await begun(world)
    model.patch(PATCH, "call_1")
    model.complete()
    await world.wire.request(2)
    model.answers("done")
    await settled()
    world.session.submit(intents.Accept())
    await settled()
    world.runner.first = [RunResult(1, 0.5)]  # and without the hunk it passes
    for verdict, tests in (("failed", ()), ("passed", ()), ("passed", ("test_one",))):
        world.session.submit(intents.Verify(tests=tests))
        await settled()
        assert world.session.status.verdict == verdict
    world.session.submit(intents.Interrupt())  # nothing runs: there is nothing to interrupt
    await settled()
    whole = [row.record for row in store.rows if isinstance(row.record, Judged)]
    assert [one.verdict for one in whole if not one.command] == ["failed", "passed"]
    store.loaded(tmp_path)
    (cycle,) = cycles_in(tmp_path)
    assert (cycle.hunks, cycle.accepted, cycle.interrupts, cycle.timed) == (1, 1, 0, 1)
    assert None not in (cycle.first_s, cycle.hunk_s, cycle.seconds)
    assert None not in (cycle.decided_ms, cycle.accepted_ms, cycle.verdict_ms, cycle.green_ms)


async def test_what_a_lane_did_has_none_of_the_figures_of_the_turn_before(tmp_path: Path) -> None:
    store, world = Memory(), World({"cache.py": CACHE})
    world.ports.store, world.ports.quote = lambda: store, priced
    await world.runs()
    model = await begun(world)
    model.text("done")
    model.complete(50)
    await settled()
    files = {"cache.py": LaneFile(CACHE.encode(), CACHE.replace("1", "2").encode())}
    spec = RoleSpec("deep", "slow-1", "main")
    await world.session.bringing_home.bring(LaneResult("delegate d1", "do it", spec, files))
    await settled()
    stored = store.loaded(tmp_path)
    first, lane = cycles_in(tmp_path)
    assert (first.usd, first.outcome, first.seconds is None) == (0.5, "completed", False)
    assert (lane.model, lane.outcome, lane.hunks) == ("slow-1", "completed", 1)
    assert (lane.usd, lane.tokens_out, lane.seconds, lane.first_s) == (None, None, None, None)
    assert reading.spent(tmp_path, 0, store.id) == (0.5, 0.0)
    ended = stored.turns[-1].ended
    assert ended is not None
    assert ended.figures.tokens_out == first.tokens_out, "a resume shows them as the screen did"


async def priced(endpoint: str, models: Sequence[str], usage: Usage, tier: str) -> Quote:
    return Quote(0.5)
