"""A shadow that commands see through an overlay at the workspace's own path."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import stat
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import translate
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from tui.core.programs import Entry, Overlay, Written, is_below
from tui.errors import FileRefused

ROOM = 2_000_000_000
"""Bytes that one command may write."""
MOST_WRITTEN = 64_000_000
"""Bytes that are told of what one command wrote."""
_S = 1_000_000_000


class OverlayShadow:
    """What differs from the disk, and the caches that commands left."""

    def __init__(
        self,
        root: str,
        folder: Path,
        caches: Sequence[str],
        on_close: Callable[[OverlayShadow], None],
    ) -> None:
        """Raises OSError. ``on_close``: another one may be made of it, which has its caches."""
        self._root, self._folder, self._caches, self._on_close = root, folder, caches, on_close
        self._layer = TextLayer(root, folder / "texts")
        git = git_folder(root)
        self._outside = () if git is None or is_below(str(git.common), root) else (git.common,)
        """The repository, if it is not kept in the workspace."""
        self._kept = folder / "kept"
        make_like(self._kept, root)
        self._runs = 0
        self._lock = threading.Lock()
        self._in_use = False
        """The folder of caches is that of a command which runs."""

    async def hold(self, texts: Mapping[str, bytes | None]) -> None:
        """See `core.programs.Shadow`."""
        try:
            await asyncio.to_thread(self._layer.hold, texts)
        except OSError as error:
            why = error.strerror or str(error)
            raise FileRefused(f"the shadow cannot be written: {why}") from None

    def enter(self, *, confined: bool, written: Written | None = None) -> Entry:
        """See `core.programs.Shadow`."""
        self._layer.follow_disk()
        with self._lock:
            keeps = not confined and not self._in_use
            self._in_use = self._in_use or keeps
            self._runs += 1
            scratch = self._folder / f"run-{self._runs}"

        def leave() -> str:
            try:
                if written is not None:
                    with contextlib.suppress(OSError, RecursionError):
                        written(self._written(self._kept if keeps else scratch / "upper"))
                if keeps:
                    self._keep_caches()
                clear(scratch)
            finally:
                with self._lock:
                    self._in_use = self._in_use and not keeps
            return ""

        try:
            if keeps:
                self._uncover_texts()
            lower = (str(self._layer.folder), self._root)
            overlays = [_overlay(self._root, lower, scratch)]
            if keeps:
                overlays[0] = overlays[0]._replace(upper=str(self._kept))
            for number, path in enumerate(self._outside):
                overlays.append(_overlay(str(path), (str(path),), scratch / str(number)))
        except OSError:
            leave()
            raise
        # the repository may be of a folder above, which is another file system there
        variables = {"GIT_DISCOVERY_ACROSS_FILESYSTEM": "1"} if self._outside else {}
        growing = tuple(one.upper for one in overlays)
        return Entry(self._root, tuple(overlays), variables, ROOM, leave, growing)

    def _written(self, upper: Path) -> dict[str, bytes | None]:
        """What a command left there, but for caches."""
        found: dict[str, bytes | None] = {}
        left = MOST_WRITTEN
        for folder, paths in written_below(upper, self._caches):
            if _is_opaque(folder):
                found |= dict.fromkeys(self._lower_files(os.path.relpath(folder, upper)))
            for path in paths:
                about = os.lstat(upper / path)
                if is_cache(path, self._caches) or about.st_size > left:
                    continue
                if stat.S_ISCHR(about.st_mode) and about.st_rdev == 0:
                    found |= dict.fromkeys(self._lower_files(path))
                elif stat.S_ISREG(about.st_mode):
                    with contextlib.suppress(OSError):
                        found[path] = (upper / path).read_bytes()
                    left -= about.st_size
        return found

    def _lower_files(self, path: str) -> list[str]:
        """The files at a place, or in the folder there, that were there before the command."""
        found: list[str] = []
        for lower in (self._root, str(self._layer.folder)):
            full = os.path.join(lower, path)
            if not os.path.isdir(full):
                found += [path] if os.path.lexists(full) else []
                continue
            for folder, _, files in os.walk(full):
                names = (os.path.relpath(os.path.join(folder, name), lower) for name in files)
                found += [name for name in names if not outermost_cache(name, self._caches)]
        return found

    def _uncover_texts(self) -> None:
        """Remove caches at the places of texts: what commands left hides all below it."""
        for path in self._layer.places():
            if cache := outermost_cache(path, self._caches):
                clear(self._kept / cache)

    def _keep_caches(self) -> None:
        """Keep of what was written what others want to find; nothing where that fails."""
        fresh, old = self._folder / "fresh", self._folder / "old"
        for left in (fresh, old):
            clear(left)
        with contextlib.suppress(OSError, RecursionError):  # folders without end
            make_like(fresh, self._root)
            self._move_caches(fresh)
        with contextlib.suppress(OSError):
            self._kept.rename(old)
            fresh.rename(self._kept)
        clear(old)

    def _move_caches(self, fresh: Path) -> None:
        for folder, folders, files in os.walk(self._kept):
            below = os.path.relpath(folder, self._kept)
            for name in (*folders, *files):
                path = os.path.normpath(os.path.join(below, name))
                if is_cache(path, self._caches):
                    _move(self._kept, fresh, path, self._root)
            folders[:] = [one for one in folders if os.path.isdir(os.path.join(folder, one))]

    def close(self) -> None:
        """See `core.programs.Shadow`."""
        self._on_close(self)


def _is_opaque(folder: str) -> bool:
    """Whether what lies below a folder of an overlay is not seen through it."""
    try:
        return os.getxattr(folder, "user.overlay.opaque") == b"y"
    except OSError:
        return False


def _overlay(path: str, lower: tuple[str, ...], scratch: Path) -> Overlay:
    """With new folders for what is written."""
    (scratch / "work").mkdir(parents=True)
    make_like(scratch / "upper", path)
    return Overlay(path, lower, str(scratch / "upper"), str(scratch / "work"))


def make_like(folder: Path, like: str) -> None:
    """Make a folder; where it is seen instead of another one, it looks the same."""
    folder.mkdir()
    with contextlib.suppress(OSError):
        about = os.stat(like)
        folder.chmod(stat.S_IMODE(about.st_mode) | 0o700)
        os.chown(folder, about.st_uid, about.st_gid)


def _move(source: Path, target: Path, path: str, root: str) -> None:
    """Move a file or folder below, into folders as they are in the workspace."""
    with contextlib.suppress(OSError):
        for above in reversed(Path(path).parents[:-1]):
            if not (target / above).exists():
                make_like(target / above, os.path.join(root, above))
        if stat.S_ISDIR(os.lstat(source / path).st_mode):
            os.chmod(source / path, 0o700)
        os.rename(source / path, target / path)


class ShadowTimes:
    """Gives files times by which no tool takes what it kept of one text for that of another."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._known: dict[str, dict[tuple[int, int], int]] = {}
        """Path -> second and size, by which Python knows its caches -> hash of what stood there."""

    def set(self, path: str, file: Path, data: bytes) -> None:
        """Make a file new; no other text of the same size had the same second."""
        if (known := self._known.get(path)) is None:
            known = self._known[path] = {}
            with contextlib.suppress(OSError):
                about = os.stat(os.path.join(self._root, path))
                known[about.st_mtime_ns // _S, about.st_size] = 0
        now, text = time.time_ns(), hash(data)
        while known.setdefault((now // _S, len(data)), text) != text:
            now += _S
        os.utime(file, ns=(now, now))


class TextLayer:
    """A folder of the files that differ from the disk, as an overlay wants it."""

    def __init__(self, root: str, folder: Path) -> None:
        """Raises OSError."""
        make_like(folder, root)
        self.folder = folder
        self._root = root
        self._texts: dict[str, bytes | None] = {}
        self._returned: dict[str, tuple[int, ...]] = {}
        """Files that are as on the disk again -> what the disk's was like then."""
        self._times = ShadowTimes(root)
        self._lock = threading.Lock()

    def hold(self, texts: Mapping[str, bytes | None]) -> None:
        """See `core.programs.Shadow`. Raises OSError."""
        with self._lock:
            for path in [one for one in self._texts if one not in texts]:
                self._return(path)
                del self._texts[path]
            for path, data in texts.items():
                if path not in self._texts or self._texts[path] != data:
                    self._put(path, data)
                    self._texts[path] = data

    def follow_disk(self) -> None:
        """Let go of copies of what has changed on the disk."""
        with self._lock:
            for path, then in list(self._returned.items()):
                if self._about(path) != then:
                    self._remove(path)
                    del self._returned[path]

    def _about(self, path: str) -> tuple[int, ...]:
        try:
            about = os.stat(os.path.join(self._root, path))
        except OSError:
            return ()
        return about.st_mtime_ns, about.st_size, about.st_ino, about.st_mode

    def _return(self, path: str) -> None:
        """Have a file be as on the disk, and newer than what was built of another text of it.

        Compilers trust their caches where the time of a file is an old one.
        """
        then = self._about(path)
        try:
            with open(os.path.join(self._root, path), "rb") as file:
                data = file.read()
        except OSError:
            self._remove(path)
            return
        self._put(path, data)
        self._returned[path] = then

    def _put(self, path: str, data: bytes | None) -> None:
        self._returned.pop(path, None)
        on_disk, target = os.path.join(self._root, path), self._place(path)
        if data is None and not os.path.lexists(on_disk):
            self._remove(path)
            return
        self._make_folders(target.parent)
        fresh = self.folder / f".duetto-{os.urandom(6).hex()}"
        if data is None:
            os.mknod(fresh, stat.S_IFCHR, 0)  # how an overlay says that there is nothing
        else:
            fresh.write_bytes(data)
            with contextlib.suppress(OSError):
                fresh.chmod(stat.S_IMODE(os.stat(on_disk).st_mode))
            self._times.set(path, fresh, data)
        clear(target)  # where one file replaces another, ext4 waits for the disk: 2 ms and more
        fresh.replace(target)

    def _place(self, path: str) -> Path:
        """Where a file lies; the text of a link is where the link leads to."""
        real = os.path.realpath(os.path.join(self._root, path))
        return self.folder / (
            os.path.relpath(real, self._root) if is_below(real, self._root) else path
        )

    def places(self) -> list[str]:
        """Where files lie that are not, or were not, as on the disk; relative."""
        with self._lock:
            paths = (*self._texts, *self._returned)
        return [str(self._place(path).relative_to(self.folder)) for path in paths]

    def _make_folders(self, folder: Path) -> None:
        above = [one for one in (folder, *folder.parents) if is_below(str(one), str(self.folder))]
        for one in reversed(above):
            if not stat.S_ISDIR(one.lstat().st_mode if os.path.lexists(one) else 0):
                one.unlink(missing_ok=True)
                make_like(one, os.path.join(self._root, one.relative_to(self.folder)))

    def _remove(self, path: str) -> None:
        target = self._place(path)
        with contextlib.suppress(OSError):
            target.unlink()
            while (target := target.parent) != self.folder:
                if os.path.isdir(os.path.join(self._root, target.relative_to(self.folder))):
                    break
                target.rmdir()


class GitFolder(NamedTuple):
    """Where a repository is kept."""

    top: Path
    """The folder of its files."""
    own: Path
    """Of this work tree."""
    common: Path
    """Of all of them."""


def git_folder(root: str) -> GitFolder | None:
    """The repository that the workspace is in."""
    for top in (Path(root), *Path(root).parents):
        own = top / ".git"
        if own.is_dir():
            return GitFolder(top, own, own)
        with contextlib.suppress(OSError):
            own = top / own.read_text("utf-8", "replace").partition("gitdir:")[2].strip()
            common = own
            with contextlib.suppress(OSError):
                common = own / (own / "commondir").read_text("utf-8", "replace").strip()
            return GitFolder(top, own, Path(os.path.realpath(common)))
    return None


@lru_cache(maxsize=4)
def _cache_pattern(caches: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(f"(?:.*/)?(?:{'|'.join(map(translate, caches)) or '(?!)'})")


def is_cache(path: str, caches: Sequence[str]) -> bool:
    """Whether a file or folder is kept between commands; the path is relative."""
    return _cache_pattern(tuple(caches)).match(path) is not None


def written_below(top: Path, caches: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Folders, but for caches and git's, and the paths of the files in each below ``top``."""
    for folder, folders, files in os.walk(top):
        below = os.path.relpath(folder, top)
        paths = {name: os.path.normpath(os.path.join(below, name)) for name in folders}
        folders[:] = [
            name for name, path in paths.items() if path != ".git" and not is_cache(path, caches)
        ]
        yield folder, [os.path.normpath(os.path.join(below, name)) for name in files]


def outermost_cache(path: str, caches: Sequence[str]) -> str:
    """The outermost cache that a file lies in, or is; empty: there is none."""
    tops = [path[: slash.start()] for slash in re.finditer("/", path)]
    return next((top for top in (*tops, path) if is_cache(top, caches)), "")


_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPES = str.maketrans({"\\": r"\134", " ": r"\040", "\t": r"\011", "\n": r"\012"})
"""How it writes what would part its words."""


def is_mounted_in(folder: Path) -> bool:
    """Whether another file system is seen there: its files are none of a command's own."""
    top = os.path.realpath(folder).translate(_ESCAPES)
    found: list[bytes] = []
    with contextlib.suppress(OSError):  # not Linux
        found = _MOUNTS.read_bytes().splitlines()
    places = (line.split(b" ", 5)[4] for line in found if line.count(b" ") > 4)
    return any((place + b"/").startswith(os.fsencode(f"{top}/")) for place in places)


def clear(path: Path) -> None:
    """Remove what is there, a folder with all in it, whatever a command made of it."""
    if os.path.islink(path) or not os.path.isdir(path):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            path.unlink()
        return
    with contextlib.suppress(OSError):
        os.chmod(path / "work" / "work", 0o700)  # the kernel's own has no rights
    with contextlib.suppress(OSError, RecursionError):
        shutil.rmtree(path)
    if os.path.lexists(path):
        for argv in (("chattr", "-Rf", "-ia"), ("chmod", "-R", "u+rwX"), ("rm", "-rf")):
            with contextlib.suppress(OSError):
                subprocess.run((*argv, "--", path), capture_output=True, check=False)
