"""A session goes on: what was said and decided is there, what waits waits again, nothing twice."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.support.fakes import World, settle
from tests.support.killed_sessions import Script
from tests.support.stored_sessions import changed_since, numbers, resumed, stored
from tests.support.tables import case
from tests.support.turns import CACHE, PATCH, begun, notes, outputs, texts, update
from tui.core.conversation import BlockKind
from tui.core.document.hunk import Decision, Stage
from tui.core.session_record import (
    EntryMade,
    HunkGone,
    HunkMade,
    HunksAre,
    Record,
    StoredRecord,
    StoredSession,
    TurnBegan,
    item_as_json,
    sha_of,
)
from tui.effects.store import reading
from tui.effects.store.database import Database
from tui.effects.store.writing import StoreWriter
from tui.engine import intents
from tui.engine.resuming import BROKEN_OFF, Resumption, up_to
from tui.engine.session import SessionOptions

TWO = update(
    "cache.py",
    "-class Cache:",
    "+class Cache(Base):",
    "@@",
    "-        return key",
    "+        return 1",
)


async def a_turn(world: World, patch: str = TWO) -> None:
    """A model lands a patch and says so."""
    model = await begun(world)
    count = len(world.wire.requests)
    model.patch(patch, f"call_{count}")
    model.complete()
    await world.wire.request(count + 1)
    model.answers("Done.")
    await settle()


async def asked(world: World, text: str = "and now") -> dict[str, Any]:
    world.session.submit(intents.Prompt(text))
    return await world.wire.request(len(world.wire.requests) + 1)


async def test_a_session_with_one_hunk_decided_goes_on_with_the_other() -> None:
    world = World({"cache.py": CACHE})
    await a_turn(world)
    world.session.submit(intents.Accept((1,)))
    await settle()
    other = await resumed(world, stored(world, untold=[1]))
    kinds = [b.kind for b in other.session.transcript.blocks]
    assert kinds[: len(world.session.transcript.blocks)] == [
        b.kind for b in world.session.transcript.blocks
    ]
    first, second = other.session.workspace.hunks
    assert (first.decision, second.decision) == (Decision.ACCEPTED, Decision.PENDING)
    assert notes(other)[-1] == "session 7f3k2m00 goes on: 1 turn\n1 hunk waits for you again"
    assert other.session.status.open_paths == ["cache.py"]
    other.session.submit(intents.Accept((2,)))
    await settle()
    assert b"class Cache(Base)" in other.files.data["cache.py"]
    assert b"return 1" in other.files.data["cache.py"]
    request = await asked(other)
    said = "\n".join(texts(request))
    assert texts(request)[-1] == "and now"
    assert "previous_response_id" not in request
    assert "hunk 1 kept, accepted" in said
    assert "hunk 2 kept, accepted" in said
    assert outputs(request)["call_1"]
    assert "make it safe" in said


async def test_what_the_model_knows_already_is_not_said_again() -> None:
    world = World({"cache.py": CACHE})
    await a_turn(world)
    other = await resumed(world, stored(world))
    request = await asked(other)
    assert not [text for text in texts(request) if "Your hunks" in text]


async def test_what_others_changed_meanwhile_is_told_to_both() -> None:
    world = World({"cache.py": CACHE, "other.py": "x = 1\n", "gone.py": "y\n", "key.pem": "k"})
    world.files.private["*.pem"] = "a key"
    await a_turn(world)
    kept = stored(world)
    kept = changed_since(kept, **{"key.pem": sha_of(b"old")})
    world.files.data["other.py"] = b"x = 2\n"
    del world.files.data["gone.py"]
    blobs = {sha_of(b"x = 1\n"): b"x = 1\n", sha_of(b"old"): b"old"}
    other = await resumed(world, kept, blobs=blobs)
    assert notes(other)[-1].endswith("changed on the disk since: other.py, gone.py, key.pem")
    said = "\n".join(texts(await asked(other)))
    assert "other.py at line 1:\n-x = 1\n+x = 2" in said
    assert "gone.py is gone" in said
    assert "pem" not in said


async def test_what_others_changed_in_files_that_the_model_only_read_is_told_once() -> None:
    world = World({"cache.py": CACHE, "read.py": "x = 1\n", "same.py": "y\n", "part.py": "z\n"})
    model = await begun(world)
    for path in ("read.py", "same.py", "cache.py"):
        model.call("read_file", {"path": path}, path)
    model.call("read_file", {"path": "part.py", "start": 1, "end": 1}, "part")
    model.patch(PATCH, "call_p")
    model.complete()
    await world.wire.request(2)
    model.answers("Read.")
    await settle()
    kept = stored(world)
    files = {"cache.py": kept.files["cache.py"]}
    world.files.data |= {"read.py": b"x = 2\n", "part.py": b"other\n"}
    other = await resumed(world, replace(kept, files=files))
    said = "\n".join(texts(await asked(other)))
    told = "Another program changed this on the disk; the user did not:\nread.py at line 1:"
    assert f"{told}\n-x = 1\n+x = 2" in said
    assert not any(name in said for name in ("same.py at", "part.py at", "cache.py at"))


async def test_a_hunk_that_fits_nowhere_any_more_is_said_and_keeps_its_text() -> None:
    world = World({"cache.py": CACHE})
    await a_turn(world)
    kept = stored(world)
    world.files.data["cache.py"] = b"rewritten\n"
    other = await resumed(world, kept)
    assert "fits nowhere any more: hunk 1 (cache.py), hunk 2 (cache.py)" in notes(other)[-1]
    assert [h.stage for h in other.session.workspace.hunks] == [Stage.CONFLICT] * 2
    said = "\n".join(texts(await asked(other)))
    assert "hunk 1 NOT applied" in said


async def test_undo_of_a_turn_says_what_it_took_back_and_what_stays_on_the_disk() -> None:
    world = World({"cache.py": CACHE})
    await a_turn(world)
    world.session.submit(intents.Accept((1,)))
    await settle()
    other = await resumed(world, stored(world))
    other.session.submit(intents.UndoTurn())
    await settle()
    assert notes(other)[-1].endswith("stays as it is: cache.py: what it was before is not kept")
    text = other.files.data["cache.py"]
    assert b"class Cache(Base)" in text
    assert b"return key" in text
    said = "\n".join(texts(await asked(other)))
    assert "hunk 2" in said
    assert "hunk 1" not in said.partition("Your hunks")[2]


async def test_undo_of_a_turn_does_not_pass_over_one_that_was_accepted_before_the_start() -> None:
    world = World({"cache.py": CACHE})
    await a_turn(world, update("cache.py", "-class Cache:", "+class Cache(Base):"))
    await a_turn(world, update("cache.py", "-        return key", "+        return 1"))
    world.session.submit(intents.Accept((2,)))
    await settle()
    other = await resumed(world, stored(world))
    before, said = dict(other.files.data), len(notes(other))
    other.session.drain()
    other.session.submit(intents.UndoTurn())
    await settle()
    (trouble,) = other.session.drain().troubles
    assert trouble.what == "Not rewound"
    assert trouble.why == "cache.py: what it was before is not kept"
    assert (other.files.data, len(notes(other))) == (before, said)
    waits = {h.id: h.decision for h in other.session.workspace.hunks}
    assert waits == {1: Decision.PENDING, 2: Decision.ACCEPTED}


async def test_what_was_accepted_and_not_written_is_written_now() -> None:
    world = World({"cache.py": CACHE})
    await a_turn(world)
    before = dict(world.files.data)
    world.session.submit(intents.Accept((1, 2)))
    await settle()
    kept = replace(stored(world), unwritten=frozenset({1, 2}))
    world.files.data = before
    other = await resumed(world, kept)
    await settle()
    assert b"class Cache(Base)" in other.files.data["cache.py"]
    assert {h.decision for h in other.session.workspace.hunks} == {Decision.ACCEPTED}
    assert not other.session.workspace.is_dirty("cache.py")


async def test_killed_before_the_model_said_anything_the_prompt_is_given_back() -> None:
    world = World({"cache.py": CACHE})
    await a_turn(world)
    await begun(world, "and make it fast")
    kept = stored(world)
    assert kept.turns[-1].ended is None
    other = await resumed(world, kept)
    assert other.session.status.unsent == "and make it fast"
    assert other.wire.requests == []
    request = await asked(other, "and make it fast")
    assert texts(request).count("and make it fast") == 1


async def test_killed_in_the_middle_of_an_answer_the_model_is_told() -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world)
    key = model.open_text()
    model.say(key, "I begin")
    await settle()
    other = await resumed(world, stored(world))
    assert [b.state for b in other.session.transcript.blocks if b.kind is BlockKind.TEXT] == ["cut"]
    assert not other.session.status.unsent
    said = texts(await asked(other, "go on"))
    assert any("Your last answer broke off, as duetto ended," in text for text in said)
    assert texts(other.wire.requests[-1]).count("make it safe") == 1


async def test_a_command_that_ran_when_duetto_was_killed_is_not_run_again() -> None:
    world = World({"cache.py": CACHE})
    await a_turn(world)
    kept = stored(world)
    call = {"type": "function_call", "name": "shell", "call_id": "call_9", "arguments": "{}"}
    entry = EntryMade(98, 98.0, "output", "main\tquick-1", item_as_json(dict(call)))
    kept = replace(kept, entries=(*kept.entries, entry), running=frozenset({"call_9"}))
    other = await resumed(world, kept)
    assert outputs(await asked(other))["call_9"] == BROKEN_OFF
    assert other.runner.commands == []


async def test_a_command_of_the_background_is_said_to_be_gone_once_and_its_number_with_it() -> None:
    world = World({"cache.py": CACHE})
    world.runner.hold = asyncio.Event()
    model = await begun(world)
    model.call("shell", {"command": "git log", "background": True}, "call_1")
    model.complete()
    await world.wire.request(2)
    model.answers("It runs.")
    await settle()
    other = await resumed(world, replace(stored(world), commands=1))
    gone = "task 1 (git log)"
    assert [text for text in texts(await asked(other)) if gone in text] == [
        f"duetto was started anew; no longer running or readable: {gone}"
    ]
    again = await resumed(world, replace(stored(other), commands=1))
    model = await begun(again, "and now?")
    assert str(again.wire.requests[-1]).count(gone) == 1
    model.call("shell", {"command": "git status", "background": True}, "call_2")
    model.complete()
    request = await again.wire.request(len(again.wire.requests) + 1)
    assert "as task 2" in outputs(request)["call_2"]


async def test_a_fork_has_the_turns_up_to_one_and_none_of_what_came_behind() -> None:
    world = World({"cache.py": CACHE})
    await a_turn(world, PATCH)
    await a_turn(world, update("cache.py", "-class Cache:", "+class Cache(Base):"))
    kept = stored(world)
    begin: StoredSession = up_to(kept, 1)
    assert [hunk.id for hunk in begin.hunks] == [1]
    assert {b.turn for b in begin.blocks} <= {0, 1}
    assert [e.kind for e in begin.entries].count("prompt") == 1
    other = await resumed(world, begin, is_fork=True)
    assert numbers(other.session.workspace.hunks) == [1]
    assert notes(other)[-1].startswith("a new session, from 1 turn of 7f3k2m00")
    assert texts(await asked(other)).count("make it safe") == 1


async def test_a_kill_after_clear_brings_back_neither_the_context_nor_what_was_said(
    tmp_path: Path,
) -> None:
    store = StoreWriter(tmp_path / "data", time.monotonic)
    world = World({"cache.py": CACHE})
    world.ports.store = lambda: store
    await world.runs()
    await settle()
    model = await begun(world)
    model.text("It is safe.")
    model.complete(50)
    await settle()
    assert world.session.meter.view(world.session.now()).context_tokens
    await store.settled()
    kept = reading.load(tmp_path / "data", store.id)
    other = await resumed(world, kept)
    assert other.session.meter.view(other.session.now()).context_tokens == 150
    world.session.submit(intents.NewConversation())
    await asyncio.to_thread(store.close)  # nothing more is said to it
    for head in (True, False):
        folder = tmp_path / "data"
        kept = reading.begin(folder, store.id)[0] if head else reading.load(folder, store.id)
        other = await resumed(world, kept)
        assert other.session.meter.view(other.session.now()).context_tokens is None
        assert not other.session.status.can_continue
        assert "make it safe" not in "\n".join(texts(await asked(other)))


class Watched(StoreWriter):
    """Notes each record, and what lay on the disk when it was made."""

    files: dict[str, bytes]
    rows: list[tuple[Record, dict[str, bytes]]]

    def _add(self, record: Record) -> None:
        self.rows.append((record, dict(self.files)))
        super()._add(record)


async def played(folder: Path, seed: int) -> Watched:
    """All records of a random conversation."""
    script = Script(folder, seed, turns=4)
    store = Watched(folder / "data", time.monotonic)
    store.files, store.rows = script.world.files.data, []
    script.store = store
    script.world.ports.store = lambda: store
    await script.play()
    await script.session.close()
    await asyncio.to_thread(store.close)
    return store


def decisions(records: Iterable[Record]) -> dict[int, Decision]:
    """What the user had said of each hunk."""
    found: dict[int, Decision] = {}
    for record in records:
        if isinstance(record, HunkMade):
            found[record.id] = record.decision
        elif isinstance(record, HunksAre):
            found |= dict.fromkeys(record.ids, record.decision)
        elif isinstance(record, HunkGone):
            found.pop(record.id, None)
    return {one: said for one, said in found.items() if said is not Decision.PENDING}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shown", [1, 100])
async def test_killed_at_any_record_a_session_goes_on(
    tmp_path: Path, seed: int, shown: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_TAIL", shown)
    store = await played(tmp_path, seed)
    dice = random.Random(seed)
    first = next(n for n, (one, _) in enumerate(store.rows) if isinstance(one, TurnBegan))
    for number in range(8):
        count = dice.randrange(first + 1, len(store.rows) + 1)
        records, folder = [one for one, _ in store.rows[:count]], tmp_path / str(number)
        database = Database(folder)
        database.take("killed00", (StoredRecord(n, n, 0.0, r) for n, r in enumerate(records, 1)))
        database.left("killed00")
        database.close()
        kept, rest = await asyncio.to_thread(reading.begin, folder, "killed00")
        data = partial(reading.data, folder)
        options = SessionOptions(ask=True, resumed=Resumption(kept, data, rest=rest))
        world = World(store.rows[count - 1][1], options=options)
        await world.runs()
        await settle()
        with case(f"seed {seed}, {count} of {len(store.rows)}: {records[-1]!r}"):
            said = {h.id: h.decision for h in world.session.workspace.hunks}
            had = decisions(records)
            assert {one: said.get(one) for one in had} == had
            assert world.wire.requests == []
            request = await asked(world, "<go on>")
            items = request["input"]
            calls = Counter(i["call_id"] for i in items if str(i["type"]).endswith("_call"))
            answers = Counter(i["call_id"] for i in items if str(i["type"]).endswith("_output"))
            assert calls == answers
            prompts = [text for text in texts(request) if text.startswith("<")]
            assert len(prompts) == len({*prompts})
            assert world.runner.commands == []
