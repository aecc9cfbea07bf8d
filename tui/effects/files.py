"""The workspace's files: bounded reads, atomic writes, never a byte outside of the root.

A path is resolved twice: `os.path.realpath` says where it leads, and the way there is walked
again folder by folder without following links (so a link swapped in between is not followed).
`FileReplacement` replaces, makes or removes one name in an open folder.
"""

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Protocol

from msgspec.structs import replace

from tui.core.files import MAX_BYTES, FileRead, Prepared, checked_path, why_linked, why_private
from tui.errors import EditRefused, FileRefused
from tui.shared_files import folder_below, write_all

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


class FileReplacement:
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
                raise FileRefused(f"'{self._path}' was renamed meanwhile: try again")
            os.replace(temporary, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except (OSError, FileRefused):
            self.discard(temporary)
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
            found = read_at(self._folder, self._name, self._path)
        except FileNotFoundError:
            found = FileRead(None)
        if found.refusal:
            raise FileRefused(found.refusal)
        if found.data is None:
            if expected is not None:
                raise FileRefused(f"'{self._path}' was deleted from the disk")
            return
        if expected is None:
            raise FileRefused(f"'{self._path}' exists now")
        if found.data != expected:
            raise FileRefused(f"'{self._path}' was changed on disk by another program")
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
            raise FileRefused(f"'{self._path}' exists now") from None
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
                write_all(descriptor, data)
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

    def write_over(self, data: bytes, expected: bytes) -> None:
        """Write over a file that must stay the same one (hard links, a foreign owner).

        The space is reserved first; if it fails all the same, the old bytes are put back.
        """
        self._check(expected)
        descriptor = os.open(self._name, os.O_RDWR | NOFOLLOW, dir_fd=self._folder)
        try:
            _reserve(descriptor, len(data))
            write_all(descriptor, data)
            os.ftruncate(descriptor, len(data))
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, len(expected))
            os.lseek(descriptor, 0, os.SEEK_SET)
            write_all(descriptor, expected)
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


def words_of(error: OSError) -> str:
    """What the system refused, in words."""
    return _WORDS.get(error.errno or 0) or (error.strerror or str(error)).lower()


Place = tuple[int, int]
"""A file by its device and number."""
SYNCS = 16
"""Files that are brought to the disk at a time: it writes them down together."""
MOST_OPEN = 64
"""Files of a set that are open at a time."""
IGNORED = "it is ignored by the workspace's ignore files"


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
            FileRefused: it is no usable path, or it leads outside or into ``.git``.
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
            with folder_below(self.root, parts[:-1]) as folder:
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
        with folder_below(self.root, parts[:-1]) as folder:
            begun = FileReplacement(folder, parts[-1], path, self.mark).begin(*text)
        if begun is None:
            self._over.add(path)
        else:
            self._begun[path], opened[path] = begun

    def end(self) -> None:
        """All that were prepared are written, or none is any more. Never raises."""
        for path, name in self._begun.items():
            with suppress(FileRefused, OSError):
                parts = self._resolve(path)
                with folder_below(self.root, parts[:-1]) as folder:
                    FileReplacement(folder, parts[-1], path).discard(name)
        for one in self._folders or ():
            with (
                suppress(OSError),
                folder_below(self.root, [*filter(None, one.split("/"))]) as folder,
            ):
                os.fsync(folder)
        self._begun, self._over, self._folders = {}, set(), None

    def _target(self, folder: int, parts: list[str], path: str) -> FileReplacement:
        target = FileReplacement(folder, parts[-1], path, self.mark)
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
            with folder_below(self.root, parts[:-1], made if expected is None else None) as folder:
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
                raise FileRefused(f"'{path}' was deleted from the disk") from None
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
            with folder_below(self.root, parts[:-1]) as folder:
                self._target(folder, parts, path).delete(expected)
        except FileNotFoundError:
            raise FileRefused(f"'{path}' was deleted from the disk") from None
        except OSError as error:
            raise FileRefused(f"'{path}' is not deleted: {words_of(error)}") from error

    def listing(self) -> list[str]:
        """All files that are neither ignored nor secret nor links to such: relative, sorted."""
        public = {path for path in self._listing.paths() if not why_private(path)}
        return sorted(path for path in public if self._meant(path) in public)

    def _meant(self, path: str) -> str:
        """A listed path, or what it leads to if it is a link."""
        whole = os.path.join(self.root, path)
        if not os.path.islink(whole):
            return path
        return os.path.relpath(os.path.realpath(whole), self.root)

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
        reasons |= {path: IGNORED for path, real in meant.items() if real in ignored}
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
                with (
                    suppress(FileRefused, OSError),
                    folder_below(self.root, self._resolve(path)[:-1]) as folder,
                ):
                    for name in os.listdir(folder):
                        if name.startswith(temporary_start(mark)) and name.endswith(TEMPORARY_END):
                            os.unlink(name, dir_fd=folder)
        self._unmake(list(folders))

    def _unmake(self, made: list[str]) -> None:
        """Take folders back that were made for a file that was not written, if they are empty."""
        for path in reversed(made):
            with suppress(EditRefused, OSError):
                parts = checked_path(path).split("/")
                with folder_below(self.root, parts[:-1]) as folder:
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
        return f"'{path}' was deleted from the disk"
    return f"'{path}' is not written: {words_of(error)}"


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
