"""The workspace's files: bounded reads, atomic writes, never a byte outside of the root.

A path is resolved twice: `os.path.realpath` says where it leads, and the way there is walked
again folder by folder without following links (so a link swapped in between is not followed).
"""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Protocol

from msgspec.structs import replace

from tui.core.file_read import FileRead, Prepared, checked_path
from tui.core.privacy import why_linked, why_private
from tui.effects.files.target import (
    NOFOLLOW,
    TEMPORARY_END,
    Target,
    read_at,
    temporary_start,
    words_of,
)
from tui.errors import EditRefused, FileRefused

Place = tuple[int, int]
"""A file by its device and number."""
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | NOFOLLOW
SYNCS = 16
"""Files that are brought to the disk at a time: it writes them down together."""
MOST_OPEN = 64
"""Files of a set that are open at a time."""
_IGNORED = "it is ignored by the workspace's ignore files"


class PathList(Protocol):
    """What is listed of a workspace (effects.listing)."""

    def paths(self) -> list[str]:
        """All files that are neither hidden nor ignored."""

    def ignored(self, paths: Collection[str]) -> set[str]:
        """Those of the paths that an ignore file names."""

    def names(self, places: Mapping[Place, int]) -> Mapping[Place, Sequence[str]]:
        """The names in the workspace of files that have so many of them."""


class Files:
    """The files of one workspace."""

    def __init__(self, root: str | Path, listing: PathList) -> None:
        """``root`` is the workspace's directory, which must exist."""
        self.root = os.path.realpath(root)
        self.named_root = os.path.abspath(root)
        self.mark = os.urandom(8).hex()
        """In the names of the temporary files of this process."""
        self.linked: set[str] = set()
        """Files that had other names (hard links) when they were read last."""
        self.modes: dict[str, int] = {}
        """Path -> permissions that it gets when it is made (again)."""
        self._listing = listing
        self._begun: dict[str, str] = {}
        """Path -> the temporary file that is to get its name."""
        self._over: set[str] = set()
        """Files that can only be written over."""
        self._folders: set[str] | None = None
        """Folders that are not on the disk yet; None: each write brings its own there."""

    def relative(self, path: str) -> str:
        """A path as written, relative to the root with ``/``; links are not looked at.

        Raises:
            FileRefused: it is none, or it leads outside or into ``.git``.
        """
        if "\\" in path and not os.path.lexists(os.path.join(self.root, path)):
            path = path.replace("\\", "/")
        for root in (self.named_root, self.root):
            path = path.removeprefix(root.rstrip("/") + "/")
        try:
            path.encode()
            return checked_path(path)
        except UnicodeEncodeError:
            raise FileRefused(f"{path!a} is not a usable path") from None
        except EditRefused as error:
            raise FileRefused(str(error)) from None

    def read(self, path: str) -> FileRead:
        """The bytes of a file, or why it is not to be had. Never raises."""
        parts: list[str] = []
        try:
            parts = self._resolve(path)
            with self._parent(parts) as folder:
                found = os.access(parts[-1], os.F_OK, dir_fd=folder, follow_symlinks=False)
                if twin := _twin(folder, parts[-1], found):
                    return FileRead(
                        None, f"'{path}' is spelled {_spelled(twin, parts[-1])} on the disk"
                    )
                read = read_at(folder, parts[-1], path)
            return self._as_named(read, path, parts)
        except FileNotFoundError:
            return self._as_named(FileRead(None), path, parts) if parts else FileRead(None)
        except FileRefused as error:
            return FileRead(None, str(error))
        except OSError as error:
            return FileRead(None, f"'{path}': {words_of(error)}")

    def prepare(self, texts: Mapping[str, tuple[bytes, bytes | None]]) -> Prepared:
        """Make ready that these are written together; nothing of theirs is changed yet.

        Path -> its new bytes, and the old ones (None: nothing). What is slow is done here, many
        at a time: `write` only gives the names then, till `end`. Never raises.
        """
        self._folders = set()
        refusals: dict[str, str] = {}
        waiting = list(texts.items())
        while waiting and not refusals:
            batch, waiting = waiting[:MOST_OPEN], waiting[MOST_OPEN:]
            opened: dict[str, int] = {}
            for path, text in batch:
                try:
                    self._begin(path, text, opened)
                except (FileRefused, OSError) as error:
                    refusals[path] = _not_written(path, error)
            refusals |= _synced(opened)
        return Prepared(frozenset(self._over), refusals)

    def _begin(self, path: str, text: tuple[bytes, bytes | None], opened: dict[str, int]) -> None:
        """Write a file's temporary one and leave it open. Raises FileRefused, OSError."""
        parts = self._resolve(path)
        if text[1] is None and not os.path.isdir(os.path.dirname(f"{self.root}/{'/'.join(parts)}")):
            return  # its folders are made first
        with self._parent(parts) as folder:
            begun = Target(folder, parts[-1], path, self.mark).begin(*text)
        if begun is None:
            self._over.add(path)
        else:
            self._begun[path], opened[path] = begun

    def end(self) -> None:
        """All that were prepared are written, or none is any more. Never raises."""
        for path, name in self._begun.items():
            with suppress(FileRefused, OSError):
                parts = self._resolve(path)
                with self._parent(parts) as folder:
                    Target(folder, parts[-1], path).discard(name)
        for one in self._folders or ():
            with suppress(OSError), self._parent([*filter(None, one.split("/")), ""]) as folder:
                os.fsync(folder)
        self._begun, self._over, self._folders = {}, set(), None

    def _target(self, folder: int, parts: list[str], path: str) -> Target:
        target = Target(folder, parts[-1], path, self.mark)
        target.mode = self.modes.get(path)
        if self._folders is not None:
            target.sync = False
            self._folders.add("/".join(parts[:-1]))
        return target

    def _as_named(self, read: FileRead, path: str, parts: list[str]) -> FileRead:
        """What was read, with the name that the file has without links."""
        real, named = "/".join(parts), self.relative(path)
        note = self.linked.update if read.linked else self.linked.difference_update
        note((named, real))
        link = real != named and os.path.islink(os.path.join(self.root, named))
        return replace(read, real=real, link=link)

    def write(self, path: str, data: bytes, expected: bytes | None) -> None:
        """Write atomically, keeping mode, owner and links; directories are made as needed.

        ``expected`` is what must lie there now (None: nothing).

        Raises:
            FileRefused: nothing was changed.
        """
        made: list[str] = []
        try:
            parts = self._resolve(path)
            with self._parent(parts, made if expected is None else None) as folder:
                target = self._target(folder, parts, path)
                if path in self._begun:
                    target.put(self._begun.pop(path), expected)
                elif path in self._over:
                    target.write_over(data, expected or b"")
                else:
                    target.write(data, expected)
        except FileRefused:
            self._unmake(made)
            raise
        except FileNotFoundError:
            if os.path.isdir(self.root):
                raise FileRefused(f"'{path}' is gone from the disk") from None
            raise FileRefused(f"the folder {self.root} is gone: make it again, then save") from None
        except OSError as error:
            self._unmake(made)
            raise FileRefused(f"'{path}' is not written: {words_of(error)}") from error

    def delete(self, path: str, expected: bytes) -> None:
        """Remove a file whose bytes are ``expected``.

        Raises:
            FileRefused: nothing was changed.
        """
        try:
            if os.path.islink(os.path.join(self.root, self.relative(path))):
                raise FileRefused(f"'{path}' is a symlink, which is not deleted")
            parts = self._resolve(path)
            with self._parent(parts) as folder:
                self._target(folder, parts, path).delete(expected)
        except FileNotFoundError:
            raise FileRefused(f"'{path}' is gone from the disk") from None
        except OSError as error:
            raise FileRefused(f"'{path}' is not deleted: {words_of(error)}") from error

    def listing(self) -> list[str]:
        """All files that are neither ignored nor secret nor links to such: relative, sorted."""
        public = {path for path in self._listing.paths() if not why_private(path)}
        return sorted(path for path in public if self._meant(path) in public)

    def _meant(self, path: str) -> str:
        """A listed path, or what it leads to if it is a link."""
        whole = os.path.join(self.root, path)
        meant = os.path.realpath(whole) if os.path.islink(whole) else whole
        return os.path.relpath(meant, self.root)

    def privacy_of(self, paths: Iterable[str]) -> dict[str, str]:
        """Why each is not sent to a model without asking, in words; empty if it may be."""
        reasons, meant = dict[str, str](), dict[str, str]()
        for path in paths:
            try:
                named, real = self.relative(path), "/".join(self._resolve(path))
                reasons[path] = why_private(named) or why_private(real)
                meant[path] = real
            except (FileRefused, OSError) as error:
                reasons[path] = str(error)
        ignored = self._listing.ignored({real for path, real in meant.items() if not reasons[path]})
        reasons |= {path: _IGNORED for path, real in meant.items() if real in ignored}
        return reasons | self.links_of(path for path, why in reasons.items() if not why)

    def links_of(self, paths: Iterable[str]) -> dict[str, str]:
        """Why other names (hard links) of each call for a question, in words; empty: none does.

        Only where a file has other names the workspace is walked for them, for a bounded time;
        what is not found then counts as outside.
        """
        found: dict[str, tuple[str, os.stat_result]] = {}
        for path in (reasons := dict.fromkeys(paths, "")):
            with suppress(FileRefused, OSError):
                real = "/".join(self._resolve(path))
                there = os.lstat(os.path.join(self.root, real))
                if there.st_nlink > 1 and stat.S_ISREG(there.st_mode):
                    found[path] = real, there
                    self.linked |= {path, real}
        if not found:
            return reasons
        counts = {(there.st_dev, there.st_ino): there.st_nlink for _, there in found.values()}
        names = self._listing.names(counts)
        ignored = self._listing.ignored({name for some in names.values() for name in some})
        for path, (real, there) in found.items():
            place = there.st_dev, there.st_ino
            missing = len(names[place]) < there.st_nlink
            others = set(names[place]) - {real}
            reasons[path] = why_linked(others, missing, others & ignored)
        return reasons

    def _resolve(self, path: str) -> list[str]:
        """Where a path really leads, as parts below the root."""
        named = self.relative(path)
        if self._has_no_links(named):
            return named.split("/")
        real = os.path.realpath(os.path.join(self.root, named))
        if real == self.root:
            raise FileRefused(f"'{path}' is a directory")
        folder = os.path.join(self.root, "")
        if not real.startswith(folder):
            raise FileRefused(f"'{path}' leads outside the workspace through a symlink")
        below = real[len(folder) :]
        try:
            return checked_path(below.replace(os.sep, "/")).split("/")
        except EditRefused as error:
            raise FileRefused(f"'{path}' leads elsewhere: {error}") from None

    def _has_no_links(self, named: str) -> bool:
        """True if no part of a relative path is a link: it leads where it says."""
        place = self.root
        try:
            for part in named.split("/"):
                place = f"{place}/{part}"
                if stat.S_ISLNK(os.lstat(place).st_mode):
                    return False
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True

    @contextmanager
    def _parent(self, parts: list[str], made: list[str] | None = None) -> Iterator[int]:
        """A descriptor of the folder of a resolved path, walked without following links.

        With ``made``, missing folders are made and noted there.
        """
        folder = os.open(self.root, _FOLDER & ~getattr(os, "O_NOFOLLOW", 0))
        try:
            for depth, part in enumerate(parts[:-1], 1):
                if made is not None:
                    with suppress(FileExistsError):
                        os.mkdir(part, dir_fd=folder)
                        made.append("/".join(parts[:depth]))
                below = os.open(part, _FOLDER, dir_fd=folder)
                os.close(folder)
                folder = below
            yield folder
        finally:
            os.close(folder)

    def missing_folders(self, path: str) -> tuple[str, ...]:
        """Folders that have to be made for a file, outer ones first. Never raises."""
        try:
            parts = self._resolve(path)
        except (FileRefused, OSError):
            return ()
        folders = ["/".join(parts[:depth]) for depth in range(1, len(parts))]
        return tuple(one for one in folders if not os.path.lexists(os.path.join(self.root, one)))

    def sweep(self, paths: Iterable[str], mark: str, folders: Iterable[str] = ()) -> None:
        """Remove what a duetto that was killed left behind: its temporary files, empty folders.

        ``paths`` are what it was about to write, ``mark`` what its files are named by,
        ``folders`` those that it made, outer ones first; only empty ones go. Never raises.
        """
        with suppress(ValueError):
            int(mark, 16)
            for path in paths:
                with suppress(FileRefused, OSError), self._parent(self._resolve(path)) as folder:
                    _sweep(folder, temporary_start(mark))
        self._unmake(list(folders))

    def _unmake(self, made: list[str]) -> None:
        """Take folders back that were made for a file that was not written, if they are empty."""
        for path in reversed(made):
            with suppress(EditRefused, OSError):
                parts = checked_path(path).split("/")
                with self._parent(parts) as folder:
                    os.rmdir(parts[-1], dir_fd=folder)


def _synced(opened: Mapping[str, int]) -> dict[str, str]:
    """Bring open files to the disk and close them; returns path -> why it failed."""
    refusals: dict[str, str] = {}

    def sync(path: str) -> None:
        try:
            os.fsync(opened[path])
        except OSError as error:
            refusals[path] = _not_written(path, error)
        finally:
            os.close(opened[path])

    left = iter(opened)

    def sync_on() -> None:
        """Take one after the other, as the other threads do."""
        for path in left:
            sync(path)

    threads = [Thread(target=sync_on) for _ in range(min(SYNCS, len(opened)) - 1)]
    for thread in threads:
        thread.start()
    sync_on()
    for thread in threads:
        thread.join()
    return refusals


def _not_written(path: str, error: FileRefused | OSError) -> str:
    """Why, in words."""
    if isinstance(error, FileRefused):
        return str(error)
    if isinstance(error, FileNotFoundError):
        return f"'{path}' is gone from the disk"
    return f"'{path}' is not written: {words_of(error)}"


def _sweep(folder: int, start: str) -> None:
    """Remove temporary files from an open folder. Raises OSError."""
    for name in os.listdir(folder):
        if name.startswith(start) and name.endswith(TEMPORARY_END):
            os.unlink(name, dir_fd=folder)


def _spelled(twin: str, name: str) -> str:
    """The name as it is on the disk, in a way that shows how it differs."""
    same = unicodedata.normalize("NFC", twin) == unicodedata.normalize("NFC", name)
    return ascii(twin) if same else repr(twin)


def _twin(folder: int, name: str, found: bool) -> str:
    """The name under which a file lies there, if it is spelled in another way.

    A volume that ignores case finds it; one with accents composed in another way is not found.
    """
    if found and name.isascii() and not os.access(name.swapcase(), os.F_OK, dir_fd=folder):
        return ""
    if name in (names := os.listdir(folder)):
        return ""
    spelled = unicodedata.normalize("NFC", name)
    alike = (unicodedata.normalize("NFC", other) for other in names)
    for other, form in zip(names, alike, strict=True):
        if form == spelled or (found and form.casefold() == spelled.casefold()):
            return other
    return ""
