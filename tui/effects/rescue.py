"""Folders in the state folder that keep what is typed and not saved, while it is typed.

::

    rescue/2026-11-21-114613/        0700
        owner.lock                   whose it is; locked while the duetto lives that writes here
        workspace.json               whose it is, and which files are in it
        files/src/a.py               0600, as a save would have written it
        before/src/a.py              what lay on the disk
        draft.txt  queued-1.txt
        newest                       all that is not there yet, in one file

What changed is jotted down first, which waits for no disk: be that ever so slow, a kill loses
nothing of it. Then it is brought to the disk for a power cut, and `newest` goes; who reads takes
that first, if its sum is right. Every other file is on the disk before it gets its name, whole; the
folders follow once all of them have theirs. `workspace.json` says with which ``before`` a text
belongs together, so that a power cut between the two is noticed. The folder goes when nothing in it
is unsaved any more; that of a duetto that was ended by force stays, its lock is gone with its
process, and the next duetto of that workspace offers it.
Nothing here follows a link below the state folder, and of others nothing is removed unasked.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import threading
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from tui.core.files import checked_path
from tui.core.unsaved import Unsaved, UnsavedFile
from tui.errors import EditRefused, FileRefused
from tui.shared_files import folder_below, is_held

_log = logging.getLogger("tui.rescue")
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NAME, _MANIFEST, _DRAFT, _LOCK = "rescue", "workspace.json", "draft.txt", "owner.lock"
_FILES, _BEFORE, _WRITING = "files", "before", "writing"
_NEWEST, _JOTTING = "newest", "jotting"
_MOST_BYTES = 64 * 1024 * 1024
"""A kept file is seldom larger than 8 MB, which are saved; what is larger is not ours."""


class RescueFolders:
    """What is kept for one workspace, and the folder in which this duetto keeps its own."""

    def __init__(self, state_dir: Path, root: str) -> None:
        """``root`` is the workspace's absolute path; nothing is made or read yet."""
        self._state_dir = state_dir
        self._root = os.path.realpath(root)
        self._alone = threading.Lock()
        """Who brings things to the disk; that may take long."""
        self._short = threading.Lock()
        """Who changes what is newest, or the folder."""
        self._own: _OwnFolder | None = None
        self._newest = Unsaved()
        self._ended = False

    def jot(self, unsaved: Unsaved) -> None:
        """Keep this from now on, against a kill of this process; it waits for no disk.

        `bring` says what could not be written. Any thread may call it.
        """
        with self._short:
            if self._ended:
                return
            self._newest = unsaved
            with suppress(OSError):
                own = self._found()
                if own is None and unsaved:
                    own = self._own = _OwnFolder(self._state_dir, self._root)
                if own is not None:
                    own.jot(unsaved)

    def keep(self, unsaved: Unsaved, *, last: bool = False) -> tuple[str, list[str]]:
        """Keep this from now on instead of what was kept before; nothing, if it is empty.

        Writes what changed, and returns when it is on the disk: the folder, and what of it could
        not be written, with the reasons. After the ``last`` time nothing is written any more.
        Any thread may call it.

        Raises:
            FileRefused: there is no folder to write to.
        """
        self.jot(unsaved)
        return self.bring(last=last)

    def bring(self, *, last: bool = False) -> tuple[str, list[str]]:
        """Bring to the disk what was jotted down last; see `keep`."""
        with self._alone:
            if self._ended:
                return "", []
            self._ended = last
            try:
                return self._bring(self._newest)
            except OSError as error:
                raise FileRefused(f"{self._state_dir / _NAME}: {error.strerror}") from error
            finally:
                if last and self._own is not None:
                    self._own.let_go()

    def _bring(self, unsaved: Unsaved) -> tuple[str, list[str]]:
        with self._short:
            own = self._found()
            if not unsaved:
                if own is None or self._newest is not unsaved:
                    return "", []
                own.disown()
                self._own = None  # what comes next gets a folder of its own
            elif own is None:
                own = self._own = _OwnFolder(self._state_dir, self._root)
        if not unsaved:
            own.remove()
            return "", []
        failed = own.take(unsaved)
        with self._short:
            if self._newest is unsaved and not failed:
                own.forget_jotted()
        return str(own.folder), failed

    def _found(self) -> _OwnFolder | None:
        """The folder, if nobody removed it."""
        if self._own is not None and not self._own.is_there():
            self._own.let_go()
            self._own = None
        return self._own

    def kept(self) -> list[Unsaved]:
        """What others left for this workspace or a part of it, newest first; never raises.

        What a duetto keeps that still lives is its own business.
        """
        found = []
        with suppress(OSError), folder_below(self._state_dir, [_NAME]) as rescue:
            for name in sorted(os.listdir(rescue), reverse=True):
                with suppress(OSError, ValueError, RecursionError):
                    if not is_held(self._state_dir / _NAME / name / _LOCK):
                        found.append(self._read(name))
        return [unsaved for unsaved in found if unsaved]

    def dismiss(self, folder: str) -> None:
        """Remove one of them for good.

        Raises:
            FileRefused: it is no folder of rescued text, or it cannot be removed.
        """
        place = Path(folder)
        there = any((place / name).is_file() for name in (_MANIFEST, _NEWEST))
        if place.parent != self._state_dir / _NAME or not there:
            raise FileRefused(f"{folder} is not a folder of rescued text")
        try:
            _remove(place)
        except OSError as error:
            raise FileRefused(f"{folder} is not removed: {error.strerror}") from error

    def _read(self, name: str) -> Unsaved:
        """One folder; empty if it belongs to another workspace.

        A file that was opened by its name had its own folder as the workspace; whoever opens the
        project then, or the other way round, is offered it too if all of it lies there.
        """
        folder = self._state_dir / _NAME / name
        root, unsaved = _jotted(folder) or _brought(folder)
        if os.path.commonpath((root, self._root)) not in (root, self._root):
            return Unsaved()
        files = tuple(
            replace(file, path=os.path.relpath(os.path.join(root, file.path), self._root))
            for file in unsaved.files
        )
        elsewhere = any(file.path.startswith("../") for file in files)
        if root != self._root and (elsewhere or not files):
            return Unsaved()
        return replace(unsaved, files=files, folder=str(folder))


class _OwnFolder:
    """A folder of this process, locked while it lives."""

    def __init__(self, state_dir: Path, root: str) -> None:
        """Make it. Raises OSError."""
        self._root = root
        self._files: dict[str, UnsavedFile] = {}
        self._small: dict[str, bytes] = {}
        """Name -> what was written of the manifest, the draft and the queue."""
        self._unsynced: set[tuple[str, ...]] = set()
        """Folders in it where files got their names, and which are not on the disk yet."""
        self._lock = -1
        os.makedirs(state_dir, 0o700, exist_ok=True)
        self._above: list[Path] = [state_dir, state_dir / _NAME]
        """Folders above it that are not on the disk yet."""
        with folder_below(state_dir, [_NAME], [], 0o700) as rescue:
            os.fchmod(rescue, 0o700)
            self.folder = state_dir / _NAME / _new_folder(rescue)
            try:
                self._take_hold()
            except OSError:
                self.let_go()
                with suppress(OSError):  # the next try makes one of its own
                    _remove(self.folder)
                raise

    def _take_hold(self) -> None:
        """Lock it, and say whose it is. Raises OSError."""
        self._lock = os.open(self.folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        with suppress(OSError):  # a full disk; the list of what is kept says it too
            os.write(self._lock, os.fsencode(self._root))
        with suppress(OSError):  # a file system without locks: others may offer it meanwhile
            fcntl.flock(self._lock, fcntl.LOCK_EX)

    def is_there(self) -> bool:
        """False if somebody removed it."""
        return (self.folder / _LOCK).exists()

    def let_go(self) -> None:
        """Whoever comes next may take what is in it."""
        if self._lock >= 0:
            os.close(self._lock)
        self._lock = -1

    def disown(self) -> None:
        """Nothing in it is unsaved any more: from now on nobody offers it. Raises OSError."""
        for name in (_MANIFEST, _NEWEST):  # the second one says that there is nothing
            with suppress(FileNotFoundError):
                os.unlink(self.folder / name)
        self.let_go()  # over a network an open file would keep its folder from being removed

    def remove(self) -> None:
        """Take it away, once it is disowned; what stays of it is litter, and offered to nobody."""
        try:
            _remove(self.folder)
        except OSError as error:
            _log.warning("%s is not removed: %s", self.folder, error.strerror)
        with suppress(OSError):
            os.rmdir(self.folder.parent)

    def jot(self, unsaved: Unsaved) -> None:
        """Write all that is not on the disk into one file, which waits for no disk.

        Raises OSError: it is not there, nor one that is older.
        """
        changed = [file for file in unsaved.files if self._files.get(file.path) != file]
        sizes = {
            file.path: (len(file.data), None if file.before is None else len(file.before))
            for file in changed
        }
        head = {
            "root": self._root,
            "files": [(file.path, sizes.get(file.path)) for file in unsaved.files],
            "draft": unsaved.draft,
            "queued": unsaved.queued,
        }
        texts = [part or b"" for file in changed for part in (file.data, file.before)]
        parts = [json.dumps(head).encode() + b"\n", *texts]
        summed = 0
        for part in parts:
            summed = zlib.crc32(part, summed)
        try:
            _put(self.folder, [_NEWEST], [b"%08x\n" % summed, *parts], _JOTTING)
        except OSError:
            self.forget_jotted()
            raise

    def forget_jotted(self) -> None:
        """All of that is on the disk, or it is out of date. Never raises."""
        with suppress(OSError):
            os.unlink(self.folder / _NEWEST)

    def take(self, unsaved: Unsaved) -> list[str]:
        """Write what changed; returns what could not be written, and why.

        Raises OSError: the folder itself cannot be brought to the disk.
        """
        for place in self._above[:]:
            with folder_below(place, []) as folder:
                os.fsync(folder)
            self._above.remove(place)
        failed = []
        files = {file.path: file for file in unsaved.files}
        for path, file in files.items():
            was = self._files.get(path)
            try:
                if was is None or was != file:
                    self._files.pop(path, None)
                    self._write_file(file, was)
                    self._files[path] = file
            except (OSError, ValueError) as error:
                failed.append(f"{_FILES}/{path}: {_why(error)}")
        small = self._small_files(unsaved)
        for name, data in small.items():
            try:
                if self._small.get(name) != data:
                    self._write([name], data)
                    self._small[name] = data
            except OSError as error:
                failed.append(f"{name}: {_why(error)}")
        self._drop(self._files.keys() - files.keys(), self._small.keys() - small.keys())
        return [*failed, *self._synced()]

    def _write(self, parts: Sequence[str], data: bytes) -> None:
        _put(self.folder, parts, [data], _WRITING, synced=True)
        self._unsynced.update(tuple(parts[:depth]) for depth in range(len(parts)))

    def _synced(self) -> Iterator[str]:
        """Bring the folders to the disk; gives those that could not be, and why."""
        for parts in sorted(self._unsynced):
            try:
                with folder_below(self.folder, parts) as folder:
                    os.fsync(folder)
                self._unsynced.remove(parts)
            except OSError as error:
                yield f"{'/'.join(parts) or self.folder}: {_why(error)}"

    def _write_file(self, file: UnsavedFile, was: UnsavedFile | None) -> None:
        parts = file.path.split("/")
        if was is None or was.data != file.data:
            self._write([_FILES, *parts], file.data)
        if file.before is not None and (was is None or was.before != file.before):
            self._write([_BEFORE, *parts], file.before)

    def _small_files(self, unsaved: Unsaved) -> dict[str, bytes]:
        """Draft and queue, and last the manifest, which makes the rest valid."""
        small = {
            f"queued-{number}.txt": text.encode("utf-8", "replace")
            for number, text in enumerate(unsaved.queued, 1)
        }
        if unsaved.draft.strip():
            small[_DRAFT] = unsaved.draft.encode("utf-8", "replace")
        manifest = {
            "schema": 1,
            "root": self._root,
            "files": [file.path for file in unsaved.files],
            "before": {
                file.path: None if file.before is None else zlib.crc32(file.before)
                for file in unsaved.files
            },
        }
        return small | {_MANIFEST: json.dumps(manifest, indent=1).encode()}

    def _drop(self, paths: set[str], names: set[str]) -> None:
        """What was saved or sent."""
        for path in paths:
            del self._files[path]
            for kind in (_FILES, _BEFORE):
                with suppress(OSError):
                    os.unlink(self.folder.joinpath(kind, *path.split("/")))
        for name in names:
            del self._small[name]
            with suppress(OSError):
                os.unlink(self.folder / name)


def _remove(folder: Path) -> None:
    """With all that is in it. Raises OSError."""
    import shutil  # not before the first paint: it imports three compressors

    shutil.rmtree(folder)


def _manifest(folder: Path) -> dict[str, object]:
    """What a folder says of itself; where that is broken, what can be seen of it.

    A folder without any is one that was about to be removed.
    """
    data = _bytes(folder, [_MANIFEST])
    if data is None:
        return {}
    with suppress(ValueError, RecursionError):
        found = json.loads(data)
        if isinstance(found, dict) and isinstance(found.get("root"), str):
            return found
    top = folder / _FILES
    paths = [
        os.path.relpath(os.path.join(at, name), top) for at, _, ns in os.walk(top) for name in ns
    ]
    root = os.fsdecode(_bytes(folder, [_LOCK]) or b"")
    return {"root": root, "files": sorted(paths), "before": {}}


def _files(folder: Path, paths: list[object], manifest: dict[str, object]) -> Iterator[UnsavedFile]:
    sums = manifest.get("before")
    for path in map(str, paths):
        with suppress(OSError, EditRefused):
            parts = checked_path(path).split("/")
            data = _bytes(folder, [_FILES, *parts])
            before = _bytes(folder, [_BEFORE, *parts])
            if isinstance(sums, dict) and before is not None:
                # a power cut came between the text and what it belongs to
                before = before if sums.get(path) == zlib.crc32(before) else None
            if data is not None:
                yield UnsavedFile("/".join(parts), data, before)


def _why(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", "") or str(error)


def _new_folder(rescue: int) -> str:
    """Make a folder that is named by the time; two at once get two."""
    stamp = time.strftime("%Y-%m-%d-%H%M%S")
    for number in range(1, 1000):
        name = stamp if number == 1 else f"{stamp}-{number}"
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=rescue)
            return name
    raise FileExistsError(0, "too many folders of this second")


def _put(
    top: Path, parts: Sequence[str], data: Sequence[bytes], by: str, *, synced: bool = False
) -> None:
    """Replace a file below ``top`` whole, ``by`` another name. Raises OSError, ValueError.

    ``synced``: its bytes are on the disk then, its name may not be.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NOFOLLOW
    with folder_below(top, []) as above, folder_below(top, parts[:-1], [], 0o700) as folder:
        try:
            with open(os.open(by, flags, 0o600, dir_fd=above), "wb") as file:
                file.writelines(data)
                file.flush()
                if synced:
                    os.fsync(file.fileno())
            os.replace(by, parts[-1], src_dir_fd=above, dst_dir_fd=folder)
        except OSError:
            with suppress(OSError):  # half a text is of no use, and the disk may be full
                os.unlink(by, dir_fd=above)
            raise


def _brought(folder: Path) -> tuple[str, Unsaved]:
    """The workspace and what was brought to the disk of it."""
    manifest = _manifest(folder)
    paths = manifest.get("files", [])
    queued: list[str] = []
    while text := _bytes(folder, [f"queued-{len(queued) + 1}.txt"]):
        queued.append(text.decode("utf-8", "replace"))
    draft = (_bytes(folder, [_DRAFT]) or b"").decode("utf-8", "replace")
    files = tuple(_files(folder, paths if isinstance(paths, list) else [], manifest))
    return str(manifest.get("root", "")), Unsaved(files, draft, tuple(queued))


def _jotted(folder: Path) -> tuple[str, Unsaved] | None:
    """The workspace and what was jotted down of it; None: nothing, or not whole."""
    sum_of, _, rest = (_bytes(folder, [_NEWEST]) or b"").partition(b"\n")
    if sum_of != b"%08x" % zlib.crc32(rest):
        return None
    line, _, texts = rest.partition(b"\n")
    head, at, files = json.loads(line), 0, list[UnsavedFile]()
    for path, sizes in head["files"]:
        if sizes is None:
            files += _files(folder, [path], _manifest(folder))
            continue
        size, before = sizes
        data, at = texts[at : at + size], at + size
        old, at = texts[at : at + (before or 0)], at + (before or 0)
        with suppress(EditRefused):
            files.append(UnsavedFile(checked_path(path), data, None if before is None else old))
    return head["root"], Unsaved(tuple(files), head["draft"], tuple(head["queued"]))


def _bytes(top: Path, parts: Sequence[str]) -> bytes | None:
    """What a file below ``top`` holds; None if there is none. Raises OSError."""
    try:
        with folder_below(top, parts[:-1]) as folder:
            flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _NOFOLLOW
            with open(os.open(parts[-1], flags, dir_fd=folder), "rb") as file:
                return file.read(_MOST_BYTES)
    except FileNotFoundError:
        return None
