"""The process that makes the map of a project: reads its files once, then only what changes.

``python -m tui.effects.project_map ROOT [FILE]``: orders come on stdin, maps go to stdout; it ends
with its stdin. It is nice: whatever somebody waits for goes first. FILE keeps between two starts
what was read.
"""

from __future__ import annotations

import contextlib
import os
import queue
import stat
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tui.core.files import kind_by_name
from tui.core.project_map import READ_BYTES, FileFacts, ProjectIndex, drawn, facts_of
from tui.core.typed_data import from_json, from_msgpack
from tui.effects.project_map import MapMade, MapOrder
from tui.shared_files import folder_below, replace_file

NICENESS = 15
SCHEMA = "1"
"""Another one: what is kept is of no use any more."""
KEEP_DAYS = 60
"""What was kept of projects that nobody opened since is removed."""
Known = tuple[int, int, FileFacts]
"""When a file was changed (ns), its size, and what it said then."""


class ProjectScan:
    """The files of a project, as far as they were read."""

    def __init__(self, root: str, kept: Path | None) -> None:
        self._root, self._kept = root, kept
        self._known: dict[str, Known] = _loaded(kept)
        self._index = ProjectIndex()
        self._listed: dict[str, None] = {}
        self._learnt: dict[str, FileFacts] = {}
        self._waiting: dict[str, None] = {}
        """Files that are to be looked at."""
        self._fresh = False
        """More is known than is kept."""

    @property
    def busy(self) -> bool:
        """There are files to look at."""
        return bool(self._waiting)

    def obey(self, order: MapOrder) -> None:
        """Hear which files there are, and which were changed."""
        if order.listed is not None:
            listed = self._listed = dict.fromkeys(order.listed)
            self._index.list_files(listed)
            self._waiting = {path: None for path in self._waiting if path in listed}
            self._waiting |= {path: None for path in listed if path not in self._learnt}
            self._learnt = {path: facts for path, facts in self._learnt.items() if path in listed}
        if order.changed is not None:
            some = order.changed or list(self._learnt)
            self._waiting |= {path: None for path in some if path in self._learnt}

    def step(self) -> None:
        """Look at one file; when all are looked at, keep what is known."""
        path = next(iter(self._waiting))
        del self._waiting[path]
        found = self._looked_at(path)
        self._learnt[path] = found
        self._index.learn(path, found)
        if not self._waiting:
            self._index.link()
            self.keep()

    def map(self, order: MapOrder) -> MapMade:
        """The map as it can be drawn now; what was changed of its files is in it."""
        if order.seeds is None:
            return MapMade("")
        ranked = self._index.ranked(order.seeds)
        room = (order.tokens, len(self._index))
        return MapMade(drawn(ranked, self._text, order.seeds, room), len(self._learnt))

    def _looked_at(self, path: str) -> FileFacts:
        """What a file says; read only if it has changed."""
        if kind_by_name(path):
            return FileFacts()
        with self._opened(path) as (descriptor, found):
            if descriptor is None or found is None:
                return FileFacts()
            before = self._known.get(path)
            if before is not None and before[:2] == (found.st_mtime_ns, found.st_size):
                return before[2]
            self._fresh = True
            facts = facts_of(path, _text_of(descriptor))
            self._known[path] = (found.st_mtime_ns, found.st_size, facts)
            return facts

    def _text(self, path: str) -> str | None:
        with self._opened(path) as (descriptor, _):
            return None if descriptor is None else _text_of(descriptor)

    @contextlib.contextmanager
    def _opened(self, path: str) -> Iterator[tuple[int | None, os.stat_result | None]]:
        """A regular file without other names, reached over no link; else nothing."""
        *folders, name = path.split("/")
        descriptor = None
        flags = os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0)
        try:
            with folder_below(self._root, folders) as folder:
                descriptor = os.open(name, flags, dir_fd=folder)
            found = os.fstat(descriptor)
            plain = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
            yield (descriptor, found) if plain else (None, None)
        except OSError:
            if descriptor is None:
                yield None, None
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def keep(self) -> None:
        """Have it on the disk for the next start; what cannot be kept is read again."""
        if self._kept is None or not self._fresh:
            return
        self._fresh = False
        known = {path: one for path, one in self._known.items() if path in self._listed}
        with contextlib.suppress(OSError):
            replace_file(self._kept, msgspec.msgpack.encode((SCHEMA, known)))


def _text_of(descriptor: int) -> str:
    """The text of a file; empty for what is none, or cannot be read."""
    try:
        data = os.read(descriptor, READ_BYTES)
    except OSError:
        return ""
    return "" if b"\0" in data else data.decode("utf-8", "replace").replace("\r\n", "\n")


def _loaded(kept: Path | None) -> dict[str, Known]:
    """What an earlier one kept, and old ones of other projects removed."""
    if kept is None:
        return {}
    with contextlib.suppress(OSError):
        for other in kept.parent.iterdir():
            if other.stat().st_mtime < time.time() - KEEP_DAYS * 86_400:
                other.unlink()
    try:
        data = kept.read_bytes()
        schema, known = from_msgpack(data, tuple[str, dict[str, Known]])
    except (OSError, msgspec.MsgspecError):
        return {}
    return known if schema == SCHEMA else {}


def serve(scan: ProjectScan, orders: queue.SimpleQueue[bytes]) -> None:
    """Obey until an empty line comes; files are read while nobody asks."""
    asked: list[tuple[float, MapOrder]] = []
    while True:
        while asked and (not scan.busy or time.monotonic() >= asked[0][0]):
            made = scan.map(asked.pop(0)[1])
            sys.stdout.buffer.write(msgspec.json.encode(made) + b"\n")
            sys.stdout.buffer.flush()
        try:
            line = orders.get(block=not scan.busy)
        except queue.Empty:
            scan.step()
            continue
        if not line:
            scan.keep()
            return
        order = from_json(line, MapOrder)
        scan.obey(order)
        if order.seeds is not None:
            asked.append((time.monotonic() + order.within_s, order))


def main() -> None:
    """Run until stdin ends."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    root, *kept = sys.argv[1:]
    orders: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def listen() -> None:
        for line in sys.stdin.buffer:
            orders.put(line)
        orders.put(b"")

    threading.Thread(target=listen, daemon=True).start()
    serve(ProjectScan(root, Path(kept[0]) if kept else None), orders)


if __name__ == "__main__":
    main()
