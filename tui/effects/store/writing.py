"""Keeps a session: in its log at once, from there in the SQLite file by a thread of its own.

Nobody waits for SQLite: what has to hold before it takes effect is in the log when `commit`
returns. The thread brings all else there, in the same order, and takes what the log says into the
tables. Where it cannot (locked, full, of a newer version), the log has it and the next duetto
takes it in.

The log of a session is one file, its records each behind the other:

::

    duetto-log 1 4711 laptop            version, process and machine of who writes it
    LENGTH CRC32 record as MessagePack  (two numbers of 4 bytes each, then the record)

A record is there when the write of it has returned, so it outlives a kill; what was half written is
not read. The file is locked while the session lasts: one that is not is left over.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import logging
import os
import random
import socket
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Literal, cast

import msgspec

from tui.core.session_record import (
    Began,
    BlobKept,
    Ended,
    Record,
    StoredRecord,
    sha_of,
)
from tui.core.typed_data import msgpack_decoder
from tui.effects.store.database import Database, NewerStore, StoreReplaced
from tui.effects.store.schema import LOGS
from tui.errors import StoreRefused

_HEAD = struct.Struct("<II")
_FIRST = b"duetto-log "
VERSION = 1
SUFFIX = ".log"
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
_encoder = msgspec.msgpack.Encoder()
_decoder = msgpack_decoder(StoredRecord)


def encoded(record: StoredRecord) -> bytes:
    """A record as it stands in the log."""
    try:
        data = _encoder.encode(record)
    except UnicodeEncodeError:  # half a character, which no file can hold
        data = _encoder.encode(_whole(msgspec.to_builtins(record, builtin_types=(bytes,))))
    return _HEAD.pack(len(data), zlib.crc32(data)) + data


def _whole(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list | tuple):
        return [_whole(one) for one in value]
    if isinstance(value, dict):
        return {_whole(name): _whole(one) for name, one in value.items()}
    return value


def decoded(frames: Iterable[bytes]) -> Iterator[StoredRecord]:
    """The records again."""
    for frame in frames:
        yield _decoder.decode(memoryview(frame)[_HEAD.size :])


class SessionLog:
    """The file, while this process writes it; any one thread at a time."""

    def __init__(self, folder: Path, session_id: str) -> None:
        """Make it, locked.

        Raises:
            FileExistsError: there is one of that id, so somebody is in that session.
            OSError: it cannot be made.
        """
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path = folder / (session_id + SUFFIX)
        self._is_named = False
        """A power cut leaves it in its folder."""
        making = folder / f".{session_id}.{os.getpid()}"
        with suppress(FileNotFoundError):
            making.unlink()
        self._fd = os.open(making, _FLAGS, 0o600)
        try:
            with suppress(OSError):  # no locks there: who writes it is in its first line
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            first = b"%b%d %d %b\n" % (_FIRST, VERSION, os.getpid(), _host())
            self._start = self.size = len(first)
            os.write(self._fd, first)
            _named(making, self.path)
        except OSError:
            os.close(self._fd)
            raise
        finally:
            with suppress(FileNotFoundError):
                making.unlink()

    def append(self, data: bytes) -> None:
        """Write behind all else. Raises OSError: nothing of it is there."""
        done = 0
        try:
            while done < len(data):
                done += os.write(self._fd, memoryview(data)[done:])
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._fd, self.size)
            raise
        self.size += len(data)

    @property
    def length(self) -> int:
        """Bytes of all records in it."""
        return self.size - self._start

    def empty(self) -> None:
        """All that it says is in the store. Raises OSError."""
        os.ftruncate(self._fd, self._start)
        self.size = self._start

    def sync(self) -> None:
        """Bring it to the disk, and its name. Raises OSError."""
        os.fsync(self._fd)
        if not self._is_named:
            for folder in (self.path.parent, self.path.parent.parent):
                fd = os.open(folder, os.O_RDONLY)
                try:
                    os.fsync(fd)
                finally:
                    os.close(fd)
            self._is_named = True

    def close(self, *, remove: bool) -> None:
        """Let go of it; whoever comes next takes what is in it."""
        if remove:
            with suppress(OSError):
                self.path.unlink()
        os.close(self._fd)


def _named(making: Path, path: Path) -> None:
    """Give it its name, unless there is such a file."""
    try:
        os.link(making, path)
    except FileExistsError:
        raise
    except OSError:  # no hard links there
        os.close(os.open(path, _FLAGS, 0o600))
        making.rename(path)


def _host() -> bytes:
    return socket.gethostname().encode("ascii", "replace").replace(b" ", b"-") or b"-"


def is_alive(path: Path) -> bool:
    """True while a duetto is in the session of this log."""
    try:
        with LeftLog(path):
            return False
    except BlockingIOError:
        return True
    except (OSError, StoreRefused):
        return False


def frames_of(file: BinaryIO) -> Iterator[bytes]:
    """The records of a log, as far as they are whole; its first line was read."""
    end = os.fstat(file.fileno()).st_size
    while len(head := file.read(_HEAD.size)) == _HEAD.size:
        length, check = cast(tuple[int, int], _HEAD.unpack(head))
        if file.tell() + length > end:
            return
        data = file.read(length)
        if zlib.crc32(data) != check:
            return
        yield head + data


class LeftLog:
    """A log that somebody left, held so that nobody else takes it.

    Raises BlockingIOError: its session lives; OSError; StoreRefused: it is of a newer version.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.session_id = path.name.removesuffix(SUFFIX)
        self._file = path.open("rb")
        try:
            self._hold()
        except BaseException:
            self._file.close()
            raise

    def _hold(self) -> None:
        first = self._file.readline(200).split()
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise
        except OSError as error:  # no locks there
            if len(first) > 3 and (first[3] != _host() or _runs(int(first[2]))):
                raise BlockingIOError(errno.EAGAIN, "it is in use") from error
        if not os.path.samestat(os.stat(self.path), os.fstat(self._file.fileno())):
            raise FileNotFoundError(errno.ENOENT, "somebody took it")
        if len(first) > 1 and first[1] != b"%d" % VERSION:
            raise StoreRefused(f"{self.path} is from another version of duetto: left as it is")

    def frames(self) -> Iterator[bytes]:
        """Its records in order, as far as they are whole."""
        return frames_of(self._file)

    def __enter__(self) -> LeftLog:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return pid != os.getpid()


_log = logging.getLogger("tui.store")
_SOON_S = 0.4
"""So long the thread gathers what is put."""
_AGAIN_S = 5.0
"""Between two tries, where something is in the way."""
_PATIENCE = 3
"""So many tries, then it is said."""
_MOST_LOG = 1_000_000
"""Bytes of a log that is emptied once all of it is in the tables."""
_MOST_WAITING = 64_000_000
"""Bytes that wait where there is no log to be written; then the session is kept no more."""
_PART = 500
"""Records in one transaction, of a log that was left."""
_CLOSING_S = 3.0
_SYNC_S = 2.0
"""So long what is to be done waits until the disk has what was committed."""
_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
_EPOCH_S = 1_735_689_600
"""2025."""


def new_id(now_s: float) -> str:
    """What a session is called: by the minute in which it begins, so that names sort."""
    number = (max(int(now_s - _EPOCH_S), 0) // 60 % 32**5 << 15) + random.getrandbits(15)
    return "".join(_DIGITS[number >> shift & 31] for shift in range(35, -1, -5))


class StoreWriter:
    """See `engine.ports.SessionStore`; any thread may call it."""

    def __init__(
        self,
        data_dir: Path,
        now: Callable[[], float],
        *,
        resumed: tuple[str, int] | None = None,
        keep_days: int = 0,
        on: bool = True,
    ) -> None:
        """``now`` is the session's clock; nothing is made before the first `commit`.

        ``resumed``: the session that goes on, and the number of its last record. ``on``: False,
        if nothing of this one is to be kept; `forget` works all the same.
        Raises StoreRefused: it goes on in another duetto.
        """
        self._folder = data_dir / LOGS
        self._now, self._keep_days = now, keep_days
        self.on_trouble: Callable[[str, str], None] = lambda what, why: None
        """Told in words what cannot be kept; in the event loop."""
        self.on_lost: Callable[[], None] = lambda: None
        """What was kept is gone: all is to be said again; in the event loop."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._short = threading.Lock()
        """Who changes what follows."""
        self._log: SessionLog | None = None
        self._waiting: list[bytes] = []
        """Records that are not in the log."""
        self._size = 0
        self._logged: list[bytes] = []
        """Records that are in the log, and not in the tables."""
        self._behind = False
        """The log has more of them."""
        self._stuck = False
        """The log could not be written."""
        self._state: Literal["new", "kept", "lost", "off"] = "new" if on else "off"
        self._forgetting: Literal["", "this", "all"] = ""
        self._settling: list[Future[None]] = []
        self._said: set[str] = set()
        self._shas: set[str] = set()
        self._wake, self._urgent = threading.Event(), threading.Event()
        self._closing = False
        self._thread: threading.Thread | None = None
        self._keeper = _Keeper(data_dir)
        self.id, self._seq = resumed or (new_id(time.time()), 0)
        self._resumed = resumed is not None
        if resumed is not None and on:
            self._state = "kept"
            try:
                self._log = SessionLog(self._folder, self.id)
            except FileExistsError as error:
                raise StoreRefused(f"session {self.id} goes on in another duetto") from error
            except OSError:
                _log.exception("no log can be made")  # it is told when there is something to keep

    @property
    def keeps(self) -> bool:
        """False: nothing of this session is kept, or not any more."""
        return self._state != "off"

    @property
    def kept(self) -> bool:
        """Something is kept under its id."""
        return self._state == "kept"

    def put(self, record: Record) -> None:
        """Keep this within a second; before the first `commit` it waits for that."""
        with self._short:
            first = not self._waiting
            self._add(record)
        if first and self._state == "kept":
            self._wake.set()

    def commit(self, record: Record) -> None:
        """Keep this, and all that was put before: from now on it outlives a kill."""
        self._start()
        with self._short:
            self._add(record)
            if self._state == "new":
                self._state = "kept"
            self._write()
        self._urgent.set()
        self._wake.set()

    async def durable(self) -> None:
        """See `engine.ports.SessionStore`; a disk that takes very long is waited for no more."""
        with self._short:
            log = self._log if self._state == "kept" and not self._stuck else None
        if log is None:
            return
        syncing = asyncio.ensure_future(asyncio.to_thread(log.sync))
        syncing.add_done_callback(lambda done: done.cancelled() or done.exception())
        done, _ = await asyncio.wait({syncing}, timeout=_SYNC_S)
        error = syncing.exception() if done else TimeoutError("the disk is too slow")
        if error is not None:
            self._tell("A power cut may take the end of this session", f"{log.path}: {error}")

    def blob(self, data: bytes) -> str:
        """Keep bytes, if they are not kept yet; what they are called."""
        sha = sha_of(data)
        if sha not in self._shas:
            self._shas.add(sha)
            self.put(BlobKept(sha, data))
        return sha

    def forget(self, *, all_sessions: bool = False) -> None:
        """Keep nothing of this session, or of any, and no more of this one."""
        with self._short:
            self._forgetting = "all" if all_sessions or self._forgetting == "all" else "this"
            self._drop("off")
        self._start()
        self._urgent.set()
        self._wake.set()

    async def settled(self) -> None:
        """Return when all that was put is in the tables. Raises StoreRefused: it cannot be."""
        done = Future[None]()
        done.set_running_or_notify_cancel()  # who waits may go, and it is done all the same
        if self._closing:
            raise StoreRefused("duetto ends")
        self._start()
        with self._short:
            if self._state in ("new", "off") and not self._forgetting:
                return
            self._settling.append(done)
        self._urgent.set()
        self._wake.set()
        await asyncio.wrap_future(done)

    def close(self) -> None:
        """Have all of it kept; a disk that takes long is left to the next duetto."""
        if self._state == "kept":
            self.commit(Ended())
        self._closing = True
        self._urgent.set()
        self._wake.set()
        done = True
        if self._thread is not None:
            self._thread.join(_CLOSING_S)
            done = not self._thread.is_alive()
        with self._short:
            log, self._log = self._log, None
            if log is not None:
                log.close(remove=done and not (self._logged or self._behind))

    def _add(self, record: Record) -> None:
        """Number it."""
        if self._state == "lost" and isinstance(record, Began):
            self._state = "kept"
        if self._state in ("lost", "off"):
            return
        row = StoredRecord(self._seq + 1, int(time.time() * 1000), self._now(), record)
        try:
            data = encoded(row)
        except (msgspec.MsgspecError, TypeError, ValueError, OverflowError):
            _log.exception("a record cannot be kept")
            return
        self._seq += 1
        self._waiting.append(data)
        self._size += len(data)

    def _write(self) -> None:
        """Have what waits in the log."""
        if not self._waiting or self._state != "kept":
            return
        try:
            if self._log is None:
                self._log = self._made()
            self._log.append(b"".join(self._waiting))
        except OSError as error:
            self._stuck = True
            self._tell("This session is not kept", f"{self._folder}: {error.strerror}")
            if self._size > _MOST_WAITING:
                self._drop("off")
            return
        self._logged += self._waiting
        self._waiting, self._size, self._stuck = [], 0, False

    def _made(self) -> SessionLog:
        """The log of a new session. Raises OSError."""
        while True:
            try:
                return SessionLog(self._folder, self.id)
            except FileExistsError:
                if self._resumed:
                    raise
                self.id = new_id(time.time())

    def _drop(self, state: Literal["lost", "off"]) -> None:
        """Nothing of what was said before is to be kept."""
        self._state = state
        self._waiting, self._size, self._logged, self._behind = [], 0, [], False
        self._stuck = False
        self._shas.clear()
        if self._log is not None:
            with suppress(OSError):
                self._log.empty()

    def _tell(self, what: str, why: str) -> None:
        """Say it once, in the event loop."""
        if why not in self._said and self._loop is not None:
            self._said.add(why)
            self._call(lambda: self.on_trouble(what, why))

    def _call(self, call: Callable[[], None]) -> None:
        if self._loop is not None:
            with suppress(RuntimeError):  # it is closed: nobody is there any more
                self._loop.call_soon_threadsafe(call)

    def _start(self) -> None:
        if self._thread is None and not self._closing:
            with suppress(RuntimeError):
                self._loop = asyncio.get_running_loop()
            self._thread = threading.Thread(target=self._run, name="store", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        """The thread."""
        tries, housekept, last = 0, False, False
        while not last:
            self._wake.wait(_AGAIN_S if tries else None)
            if not tries:
                self._urgent.wait(_SOON_S)
            self._wake.clear()
            self._urgent.clear()
            with self._short:
                last = self._closing
                settling, self._settling = self._settling, []
            refusal: StoreRefused | None = None
            try:
                self._bring()
                tries = 0
            except StoreReplaced as error:
                refusal = error
                self._tell("The store was begun anew", str(error))
                with self._short:
                    self._drop("lost")
                self._call(self.on_lost)
            except StoreRefused as error:
                refusal = error
                tries += 1
                self._refused(error, tries)
            _answer(settling, refusal)
            if not (housekept or tries or last):
                housekept = True
                self._housekeeping()
        _answer(self._settling, StoreRefused("duetto ends"))
        self._keeper.database.close()

    def _bring(self) -> None:
        """All of it into the log, and from there into the tables. Raises StoreRefused."""
        with self._short:
            forgetting, self._forgetting = self._forgetting, ""
            self._write()
            frames, self._logged = self._logged, []
            log, behind, self._behind = self._log, self._behind, False
        database = self._keeper.database
        try:
            if forgetting:
                database.forget_all() if forgetting == "all" else database.forget(self.id)
            if log is not None and behind:
                there = self._keeper.take_file(log.path, self.id)
            else:
                there = not frames or database.take(self.id, decoded(frames))
        except StoreReplaced:
            raise
        except BaseException:
            with self._short:
                self._forgetting = self._forgetting or forgetting
                self._behind = behind or bool(frames or self._logged)
                self._logged = []
            raise
        with self._short:
            if not there:
                self._tell("This session is kept no more", "another duetto was told to forget it")
                self._drop("off")
            if log is not None and not (self._logged or self._behind) and log.length > _MOST_LOG:
                with suppress(OSError):
                    log.empty()
            if self._stuck:
                raise StoreRefused(f"{self._folder} cannot be written")

    def _refused(self, error: StoreRefused, tries: int) -> None:
        if self._log is not None:
            with suppress(OSError):
                self._log.sync()
        if self._stuck:
            return  # that is told, and nothing stays anywhere
        if tries >= _PATIENCE or isinstance(error, NewerStore):
            what = "Sessions do not reach the store"
            self._tell(what, f"{error}; this one stays in {self._folder}, and goes there later")

    def _housekeeping(self) -> None:
        """What others left, and what is too old; it stops for what is new."""
        with suppress(StoreRefused, OSError):
            self._keeper.take_left(self._wake.is_set)
            self._prune()
            from tui.effects.store.cycles import keep_weeks  # which reads what is written here

            keep_weeks(self._keeper.database, self._wake.is_set)

    def _prune(self) -> None:
        if not self._keep_days:
            return
        for session_id in self._keeper.database.outdated(self._keep_days, self.id):
            if self._wake.is_set():
                return
            if not is_alive(self._folder / (session_id + SUFFIX)):
                self._keeper.database.prune(session_id)
        self._keeper.database.sweep()


def _answer(settling: Iterable[Future[None]], refusal: StoreRefused | None) -> None:
    for one in settling:
        if refusal is None:
            one.set_result(None)
        else:
            one.set_exception(refusal)


class _Keeper:
    """Takes logs into the tables."""

    def __init__(self, data_dir: Path) -> None:
        self.database = Database(data_dir)
        self._logs = data_dir / LOGS

    def take_file(self, path: Path, session_id: str) -> bool:
        """All of a log that this process holds. Raises StoreRefused."""
        with path.open("rb") as file:
            file.readline()
            return self.take_frames(frames_of(file), session_id)

    def take_frames(self, frames: Iterable[bytes], session_id: str) -> bool:
        part: list[bytes] = []
        for frame in frames:
            part.append(frame)
            if len(part) == _PART:
                if not self.database.take(session_id, decoded(part)):
                    return False
                part = []
        return self.database.take(session_id, decoded(part))

    def has_left(self) -> bool:
        """There are logs of duettos that were killed."""
        return not all(map(is_alive, self._logs.glob(f"*{SUFFIX}")))

    def take_left(self, enough: Callable[[], bool] = lambda: False) -> list[str]:
        """The logs of duettos that were killed; what is to be said of those that stay."""
        said = []
        for path in sorted(self._logs.glob(f"*{SUFFIX}")):
            if enough():
                break
            try:
                with LeftLog(path) as log:
                    self.take_frames(log.frames(), log.session_id)
                    self.database.left(log.session_id)
                    path.unlink()
            except StoreReplaced as error:
                said.append(str(error))
            except (BlockingIOError, FileNotFoundError):
                continue  # its session lives, or somebody took it
            except OSError as error:
                said.append(f"{path}: {error.strerror}")
            except StoreRefused as error:
                said.append(f"{path} is left as it is: {error}")
        return said


def settle(data_dir: Path) -> list[str]:
    """Have the store ready to be read: of this version, with all that killed duettos left.

    What is to be said of it, in sentences. For a thread. Raises StoreRefused, also where it was
    damaged and nothing is left to be read: the next time there is a new one.
    """
    keeper = _Keeper(data_dir)
    if keeper.database.is_ready() and not keeper.has_left():
        return []  # a change of nothing would wait for the disk
    try:
        with keeper.database.changing():
            pass
        return keeper.take_left()
    except StoreReplaced as error:
        said = keeper.take_left()
        if not keeper.database.file.exists():
            raise
        return [str(error), *said]
    finally:
        keeper.database.close()


def in_use(data_dir: Path, session_id: str) -> bool:
    """True while a duetto is in that session."""
    path = data_dir / LOGS / (session_id + SUFFIX)
    return path.exists() and is_alive(path)
