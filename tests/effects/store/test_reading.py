"""Stored sessions, read back: their list, the search, one to go on with, and wrong names."""

from __future__ import annotations

import asyncio
import math
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.tables import case
from tui.core.compaction import Recollection
from tui.core.conversation import BlockKind, EntryKind, user_item
from tui.core.document.hunk import Decision, Kind, Stage
from tui.core.session_record import (
    AllDelegates,
    Began,
    BlockSaid,
    CommandBegan,
    CommandEnded,
    EntryGone,
    EntryMade,
    FileKept,
    Happened,
    HunkMade,
    HunksAre,
    KeptDelegate,
    Named,
    Record,
    RequestSent,
    StoredSession,
    TurnBegan,
    TurnEnded,
    TurnFigures,
    item_as_json,
)
from tui.effects.store import reading
from tui.effects.store.schema import FILE
from tui.effects.store.writing import StoreWriter
from tui.errors import StoreRefused


def write(folder: Path, *records: Record, name: str = "") -> str:
    """A session of these records behind its beginning; returns what it is called."""
    writer = StoreWriter(folder, lambda: 1.0)
    writer.id = name or writer.id
    for record in (Began("/projects/one", "app", "1"), *records):
        writer.commit(record)
    writer.close()
    return writer.id


def said(*texts: str) -> Iterable[Record]:
    """A turn for each text."""
    for number, text in enumerate(texts, 1):
        yield TurnBegan(number, text, "fast", "quick-1", "main")
        yield BlockSaid(number - 1, number, BlockKind.USER, "", "", "", "done", 0, text)
        yield TurnEnded(number, "completed", figures=TurnFigures(usd=0.25))


def hunk(number: int, path: str = "a.py", decision: Decision = Decision.PENDING) -> HunkMade:
    return HunkMade(
        number, 1, "call_1", path, Kind.EDIT, Stage.LANDED, decision, 1, "old\n", "new\n"
    )


def names(found: Iterable[object]) -> list[str]:
    return [getattr(one, "session", one).id for one in found]


def test_the_list_is_newest_first_and_says_what_each_is_about(tmp_path: Path) -> None:
    first = write(tmp_path, *said("make the cache safe", "faster"), hunk(1), hunk(2))
    second = write(tmp_path, *said("write a test"), Named("my tests"))
    newest, oldest = reading.sessions(tmp_path)
    assert [newest.id, oldest.id] == [second, first]
    assert (oldest.first_words, oldest.turns, oldest.open_hunks) == ("make the cache safe", 2, 2)
    assert (newest.name, newest.alive) == ("my tests", False)
    assert (oldest.folder, oldest.kind, oldest.ended) == ("/projects/one", "app", True)


def test_one_that_only_delegated_is_about_that(tmp_path: Path) -> None:
    kept = AllDelegates((KeptDelegate(1, "port  it\nto asyncio", "deep"),))
    write(tmp_path, Happened(0, "delegates", msgspec.json.encode(kept).decode()))
    write(tmp_path, Happened(0, "delegates", msgspec.json.encode(AllDelegates()).decode()))
    assert [one.first_words for one in reading.sessions(tmp_path)] == ["", "port it to asyncio"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("cache", ["one"]),
        ("CAC saf", ["one"]),
        ("unfindable", []),
        ("my te", ["two"]),
        ("write", ["two"]),
        ("100%", []),
        ('"cache', ["one"]),
        ("cache OR write", []),
        ("--", []),
        ("\0", []),
        ("write -cache NEAR(", []),
        ("naïve", ["two"]),
    ],
)
def test_words_find_sessions_by_what_was_said_in_them(
    tmp_path: Path, words: str, expected: list[str]
) -> None:
    write(tmp_path, *said("make the cache safe"), name="one")
    write(tmp_path, *said("write a naive test"), Named("my tests"), name="two")
    assert names(reading.sessions(tmp_path, words)) == expected


def test_a_session_with_odd_values_is_listed_and_hides_no_other(tmp_path: Path) -> None:
    first, second = (write(tmp_path, *said(words)) for words in ("one", "two"))
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as base:
        for column in ("began_ms", "last_ms", "turns", "parent_turn"):
            for value in (math.inf, "later", b"\0"):
                base.execute(f"UPDATE sessions SET {column} = ? WHERE id = ?", (value, first))
                with case(f"{column} = {value!r}"):
                    assert {one.id for one in reading.sessions(tmp_path)} == {first, second}
                    assert reading.find(tmp_path, first).id == first


def test_the_search_finds_the_places_newest_first(tmp_path: Path) -> None:
    write(tmp_path, *said("the cache", "nothing", "a cache again"), name="one")
    found = reading.search(tmp_path, "cache")
    assert [(one.session.id, one.turn, one.block, one.text) for one in found] == [
        ("one", 3, 2, "a cache again"),
        ("one", 1, 0, "the cache"),
    ]
    assert len(reading.search(tmp_path, "cache", most=1)) == 1
    assert reading.search(tmp_path, "  ") == []


def test_those_of_a_folder(tmp_path: Path) -> None:
    write(tmp_path, *said("here"), name="one")
    assert names(reading.sessions(tmp_path, folder="/projects/one")) == ["one"]
    assert reading.sessions(tmp_path, folder="/projects/two") == []


def test_a_session_comes_back_as_it_is_now(tmp_path: Path) -> None:
    prompt = item_as_json({"type": "message", "role": "user", "content": "x" * 9_000})
    again = item_as_json({"type": "message", "role": "user", "content": "it is this"})
    name = write(
        tmp_path,
        *said("make it safe"),
        EntryMade(1, 1.0, "prompt", "", prompt),
        EntryMade(2, 3.0, "output", "main\tquick-1", b'{"type":"message"}'),
        EntryMade(3, 2.0, "note", "", b"{}"),
        EntryMade(4, 4.0, "note", "", b"{}"),
        EntryGone(4),
        EntryMade(3, 2.0, "note", "", again),
        hunk(1),
        hunk(2, "b.py"),
        hunk(3, "c.py"),
        RequestSent(1, 1, False),
        HunksAre((1, 2), Stage.LANDED, Decision.ACCEPTED, author="user"),
        FileKept(1, "a.py", "after", "f" * 64),
        BlockSaid(1, 1, BlockKind.TEXT, "", "fast", "", "open", 0, "half"),
        BlockSaid(1, 1, BlockKind.TEXT, "", "fast", "", "open", 4, " of it"),
        CommandBegan(1, 1, "call_7", "make", "/projects/one", "manual", "", "asked"),
        CommandBegan(2, 1, "call_8", "ls", "/projects/one", "manual", "", "reads"),
        CommandEnded(2, 0, 0.1),
    )
    kept = reading.load(tmp_path, name)
    assert kept.line.id == name
    assert [(one.id, one.kind) for one in kept.entries] == [
        (1, "prompt"),
        (3, "note"),
        (2, "output"),
    ]
    assert kept.entries[0].item == prompt
    assert kept.entries[1].said["content"] == "it is this"
    assert kept.entry_count == 4
    assert [one.decision for one in kept.hunks] == ["accepted", "accepted", "pending"]
    assert kept.hunks[0].agent == "new\n"
    assert kept.untold == {1, 2}
    assert kept.unwritten == {2}
    assert kept.running == {"call_7"}
    assert kept.blocks[1].text == "half of it"
    assert kept.blocks[1].kind is BlockKind.TEXT
    assert kept.hunks[0].kind is Kind.EDIT
    assert kept.turns[0].ended is not None
    assert kept.turns[0].ended.figures.usd == 0.25
    assert kept.files["a.py"].blob == "f" * 64


def test_of_a_long_session_the_last_page_comes_first(tmp_path: Path) -> None:
    records = [
        *said(*(f"prompt {number}" for number in range(1, 301))),
        *(hunk(number) for number in range(1, 301)),
        HunksAre(tuple(range(4, 301)), Stage.LANDED, Decision.ACCEPTED, author="user"),
        EntryMade(1, 1.0, "prompt", "", b"{}", 1),
        FileKept(1, "a.py", "after", "f" * 64),
    ]
    apart = [
        replace(one, call_id=f"c{one.id}") if isinstance(one, HunkMade) else one for one in records
    ]
    name = write(tmp_path, *apart)
    head, rest = reading.begin(tmp_path, name)
    assert rest is not None
    whole = rest()
    assert whole == reading.load(tmp_path, name)
    assert whole.blocks[head.first :] == head.blocks
    assert 100 <= len(head.blocks) <= 110
    assert [one.id for one in head.hunks] == [1, 2, 3, 300]
    assert (head.usd, head.entry_count, head.seq) == (75.0, 1, whole.seq)
    assert (head.turns, head.entries) == (whole.turns[-1:], ())


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, StoredSession, bytes]:
    """A session as it is, and the bytes of its store."""
    folder = tmp_path_factory.mktemp("whole")
    items = (item_as_json({"type": "message", "content": f"x{n}" * 150}) for n in range(1, 20))
    name = write(
        folder,
        *said(*(f"prompt {number} " * 30 for number in range(20))),
        *(hunk(number) for number in range(1, 20)),
        *(EntryMade(n, float(n), "prompt", "", item, 1) for n, item in enumerate(items, 1)),
    )
    with closing(sqlite3.connect(folder / FILE)) as base:
        base.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return name, reading.load(folder, name), (folder / FILE).read_bytes()


def flipped(folder: Path, data: bytes, places: Iterable[tuple[int, int]]) -> None:
    changed = bytearray(data)
    for at, bit in places:
        changed[at % len(data)] ^= 1 << bit
    for old in folder.glob("*"):
        if old.is_file():
            old.unlink()
    (folder / FILE).write_bytes(changed)


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 7)), min_size=1, max_size=3))
@settings(max_examples=25, deadline=None, database=None)
def test_whatever_byte_is_wrong_it_opens_or_one_sentence_says_why(
    damaged: tuple[str, StoredSession, bytes],
    tmp_path_factory: pytest.TempPathFactory,
    places: list[tuple[int, int]],
) -> None:
    name, _, data = damaged
    folder = tmp_path_factory.mktemp("flipped")
    flipped(folder, data, places)
    sentences = list[str]()
    for read in (
        lambda: reading.sessions(folder),
        lambda: reading.sessions(folder, "prompt"),
        lambda: reading.load(folder, name),
    ):
        try:
            read()
        except StoreRefused as error:
            sentences.append(str(error))
    assert all(len(one.splitlines()) == 1 for one in sentences)


def test_of_what_is_damaged_only_that_is_lost(
    damaged: tuple[str, StoredSession, bytes], tmp_path: Path
) -> None:
    name, whole, data = damaged
    flipped(tmp_path, data, [(data.index(b'["TurnBegan",7,') + 2, 1)])
    kept = reading.load(tmp_path, name)
    assert [one.began.number for one in kept.turns] == [*range(1, 7), *range(8, 21)]
    assert (kept.lost, kept.entries, kept.hunks) == (1, whole.entries, whole.hunks)
    flipped(tmp_path, data, [(data.index(b'["HunkMade",5,') + 2, 1)])
    assert [one.id for one in reading.load(tmp_path, name).hunks] == [*range(1, 5), *range(6, 20)]


def test_a_block_that_is_lost_leaves_the_others_at_their_place(
    damaged: tuple[str, StoredSession, bytes], tmp_path: Path
) -> None:
    name, whole, data = damaged
    flipped(tmp_path, data, ())
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as base:
        base.execute("UPDATE blocks SET kind = 'usex' WHERE at = 3")
    kept = reading.load(tmp_path, name)
    assert kept.blocks[:3] + kept.blocks[4:] == whole.blocks[:3] + whole.blocks[4:]
    assert kept.blocks[3].text == "what was said here cannot be read any more"


def test_an_id_is_enough_as_far_as_it_is_the_only_one(tmp_path: Path) -> None:
    for name in ("7f3k2m00", "7f3k2m11", "81aaaaaa"):
        write(tmp_path, *said(f"about {name}"), Named(f"work on {name}"), name=name)
    write(tmp_path, *said("it has no name"), name="91aaaaaa")
    assert reading.load(tmp_path, "81").line.id == "81aaaaaa"
    assert reading.load(tmp_path, "7F3K2M1").line.id == "7f3k2m11"
    assert reading.load(tmp_path, "work on 81aaaaaa").line.id == "81aaaaaa"
    refusals = {
        "7f3": "'7f3' begins the names of 2 sessions: 7f3k2m11, 7f3k2m00",
        "7f3k2x11": "no session is called '7f3k2x11'; did you mean 7f3k2m11?",
        "": "no session is called ''; duetto sessions lists them",
        "what": "no session is called 'what'; duetto sessions lists them",
    }
    for wrong, words in refusals.items():
        with pytest.raises(StoreRefused) as refused:
            reading.load(tmp_path, wrong)
        assert str(refused.value) == words


def test_before_there_is_any_session_there_is_none(tmp_path: Path) -> None:
    assert reading.sessions(tmp_path / "new") == []


def test_a_session_that_runs_is_said_to(tmp_path: Path) -> None:
    writer = StoreWriter(tmp_path, lambda: 1.0)
    for record in (Began("/projects/one", "app", "1"), *said("hello")):
        writer.commit(record)
    writer.close()
    again = StoreWriter(tmp_path, lambda: 1.0, resumed=(writer.id, 4))
    (line,) = reading.sessions(tmp_path)
    assert line.alive
    again.close()
    (line,) = reading.sessions(tmp_path)
    assert not line.alive


async def test_the_archive_waits_in_a_thread(tmp_path: Path) -> None:
    name = await asyncio.to_thread(write, tmp_path, *said("hello"))
    archive = reading.Archive(tmp_path)
    assert names(await archive.sessions("hello")) == [name]
    assert (await archive.find(name)).id == name
    assert reading.data(tmp_path, "0" * 64) is None


def entry(number: int, turn: int, text: str) -> EntryMade:
    kind: EntryKind = "prompt"
    return EntryMade(number, float(number), kind, "", item_as_json(user_item(text)), turn)


def test_what_was_withdrawn_is_recalled_also_by_a_fork(tmp_path: Path) -> None:
    first = write(
        tmp_path,
        *said("one", "two"),
        entry(1, 1, "the magic number is 4711"),
        EntryGone(1),
        entry(2, 2, "the second word"),
        entry(2, 2, "the second word, amended"),
        name="one",
    )
    text = reading.recall(tmp_path, first, Recollection("magic"))
    assert "item 1, turn 1, the user:\nthe magic number is 4711" in text
    text = reading.recall(tmp_path, first, Recollection("second"))
    assert text.count("item 2,") == 1
    assert "amended" in text
    writer = StoreWriter(tmp_path, lambda: 1.0)
    writer.commit(Began("/projects/one", "app", "1", first, 1))
    writer.commit(entry(1, 1, "the magic number is 4711"))
    writer.commit(entry(3, 2, "the fork's own"))
    writer.close()
    text = reading.recall(tmp_path, writer.id, Recollection("the"))
    assert "item one/1, turn 1" in text
    assert "item 3, turn 2" in text
    assert "second" not in text
    assert "4711" in reading.recall(tmp_path, writer.id, Recollection(item="one/1"))


def test_what_was_cleared_is_recalled_only_where_it_was_not(tmp_path: Path) -> None:
    first = write(
        tmp_path,
        *said("one", "two"),
        entry(1, 1, "the magic number is 4711"),
        EntryGone(1),
        Happened(2, "cleared"),
        entry(2, 3, "the magic number, please"),
        name="one",
    )
    text = reading.recall(tmp_path, first, Recollection("magic"))
    assert "item 2, turn 3" in text
    assert "4711" not in text
    writer = StoreWriter(tmp_path, lambda: 1.0)
    writer.commit(Began("/projects/one", "app", "1", first, 1))
    writer.commit(entry(1, 1, "the magic number is 4711"))
    writer.close()
    assert "4711" in reading.recall(tmp_path, writer.id, Recollection("magic"))


def test_a_turn_before_a_summary_is_had_as_it_was_said(tmp_path: Path) -> None:
    answer = item_as_json({"type": "function_call_output", "call_id": "c", "output": ""})
    whole = item_as_json({"type": "function_call_output", "call_id": "c", "output": "done"})
    session = write(
        tmp_path,
        *said("one", "two"),
        entry(1, 1, "one"),
        EntryMade(2, 0.5, "context", "", item_as_json(user_item("a file")), 1),
        RequestSent(1, 1, False),
        EntryMade(3, 2.0, "answer", "", answer, 1),
        EntryMade(3, 2.0, "answer", "", whole, 1),
        entry(4, 2, "two"),
        RequestSent(2, 2, False),
        EntryMade(5, 0.25, "summary", "", item_as_json(user_item("<compacted>")), 2),
        EntryGone(1),
        EntryGone(2),
        EntryGone(3),
        RequestSent(3, 2, False),
    )
    found = reading.entries_until(tmp_path, session, 1)
    assert [(one.id, one.kind) for one in found] == [(1, "prompt"), (3, "answer")]
    assert found[1].said["output"] == "done"
    kinds = [one.kind for one in reading.entries_until(tmp_path, session, 2)]
    assert kinds == ["summary", "prompt"]


def test_what_was_spent_since_a_moment_of_this_session_and_of_others(tmp_path: Path) -> None:
    assert reading.spent(tmp_path, 0, "") == (0.0, 0.0)
    mine = write(tmp_path, *said("one", "two"))
    write(tmp_path, *said("three"))
    assert reading.spent(tmp_path, 0, mine) == (0.5, 0.25)
    assert reading.spent(tmp_path, 0, "") == (0.0, 0.75)
    assert reading.spent(tmp_path, 2**52, mine) == (0.0, 0.0)


def test_what_lanes_cost_before_the_first_turn_is_spent_too(tmp_path: Path) -> None:
    beside = Happened(0, "cost", "0.5"), Happened(0, "cost", "1e300")
    mine = write(tmp_path, *beside)
    other = write(tmp_path, *beside, *said("three"), Happened(0, "cost", "0.125"))
    assert reading.spent(tmp_path, 0, mine) == (0.5, 0.875)
    assert reading.spent(tmp_path, 2**52, mine) == (0.0, 0.0)
    assert reading.load(tmp_path, other).usd == 0.875


def test_a_price_that_cannot_be_is_not_spent(tmp_path: Path) -> None:
    write(tmp_path, *said("one", "two"))
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as base:
        for value in (math.inf, -1e300, "dear"):
            base.execute("UPDATE turns SET usd = ? WHERE number = 2", (value,))
            with case(repr(value)):
                assert reading.spent(tmp_path, 0, "") == (0.0, 0.25)


def test_of_a_turn_that_is_not_over_what_is_known_and_asked_for_counts(tmp_path: Path) -> None:
    first = TurnBegan(1, "one", "fast", "quick-1", "main")
    write(tmp_path, first, Happened(1, "reserved", "0.5"))
    assert reading.spent(tmp_path, 0, "") == (0.0, 0.5)
    write(tmp_path, first, Happened(1, "reserved", "0.5"), Happened(1, "cost", "0.125"))
    assert reading.spent(tmp_path, 0, "") == (0.0, 0.625)
    ended = TurnEnded(1, "completed", figures=TurnFigures(usd=0.25))
    both = (Happened(1, "cost", "0.25"), ended, Happened(1, "cost", "0.5"))
    write(tmp_path, first, *both)  # a price may come when the turn is over
    assert reading.spent(tmp_path, 0, "") == (0.0, 1.375)
