"""The SQLite file: opened, brought to this version, filled from records, emptied again.

Two duettos share it: every change is one short transaction that takes the lock at its beginning.
Whoever finds it broken puts it aside and begins a new one; who had it open notices by its inode.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import sqlite3
import stat
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from tui.core import session_record as records
from tui.core.conversation import BlockKind
from tui.core.document.hunk import PLACED, Decision, Stage
from tui.core.session_record import StoredRecord
from tui.core.typed_data import from_json
from tui.effects.store.schema import FILE, MIGRATIONS, packed, unpacked
from tui.errors import StoreRefused

WAIT_S = 5.0
"""How long another duetto's transaction is waited for."""
_BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_NOT_OURS = "; set DUETTO_HOME to a folder that you may write to"
_LARGE = 2_000
"""Items that are longer are kept once, however often they are said."""
_FOUND_CHARS = 1_000_000
"""So much of a block can be searched."""
_DAY_MS = 86_400_000
_json = msgspec.json.Encoder()
_COUNTED = {"interrupt": "interrupts", "redirect": "redirects", "steer": "steers"}
"""What happens -> the column of its turn that counts it."""
_DECIDED = """
    UPDATE turns SET (hunks, accepted, rejected, decided_ms, accepted_ms) = (SELECT count(*),
        ifnull(sum(decision = 'accepted'), 0), ifnull(sum(decision = 'rejected'), 0),
        min(CASE author WHEN 'user' THEN decided_ms END),
        max(CASE decision WHEN 'accepted' THEN decided_ms END)
        FROM hunks WHERE session = ?1 AND turn = ?2) WHERE session = ?1 AND number = ?2
"""
_VERIFIED = """
    UPDATE turns SET verify_s = verify_s + ?1, verdict_ms = ifnull(verdict_ms, ?2),
        green_ms = CASE ?3 WHEN 'passed' THEN ifnull(green_ms, ?2) ELSE green_ms END
        WHERE session = ?4 AND number = ?5
"""


class StoreReplaced(StoreRefused):
    """The file was broken or gone, and a new one was begun: all is to be said again."""


class NewerStore(StoreRefused):
    """The file is from a newer version."""


class Database:
    """The file, for one thread; opened when it is first needed."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is the data folder; nothing is made or read yet."""
        self.file = folder / FILE
        self._connection: sqlite3.Connection | None = None
        self._opened: os.stat_result | None = None

    def close(self) -> None:
        """Let go of it."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):
                connection.close()

    def is_ready(self) -> bool:
        """The file is there, and of this version, as far as a look can tell."""
        if not self.file.is_file():
            return False  # a pipe would be waited for
        try:
            file = f"{self.file.absolute().as_uri()}?mode=ro"
            with contextlib.closing(sqlite3.connect(file, uri=True)) as connection:
                return _version(connection, self.file) == len(MIGRATIONS)
        except (sqlite3.Error, NewerStore):
            return False

    @contextlib.contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """One transaction.

        Raises StoreRefused: it cannot be had, with the reason; StoreReplaced; NewerStore.
        """
        try:
            connection = self._ready()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_CORRUPT_VTAB:
                with contextlib.suppress(sqlite3.Error):
                    _index_anew(self._ready())
            self.close()
            if _code(error) in _BROKEN and not self._is_whole():
                raise StoreReplaced(self._set_aside()) from error
            raise StoreRefused(_words(self.file, error)) from error
        except OSError as error:
            self.close()
            way = _NOT_OURS if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM) else ""
            raise StoreRefused(f"{self.file}: {error.strerror}{way}") from error
        except (msgspec.MsgspecError, zlib.error, OverflowError, UnicodeError) as error:
            raise StoreRefused(f"a record cannot be read: {error}") from error

    def _ready(self) -> sqlite3.Connection:
        """The connection. Raises OSError, sqlite3.Error, StoreRefused."""
        if self._connection is not None and not self._is_same():
            self.close()
            self._connection = self._open()
            raise StoreReplaced(f"{self.file} was replaced by another one")
        if self._connection is None:
            self._connection = self._open()
        return self._connection

    def _open(self) -> sqlite3.Connection:
        self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = os.open(self.file, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, 0o600)
        try:
            self._opened = os.fstat(fd)
            if not stat.S_ISREG(self._opened.st_mode):
                raise OSError(errno.EINVAL, "it is not a file")
            if self._opened.st_mode & 0o077:
                os.fchmod(fd, 0o600)
        finally:
            os.close(fd)
        connection = sqlite3.connect(
            self.file, timeout=WAIT_S, isolation_level=None, check_same_thread=False
        )
        try:
            _version(connection, self.file)
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            _migrated(connection, self.file)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA recursive_triggers = ON")  # also for what is replaced
            connection.execute("PRAGMA secure_delete = ON")
        except BaseException:
            connection.close()
            raise
        return connection

    def _set_aside(self) -> str:
        """Rename the broken file, and what SQLite keeps beside it; in words, where it is now.

        Of several duettos only one does. Raises StoreRefused: it cannot be renamed.
        """
        aside = f"{self.file}.corrupt-{time.strftime('%Y-%m-%d-%H%M%S')}-{os.getpid()}"
        try:
            with open(self.file.with_suffix(".lock"), "ab") as lock:
                with contextlib.suppress(OSError):
                    fcntl.flock(lock, fcntl.LOCK_EX)
                if not self._is_same():
                    return f"{self.file} was replaced by another one"
                for suffix in ("-wal", "-shm", ""):
                    with contextlib.suppress(FileNotFoundError):
                        os.rename(f"{self.file}{suffix}", f"{aside}{suffix}")
        except OSError as error:
            raise StoreRefused(f"{self.file} is damaged: {error.strerror}") from error
        name = os.path.basename(aside)
        return f"{self.file} is damaged: it is kept as {name}, and a new one is begun"

    def _is_whole(self) -> bool:
        """What was wrong is none of the file any more."""
        try:
            with contextlib.closing(sqlite3.connect(self.file, timeout=WAIT_S)) as connection:
                found: str = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
                return found == "ok"
        except sqlite3.Error as error:
            return _code(error) not in _BROKEN

    def _is_same(self) -> bool:
        """False if the file that was opened is not there any more, or another one is."""
        try:
            return self._opened is not None and os.path.samestat(os.stat(self.file), self._opened)
        except FileNotFoundError:
            return False

    def take(self, session_id: str, rows: Iterable[StoredRecord]) -> bool:
        """Take records in, those that are in already passed over.

        False: there is no such session any more, so it was forgotten. Raises StoreRefused.
        """
        with self.changing() as connection:
            intake = _Intake(connection, session_id)
            for row in rows:
                if not intake.take(row):
                    return False
            intake.end()
        return True

    def left(self, session_id: str) -> None:
        """Its duetto was killed: what was open is not any more. Raises StoreRefused."""
        with self.changing() as connection:
            intake = _Intake(connection, session_id)
            if intake.n:
                intake.cut_open_blocks()

    def forget(self, session_id: str) -> None:
        """Nothing is kept of it any more. Raises StoreRefused."""
        with self.changing() as connection:
            _delete(connection, session_id)
            _sweep(connection, _now_ms())
            connection.execute("INSERT INTO full_text (full_text) VALUES ('optimize')")
        self._shrink()

    def forget_all(self) -> None:
        """Nothing is kept at all. Raises StoreRefused."""
        with self.changing() as connection:
            connection.execute("INSERT INTO full_text (full_text) VALUES ('delete-all')")
            for table in ("sessions", "blobs"):
                connection.execute(f"DELETE FROM {table}")
        self._shrink()
        for path in self.file.parent.glob(f"{FILE}.corrupt-*"):
            with contextlib.suppress(OSError):
                path.unlink()

    def outdated(self, keep_days: int, but: str) -> list[str]:
        """Sessions in which nothing happened for so many days.

        Counted from now, or from the newest of the others if that is older: a clock that has
        jumped ahead makes nothing old.
        """
        with self.changing() as connection:
            newest = connection.execute(
                "SELECT max(last_ms) FROM sessions WHERE id != ?", (but,)
            ).fetchone()[0]
            limit = min(_now_ms(), newest or 0) - keep_days * _DAY_MS
            found = connection.execute(
                "SELECT id FROM sessions WHERE last_ms < ? AND id != ?", (limit, but)
            )
            return [one[0] for one in found]

    def prune(self, session_id: str) -> None:
        """Take one of them out. Raises StoreRefused."""
        with self.changing() as connection:
            _delete(connection, session_id)

    def sweep(self) -> None:
        """Take out the bytes that no session names any more. Raises StoreRefused."""
        with self.changing() as connection:
            _sweep(connection, _now_ms() - _DAY_MS)
        self._shrink()

    def _shrink(self) -> None:
        """Give the room back; what was deleted does not stay in the file beside it."""
        with contextlib.suppress(sqlite3.Error):
            connection = self._ready()
            connection.execute("PRAGMA incremental_vacuum").fetchall()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _now_ms() -> int:
    return int(time.time() * 1000)


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _words(file: Path, error: sqlite3.Error) -> str:
    match _code(error):
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"{file} is locked by another program"
        case sqlite3.SQLITE_FULL:
            return f"{file}: the disk is full"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return f"{file} cannot be written"
        case sqlite3.SQLITE_IOERR | sqlite3.SQLITE_PROTOCOL:
            return f"{file} lies where it cannot be locked or written; DUETTO_HOME names another"
    return f"{file}: {error}"


def _migrated(connection: sqlite3.Connection, file: Path) -> None:
    """Bring the file to this version. Raises sqlite3.Error; NewerStore."""
    until = time.monotonic() + WAIT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
            break
        except sqlite3.OperationalError as error:  # nobody waits for this one
            if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.02)
    if _version(connection, file) == len(MIGRATIONS):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for version in range(_version(connection, file), len(MIGRATIONS)):
            for statement in _statements(MIGRATIONS[version]):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {version + 1}")
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # SQLite does it itself where the disk is full
            connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection, file: Path) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > len(MIGRATIONS):
        raise NewerStore(f"{file} is from a newer version of duetto")
    return version


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _delete(connection: sqlite3.Connection, session_id: str) -> None:
    row = connection.execute("SELECT n FROM sessions WHERE id = ?", (session_id,)).fetchone()
    if row is None:
        return
    blocks = connection.execute("SELECT * FROM blocks WHERE session = ?", row)
    blocks.row_factory = sqlite3.Row
    for block in blocks.fetchall():
        _unindex(connection, block)
    connection.execute("DELETE FROM sessions WHERE n = ?", row)


def _sweep(connection: sqlite3.Connection, before_ms: int) -> None:
    connection.execute(
        "DELETE FROM blobs WHERE ms < ? AND sha NOT IN (SELECT blob FROM files)"
        " AND sha NOT IN (SELECT blob FROM entries WHERE blob IS NOT NULL)"
        " AND sha NOT IN (SELECT image FROM entries WHERE image != '')"
        " AND sha NOT IN (SELECT head FROM requests)",
        (before_ms,),
    )


def _searched(kind: str, title: str, text: str) -> str:
    """What can be found of a block that is closed; empty: nothing."""
    return "" if kind == BlockKind.PACE else f"{title}\n{text[:_FOUND_CHARS]}".strip()


def _unindex(connection: sqlite3.Connection, block: sqlite3.Row) -> None:
    """Say what goes out of the full text just as it went in."""
    text = _searched(block["kind"], block["title"], unpacked(block["text"]))
    if text and block["state"] != "open":
        connection.execute(
            "INSERT INTO full_text (full_text, rowid, text) VALUES ('delete', ?, ?)",
            (block["n"], text),
        )


def _index_anew(connection: sqlite3.Connection) -> None:
    """The full text contradicts the blocks: make it of them."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO full_text (full_text) VALUES ('delete-all')")
    blocks = connection.execute("SELECT n, kind, title, text FROM blocks WHERE state != 'open'")
    for number, kind, title, kept in blocks:
        if text := _searched(kind, title, unpacked(kept)):
            connection.execute("INSERT INTO full_text (rowid, text) VALUES (?, ?)", (number, text))
    connection.execute("COMMIT")


class _Intake:
    """Records of one session on their way into the tables."""

    def __init__(self, connection: sqlite3.Connection, session_id: str) -> None:
        self._do = connection.execute
        self._connection = connection
        self._id = session_id
        found = self._do("SELECT n, seq FROM sessions WHERE id = ?", (session_id,)).fetchone()
        self.n: int = found[0] if found else 0
        self._seq: int = found[1] if found else 0
        self._last_ms = 0
        self._decided: set[int] = set()
        """Turns of whose hunks something is new."""
        self._columns: dict[str, list[str]] = {}
        self._handlers: dict[type, Callable[[StoredRecord, Any], object]] = {
            records.Began: self._began,
            records.Resumed: lambda _, on: self._set(folder=on.folder, version=on.version, ended=0),
            records.Named: lambda _, named: self._set(name=named.name),
            records.Ended: lambda *_: self._set(ended=1),
            records.TurnBegan: self._turn_began,
            records.TurnEnded: self._turn_ended,
            records.RequestSent: partial(self._insert, "requests"),
            records.EntryMade: self._entry,
            records.EntryGone: self._entry_gone,
            records.BlockSaid: self._block,
            records.HunkMade: self._hunk,
            records.HunksAre: self._hunks_are,
            records.HunkGone: self._hunk_gone,
            records.FileKept: partial(self._insert, "files"),
            records.BlobKept: lambda row, blob: self._blob(row, blob.sha, blob.data),
            records.CommandBegan: partial(self._insert, "commands"),
            records.CommandEnded: self._command_ended,
            records.Judged: self._judged,
            records.Happened: self._happened,
        }

    def take(self, row: StoredRecord) -> bool:
        """One record; False: its session is not there."""
        record = row.record
        if not self.n and not isinstance(record, records.Began):
            return False
        if row.seq > self._seq or not self.n:
            self._handlers[type(record)](row, record)
            self._seq, self._last_ms = row.seq, row.ms
        return True

    def end(self) -> None:
        """That was all for now."""
        self._connection.executemany(_DECIDED, [(self.n, turn) for turn in self._decided])
        if self._last_ms:
            values = (self._seq, self._last_ms, self.n)
            self._do("UPDATE sessions SET seq = ?, last_ms = ? WHERE n = ?", values)

    def cut_open_blocks(self) -> None:
        """Nobody will close those that are open."""
        open_ones = self._do(
            "SELECT at FROM blocks WHERE session = ? AND state = 'open'", (self.n,)
        ).fetchall()
        for (at,) in open_ones:
            self._settle_block(at, "cut")

    def _set(self, **values: object) -> None:
        names = ", ".join(f"{name} = ?" for name in values)
        self._do(f"UPDATE sessions SET {names} WHERE n = ?", (*values.values(), self.n))

    def _insert(self, table: str, row: StoredRecord, record: Struct, **more: object) -> None:
        """A row of this session, of what its columns are named for; one of its key is replaced."""
        if table not in self._columns:
            found = self._do("SELECT name FROM pragma_table_info(?)", (table,))
            self._columns[table] = [name for (name,) in found]
        known = {"session": self.n, "seq": row.seq, "ms": row.ms, **asdict(record), **more}
        values = {name: known[name] for name in self._columns[table] if name in known}
        for name, value in values.items():
            if isinstance(value, Struct):
                values[name] = _json.encode(value).decode()
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        self._do(f"INSERT OR REPLACE INTO {table} ({names}) VALUES ({marks})", (*values.values(),))

    def _began(self, row: StoredRecord, began: records.Began) -> None:
        if not self.n:
            made = self._do("INSERT INTO sessions (id) VALUES (?)", (self._id,))
            self.n = made.lastrowid or 0
        self._set(
            folder=began.folder,
            kind=began.kind,
            version=began.version,
            parent=began.parent,
            parent_turn=began.parent_turn,
            began_ms=row.ms,
            ended=0,
        )

    def _turn_began(self, row: StoredRecord, began: records.TurnBegan) -> None:
        self._insert("turns", row, began, began_ms=row.ms, began=began, tier="", timed=1)
        self._do("UPDATE sessions SET turns = max(turns, ?) WHERE n = ?", (began.number, self.n))
        self._is_about(began.text)

    def _is_about(self, words: str) -> None:
        """The first that is known names it."""
        self._do(
            "UPDATE sessions SET first_words = ? WHERE n = ? AND first_words = ''",
            (" ".join(words[:1000].split())[:200], self.n),
        )

    def _turn_ended(self, row: StoredRecord, ended: records.TurnEnded) -> None:
        told, place = _json.encode(ended).decode(), (self.n, ended.number)
        query = "UPDATE turns SET ended_ms = ?, outcome = ?, ended = ?"
        self._do(f"{query} WHERE session = ? AND number = ?", (row.ms, ended.outcome, told, *place))
        if ended.beside:
            return
        figures = ended.figures
        self._do(
            "UPDATE turns SET tokens_in = ?1, tokens_out = ?2,"
            " usd = max(ifnull(usd, ?3), ifnull(?3, usd)), ttft_s = ?4, tokens_s = ?5,"
            " served = ?6, tier = ?7, seconds = ?8, first_s = ?9, hunk_s = ?10"
            " WHERE session = ?11 AND number = ?12",
            (
                figures.tokens_in,
                figures.tokens_out,
                figures.usd,
                figures.ttft_s,
                figures.tokens_s,
                ended.served_model,
                ended.served_tier,
                figures.seconds,
                figures.first_s,
                figures.hunk_s,
                *place,
            ),
        )

    def _entry(self, row: StoredRecord, entry: records.EntryMade) -> None:
        self._entry_gone(row, entry)
        item: str | bytes | None = None
        blob = None
        if len(entry.item) > _LARGE:
            blob = records.sha_of(entry.item)
            self._blob(row, blob, entry.item)
        else:
            item = packed(entry.item.decode())
        gone = row.seq if entry.aside else None
        self._insert("entries", row, entry, item=item, blob=blob, gone=gone)

    def _entry_gone(self, row: StoredRecord, entry: records.EntryGone | records.EntryMade) -> None:
        self._do(
            "UPDATE entries SET gone = ? WHERE session = ? AND id = ? AND gone IS NULL",
            (row.seq, self.n, entry.id),
        )

    def _blob(self, row: StoredRecord, sha: str, data: bytes) -> None:
        known = self._do("UPDATE blobs SET ms = ? WHERE sha = ?", (row.ms, sha))
        if not known.rowcount:
            kept = zlib.compress(data)
            values = (sha, row.ms, len(data), kept)
            self._do("INSERT INTO blobs (sha, ms, size, data) VALUES (?, ?, ?, ?)", values)

    def _block(self, row: StoredRecord, block: records.BlockSaid) -> None:
        before = self._stored_block(block.at)
        if before is None:
            self._insert("blocks", row, block, state="open", text="")
            before = self._stored_block(block.at)
            assert before is not None
        else:
            _unindex(self._connection, before)
            report = None if block.report is None else _json.encode(block.report).decode()
            self._do(
                "UPDATE blocks SET title = ?, speaker = ?, call_id = ?, state = 'open', report = ?"
                " WHERE n = ?",
                (block.title, block.speaker, block.call_id, report, before["n"]),
            )
        if block.start == 0:
            self._do("DELETE FROM pieces WHERE block = ?", (before["n"],))
            self._do("UPDATE blocks SET text = '' WHERE n = ?", (before["n"],))
        if block.text:
            values = (before["n"], block.start, packed(block.text))
            self._do("INSERT OR REPLACE INTO pieces (block, start, text) VALUES (?, ?, ?)", values)
        if block.state != "open":
            self._settle_block(block.at, block.state)

    def _stored_block(self, at: int) -> sqlite3.Row | None:
        found = self._do("SELECT * FROM blocks WHERE session = ? AND at = ?", (self.n, at))
        found.row_factory = sqlite3.Row
        row: sqlite3.Row | None = found.fetchone()
        return row

    def _settle_block(self, at: int, state: str) -> None:
        """Nothing more comes for now: one text instead of pieces, and it can be found."""
        block = self._stored_block(at)
        if block is None:
            return
        text = block_text(self._connection, block["n"], block["text"])
        self._do("DELETE FROM pieces WHERE block = ?", (block["n"],))
        values = (packed(text), state, block["n"])
        self._do("UPDATE blocks SET text = ?, state = ? WHERE n = ?", values)
        if found := _searched(block["kind"], block["title"], text):
            self._do("INSERT INTO full_text (rowid, text) VALUES (?, ?)", (block["n"], found))

    def _hunk(self, row: StoredRecord, hunk: records.HunkMade) -> None:
        decided = None if hunk.decision is Decision.PENDING else row.ms
        waits, made = _waits(hunk.stage, hunk.decision), packed(_json.encode(hunk).decode())
        self._insert("hunks", row, hunk, decided_ms=decided, waits=waits, made=made)
        self._decided.add(hunk.turn)

    def _hunks_are(self, row: StoredRecord, news: records.HunksAre) -> None:
        decided = None if news.decision is Decision.PENDING else row.ms
        values = (
            row.seq,
            news.stage,
            news.decision,
            news.reason,
            news.words,
            news.author,
            decided,
        )
        waits = _waits(news.stage, news.decision)
        self._turns_of(news.ids)
        self._connection.executemany(
            "UPDATE hunks SET seq = ?, stage = ?, decision = ?, reason = ?, words = ?, author = ?,"
            " decided_ms = ?, waits = ? WHERE session = ? AND id = ?",
            ((*values, waits, self.n, one) for one in news.ids),
        )

    def _turns_of(self, hunks: tuple[int, ...]) -> None:
        """Something is new of these hunks."""
        query = "SELECT DISTINCT turn FROM hunks WHERE session = ? AND id IN (SELECT value"
        found = self._do(f"{query} FROM json_each(?))", (self.n, str([*hunks])))
        self._decided.update(turn for (turn,) in found)

    def _hunk_gone(self, row: StoredRecord, gone: records.HunkGone) -> None:
        self._turns_of((gone.id,))
        self._do("DELETE FROM hunks WHERE session = ? AND id = ?", (self.n, gone.id))

    def _command_ended(self, row: StoredRecord, ended: records.CommandEnded) -> None:
        self._do(
            "UPDATE commands SET seconds = ?, status = ?, how = ? WHERE session = ? AND number = ?",
            (ended.seconds, ended.status, ended.how, self.n, ended.number),
        )

    def _judged(self, row: StoredRecord, judged: records.Judged) -> None:
        self._insert("verdicts", row, judged)
        if not judged.command:
            self._do(_VERIFIED, (judged.seconds, row.ms, judged.verdict, self.n, judged.turn))

    def _happened(self, row: StoredRecord, happened: records.Happened) -> None:
        self._insert("events", row, happened, s=row.s if happened.s is None else happened.s)
        if column := _COUNTED.get(happened.what):
            query = f"UPDATE turns SET {column} = {column} + 1 WHERE session = ? AND number = ?"
            self._do(query, (self.n, happened.turn))
        elif happened.what == "cost":
            query = "UPDATE turns SET usd = ifnull(usd, 0) + ? WHERE session = ? AND number = ?"
            self._do(query, (float(happened.detail), self.n, happened.turn))
        elif happened.what == "delegates":
            prompt = (
                "SELECT json_extract(?1, '$[0][0][1]') FROM sessions"
                " WHERE n = ?2 AND first_words = '' AND json_valid(?1)"
            )
            for (words,) in self._do(prompt, (happened.detail, self.n)).fetchall():
                self._is_about(words or "")
        elif happened.what == "rewound":
            with contextlib.suppress(msgspec.MsgspecError):
                told = from_json(happened.detail, records.Rewound)
                query = "UPDATE entries SET gone = NULL WHERE session = ? AND id = ?"
                self._connection.executemany(query, [(self.n, one) for one in told.restored])


def _waits(stage: Stage, decision: Decision) -> bool:
    waiting = stage in PLACED or stage in (Stage.CONFLICT, Stage.CANDIDATES)
    return waiting and decision is Decision.PENDING


def block_text(connection: sqlite3.Connection, block: int, text: str | bytes | None) -> str:
    """All of a block's text: what is settled of it, and the pieces that came since."""
    pieces = connection.execute("SELECT text FROM pieces WHERE block = ? ORDER BY start", (block,))
    return unpacked(text) + "".join(unpacked(one[0]) for one in pieces)
