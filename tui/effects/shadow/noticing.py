"""Which folders changed since the last look, where the kernel knows it at once (Linux).

The kernel queues what a program does to a file before the program goes on, so what was written
before a question is in the answer; what is written into a mapped file is in it once that is closed.
It is not told of file systems that others write, too, as of a network: there every folder is looked
into.
"""

from __future__ import annotations

import ctypes
import os
import re
import struct
import sys
import weakref
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

from tui.core.programs import is_below

_LOCAL = {"bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "jfs", "overlay", "tmpfs"}
_LOCAL |= {"xfs", "zfs"}
"""File systems that only this kernel writes."""
_MOUNTS = Path("/proc/self/mountinfo")
_EVENT = struct.Struct("iIII")
_MODIFIED, _ATTRIBUTES, _WRITTEN, _MOVES, _MADE, _GONE = 0x2, 0x4, 0x8, 0xC0, 0x100, 0x200
_MOVED_AWAY, _ONLY_FOLDERS, _IS_FOLDER = 0x800, 0x1000000, 0x40000000
_ALL = _MODIFIED | _ATTRIBUTES | _WRITTEN | _MOVES | _MADE | _GONE | _MOVED_AWAY | _ONLY_FOLDERS
_OF_A_FILE = _MODIFIED | _ATTRIBUTES | _WRITTEN | _GONE
_LOST, _FORGOTTEN = 0x4000, 0x8000
"""More happened than the kernel keeps; a folder is gone."""
_READ_BYTES = 65_536


class FolderWatch:
    """Of a workspace; not for several threads at once."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._folders: dict[int, str] = {}
        """What the kernel calls a folder -> its path, relative."""

    @cached_property
    def _queue(self) -> int | None:
        """Of what happens; None: there is none. It is made when it is needed: they are few."""
        if sys.platform != "linux":
            return None
        queue = int(_libc().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        if queue < 0:
            return None
        weakref.finalize(self, os.close, queue)
        return queue

    def begin(self, folder: str) -> bool:
        """Be told of what is in a folder, from before it is looked into; False: nobody tells."""
        if self._queue is None:
            return False
        path = os.fsencode(os.path.join(self._root, folder))
        number = int(_libc().inotify_add_watch(self._queue, path, _ALL))
        if number >= 0:
            self._folders[number] = folder
        return number >= 0

    def changed(self) -> set[str] | None:
        """Folders in which something changed, or that are others now; None: any of them may be."""
        found, others, lost = set[str](), set[str](), not _is_local(self._root)
        for folder, name, what in self._events():
            if what & _LOST:
                lost = True
                continue
            found.add(folder)
            if what & _IS_FOLDER and what & (_MOVES | _MADE | _GONE):
                others.add(f"{folder}/{name}".lstrip("/"))
            lost = lost or (not folder and bool(what & _MOVED_AWAY))
        if lost:
            return None
        watched = self._folders.values() if others else ()
        return found | {one for one in watched if not others.isdisjoint((one, *outer(one)))}

    def written(self, is_left_out: Callable[[str], bool]) -> set[str] | None:
        """Files that may be others now, or gone; None: any may be, also where something was made.

        What was made may have been another name of any file.
        """
        found, any_may = set[str](), self._queue is None
        for folder, name, what in self._events():
            path = f"{folder}/{name}".lstrip("/")
            if what & _LOST or not is_left_out(path):
                any_may = any_may or bool(not name or what & ~_OF_A_FILE)
                found.add(path)
        return None if any_may else found

    def _events(self) -> Iterator[tuple[str, str, int]]:
        """The folder, the name in it, and what happened, of all since the last time."""
        while data := self._read():
            at = 0
            while at < len(data):
                number, what, _, length = _EVENT.unpack_from(data, at)
                name = os.fsdecode(data[at + _EVENT.size :][:length].rstrip(b"\0"))
                at += _EVENT.size + length
                folder = self._folders.get(number)
                if folder is not None or what & _LOST:
                    yield folder or "", name, what
                if what & _FORGOTTEN:
                    self._folders.pop(number, None)

    def _read(self) -> bytes:
        if self._queue is None:
            return b""
        try:
            return os.read(self._queue, _READ_BYTES)
        except BlockingIOError:
            return b""


def outer(path: str) -> list[str]:
    """The folders that a path lies in, the inner ones first, but for the workspace."""
    found = []
    while path := path.rpartition("/")[0]:
        found.append(path)
    return found


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def _is_local(root: str) -> bool:
    """Whether a folder, with all below it, is on one file system that only this kernel writes."""
    top, kind = "", ""
    try:
        lines = _MOUNTS.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return False
    for line in lines:
        mount, _, about = line.partition(" - ")
        point = re.sub(r"\\(\d{3})", lambda octal: chr(int(octal[1], 8)), mount.split()[4])
        if point != root and is_below(point, root):
            return False
        if is_below(root, point) and len(point) >= len(top):
            top, kind = point, about.split()[0]
    return kind in _LOCAL
