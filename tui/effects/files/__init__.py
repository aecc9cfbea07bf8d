"""The workspace's files: bounded reads, atomic writes, never a byte outside of the root.

A path is resolved twice: `os.path.realpath` says where it leads, and the way there is walked
again folder by folder without following links (so a link swapped in between is not followed).
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from tui.core.file_read import FileRead, checked_path
from tui.core.privacy import why_private
from tui.effects.files.target import NOFOLLOW, Target, read_at, words_of
from tui.errors import EditRefused, FileRefused

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | NOFOLLOW
_IGNORED = "it is ignored by the workspace's ignore files"


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
                return read_at(folder, parts[-1], path)
        except FileNotFoundError:
            return FileRead(None)
        except FileRefused as error:
            return FileRead(None, str(error))
        except OSError as error:
            return FileRead(None, f"'{path}': {words_of(error)}")

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
                Target(folder, parts[-1], path).write(data, expected)
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
                Target(folder, parts[-1], path).delete(expected)
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
