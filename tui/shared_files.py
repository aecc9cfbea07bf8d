"""Files that several duettos share: replaced whole, locked, and reached without following links."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_TRIES, _PAUSE_S = 20, 0.01
"""Another duetto that was stopped with the lock in its hand must not stop this one."""
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)


def replace_file(file: Path, data: bytes, *, mode: int = 0o600, synced: bool = False) -> None:
    """Put a file in place whole; its folder is made where there is none.

    Raises OSError, having changed nothing. ``synced``: its bytes are on the disk before.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NOFOLLOW
    try:
        with open(os.open(fresh, flags, 0o600), "wb") as opened:
            opened.write(data)
            opened.flush()
            if synced:
                os.fsync(opened.fileno())
        with suppress(OSError):  # what root changes of a service's account stays that one's
            before = file.stat()
            os.chown(fresh, before.st_uid, before.st_gid)
        fresh.chmod(mode)
        fresh.replace(file)
    finally:
        fresh.unlink(missing_ok=True)


@contextmanager
def locked(file: Path, *, surely: bool) -> Iterator[None]:
    """Alone with this file among all duettos, for the moment that reading and writing takes.

    Where somebody does not let go in a blink, or there are no locks: raises OSError if it has to
    be ``surely`` alone, else goes on.
    """
    flags = os.O_RDWR | os.O_CREAT | _NOFOLLOW
    lock = os.open(file.with_suffix(".lock"), flags, 0o600)
    try:
        for left in reversed(range(_TRIES)):
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if not isinstance(error, BlockingIOError) or not left:
                    if surely:
                        raise
                    break
            time.sleep(_PAUSE_S)
        yield
    finally:
        os.close(lock)


@contextmanager
def held(place: Path) -> Iterator[int]:
    """A file or folder of a duetto that is dead. Raises OSError: it lives, or there is none."""
    lock = os.open(place, os.O_RDONLY | os.O_NONBLOCK | _NOFOLLOW)
    try:
        # shared: two who look at once do not take each other for the owner
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        yield lock
    finally:
        os.close(lock)


def is_held(place: Path) -> bool:
    """True if the duetto lives that has locked this file or folder."""
    try:
        with held(place):
            return False
    except OSError as error:
        return isinstance(error, BlockingIOError)


@contextmanager
def folder_below(
    top: str | Path, parts: Sequence[str], made: list[str] | None = None, mode: int = 0o777
) -> Iterator[int]:
    """A descriptor of a folder below ``top``, reached without following links.

    With ``made``, missing folders are made and noted there, below ``top``.
    """
    folder = os.open(top, _FOLDER)
    try:
        for depth, part in enumerate(parts, 1):
            if made is not None:
                with suppress(FileExistsError):
                    os.mkdir(part, mode, dir_fd=folder)
                    made.append("/".join(parts[:depth]))
            below = os.open(part, _FOLDER | _NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = below
        yield folder
    finally:
        os.close(folder)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of it, in as many parts as the system wants. Raises OSError."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
