"""The store while it is written: shared, full, locked, damaged, of a newer version, killed."""

from __future__ import annotations

import asyncio
import fcntl
import os
import sqlite3
import stat
import time
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.pictures import png
from tui.core.conversation import BlockKind, BlockState, HistoryEntry, Item
from tui.core.images import Image, image_item
from tui.core.session_record import (
    Began,
    BlobKept,
    BlockSaid,
    EntryMade,
    FileKept,
    Happened,
    KeptEntry,
    Record,
    StoredRecord,
    TurnBegan,
    item_as_json,
    sha_of,
)
from tui.effects.store import database, reading, writing
from tui.effects.store.database import Database
from tui.effects.store.schema import MIGRATIONS
from tui.effects.store.writing import StoreWriter, in_use, settle
from tui.engine.recording import made
from tui.errors import StoreRefused

DAY_MS = 86_400_000


class Kept:
    """A session that says what it is told, and hears what is wrong."""

    def __init__(self, folder: Path, keep_days: int = 0) -> None:
        self.writer = StoreWriter(folder, time.monotonic, keep_days=keep_days)
        self.folder = folder
        self.troubles: list[tuple[str, str]] = []
        self.told = asyncio.Event()
        self.lost = 0
        self.writer.on_trouble, self.writer.on_lost = self._trouble, self._renew
        self.said: list[str] = []
        self.writer.put(Began("/projects/one", "app", "1"))

    def _trouble(self, what: str, why: str) -> None:
        self.troubles.append((what, why))
        self.told.set()

    def _renew(self) -> None:
        self.lost += 1
        self.writer.put(Began("/projects/one", "app", "1"))
        said, self.said = self.said, []
        for text in said:
            self.says(text)

    def says(self, text: str, state: BlockState = "done") -> None:
        at = len(self.said)
        self.said.append(text)
        self.writer.put(BlockSaid(at, 1, BlockKind.TEXT, "", "", "", state, 0, text))
        self.writer.commit(TurnBegan(1, "hello there", "fast", "quick-1", "main"))

    def stored(self) -> list[str]:
        return [block.text for block in reading.load(self.folder, self.writer.id).blocks]


@pytest.fixture
async def kept(tmp_path: Path) -> AsyncIterator[Kept]:
    kept = Kept(tmp_path)
    yield kept
    await asyncio.to_thread(kept.writer.close)


async def test_what_is_committed_is_in_the_log_at_once(tmp_path: Path, kept: Kept) -> None:
    kept.says("one")
    assert kept.writer._log is not None
    with kept.writer._log.path.open("rb") as file:
        file.readline()
        rows = list(writing.decoded(writing.frames_of(file)))
    assert [type(row.record) for row in rows] == [Began, BlockSaid, TurnBegan]
    assert in_use(tmp_path, kept.writer.id)


async def test_what_is_durable_is_on_the_disk_and_so_is_its_name(
    tmp_path: Path, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[int, int]] = []

    def fsync(fd: int) -> None:
        found = os.fstat(fd)
        synced.append((found.st_ino, found.st_size))

    monkeypatch.setattr("os.fsync", fsync)
    kept.says("one")
    assert kept.writer._log is not None
    path = kept.writer._log.path
    await kept.writer.durable()
    assert synced[0] == (path.stat().st_ino, path.stat().st_size)
    assert [one for one, _ in synced[1:]] == [path.parent.stat().st_ino, tmp_path.stat().st_ino]
    kept.says("two")
    await kept.writer.durable()
    assert synced[3:] == [(path.stat().st_ino, path.stat().st_size)]


async def test_nobody_else_may_read_it(tmp_path: Path, kept: Kept) -> None:
    kept.says("one")
    await kept.writer.settled()
    for path in tmp_path.rglob("*"):
        if path.name != "store.lock":
            assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path


async def test_a_stream_has_one_text_and_no_row_for_each_piece(tmp_path: Path, kept: Kept) -> None:
    kept.says("", "open")
    length = 0
    for number in range(50):
        text = f"piece {number} "
        said = BlockSaid(0, 1, BlockKind.TEXT, "", "", "", "open", length, text)
        kept.writer.put(said)
        length += len(text)
    kept.writer.put(BlockSaid(0, 1, BlockKind.TEXT, "", "", "", "done", length, "end"))
    await kept.writer.settled()
    base = sqlite3.connect(tmp_path / "store.sqlite3")
    assert base.execute("SELECT count(*) FROM pieces").fetchone() == (0,)
    assert kept.stored() == ["".join(f"piece {number} " for number in range(50)) + "end"]
    assert len(reading.search(tmp_path, "piece 49 end")) == 1


async def test_two_share_it(tmp_path: Path) -> None:
    both = [Kept(tmp_path), Kept(tmp_path)]
    for number in range(30):
        for one in both:
            one.says(f"{number}")
    for one in both:
        await one.writer.settled()
        assert one.stored() == [f"{number}" for number in range(30)]
        assert not one.troubles
        await asyncio.to_thread(one.writer.close)


async def test_one_that_is_locked_gets_it_later(
    tmp_path: Path, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "WAIT_S", 0.01)
    monkeypatch.setattr(writing, "_AGAIN_S", 0.01)
    Kept(tmp_path)
    settle(tmp_path)
    other = sqlite3.connect(tmp_path / "store.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    kept.says("one")
    await kept.told.wait()
    [(what, why)] = kept.troubles
    assert what == "Sessions do not reach the store"
    assert "is locked by another program" in why
    other.execute("COMMIT")
    kept.says("two")
    while True:
        try:
            await kept.writer.settled()
            break
        except StoreRefused:
            continue
    assert kept.stored() == ["one", "two"]


@pytest.mark.parametrize("how", ["rubbish", "middle", "empty page"])
async def test_a_damaged_one_is_kept_aside(tmp_path: Path, kept: Kept, how: str) -> None:
    file = tmp_path / "store.sqlite3"
    if how == "rubbish":
        file.write_bytes(b"this is no database at all" * 500)
    kept.says("one")
    if how != "rubbish":
        await kept.writer.settled()
        base = sqlite3.connect(file)
        base.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        base.close()
        data = bytearray(file.read_bytes())
        start = 100 if how == "middle" else 4096
        data[start : start + 60_000] = os.urandom(len(data[start : start + 60_000]))
        with file.open("r+b") as raw:
            raw.write(data)
        kept.says("two")
    await kept.told.wait()
    assert any("is kept as store.sqlite3.corrupt-" in why for _, why in kept.troubles)
    while kept.lost < 1:
        await asyncio.sleep(0.01)
    kept.says("three")
    await kept.writer.settled()
    assert kept.stored() == kept.said
    assert list(tmp_path.glob("store.sqlite3.corrupt-*"))


async def test_one_of_a_newer_version_is_left_alone(tmp_path: Path, kept: Kept) -> None:
    settle(tmp_path)
    base = sqlite3.connect(tmp_path / "store.sqlite3")
    base.execute("PRAGMA user_version = 99")
    base.close()
    before = (tmp_path / "store.sqlite3").read_bytes()
    kept.says("one")
    await kept.told.wait()
    assert "is from a newer version of duetto" in kept.troubles[0][1]
    await asyncio.to_thread(kept.writer.close)
    assert (tmp_path / "store.sqlite3").read_bytes() == before
    [left] = (tmp_path / "sessions").iterdir()  # the newer one takes it in
    base = sqlite3.connect(tmp_path / "store.sqlite3")
    base.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    base.close()
    assert settle(tmp_path) == []
    assert kept.stored() == ["one"]
    assert not left.exists()


async def test_a_full_disk_is_said_once_and_what_came_is_kept_when_there_is_room(
    tmp_path: Path, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "_AGAIN_S", 0.01)
    kept.says("one")
    await kept.writer.settled()
    write, full = os.write, True

    def half(fd: int, data: bytes) -> int:
        if not full or kept.writer._log is None or fd != kept.writer._log._fd:
            return write(fd, data)
        if len(data) > 20:
            return write(fd, data[:20])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", half)
    kept.says("two")
    kept.says("three")
    await kept.told.wait()
    assert kept.troubles[0][0] == "This session is not kept"
    assert "No space left on device" in kept.troubles[0][1]
    full = False
    kept.says("four")
    await kept.writer.settled()
    assert kept.stored() == ["one", "two", "three", "four"]
    assert len(kept.troubles) == 1


async def test_a_folder_that_cannot_be_made_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept = Kept(tmp_path / "file" / "data")
    kept.says("one")
    kept.says("two")
    await kept.told.wait()
    await asyncio.to_thread(kept.writer.close)
    assert [what for what, _ in kept.troubles][:1] == ["This session is not kept"]


async def test_without_locks_a_session_that_lives_is_told_by_its_process(
    tmp_path: Path, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    monkeypatch.setattr(writing, "_runs", lambda pid: True)
    kept.says("one")
    assert in_use(tmp_path, kept.writer.id)
    monkeypatch.setattr(writing, "_runs", lambda pid: False)
    assert not in_use(tmp_path, kept.writer.id)
    await kept.writer.settled()
    assert kept.stored() == ["one"]


@pytest.mark.parametrize("torn", [1, 7, 9, 30])
async def test_what_was_half_written_is_not_read(tmp_path: Path, torn: int) -> None:
    left = writing.SessionLog(tmp_path / "sessions", "left")
    rows = [
        StoredRecord(1, 1000, 1.0, Began("/projects/one", "app", "1")),
        StoredRecord(2, 1000, 1.0, TurnBegan(1, "hello", "fast", "quick-1", "main")),
        StoredRecord(3, 1000, 1.0, Happened(1, "interrupt")),
    ]
    left.append(b"".join(map(writing.encoded, rows[:2])) + writing.encoded(rows[2])[:torn])
    left.close(remove=False)
    settle(tmp_path)
    assert reading.load(tmp_path, "left").seq == 2
    assert not left.path.exists()


async def test_a_resumed_one_goes_on_with_its_numbers_and_alone(tmp_path: Path, kept: Kept) -> None:
    kept.says("one")
    await asyncio.to_thread(kept.writer.close)
    stored = reading.load(tmp_path, kept.writer.id)
    again = StoreWriter(tmp_path, time.monotonic, resumed=(kept.writer.id, stored.seq))
    with pytest.raises(StoreRefused, match="goes on in another duetto"):
        StoreWriter(tmp_path, time.monotonic, resumed=(kept.writer.id, stored.seq))
    again.commit(Happened(1, "switch"))
    await again.settled()
    assert reading.load(tmp_path, kept.writer.id).seq == stored.seq + 1
    await asyncio.to_thread(again.close)


@pytest.mark.parametrize("kind", BlockKind)
async def test_a_session_with_blocks_of_all_kinds_is_forgotten(
    tmp_path: Path, kept: Kept, kind: BlockKind
) -> None:
    kept.writer.put(BlockSaid(0, 1, kind, "its title", "", "", "open", 0, "words"))
    kept.writer.put(BlockSaid(0, 1, kind, "its title", "", "", "done", 5, " and more"))
    kept.writer.put(BlockSaid(0, 1, kind, "another", "", "", "failed", 0, "other words"))
    kept.writer.put(BlockSaid(1, 1, kind, "", "", "", "done", 0, ""))
    kept.says("two")
    kept.writer.forget()
    await kept.writer.settled()
    assert reading.sessions(tmp_path) == []
    assert not kept.troubles


class FullDisk(sqlite3.Connection):
    """No table fits on it; the transaction is rolled back by then, as SQLite does."""

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        if sql.lstrip().startswith("CREATE"):
            super().execute("ROLLBACK")
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error
        return super().execute(sql, parameters)


def test_a_store_that_finds_no_room_to_begin_says_that_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = partial(sqlite3.connect, factory=FullDisk)
    monkeypatch.setattr(sqlite3, "connect", connect)
    with pytest.raises(StoreRefused, match="the disk is full"):
        settle(tmp_path)


async def test_a_full_text_that_is_wrong_is_made_anew(tmp_path: Path, kept: Kept) -> None:
    kept.says("one")
    await kept.writer.settled()
    base = sqlite3.connect(tmp_path / "store.sqlite3")
    base.execute("INSERT INTO full_text (full_text) VALUES ('delete-all')")
    base.commit()
    kept.writer.forget()
    while reading.sessions(tmp_path):
        with suppress(StoreRefused):
            await kept.writer.settled()
    assert not list(tmp_path.glob("*corrupt*"))


async def test_forgetting_leaves_no_trace_and_keeps_no_more(tmp_path: Path, kept: Kept) -> None:
    other = Kept(tmp_path)
    other.says("their words")
    await other.writer.settled()
    secret = "hunter2" * 2000
    kept.says(secret)
    kept.writer.put(EntryMade(1, 1.0, "prompt", "", item_as_json({"text": secret[::-1]})))
    kept.writer.put(FileKept(1, "a.py", "before", kept.writer.blob(b"zebra" * 400)))
    await kept.writer.settled()
    kept.writer.forget()
    kept.says("more")
    await kept.writer.settled()
    base = sqlite3.connect(tmp_path / "store.sqlite3")
    assert [one.id for one in reading.sessions(tmp_path)] == [other.writer.id]
    assert base.execute("SELECT count(*) FROM blobs").fetchone() == (0,)
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or b"hunter2" not in path.read_bytes(), path
    assert reading.search(tmp_path, "hunter2*") == []
    kept.writer.forget(all_sessions=True)
    await kept.writer.settled()
    other.says("what is said after that")  # it was to be forgotten, too
    await other.writer.settled()
    assert reading.sessions(tmp_path) == []
    told = ("This session is kept no more", "another duetto was told to forget it")
    assert (kept.troubles, other.troubles) == ([], [told])
    await asyncio.to_thread(other.writer.close)


def aged(folder: Path, name: str, days: float) -> None:
    """A session of so many days ago."""
    now_ms = int(time.time() * 1000 - days * DAY_MS)
    store = Database(folder)
    rows: list[Record] = [
        Began("/projects/one", "app", "1"),
        BlobKept(name * 8, name.encode() * 100),
        FileKept(1, "a.py", "before", name * 8),
    ]
    store.take(name, [StoredRecord(n, now_ms, 1.0, row) for n, row in enumerate(rows, 1)])
    store.close()


@pytest.mark.parametrize(
    ("ages", "left"),
    [
        ({"old": 91, "late": 89, "new": 1}, {"late", "new"}),
        ({"old": 191, "older": 300}, {"old"}),
        ({"ahead": -10_000, "new": 0, "old": 91}, {"ahead", "new"}),
    ],
)
async def test_what_is_too_old_goes_and_a_clock_ahead_takes_nothing_with_it(
    tmp_path: Path, ages: dict[str, float], left: set[str]
) -> None:
    for name, days in ages.items():
        aged(tmp_path, name, days)
    kept = Kept(tmp_path, keep_days=90)
    kept.says("one")
    wanted = {*left, kept.writer.id}
    async with asyncio.timeout(120):
        while {one.id for one in reading.sessions(tmp_path)} != wanted:
            await asyncio.sleep(0.01)
    await asyncio.to_thread(kept.writer.close)


def test_nothing_is_there_before_something_is_committed(tmp_path: Path) -> None:
    writer = StoreWriter(tmp_path / "data", time.monotonic)
    writer.put(Began("/projects/one", "app", "1"))
    writer.close()
    assert not (tmp_path / "data").exists()


async def test_half_a_character_is_kept_as_a_question_mark(tmp_path: Path, kept: Kept) -> None:
    kept.says("half \ud800 of it")
    item = {"text": "\ud800", "number": 10**40}
    kept.writer.put(EntryMade(1, 1.0, "prompt", "", item_as_json(item)))
    await kept.writer.settled()
    assert kept.stored() == ["half ? of it"]
    assert reading.load(tmp_path, kept.writer.id).entries[0].said == item


@pytest.mark.parametrize("text", ['"a"\n' * 100_000, "\ud800" + "\n" * 100_000])
async def test_a_long_call_is_kept_without_escapes_and_read_again(
    tmp_path: Path, kept: Kept, text: str
) -> None:
    items: list[Item] = [
        {"type": "function_call", "call_id": "c", "arguments": text, "number": 7},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]},
    ]
    for number, item in enumerate(items, 1):
        entry = HistoryEntry("output", item)
        record = made(KeptEntry(entry, item, number, float(number), 1))
        assert len(record.item) < len(text) + 200 or "\ud800" in text
        kept.writer.put(record)
    kept.says("one")
    await kept.writer.settled()
    assert [one.said for one in reading.load(tmp_path, kept.writer.id).entries] == items


async def test_an_image_is_kept_once_beside_the_message_that_brings_it(
    tmp_path: Path, kept: Kept
) -> None:
    data = png(500, 400)
    image = Image("shot.png", "png", 500, 400, len(data), sha_of(data))
    for number in (1, 2):
        assert kept.writer.blob(data) == image.sha
        entry = HistoryEntry("note", image_item(image, data), image=image)
        kept.writer.put(made(KeptEntry(entry, entry.item, number, float(number), 1)))
    kept.says("one")
    assert kept.writer._log is not None
    with kept.writer._log.path.open("rb") as file:
        file.readline()
        frames = [*writing.frames_of(file)]
    assert sum(data in frame for frame in frames) == 1
    assert not any(b64encode(data[:30]) in frame for frame in frames)
    await kept.writer.settled()
    base = sqlite3.connect(tmp_path / "store.sqlite3")
    base.execute("UPDATE blobs SET ms = 0")
    base.commit()
    Database(tmp_path).sweep()
    stored = reading.load(tmp_path, kept.writer.id)
    again = [one.entry(lambda sha: reading.data(tmp_path, sha)) for one in stored.entries]
    assert [(one.image, one.item) for one in again] == [(image, image_item(image, data))] * 2
    base.execute("UPDATE entries SET image = ''")
    base.commit()
    base.close()
    Database(tmp_path).sweep()
    assert reading.data(tmp_path, image.sha) is None
