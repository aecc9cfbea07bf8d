"""Folders in the state folder that keep what was typed and not saved when duetto was ended.

::

    rescue/2026-11-21-114613/        0700
        workspace.json               whose it is, and which files are in it
        files/src/a.py               0600, as a save would have written it
        before/src/a.py              what lay on the disk
        draft.txt  queued-1.txt

Nothing here follows a link below the state folder, and nothing is removed unasked.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tui.core.file_read import checked_path
from tui.core.unsaved import Unsaved, UnsavedFile
from tui.errors import EditRefused, FileRefused

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW
_NAME, _MANIFEST, _DRAFT = "rescue", "workspace.json", "draft.txt"
_FILES, _BEFORE = "files", "before"
_MOST_BYTES = 64 * 1024 * 1024
"""A kept file is at most 8 MB; what is larger is not ours."""


class RescueFolders:
    """What is kept for one workspace."""

    def __init__(self, state_dir: Path, root: str) -> None:
        """``root`` is the workspace's absolute path; nothing is made or read yet."""
        self._state_dir = state_dir
        self._root = os.path.realpath(root)

    def keep(self, unsaved: Unsaved) -> tuple[str, list[str]]:
        """Write it; returns the folder, and what of it could not be written, with the reasons.

        Raises:
            FileRefused: there is no folder to write to.
        """
        try:
            os.makedirs(self._state_dir, 0o700, exist_ok=True)
            with _opened(self._state_dir, [_NAME], made=True) as rescue:
                os.fchmod(rescue, 0o700)
                name = _new_folder(rescue)
        except OSError as error:
            raise FileRefused(f"{self._state_dir / _NAME}: {error.strerror}") from error
        folder = self._state_dir / _NAME / name
        failed = []
        for parts, data in self._contents(unsaved):
            try:
                _write(folder, parts, data)
            except (OSError, ValueError) as error:
                failed.append(f"{'/'.join(parts)}: {getattr(error, 'strerror', '') or error}")
        return str(folder), failed

    def kept(self) -> list[Unsaved]:
        """What is kept for this workspace, newest first; never raises."""
        found = []
        with suppress(OSError), _opened(self._state_dir, [_NAME]) as rescue:
            for name in sorted(os.listdir(rescue), reverse=True):
                with suppress(OSError, ValueError):
                    found.append(self._read(name))
        return [unsaved for unsaved in found if unsaved]

    def dismiss(self, folder: str) -> None:
        """Remove one of them for good.

        Raises:
            FileRefused: it is none, or it cannot be removed.
        """
        place = Path(folder)
        if place.parent != self._state_dir / _NAME or not (place / _MANIFEST).is_file():
            raise FileRefused(f"{folder} is not a folder of rescued text")
        try:
            shutil.rmtree(place)
        except OSError as error:
            raise FileRefused(f"{folder} is not removed: {error.strerror}") from error

    def _contents(self, unsaved: Unsaved) -> Iterator[tuple[list[str], bytes]]:
        manifest = {"schema": 1, "root": self._root, "files": [f.path for f in unsaved.files]}
        yield [_MANIFEST], json.dumps(manifest, indent=1).encode()
        if unsaved.draft.strip():
            yield [_DRAFT], unsaved.draft.encode("utf-8", "replace")
        for number, text in enumerate(unsaved.queued, 1):
            yield [f"queued-{number}.txt"], text.encode("utf-8", "replace")
        for file in unsaved.files:
            yield [_FILES, *file.path.split("/")], file.data
        for file in unsaved.files:
            if file.before is not None:
                yield [_BEFORE, *file.path.split("/")], file.before

    def _read(self, name: str) -> Unsaved:
        """One folder; empty if it belongs to another workspace."""
        folder = self._state_dir / _NAME / name
        manifest = json.loads(_bytes(folder, [_MANIFEST]) or b"{}")
        if not isinstance(manifest, dict) or manifest.get("root") != self._root:
            return Unsaved()
        paths = manifest.get("files", [])
        queued: list[str] = []
        while text := _bytes(folder, [f"queued-{len(queued) + 1}.txt"]):
            queued.append(text.decode("utf-8", "replace"))
        return Unsaved(
            tuple(_files(folder, paths if isinstance(paths, list) else [])),
            (_bytes(folder, [_DRAFT]) or b"").decode("utf-8", "replace"),
            tuple(queued),
            str(folder),
        )


def _files(folder: Path, paths: list[object]) -> Iterator[UnsavedFile]:
    for path in map(str, paths):
        with suppress(OSError, EditRefused):
            parts = checked_path(path).split("/")
            data = _bytes(folder, [_FILES, *parts])
            if data is not None:
                yield UnsavedFile("/".join(parts), data, _bytes(folder, [_BEFORE, *parts]))


def _new_folder(rescue: int) -> str:
    """Make a folder that is named by the time; two at once get two."""
    stamp = time.strftime("%Y-%m-%d-%H%M%S")
    for number in range(1, 1000):
        name = stamp if number == 1 else f"{stamp}-{number}"
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=rescue)
            return name
    raise FileExistsError(0, "too many folders of this second")


@contextmanager
def _opened(top: Path, parts: Sequence[str], *, made: bool = False) -> Iterator[int]:
    """A descriptor of a folder below ``top``, reached without following links."""
    folder = os.open(top, _FOLDER & ~_NOFOLLOW)
    try:
        for part in parts:
            if made:
                with suppress(FileExistsError):
                    os.mkdir(part, 0o700, dir_fd=folder)
            below = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = below
        yield folder
    finally:
        os.close(folder)


def _write(top: Path, parts: Sequence[str], data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW
    with (
        _opened(top, parts[:-1], made=True) as folder,
        open(os.open(parts[-1], flags, 0o600, dir_fd=folder), "wb") as file,
    ):
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _bytes(top: Path, parts: Sequence[str]) -> bytes | None:
    """What a file below ``top`` holds; None if there is none. Raises OSError."""
    try:
        with _opened(top, parts[:-1]) as folder:
            flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _NOFOLLOW
            with open(os.open(parts[-1], flags, dir_fd=folder), "rb") as file:
                return file.read(_MOST_BYTES)
    except FileNotFoundError:
        return None
