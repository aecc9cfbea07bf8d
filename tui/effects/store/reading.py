"""The sessions that are kept, read back: their list, the search in them, one to go on with.

Each call has a connection of its own that only reads, and first has the logs of sessions that were
killed brought into the file.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from unicodedata import normalize

import msgspec

from tui.core.compaction import PastItem, Recollection, recalled
from tui.core.conversation import BlockKind, BlockState
from tui.core.document.hunk import UNDONE, Decision, Kind, Stage
from tui.core.run_report import RunReport
from tui.core.session_record import (
    AllAttached,
    AllChanges,
    AllDelegates,
    AllEfforts,
    AllNotes,
    AllSaid,
    BlockSaid,
    EntryMade,
    FileKept,
    FoundText,
    HunkMade,
    LeftDelegate,
    OpenTabs,
    Rewound,
    SessionLine,
    StoredRewind,
    StoredSession,
    StoredTurn,
    TurnBegan,
    TurnEnded,
)
from tui.core.steps import finished
from tui.core.typed_data import from_json, typed
from tui.effects.store.database import block_text
from tui.effects.store.schema import FILE, LOGS, unpacked
from tui.effects.store.writing import in_use, settle
from tui.errors import StoreRefused

if TYPE_CHECKING:
    from tui.core.cycles import CycleReport
    from tui.core.proposals import JudgedTurn

T = TypeVar("T")
_Row = tuple[Any, ...]
_MOST_BLOCKS = 20_000
"""Of so many blocks, the newest in which the words are, the sessions are listed."""
_WAIT_S = 5.0
"""How long another duetto's transaction is waited for."""
_NAMED = 4
"""Of the sessions of which a word begins the names, so many are named."""
_LINE = """
    SELECT n, id, folder, kind, name, first_words, CAST(began_ms AS INTEGER),
        CAST(last_ms AS INTEGER), ended, CAST(turns AS INTEGER), parent,
        CAST(parent_turn AS INTEGER) FROM sessions
"""
_NAMES = SessionLine.__struct_fields__
_LAST = "SELECT n, id FROM sessions WHERE folder = ? ORDER BY last_ms DESC, n DESC LIMIT ?"
_ENTRIES = """
    SELECT e.id, e.place, e.kind, e.origin, e.turn, e.image, e.item, b.data FROM entries e
        LEFT JOIN blobs b ON b.sha = e.blob
"""
_RUNNING = "SELECT call_id FROM commands WHERE session = ? AND seconds IS NULL"
_STANDING = "SELECT 1 FROM entries WHERE session = ? AND gone IS NULL LIMIT 1"
_RESERVED = """
    SELECT id = ?, CAST(detail AS REAL) FROM turns AS t JOIN sessions ON n = t.session
        JOIN events AS e ON e.session = t.session AND e.turn = t.number AND e.what = 'reserved'
        WHERE t.ended_ms IS NULL AND t.began_ms >= ? AND e.seq = (SELECT max(seq) FROM events
            WHERE session = t.session AND turn = t.number AND what IN ('reserved', 'cost'))
"""
"""What requests cost at least that are not answered, or were not when duetto was killed."""
_BESIDE = """
    what = 'cost' AND CAST(detail AS REAL) BETWEEN 0 AND 1e9
        AND NOT EXISTS (SELECT 1 FROM turns WHERE session = e.session AND number = e.turn)
"""
"""What attempts and delegates cost that began before any turn."""
_MOST_MISSING = 10_000
_MISSING = "what was said here cannot be read any more"
_TAIL, _MOST_TAIL = 100, 400
"""So many blocks are shown at once, and as many more as their turn has, up to so many."""
_FIRST = """
    SELECT max(0, ifnull((SELECT max(at) FROM blocks WHERE session = ? AND kind = 'user'
            AND at <= (SELECT max(at) FROM blocks WHERE session = ?) - ?), 0),
        (SELECT ifnull(max(at), 0) FROM blocks WHERE session = ?) - ?)
"""
_CALLS = """
    SELECT call_id FROM hunks WHERE session = ? AND waits
    UNION SELECT call_id FROM hunks WHERE session = ?
        AND id = (SELECT max(id) FROM hunks WHERE session = ?)
    UNION SELECT call_id FROM blocks WHERE session = ? AND at >= ? AND call_id != ''
"""
_LOOKED_AT = 5
"""Sessions of a folder in which it is looked for what a kill left."""
_ACCEPTED = "SELECT call_id, path, seq FROM hunks WHERE session = ? AND decision = 'accepted'"


class Archive:
    """As `engine.ports.SessionArchive`; each of its methods waits in a thread."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir

    async def sessions(self, words: str) -> list[SessionLine]:
        """Those in which all of these words are (their beginnings will do), newest first."""
        return await asyncio.to_thread(sessions, self._data_dir, words)

    async def find(self, session_id: str) -> SessionLine:
        """A session by its id, by the beginning of it that no other has, or by its name."""
        return await asyncio.to_thread(find, self._data_dir, session_id)

    async def left(self, folder: str) -> list[LeftDelegate]:
        """What was delegated in the last sessions of a folder, and did not come home."""
        return await asyncio.to_thread(left, self._data_dir, folder)

    async def cut(self, folder: str) -> SessionLine | None:
        """The last session of a folder in which no duetto is, if that was killed."""
        return await asyncio.to_thread(cut, self._data_dir, folder)

    async def recall(self, session_id: str, asked: Recollection) -> str:
        """What was said in a session, and before it was forked: for a model."""
        return await asyncio.to_thread(recall, self._data_dir, session_id, asked)

    async def past_turns(self) -> list[JudgedTurn]:
        """The newest turns that were judged, the newest first."""
        from tui.effects.store.cycles import past_turns  # which reads by this module

        return await asyncio.to_thread(past_turns, self._data_dir)

    async def stats(self, since_ms: int) -> CycleReport:
        """What all turns from then on say of speed; 0: all that are kept."""
        from tui.effects.store.cycles import measured  # when it is asked for

        return await asyncio.to_thread(measured, self._data_dir, since_ms)

    async def asked_ms(self) -> int:
        """When it was last asked, or said, how fast it felt; 0: never."""
        from tui.effects.store.cycles import felt_ms  # once a day

        return await asyncio.to_thread(felt_ms, self._data_dir)


def recall(data_dir: Path, session_id: str, asked: Recollection) -> str:
    """As `Archive.recall`. Raises StoreRefused."""
    with open_store(data_dir) as base:
        return finished(recalled(_past_items(base, _known(base, session_id)), asked))


def _past_items(base: sqlite3.Connection, session_id: str) -> Iterator[PastItem]:
    """All items that stood in a session or, of a fork, in what it was taken from.

    What was said before the last ``/clear`` is of another conversation.
    """
    sources: list[tuple[int, int, str]] = []
    name, last, seen = session_id, sys.maxsize, set[str]()
    while name not in seen:
        seen.add(name)
        query = "SELECT n, parent, parent_turn FROM sessions WHERE id = ?"
        if (row := base.execute(query, (name,)).fetchone()) is None:
            break
        sources.append((row[0], last, "" if name == session_id else f"{name}/"))
        name, last = row[1], min(last, row[2])
    first = 0  # turns up to here are the parent's, which has more of them than was taken over
    for n, up_to, prefix in reversed(sources):
        for one in _ever(base, n, up_to):
            if first < one.turn <= up_to or (one.turn == first == 0):
                yield PastItem(f"{prefix}{one.id}", one.turn, one.kind, one.said)
        first = up_to


def entries_until(data_dir: Path, session_id: str, turn: int) -> tuple[EntryMade, ...]:
    """What was sent and answered up to the end of a turn, as it stood then. Raises StoreRefused."""
    with open_store(data_dir) as base:
        named = "SELECT n FROM sessions WHERE id = ?"
        n = base.execute(named, (_known(base, session_id),)).fetchone()[0]
        last = "SELECT ifnull(max(seq), 0) FROM requests WHERE session = ? AND turn <= ?"
        sent = base.execute(last, (n, turn)).fetchone()[0]
        query = (
            f"{_ENTRIES} WHERE e.session = ? AND e.turn <= ?"
            " AND e.kind != 'context' AND ((e.seq < ? AND ifnull(e.gone, ?) > ?)"
            " OR (e.seq > ? AND e.kind IN ('output', 'answer', 'cut'))) ORDER BY e.id, e.seq"
        )
        given = (turn, sent, sys.maxsize, sent, sent)
        found = {one.id: one for one in _Rows(base, n)._each(_entry, query, *given)}
    return tuple(sorted(found.values(), key=lambda one: one.place))


def _ever(base: sqlite3.Connection, n: int, turn: int) -> Iterator[EntryMade]:
    """All entries of the conversation that a turn was in, each as it was said last.

    Those of turns that were rewound are not in it.
    """
    cleared = (
        "SELECT ifnull(max(seq), -1) FROM events"
        " WHERE session = ? AND what = 'cleared' AND turn < ?"
    )
    first = base.execute(cleared, (n, turn)).fetchone()[0]
    out = [told for told, _ in _standing_rewinds(base, n).values() if told.talk]
    out_ids = {number for told in out if told.last <= turn for number in told.entries}
    out_turns = {
        number
        for told in out
        if told.last <= turn
        for number in range(told.turn + bool(told.hunk), told.last + 1)
    }
    said = set[tuple[int, str, bytes]]()

    def counts(one: EntryMade) -> bool:
        """It was not taken back, nor said before: a rewind may restore it under another id."""
        place = (one.turn, one.kind, hashlib.sha256(one.item).digest())
        if place in said or one.id in out_ids or one.turn in out_turns:
            return False
        said.add(place)
        return True

    query = (
        f"{_ENTRIES} WHERE e.session = ? AND e.kind NOT IN ('context', 'summary') AND e.seq > ?"
        " ORDER BY e.id, e.seq"
    )
    before: EntryMade | None = None
    for one in _Rows(base, n)._each(_entry, query, first):
        if before is not None and before.id != one.id and counts(before):
            yield before
        before = one
    if before is not None and counts(before):
        yield before


def sessions(data_dir: Path, words: str = "", folder: str = "") -> list[SessionLine]:
    """As `Archive.sessions`. Raises StoreRefused."""
    with open_store(data_dir) as base:
        where, given = [], list[object]()
        if folder:
            where.append("folder = ?")
            given.append(folder)
        if words.strip():
            named = ["(name || ' ' || first_words) LIKE ? ESCAPE '\\'" for _ in _split(words)]
            some = " AND ".join(named) or "0"
            where.append(f"(n IN (SELECT value FROM json_each(?)) OR ({some}))")
            given.append(str(_with(base, words)))
            given += [f"%{_like(word)}%" for word in _split(words)]
        such = f"WHERE {' AND '.join(where)}" if where else ""
        rows = base.execute(f"{_LINE} {such} ORDER BY last_ms DESC, n DESC", given).fetchall()
        waiting = "SELECT session, count(*) FROM hunks WHERE waits GROUP BY session"
        waits = dict(base.execute(waiting).fetchall())
    return _lines(data_dir, rows, waits)


def search(data_dir: Path, words: str, most: int = 100) -> list[FoundText]:
    """Blocks in which all of these words are, newest first. Raises StoreRefused."""
    wanted = _match(words)
    if not wanted:
        return []
    with open_store(data_dir) as base:
        rows = base.execute(
            "SELECT session, turn, at, text, n FROM blocks WHERE n IN (SELECT rowid FROM full_text"
            " WHERE full_text MATCH ? ORDER BY rowid DESC LIMIT ?) ORDER BY n DESC",
            (wanted, most),
        ).fetchall()
        found = [(row[0], row[1], row[2], block_text(base, row[4], row[3])) for row in rows]
        such = f"{_LINE} WHERE n IN (SELECT value FROM json_each(?))"
        lines = base.execute(such, (str(sorted({row[0] for row in rows})),)).fetchall()
    known = dict(zip((row[0] for row in lines), _lines(data_dir, lines, {}), strict=True))
    return [FoundText(known[n], turn, at, text) for n, turn, at, text in found if n in known]


def find(data_dir: Path, session_id: str) -> SessionLine:
    """As `Archive.find`. Raises StoreRefused."""
    with open_store(data_dir) as base:
        return _line(data_dir, base, _known(base, session_id))


def left(data_dir: Path, folder: str) -> list[LeftDelegate]:
    """As `Archive.left`. Raises StoreRefused."""
    with open_store(data_dir) as base:
        rows = base.execute(_LAST, (folder, _LOOKED_AT)).fetchall()
        return [
            LeftDelegate(session_id, one.number, one.prompt, one.done)
            for n, session_id in rows
            if not in_use(data_dir, session_id)
            for one in _newest(base, n, "delegates", AllDelegates()).of
        ]


def cut(data_dir: Path, folder: str) -> SessionLine | None:
    """As `Archive.cut`. Raises StoreRefused."""
    with open_store(data_dir) as base:
        rows = base.execute(_LAST, (folder, _LOOKED_AT)).fetchall()
        last = next((one for _, one in rows if not in_use(data_dir, one)), None)
        line = None if last is None else _line(data_dir, base, last)
    return None if line is None or line.ended else line


def load(data_dir: Path, session_id: str) -> StoredSession:
    """All of a session, named as for `find`. Raises StoreRefused."""
    with open_store(data_dir) as base:
        return _stored(data_dir, base, session_id)


def begin(
    data_dir: Path, session_id: str
) -> tuple[StoredSession, Callable[[], StoredSession] | None]:
    """What a session is shown with, and what reads all of it as it is now, for a thread.

    None: that is all. Raises StoreRefused.
    """
    reading = open_store(data_dir)
    base = reading.__enter__()
    try:
        base.execute("BEGIN")  # what is read later is of the same moment
        head = _stored(data_dir, base, session_id, head=True)
    except BaseException as error:
        reading.__exit__(type(error), error, error.__traceback__)
        raise
    if not head.first:
        reading.__exit__(None, None, None)
        return head, None

    def rest() -> StoredSession:
        with ExitStack() as stack:
            stack.push(reading)
            return _stored(data_dir, base, session_id)

    return head, rest


def _stored(
    data_dir: Path, base: sqlite3.Connection, session_id: str, *, head: bool = False
) -> StoredSession:
    """A session; ``head``: of a long one only what is needed until something is sent."""
    known = _known(base, session_id)
    line = _line(data_dir, base, known)
    n, seq = base.execute("SELECT n, seq FROM sessions WHERE id = ?", (known,)).fetchone()
    first = base.execute(_FIRST, (n, n, _TAIL, n, _MOST_TAIL)).fetchone()[0] if head else 0
    texts, files, written = _files(base, n)
    sent = _one(base, "SELECT max(seq) FROM requests WHERE session = ?", n)
    rows = _Rows(base, n)
    hunks, changed = rows.hunks(first, written)
    rewinds = _rewinds(base, n, rows)
    hunks = _taken_back(hunks, rewinds)
    turns = tuple(rows.turns(last=first > 0))
    entries, blocks = () if first else tuple(rows.entries()), tuple(rows.blocks(first))
    for rewind in rewinds:
        if not rewind.done:
            cut, restored = {one.id for one in rewind.entries}, {*rewind.told.restored}
            entries = tuple(
                one for one in entries if one.id not in cut and (not restored or one.id in restored)
            )
    return StoredSession(
        line,
        seq,
        turns=turns,
        entries=entries,
        entry_count=_one(base, "SELECT max(id) FROM entries WHERE session = ?", n),
        blocks=blocks,
        first=first,
        usd=_one(base, "SELECT total(usd) FROM turns WHERE session = ?", n)
        + _one(base, f"SELECT total(detail) FROM events AS e WHERE session = ? AND {_BESIDE}", n),
        hunks=hunks,
        files={} if first else files,
        commands=_one(base, "SELECT max(number) FROM commands WHERE session = ?", n),
        requests=_one(base, "SELECT max(number) FROM requests WHERE session = ?", n),
        untold=frozenset(one for one, last in changed.items() if last > sent),
        unwritten=_unwritten(hunks, changed, written),
        running=frozenset(row[0] for row in base.execute(_RUNNING, (n,))),
        tabs=_newest(base, n, "tabs", OpenTabs()),
        notes=_newest(base, n, "notes", AllNotes()).notes,
        is_empty=base.execute(_STANDING, (n,)).fetchone() is None,
        lost=rows.lost,
        texts=() if first else tuple(texts),
        changed={} if first else changed,
        rewinds=rewinds,
        attached=_newest(base, n, "attached", AllAttached()),
        efforts=_newest(base, n, "efforts", AllEfforts()),
        changes=_newest(base, n, "changes", AllChanges()),
        said=_newest(base, n, "said", AllSaid()),
        delegates=_newest(base, n, "delegates", AllDelegates()),
    )


def spent(data_dir: Path, since_ms: int, session_id: str) -> tuple[float, float]:
    """US dollars of the turns since then: of this session, and of all others.

    A turn that runs, or was killed, counts with what is known of it, and with the least that its
    last request costs. Raises StoreRefused.
    """
    with open_store(data_dir) as base:
        query = (
            "SELECT total(usd * (id = ?)), total(usd * (id != ?)) FROM turns"
            " JOIN sessions ON n = session WHERE ifnull(ended_ms, turns.began_ms) >= ?"
            " AND usd BETWEEN 0 AND 1e9"  # else it is no price
        )
        own, others = base.execute(query, (session_id, session_id, since_ms)).fetchone()
        more = base.execute(_RESERVED, (session_id, since_ms)).fetchall()
        query = (
            "SELECT id = ?, total(CAST(detail AS REAL)) FROM sessions JOIN events AS e"
            f" ON e.session = n WHERE last_ms >= ? AND ms >= ? AND {_BESIDE} GROUP BY n"
        )
        more += base.execute(query, (session_id, since_ms, since_ms)).fetchall()
    for is_own, usd in more:
        own, others = (own + usd, others) if is_own else (own, others + usd)
    return float(own), float(others)


def data(data_dir: Path, blob: str) -> bytes | None:
    """The bytes of a blob; None: they are not there. Raises StoreRefused."""
    with open_store(data_dir) as base:
        row = base.execute("SELECT data FROM blobs WHERE sha = ?", (blob,)).fetchone()
    return None if row is None else zlib.decompress(row[0])


@contextmanager
def open_store(data_dir: Path) -> Iterator[sqlite3.Connection]:
    """A connection; what is wrong with the file is said in a sentence."""
    settle(data_dir)
    base = None
    try:
        file = (data_dir / FILE).absolute().as_uri()
        base = sqlite3.connect(
            f"{file}?mode=ro", uri=True, timeout=_WAIT_S, check_same_thread=False
        )
        base.text_factory = partial(str, encoding="utf-8", errors="replace")
        yield base
    except (sqlite3.Error, msgspec.MsgspecError, zlib.error, ValueError, TypeError) as error:
        why = " ".join(str(error).split())
        raise StoreRefused(f"the stored sessions cannot be read: {why}") from error
    finally:
        if base is not None:
            base.close()


def _lines(
    data_dir: Path, rows: Iterable[tuple[Any, ...]], waits: Mapping[int, int]
) -> list[SessionLine]:
    """Rows of `_LINE`, with how many hunks wait in each."""
    logs = {path.stem for path in (data_dir / LOGS).glob("*.log")}
    found = []
    for n, *shown, ended, turns, parent, parent_turn in rows:
        lives = shown[0] in logs and in_use(data_dir, shown[0])
        told = (*shown, bool(ended), turns, waits.get(n, 0), parent, parent_turn, lives)
        found.append(typed(dict(zip(_NAMES, told, strict=True)), SessionLine))
    return found


def _line(data_dir: Path, base: sqlite3.Connection, session_id: str) -> SessionLine:
    rows = base.execute(f"{_LINE} WHERE id = ?", (session_id,)).fetchall()
    n = rows[0][0]
    waits = _one(base, "SELECT count(*) FROM hunks WHERE session = ? AND waits", n)
    return _lines(data_dir, rows, {n: waits})[0]


def _split(words: str) -> list[str]:
    """Those of which something can be looked for."""
    return [word for word in words.split() if any(map(str.isalnum, word))]


def _match(words: str) -> str:
    """What the full text is asked; empty: nothing."""
    apart = "".join(one if one.isalnum() else " " for one in normalize("NFC", words))
    return " ".join(f'"{word}"*' for word in apart.split())


def _like(word: str) -> str:
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _with(base: sqlite3.Connection, words: str) -> list[int]:
    """The sessions in which a block has all of these words."""
    if not (wanted := _match(words)):
        return []
    rows = base.execute(
        "SELECT DISTINCT session FROM blocks WHERE n IN (SELECT rowid FROM full_text"
        " WHERE full_text MATCH ? ORDER BY rowid DESC LIMIT ?)",
        (wanted, _MOST_BLOCKS),
    )
    return [row[0] for row in rows]


def _known(base: sqlite3.Connection, said: str) -> str:
    """The id that is meant. Raises StoreRefused."""
    newest_first = base.execute("SELECT id FROM sessions ORDER BY last_ms DESC")
    ids: list[str] = [row[0] for row in newest_first]
    if said in ids:
        return said
    wanted = said.casefold()
    found = [one for one in ids if wanted and one.startswith(wanted)]
    if wanted and not found:
        named = base.execute("SELECT id FROM sessions WHERE name = ?", (said,))
        found = [row[0] for row in named]
    if len(found) == 1:
        return found[0]
    if found:
        first = ", ".join(found[:_NAMED])
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        raise StoreRefused(f"{said!r} begins the names of {len(found)} sessions: {first}{more}")
    near = get_close_matches(wanted, ids, 1, 0.5)
    hint = f"; did you mean {near[0]}?" if near else "; duetto sessions lists them"
    raise StoreRefused(f"no session is called {said!r}{hint}")


def _one(base: sqlite3.Connection, query: str, n: int) -> int:
    return base.execute(query, (n,)).fetchone()[0] or 0


class _Rows:
    """The rows of one session; one that cannot be read any more is left out, and counted."""

    def __init__(self, base: sqlite3.Connection, n: int) -> None:
        self._base, self._n = base, n
        self.lost = 0

    def turns(self, *, last: bool) -> Iterator[StoredTurn]:
        """In order; ``last``: only that one."""
        query = "SELECT began, ended, began_ms FROM turns WHERE session = ? ORDER BY number"
        return self._each(_turn, query + " DESC LIMIT 1" * last)

    def entries(self) -> Iterator[EntryMade]:
        """Those that stand, in their order."""
        query = f"{_ENTRIES} WHERE e.session = ? AND e.gone IS NULL ORDER BY e.place"
        return self._each(_entry, query)

    def entries_of(self, numbers: Iterable[int]) -> Iterator[EntryMade]:
        """Those of these ids as they were said last."""
        query = (
            f"{_ENTRIES} WHERE e.session = ?1"
            " AND e.id IN (SELECT value FROM json_each(?2)) AND e.seq ="
            " (SELECT max(seq) FROM entries WHERE session = ?1 AND id = e.id)"
        )
        return self._each(_entry, query, json.dumps([*numbers]))

    def blocks(self, first: int) -> Iterator[BlockSaid]:
        """From this one on, in order, none missing."""
        query = (
            "SELECT n, at, turn, kind, title, speaker, call_id, state, report, text FROM blocks"
            " WHERE session = ? AND at >= ? ORDER BY at"
        )
        for said in self._each(self._block, query, first):
            if not first <= said.at < first + _MOST_MISSING:
                self.lost += 1
                continue
            for at in range(first, said.at):
                yield BlockSaid(at, 0, BlockKind.NOTE, "", "", "", "cut", 0, _MISSING)
            first = said.at + 1
            yield said

    def _block(self, row: _Row) -> BlockSaid:
        number, at, turn, kind, title, speaker, call_id, how, report, text = row
        _check(at, turn, texts=(title, speaker, call_id))
        told = None if report is None else from_json(report, RunReport)
        whole = block_text(self._base, number, text) if how == "open" else unpacked(text)
        state: BlockState = how if how in ("open", "done", "failed") else "cut"
        return BlockSaid(at, turn, BlockKind(kind), title, speaker, call_id, state, 0, whole, told)

    def hunks(
        self, first: int, written: Mapping[str, int]
    ) -> tuple[tuple[HunkMade, ...], dict[int, int]]:
        """As they are now, and which record changed each last.

        Of a session of which the blocks before the ``first`` are not shown: those of calls that
        are shown, in which one waits, is not written perhaps, or is the last one.
        """
        query = "SELECT made, stage, decision, reason, words, author, seq FROM hunks"
        query += " WHERE session = ?"
        given: tuple[object, ...] = ()
        if first:
            calls = self._base.execute(_CALLS, (*[self._n] * 4, first)).fetchall()
            accepted = self._base.execute(_ACCEPTED, (self._n,))
            calls += [(call,) for call, path, seq in accepted if written.get(path, 0) < seq]
            query += " AND call_id IN (SELECT value FROM json_each(?))"
            given = (json.dumps([call for (call,) in calls]),)
        found = [*self._each(_hunk, f"{query} ORDER BY id", *given)]
        return tuple(hunk for hunk, _ in found), {hunk.id: seq for hunk, seq in found}

    def _each(self, make: Callable[[_Row], T], query: str, *given: object) -> Iterator[T]:
        try:
            for row in self._base.execute(query, (self._n, *given)):
                try:
                    made = make(row)
                except (msgspec.MsgspecError, zlib.error, ValueError, TypeError):
                    self.lost += 1
                    continue
                yield made
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CORRUPT:
                raise
            self.lost += 1


def _newest(base: sqlite3.Connection, n: int, what: str, nothing: T) -> T:
    """What was said last of something, as JSON; ``nothing``: it was not, or cannot be read."""
    query = "SELECT detail FROM events WHERE session = ? AND what = ? ORDER BY seq DESC LIMIT 1"
    row = base.execute(query, (n, what)).fetchone()
    with suppress(msgspec.MsgspecError, TypeError):
        return nothing if row is None else from_json(row[0], type(nothing))
    return nothing


def _check(*numbers: object, texts: tuple[object, ...] = ()) -> None:
    """Raise TypeError unless all are what they should be."""
    if any(type(one) is not int for one in numbers) or any(type(one) is not str for one in texts):
        raise TypeError("a value of another type")


def _turn(row: _Row) -> StoredTurn:
    began, ended, began_ms = row
    over = None if ended is None else from_json(ended, TurnEnded)
    return StoredTurn(from_json(began, TurnBegan), over, began_ms)


def _entry(row: _Row) -> EntryMade:
    number, place, kind, origin, turn, image, item, data = row
    _check(number, turn, texts=(kind, origin, image))
    said = unpacked(item).encode() if data is None else zlib.decompress(data)
    return EntryMade(number, float(place), kind, origin, said, turn, image)


def _hunk(row: _Row) -> tuple[HunkMade, int]:
    made, stage, decision, reason, words, author, seq = row
    _check(seq, texts=(reason, words))
    hunk = from_json(unpacked(made), HunkMade)
    now = msgspec.structs.replace(
        hunk,
        stage=Stage(stage),
        decision=Decision(decision),
        reason=reason,
        words=words,
        author=author,
    )
    return now, seq


def _files(
    base: sqlite3.Connection, n: int
) -> tuple[list[tuple[int, FileKept]], dict[str, FileKept], dict[str, int]]:
    """All, the newest of each path, and which record said last that it was written."""
    query = "SELECT seq, turn, path, moment, blob FROM files WHERE session = ? ORDER BY seq"
    texts, files, written = list[tuple[int, FileKept]](), dict[str, FileKept](), dict[str, int]()
    for seq, turn, path, moment, blob in base.execute(query, (n,)):
        files[path] = FileKept(turn, path, moment, blob)
        texts.append((seq, files[path]))
        if moment == "after":
            written[path] = seq
    return texts, files, written


def _standing_rewinds(base: sqlite3.Connection, n: int) -> dict[int, tuple[Rewound, bool]]:
    """Those that were not taken back, nor is anything new said since ``/clear``; and if done."""
    query = (
        "SELECT what, detail FROM events WHERE session = ?"
        " AND what IN ('rewound', 'rewind done', 'forward', 'cleared') ORDER BY seq"
    )
    found: dict[int, tuple[Rewound, bool]] = {}
    for what, detail in base.execute(query, (n,)).fetchall():
        if what == "cleared":
            found.clear()
        elif what == "rewound":
            with suppress(msgspec.MsgspecError, TypeError):
                told = from_json(detail, Rewound)
                found[told.number] = told, False
        elif detail.isdecimal() and int(detail) in found and what == "forward":
            del found[int(detail)]
        elif detail.isdecimal() and int(detail) in found:
            found[int(detail)] = found[int(detail)][0], True
    return found


def _rewinds(base: sqlite3.Connection, n: int, rows: _Rows) -> tuple[StoredRewind, ...]:
    """The same with the entries that went."""
    found = list[StoredRewind]()
    for told, done in _standing_rewinds(base, n).values():
        known = {one.id: one for one in rows.entries_of(told.entries)}
        entries = tuple(known[number] for number in told.entries if number in known)
        found.append(StoredRewind(told, entries, done))
    return tuple(found)


def _taken_back(
    hunks: tuple[HunkMade, ...], rewinds: Iterable[StoredRewind]
) -> tuple[HunkMade, ...]:
    """With the hunks that duetto was killed in taking back."""
    back = {was.id for one in rewinds if not one.done for was in one.told.hunks}
    return tuple(
        msgspec.structs.replace(hunk, decision=Decision.REJECTED, words=UNDONE)
        if hunk.id in back
        else hunk
        for hunk in hunks
    )


def _unwritten(
    hunks: Iterable[HunkMade], changed: dict[int, int], written: dict[str, int]
) -> frozenset[int]:
    """Ids of the accepted ones of whose file nothing was written since."""
    found, went = [], {one.path: one.target for one in hunks if one.kind is Kind.MOVE}
    for hunk in hunks:
        paths = (hunk.path, went.get(hunk.path, ""))
        last = max(written.get(path, 0) for path in paths)
        if hunk.decision is Decision.ACCEPTED and last < changed[hunk.id]:
            found.append(hunk.id)
    return frozenset(found)
