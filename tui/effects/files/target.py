"""One name in an open folder: what lies there, and how it is replaced, made or removed."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress

from tui.core.file_read import MAX_BYTES, FileRead
from tui.errors import FileRefused

NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
TEMPORARY_END = ".tmp"
_KINDS = {
    stat.S_IFDIR: "directory",
    stat.S_IFIFO: "FIFO",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
    stat.S_IFLNK: "symlink",
}
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


class Target:
    """One name in an open folder, that is to be written or deleted."""

    def __init__(self, folder: int, name: str, path: str, mark: str = "") -> None:
        """``mark`` is in the names of temporary files, so that they can be swept up."""
        self.mode: int | None = None
        """Permissions of a file that is made; None: the usual ones."""
        self.sync = True
        """False: who writes many brings the folder to the disk at the end."""
        self._folder = folder
        self._name = name
        self._path = path
        self._mark = mark

    def write(self, data: bytes, expected: bytes | None) -> None:
        """Replace what lies there, or make it."""
        self._check(expected)
        begun = self.begin(data, expected)
        if begun is None:
            return self.write_over(data, expected or b"")
        name, descriptor = begun
        try:
            os.fsync(descriptor)
        except OSError:
            self.discard(name)
            raise
        finally:
            os.close(descriptor)
        return self.put(name, expected)

    def begin(self, data: bytes, expected: bytes | None) -> tuple[str, int] | None:
        """Write a temporary file beside it: its name, and its descriptor to fsync and close.

        None: it cannot be replaced, as it has other names, or an owner or attributes that cannot
        be given. Only trying says so. Raises OSError.
        """
        if expected is None:
            return self._temporary(data, 0o666, None)
        there = os.stat(self._name, dir_fd=self._folder, follow_symlinks=False)
        return None if there.st_nlink > 1 else self._temporary(data, 0o600, there)

    def put(self, temporary: str, expected: bytes | None) -> None:
        """Give a temporary file, which is on the disk, the name that it is for."""
        if expected is None:
            return self._make(temporary)
        try:
            self._check(expected)
            there = os.stat(self._name, dir_fd=self._folder, follow_symlinks=False)
            if there.st_nlink > 1:
                raise FileRefused(f"'{self._path}' has got another name meanwhile: try again")
            os.replace(temporary, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except (OSError, FileRefused):
            self.discard(temporary)
            raise
        return self._sync_folder()

    def write_over(self, data: bytes, expected: bytes) -> None:
        """Write over the bytes that lie there."""
        self._check(expected)
        self._write_in_place(data, expected)

    def delete(self, expected: bytes) -> None:
        """Remove it."""
        self._check(expected)
        os.unlink(self._name, dir_fd=self._folder)
        self._sync_folder()

    def _check(self, expected: bytes | None) -> None:
        """Refuse unless exactly the expected bytes lie there, writable."""
        try:
            found = read_at(self._folder, self._name, self._path)
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
        if found.unwritable:
            raise FileRefused(f"'{self._path}' is read-only: {found.unwritable}")

    def _make(self, temporary: str) -> None:
        """Make a new file that appears whole, and never over one that came meanwhile."""
        at = self._folder
        try:
            if self.mode is not None:
                os.chmod(temporary, self.mode, dir_fd=at)
            os.link(temporary, self._name, src_dir_fd=at, dst_dir_fd=at, follow_symlinks=False)
        except FileExistsError:
            raise FileRefused(f"'{self._path}' exists by now") from None
        except OSError:  # a file system without hard links
            self._check(None)
            os.rename(temporary, self._name, src_dir_fd=at, dst_dir_fd=at)
        finally:
            self.discard(temporary)
        self._sync_folder()

    def _temporary(
        self, data: bytes, mode: int, like: os.stat_result | None
    ) -> tuple[str, int] | None:
        """Write a new file beside the target; None if it cannot be made like the old one."""
        name = f"{temporary_start(self._mark)}{os.urandom(8).hex()}{TEMPORARY_END}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW
        descriptor = os.open(name, flags, mode, dir_fd=self._folder)
        try:
            if like is None or self._made_like(descriptor, like):
                _write_all(descriptor, data)
                return name, descriptor
        except OSError:
            self.discard(name)
            os.close(descriptor)
            raise
        self.discard(name)
        os.close(descriptor)
        return None

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
        source = os.open(self._name, os.O_RDONLY | NOFOLLOW, dir_fd=self._folder)
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
        descriptor = os.open(self._name, os.O_RDWR | NOFOLLOW, dir_fd=self._folder)
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

    def discard(self, name: str) -> None:
        """Remove a temporary file. Never raises."""
        with suppress(OSError):
            os.unlink(name, dir_fd=self._folder)

    def _sync_folder(self) -> None:
        if not self.sync:
            return
        with suppress(OSError):
            os.fsync(self._folder)


def temporary_start(mark: str) -> str:
    """What the names of temporary files begin with that are made under this mark."""
    return f".duetto-{mark}-" if mark else ".duetto-"


def read_at(folder: int, name: str, path: str) -> FileRead:
    """Read a name in an open folder. Raises OSError."""
    kind = _kind(os.stat(name, dir_fd=folder, follow_symlinks=False))
    if kind == "file":
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | NOFOLLOW
        with open(os.open(name, flags, dir_fd=folder), "rb") as file:
            there = os.fstat(file.fileno())
            kind = _kind(there)
            if kind == "file":
                size = min(there.st_size, MAX_BYTES)
                data = file.read(size + 1)  # asked for 8 MB it takes room for them
                if len(data) > size:
                    data += file.read(MAX_BYTES + 1 - len(data))
                why, linked = _unwritable(folder, name, there), there.st_nlink > 1
                if len(data) <= MAX_BYTES:
                    place, mode = (there.st_dev, there.st_ino), there.st_mode & 0o777
                    return FileRead(data, unwritable=why, place=place, linked=linked, mode=mode)
                size = max(there.st_size, len(data))
                words = f"'{path}' is too large: {size / (1 << 20):.0f} MB, over 8 MB"
                head = data[:MAX_BYTES]
                return FileRead(None, words, unwritable=why, head=head, size_bytes=size)
    return FileRead(None, f"'{path}' is a {kind}", kind)


def _unwritable(folder: int, name: str, there: os.stat_result) -> str:
    """Why a file in an open folder may not be written, in words; empty if it may be.

    Who is root could write it all the same, but somebody took the write bits away. A file that
    is replaced whole needs a folder that may be written, too.
    """
    if not there.st_mode & 0o222:
        return "its write permission was taken away"
    whole = there.st_nlink == 1
    if os.access(name, os.W_OK, dir_fd=folder):
        writable = not whole or os.access(".", os.W_OK | os.X_OK, dir_fd=folder)
        return "" if writable else "permission denied for its folder"
    if os.fstatvfs(folder).f_flag & os.ST_RDONLY:
        return _WORDS[errno.EROFS]
    return "you have no permission to write it"


def _kind(status: os.stat_result) -> str:
    return _KINDS.get(stat.S_IFMT(status.st_mode), "file")


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


def words_of(error: OSError) -> str:
    """What the system refused, in words."""
    return _WORDS.get(error.errno or 0) or (error.strerror or str(error)).lower()
