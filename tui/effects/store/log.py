"""The log of one session: its records in one file, each behind the other, before all else.

::

    duetto-log 1 4711 laptop            version, process and machine of who writes it
    LENGTH CRC32 record as MessagePack  (two numbers of 4 bytes each, then the record)

A record is there when the write of it has returned, so it outlives a kill; what was half written is
not read. The file is locked while the session lasts: one that is not is left over.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from tui.core.session_record import StoredRecord
from tui.core.typed_data import msgpack_decoder
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
