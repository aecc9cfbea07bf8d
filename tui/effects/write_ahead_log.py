"""The write-ahead log (its files are called journals): what lay there and what belongs there.

::

    journal/2026-11-21-114613.log    0600, locked while the duetto lives that writes it
        {"schema": 1, "root": ...}
        {"mark": ..., "steps": [{"path": ..., "before": [bytes, sha256], "after": ...}]}
        the bytes of all images, one behind the other
        {"over": [path, ...]}        files that are written over: they may be found half written
        {"done": path} ...           one a file that is as it should be
                                     all done: what follows the first line is cut off again

It is on the disk before a file is changed (EDITS.md section 7). A set that is not whole was never
begun; one that stands in a journal which nobody holds was cut short, and the next duetto of that
workspace says so. The file goes at the end of its duetto. Nothing here follows a link below the
state folder.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from tui.core.document.unfinished_writes import Unfinished, WriteStep
from tui.core.files import checked_path
from tui.core.typed_data import from_json
from tui.errors import EditRefused, FileRefused
from tui.shared_files import held, write_all

_log = logging.getLogger("tui.journal")
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_NAME, _SUFFIX = "journal", ".log"
_MOST_BYTES = 1 << 30
"""A larger file was not written by us."""
KEPT_DAYS = 30
"""What nobody settled for so long is not offered any more: text of the user's does not lie there
for ever because a workspace was removed or is never opened again."""


class _Head(Struct):
    """The first line."""

    root: str
    schema: int = 1


class _Image(Struct):
    """What is said of an image; the bytes follow behind the line."""

    size: int
    sha256: str


class _LoggedStep(Struct):
    """A `WriteStep` without its bytes."""

    path: str
    before: _Image | None
    after: _Image | None
    hunks: tuple[int, ...] = ()
    folders: tuple[str, ...] = ()
    mode: int | None = None


class _LogLine(Struct):
    """A line behind the first: a set, or that a file of it is done."""

    steps: tuple[_LoggedStep, ...] = ()
    mark: str = ""
    done: str = ""
    over: tuple[str, ...] = ()
    again: bool = False


class WriteAheadLog:
    """The journals of one workspace, and the one that this duetto writes."""

    def __init__(self, state_dir: Path, root: str) -> None:
        """``root`` is the workspace's absolute path; nothing is made or read yet."""
        self._folder = state_dir / _NAME
        self._root = os.path.realpath(root)
        self._file = -1
        self._name = ""
        self._empty_bytes = 0
        """How long it is while nothing is being written."""
        self._settled = ""
        """The journal of a dead duetto that this one settles."""

    def begin(self, steps: Sequence[WriteStep], mark: str = "", *, durable: bool = True) -> None:
        """These files are about to be changed; returns when that is on the disk.

        Not ``durable``: when the system has it, which outlives a kill but no power cut. That is
        enough for one file that is replaced whole, and saves the wait for the disk.

        Raises:
            FileRefused: it cannot be kept; nothing may be changed.
        """
        try:
            if self._file < 0 or not os.fstat(self._file).st_nlink:
                self._let_go()  # somebody removed it
                try:
                    self._make()
                except FileNotFoundError:  # another duetto removed the folder, being done with it
                    self._make()
            write_all(self._file, _record(steps, mark, again=bool(self._settled)))
            if durable:
                os.fsync(self._file)
        except OSError as error:
            self.end()
            raise FileRefused(self._why(error)) from error

    def over(self, paths: Collection[str]) -> None:
        """These of them can only be written over; returns when that is on the disk.

        Raises:
            FileRefused: it cannot be kept; nothing may be changed.
        """
        try:
            write_all(self._file, _line(_LogLine(over=tuple(sorted(paths)))))
            os.fsync(self._file)
        except OSError as error:
            self.end()
            raise FileRefused(self._why(error)) from error

    def _why(self, error: OSError) -> str:
        why = error.strerror or str(error)
        return (
            f"the journal in {self._folder} cannot be written: {why.lower()};"
            " make room there, or set DUETTO_HOME to a folder that you may write to"
        )

    def done(self, path: str) -> None:
        """This file is as it should be. Never raises: the disk says the same."""
        with suppress(OSError):
            write_all(self._file, _line(_LogLine(done=path)))

    def end(self) -> None:
        """All files are new, or all are old again: nothing is to be told. Never raises."""
        if self._file < 0:
            return
        try:
            os.ftruncate(self._file, self._empty_bytes)
        except OSError as error:
            _log.warning("%s is not emptied: %s", self._name, error.strerror)
            with suppress(OSError):
                os.unlink(self._folder / self._name)
            self._let_go()

    def leave(self) -> None:
        """It came to a stop half way and stays so: the next duetto says so. Never raises."""
        self._let_go()

    def close(self) -> None:
        """Nothing is being written any more: remove it, unless something was cut short."""
        if self._file < 0:
            return
        with suppress(OSError):
            if os.fstat(self._file).st_size <= self._empty_bytes:
                os.unlink(self._folder / self._name)
        self._let_go()
        with suppress(OSError):
            self._folder.rmdir()

    def unfinished(self) -> list[Unfinished]:
        """What others left half done in this workspace, oldest first. Never raises.

        Before them those that settled another one. What a duetto writes that still lives is its
        own business; journals of the dead in which nothing was cut short are removed.
        """
        found = []
        with suppress(OSError):
            for name in sorted(os.listdir(self._folder)):
                with suppress(OSError, ValueError, EditRefused):
                    found += self._left_in(name)
            self._folder.rmdir()
        return sorted(found, key=lambda one: not one.again)

    @contextmanager
    def settling(self, name: str) -> Iterator[None]:
        """Nobody else settles that one now; what is written meanwhile is said to be a part of it.

        Raises:
            FileRefused: somebody else does, or did.
        """
        try:
            file = os.open(self._folder / name, os.O_RDONLY | os.O_NONBLOCK | _NOFOLLOW)
        except OSError:
            raise FileRefused("another duetto has settled it meanwhile") from None
        try:
            with suppress(OSError):  # a file system without locks
                _lock_alone(file)
            if not os.fstat(file).st_nlink:
                raise FileRefused("another duetto has settled it meanwhile")
            self._settled = name
            yield
        finally:
            self._settled = ""
            os.close(file)

    def forget(self, name: str) -> None:
        """It is settled: remove that journal.

        Raises:
            FileRefused: there is none, or it cannot be removed.
        """
        place = self._folder / name
        if place.parent != self._folder or not name.endswith(_SUFFIX):
            raise FileRefused(f"{name} is not a journal")
        try:
            with nullcontext() if name == self._settled else held(place):
                os.unlink(place)
        except OSError as error:
            raise FileRefused(f"{place} is not removed: {error.strerror}") from error
        with suppress(OSError):
            self._folder.rmdir()

    def _left_in(self, name: str) -> list[Unfinished]:
        if not name.endswith(_SUFFIX) or name == self._name:
            return []
        place = self._folder / name
        with held(place) as file:
            with open(file, "rb", closefd=False) as opened:
                data = opened.read(_MOST_BYTES)
            head, _, rest = data.partition(b"\n")
            sets = list(_sets(rest))
            if not sets or os.fstat(file).st_mtime < time.time() - KEPT_DAYS * 86_400:
                os.unlink(place)
            elif from_json(head, _Head).root == self._root:
                return [Unfinished(name, steps, one.mark, one.again) for steps, one in sets]
        return []

    def _make(self) -> None:
        """Make and lock a journal of this process. Raises OSError."""
        os.makedirs(self._folder.parent, 0o700, exist_ok=True)
        with suppress(FileExistsError):
            self._folder.mkdir(0o700)
        folder = os.open(self._folder, _FOLDER | _NOFOLLOW)
        try:
            while self._file < 0 or not os.fstat(self._file).st_nlink:
                self._let_go()  # who looked for journals of the dead took it for one
                self._file, self._name = _new_file(folder)
                with suppress(OSError):  # a file system without locks: others may offer it
                    fcntl.flock(self._file, fcntl.LOCK_EX)
            head = _line(_Head(self._root))
            self._empty_bytes = len(head)
            write_all(self._file, head)
            os.fsync(folder)
        finally:
            os.close(folder)

    def _let_go(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file, self._name = -1, ""


def _record(steps: Sequence[WriteStep], mark: str, *, again: bool) -> bytes:
    """A set as it stands in the journal: a line that describes it, and the images."""
    described = [
        _LoggedStep(step.path, _described(step.before), _described(step.after), *_rest(step))
        for step in steps
    ]
    images = [image for step in steps for image in (step.before, step.after) if image is not None]
    return b"".join([_line(_LogLine(tuple(described), mark, again=again)), *images, b"\n"])


def _rest(step: WriteStep | _LoggedStep) -> tuple[tuple[int, ...], tuple[str, ...], int | None]:
    return step.hunks, step.folders, step.mode


def _line(said: Struct) -> bytes:
    return msgspec.json.encode(said) + b"\n"


def _described(image: bytes | None) -> _Image | None:
    return None if image is None else _Image(len(image), hashlib.sha256(image).hexdigest())


def _sets(data: bytes) -> Iterator[tuple[tuple[WriteStep, ...], _LogLine]]:
    """The sets of a journal; one that is not whole was not begun, and nothing stands behind it.

    Raises EditRefused: a path that leads out of the workspace.
    """
    at, last = 0, None
    with suppress(ValueError):
        while (end := data.find(b"\n", at)) >= 0:
            line, at, steps = from_json(data[at:end], _LogLine), end + 1, []
            for step in line.steps:
                before, at = _image(data, at, step.before)
                after, at = _image(data, at, step.after)
                steps.append(WriteStep(checked_path(step.path), before, after, *_rest(step)))
            if steps and data[at : at + 1] != b"\n":
                break
            if steps:
                at += 1
                if last is not None:
                    yield last
                last = tuple(steps), line
            elif last is not None:
                last = tuple(_marked(step, line.over) for step in last[0]), last[1]
    if last is not None:
        yield last


def _marked(step: WriteStep, over: Collection[str]) -> WriteStep:
    return msgspec.structs.replace(step, in_place=True) if step.path in over else step


def _image(data: bytes, at: int, said: _Image | None) -> tuple[bytes | None, int]:
    """An image and where it ends. Raises ValueError: it is not what was written."""
    if said is None:
        return None, at
    image = data[at : at + said.size]
    if hashlib.sha256(image).hexdigest() != said.sha256:
        raise ValueError("not whole")
    return image, at + said.size


def _new_file(folder: int) -> tuple[int, str]:
    """A new journal, named by the time; two at once get two. Raises OSError."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | _NOFOLLOW
    stamp = time.strftime("%Y-%m-%d-%H%M%S")
    for number in range(1, 1000):
        name = f"{stamp}-{number:03}{_SUFFIX}"
        with suppress(FileExistsError):
            return os.open(name, flags, 0o600, dir_fd=folder), name
    raise FileExistsError(0, "too many journals of this second")


def _lock_alone(file: int) -> None:
    """Raises OSError; FileRefused: somebody else has it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise FileRefused("another duetto is settling it now") from None
