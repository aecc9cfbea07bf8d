"""Notes on lines go with the next request, once; they outlive the session that has them."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from tests.support.fakes import World
from tests.support.fakes import settle as settled
from tests.support.turns import CACHE, begun, notes, texts
from tui.core.session_record import StoredSession
from tui.effects.store import reading
from tui.effects.store.writing import StoreWriter
from tui.engine import intents
from tui.engine.noting import NO_NOTES, list_words
from tui.engine.resuming import Resumption, up_to
from tui.engine.session import SessionOptions
from tui.engine.slash import DO_THEM, asked
from tui.errors import EndpointError

SECOND = "second"


def put(world: World, line: int, text: str, path: str = "cache.py") -> None:
    world.session.submit(intents.PutNote(path, line, text))


async def completed(world: World, text: str = "go") -> list[str]:
    """A whole turn; what the request said."""
    model = await begun(world, text)
    model.complete()
    await settled()
    return texts(world.wire.requests[-1])


async def test_all_notes_go_as_the_next_request_with_the_edits_made_by_hand() -> None:
    world = World({"cache.py": CACHE, "b.py": "x = 1\n"})
    world.session.submit(intents.OpenFile("cache.py"))
    await completed(world, "hello")
    put(world, 2, "guard  this\twith a lock")
    put(world, 0, "and this one", "b.py")
    world.session.workspace.edit("cache.py", (0, 0), (0, 0), "# new\n")
    assert world.session.status.notes == 2
    world.session.submit(intents.SendNotes())
    await world.wire.request(2)
    told = texts(world.wire.requests[-1])
    assert told[-1] == DO_THEM
    assert told[-2] == (
        "The user's notes on lines of files, as these stand in the editor now:\n"
        "- b.py, line 1 (`x = 1`): and this one\n"
        "- cache.py, line 4 (`self.items[key] = 1`): guard this with a lock"
    )
    assert any("+# new" in text for text in told)
    assert "note on cache.py:4 guard this with a lock" in notes(world)[-1]
    assert world.session.status.notes == 0
    assert world.session.workspace.buffers["cache.py"].text() == "# new\n" + CACHE


async def test_any_prompt_takes_the_notes_that_wait_and_the_next_one_does_not_again() -> None:
    world = World({"cache.py": CACHE})
    put(world, 2, "a lock")
    assert "a lock" in "".join(await completed(world, "first"))
    assert "a lock" not in "".join(await completed(world, SECOND))


async def test_a_note_is_told_once_though_the_request_fails_or_is_interrupted() -> None:
    world = World({"cache.py": CACHE})
    put(world, 2, "a lock")
    model = await begun(world, "first")
    world.session.submit(intents.Interrupt())
    model.interrupted()
    await settled()
    await completed(world, SECOND)
    said = texts(world.wire.requests[-1])
    history = world.session.services.requests.history.entries
    assert "".join(entry.text for entry in history).count("a lock") == 1
    assert "".join(said).count("a lock") <= 1


async def test_with_nothing_to_send_one_sentence_says_how_to_note_something(world: World) -> None:
    world.session.submit(intents.SendNotes())
    (trouble,) = world.session.drain().troubles
    assert trouble.what == NO_NOTES
    assert not world.wire.requests


async def test_notes_are_changed_taken_away_and_refused_where_there_is_no_line() -> None:
    world = World({"cache.py": CACHE})
    put(world, 0, "one")
    put(world, 1, "two")
    world.session.submit(intents.PutNote("cache.py", 0, "three", 1))
    assert list_words(world.session.workspace.notes).splitlines() == [
        "1. cache.py:1 three (goes with the next request)",
        "2. cache.py:2 two (goes with the next request)",
    ]
    world.session.submit(intents.PutNote("cache.py", 0, "", 1))
    world.session.submit(intents.DropNotes((2,)))
    assert list_words(world.session.workspace.notes) == "There are no notes."
    put(world, 99, "x")
    put(world, 0, "x", "gone.py")
    whats = [trouble.what for trouble in world.session.drain().troubles]
    assert whats == ["No note on cache.py", "No note on gone.py"]
    assert world.session.status.notes == 0


async def test_a_path_with_blanks_stands_in_quotes() -> None:
    status = World({}).session.status
    note = intents.PutNote("my docs/a.py", 2, "too: long")
    for words in ('"my docs/a.py":3 too: long', '@"my docs/a.py":3  too: long'):
        assert asked("note", words, status) == note
    change = asked("change", '"my docs/a.py":2-4 louder', status)
    assert change == intents.AskChange("my docs/a.py", (1, 0), (4, 0), "louder")
    assert "in quotes" in str(asked("note", "my docs/a.py:3 too long", status))
    assert "in quotes" in str(asked("change", '"my docs/a.py" louder', status))


async def test_lines_that_a_file_does_not_have_are_not_changed() -> None:
    world = World({"cache.py": "a\nb\n"})
    world.session.submit(intents.AskChange("cache.py", (8, 0), (9, 0), "faster"))
    await settled()
    said = [(one.what, one.why) for one in world.session.drain().troubles]
    assert said == [("cache.py is not changed", "it ends at line 3")]
    assert world.wire.requests == []


async def test_the_line_of_a_private_file_is_not_quoted() -> None:
    world = World({".env": "TOKEN=abc\n", "cache.py": CACHE})
    world.files.private[".env"] = "it holds secrets"
    put(world, 0, "rename it", ".env")
    told = "".join(await completed(world))
    assert "rename it" in told
    assert "abc" not in told


async def kept(world: World, folder: Path, store: StoreWriter) -> StoredSession:
    await world.session.close()
    await asyncio.to_thread(store.close)
    return reading.load(folder, store.id)


async def test_they_are_there_again_when_the_session_goes_on(tmp_path: Path) -> None:
    store = StoreWriter(tmp_path, time.monotonic)
    world = World({"cache.py": CACHE})
    world.ports.store = lambda: store
    await world.runs()
    put(world, 2, "was sent")
    await completed(world, "first")
    put(world, 3, "waits")
    world.session.workspace.edit("cache.py", (0, 0), (0, 0), "# one\n# two\n")
    stored = await kept(world, tmp_path, store)
    files = {"cache.py": world.session.workspace.buffers["cache.py"].text()}
    other = World(files, options=SessionOptions(resumed=Resumption(stored, lambda sha: None)))
    there = [(one.row, one.text, one.turn) for one in other.session.workspace.notes]
    assert there == [(4, "was sent", 1), (5, "waits", 0)]
    assert other.session.status.notes == 1
    assert "waits" in "".join(await completed(other, SECOND))
    assert [one.text for one in up_to(stored, 0).notes] == ["waits"]


async def test_a_note_outlives_a_kill_before_anything_was_sent(tmp_path: Path) -> None:
    store = StoreWriter(tmp_path, time.monotonic)
    world = World({"cache.py": CACHE})
    world.ports.store = lambda: store
    await world.runs()
    put(world, 2, "not lost")
    assert store.kept
    log = (tmp_path / "sessions" / f"{store.id}.log").read_bytes()
    assert b"not lost" in log
    await kept(world, tmp_path, store)


async def test_a_change_that_comes_back_unsent_is_about_its_lines_when_it_is_sent_again() -> None:
    world = World({"cache.py": CACHE})
    world.wire.refusals = [EndpointError("nothing listens")]
    put(world, 2, "wait for another prompt")
    world.session.submit(intents.AskChange("cache.py", (0, 0), (0, 5), "faster"))
    await settled()
    await begun(world, world.session.status.unsent)
    assert world.session.workspace.documents.asked_lines is not None
    assert "wait for another" not in str(texts(world.wire.requests[-1]))
