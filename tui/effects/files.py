"""The workspace's files: bounded reads, atomic writes, never a byte outside of the root.

A path is resolved twice: `os.path.realpath` says where it leads, and the way there is walked
again folder by folder without following links (so a link swapped in between is not followed).
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from tui.core.file_read import MAX_BYTES, FileRead, checked_path
from tui.core.privacy import why_private
from tui.errors import EditRefused, FileRefused

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW
_KINDS = {
    stat.S_IFDIR: "directory",
    stat.S_IFIFO: "FIFO",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
    stat.S_IFLNK: "symlink",
}
_IGNORED = "it is ignored by the workspace's ignore files"
_WORDS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ENOTDIR: "a part of the path is not a directory",
    errno.ELOOP: "the path leads through a symlink that was not there before",
}


class PathList(Protocol):
    """What is listed of a workspace (effects.listing)."""

    def paths(self) -> list[str]:
        """All files that are neither hidden nor ignored."""

    def ignored(self, paths: Collection[str]) -> set[str]:
        """Those of the paths that an ignore file names."""


class Files:
    """The files of one workspace."""

    def __init__(self, root: str | Path, listing: PathList) -> None:
        """``root`` is the workspace's directory, which must exist."""
        self.root = os.path.realpath(root)
        self.named_root = os.path.abspath(root)
        self._listing = listing

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
        try:
            parts = self._resolve(path)
            with self._parent(parts) as folder:
                found = os.access(parts[-1], os.F_OK, dir_fd=folder, follow_symlinks=False)
                if twin := _twin(folder, parts[-1], found):
                    return FileRead(None, f"'{path}' is spelled {twin!r} on the disk")
                return _read_at(folder, parts[-1], path)
        except FileNotFoundError:
            return FileRead(None)
        except FileRefused as error:
            return FileRead(None, str(error))
        except OSError as error:
            return FileRead(None, f"'{path}': {_words(error)}")

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
                _Target(folder, parts[-1], path).write(data, expected)
        except FileRefused:
            self._unmake(made)
            raise
        except FileNotFoundError:
            raise FileRefused(f"'{path}' is gone from the disk") from None
        except OSError as error:
            self._unmake(made)
            raise FileRefused(f"'{path}' is not written: {_words(error)}") from error

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
                _Target(folder, parts[-1], path).delete(expected)
        except FileNotFoundError:
            raise FileRefused(f"'{path}' is gone from the disk") from None
        except OSError as error:
            raise FileRefused(f"'{path}' is not deleted: {_words(error)}") from error

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
        return reasons | {path: _IGNORED for path, real in meant.items() if real in ignored}

    def _resolve(self, path: str) -> list[str]:
        """Where a path really leads, as parts below the root."""
        real = os.path.realpath(os.path.join(self.root, self.relative(path)))
        below = os.path.relpath(real, self.root)
        if below == ".." or below.startswith(".." + os.sep) or os.path.isabs(below):
            raise FileRefused(f"'{path}' leads outside the workspace through a symlink")
        if below == ".":
            raise FileRefused(f"'{path}' is a directory")
        try:
            return checked_path(below.replace(os.sep, "/")).split("/")
        except EditRefused as error:
            raise FileRefused(f"'{path}' leads elsewhere: {error}") from None

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

    def _unmake(self, made: list[str]) -> None:
        """Take folders back that were made for a file that was not written."""
        for folder in reversed(made):
            with suppress(OSError):
                os.rmdir(os.path.join(self.root, folder))


class _Target:
    """One name in an open folder, that is to be written or deleted."""

    def __init__(self, folder: int, name: str, path: str) -> None:
        self._folder = folder
        self._name = name
        self._path = path

    def write(self, data: bytes, expected: bytes | None) -> None:
        """Replace what lies there, or make it."""
        self._check(expected)
        if expected is None:
            return self._create(data)
        there = os.stat(self._name, dir_fd=self._folder, follow_symlinks=False)
        if there.st_nlink > 1:
            return self._write_in_place(data, expected)
        temporary = self._temporary(data, 0o600, there)
        if temporary is None:
            return self._write_in_place(data, expected)
        try:
            self._check(expected)
            os.replace(temporary, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except (OSError, FileRefused):
            self._discard(temporary)
            raise
        return self._sync_folder()

    def delete(self, expected: bytes) -> None:
        """Remove it."""
        self._check(expected)
        os.unlink(self._name, dir_fd=self._folder)
        self._sync_folder()

    def _check(self, expected: bytes | None) -> None:
        """Refuse unless exactly the expected bytes lie there, writable."""
        try:
            found = _read_at(self._folder, self._name, self._path)
        except FileNotFoundError:
            found = FileRead(None)
        if found.refusal:
            raise FileRefused(found.refusal)
        if found.data is None:
            if expected is not None:
                raise FileRefused(f"'{self._path}' is gone from the disk")
            return
        if expected is None:
            raise FileRefused(f"'{self._path}' exists by now")
        if found.data != expected:
            raise FileRefused(f"'{self._path}' was changed on the disk by somebody else")
        mode = os.stat(self._name, dir_fd=self._folder, follow_symlinks=False).st_mode
        if not mode & 0o222 or not os.access(self._name, os.W_OK, dir_fd=self._folder):
            raise FileRefused(f"'{self._path}' is read-only")

    def _create(self, data: bytes) -> None:
        """Make a new file that appears whole, and never over one that came meanwhile."""
        temporary = self._temporary(data, 0o666, None)
        if temporary is None:
            return
        at = self._folder
        try:
            os.link(temporary, self._name, src_dir_fd=at, dst_dir_fd=at, follow_symlinks=False)
        except FileExistsError:
            raise FileRefused(f"'{self._path}' exists by now") from None
        except OSError:  # a file system without hard links
            self._check(None)
            os.rename(temporary, self._name, src_dir_fd=at, dst_dir_fd=at)
        finally:
            self._discard(temporary)
        self._sync_folder()

    def _temporary(self, data: bytes, mode: int, like: os.stat_result | None) -> str | None:
        """Write a new file beside the target; None if it cannot be made like the old one."""
        name = f".duetto-{secrets.token_hex(8)}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW
        descriptor = os.open(name, flags, mode, dir_fd=self._folder)
        try:
            _write_all(descriptor, data)
            if like is not None and not self._made_like(descriptor, like):
                self._discard(name)
                return None
            os.fsync(descriptor)
        except OSError:
            self._discard(name)
            raise
        finally:
            os.close(descriptor)
        return name

    def _made_like(self, descriptor: int, like: os.stat_result) -> bool:
        """Give owner, mode and extended attributes of the old file; False if not allowed."""
        now = os.fstat(descriptor)
        if (now.st_uid, now.st_gid) != (like.st_uid, like.st_gid):
            try:
                os.fchown(descriptor, like.st_uid, like.st_gid)
            except OSError:
                return False
        os.fchmod(descriptor, stat.S_IMODE(like.st_mode))
        if not hasattr(os, "listxattr"):
            return True
        source = os.open(self._name, os.O_RDONLY | _NOFOLLOW, dir_fd=self._folder)
        try:
            for attribute in os.listxattr(source):
                os.setxattr(descriptor, attribute, os.getxattr(source, attribute))
        except OSError as error:
            return error.errno in (errno.ENOTSUP, errno.ENODATA)
        finally:
            os.close(source)
        return True

    def _write_in_place(self, data: bytes, expected: bytes) -> None:
        """Overwrite a file that must stay the same one (hard links, a foreign owner).

        The space is reserved first; if it fails all the same, the old bytes are put back.
        """
        descriptor = os.open(self._name, os.O_RDWR | _NOFOLLOW, dir_fd=self._folder)
        try:
            _reserve(descriptor, len(data))
            _write_all(descriptor, data)
            os.ftruncate(descriptor, len(data))
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, len(expected))
            os.lseek(descriptor, 0, os.SEEK_SET)
            _write_all(descriptor, expected)
            raise
        finally:
            os.close(descriptor)

    def _discard(self, name: str) -> None:
        with suppress(OSError):
            os.unlink(name, dir_fd=self._folder)

    def _sync_folder(self) -> None:
        with suppress(OSError):
            os.fsync(self._folder)


def _read_at(folder: int, name: str, path: str) -> FileRead:
    """Read a name in an open folder. Raises OSError."""
    kind = _kind(os.stat(name, dir_fd=folder, follow_symlinks=False))
    if kind == "file":
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _NOFOLLOW
        with open(os.open(name, flags, dir_fd=folder), "rb") as file:
            there = os.fstat(file.fileno())
            kind = _kind(there)
            if kind == "file":
                data = file.read(MAX_BYTES + 1)
                if len(data) > MAX_BYTES:
                    megabytes = max(there.st_size, len(data)) / (1 << 20)
                    return FileRead(None, f"'{path}' is too large: {megabytes:.0f} MB, over 8 MB")
                return FileRead(data)
    return FileRead(None, f"'{path}' is a {kind}", kind)


def _kind(status: os.stat_result) -> str:
    return _KINDS.get(stat.S_IFMT(status.st_mode), "file")


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


def _reserve(descriptor: int, size: int) -> None:
    """Make room for a file; where the file system cannot, nothing happens."""
    if not size or not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(descriptor, 0, size)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _words(error: OSError) -> str:
    return _WORDS.get(error.errno or 0) or (error.strerror or str(error)).lower()
