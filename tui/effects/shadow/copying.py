"""A shadow that is a copy of the workspace, where there can be no overlay.

Where commands can have mounts of their own it is seen at the workspace's own path (``bound``). Else
it lies elsewhere, and what a Python program loaded from the disk is found out, as an editable
install leads there.

Environments and packages are not copied but reached as they are on the disk. Of folders that git
ignores small ones are there.

Which folders changed since the last look the kernel may know at once (Linux): it queues what a
program does to a file before the program goes on, so what was written before a question is in the
answer; what is written into a mapped file is in it once that is closed. It is not told of file
systems that others write, too, as of a network: there every folder is looked into.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import shutil
import stat
import struct
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from pathlib import Path

from tui.core.programs import Entry, Overlay, Written, is_below
from tui.effects.shadow.overlay import (
    MOST_WRITTEN,
    ROOM,
    ShadowTimes,
    clear,
    git_folder,
    is_cache,
    is_mounted_in,
    make_like,
    outermost_cache,
    written_below,
)

_LOCAL = {"bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "jfs", "overlay", "tmpfs"}
_LOCAL |= {"xfs", "zfs"}
"""File systems that only this kernel writes."""
_MOUNTS = Path("/proc/self/mountinfo")
_EVENT = struct.Struct("iIII")
_MODIFIED, _ATTRIBUTES, _WRITTEN, _MOVES, _MADE, _GONE = 0x2, 0x4, 0x8, 0xC0, 0x100, 0x200
_MOVED_AWAY, _ONLY_FOLDERS, _IS_FOLDER = 0x800, 0x1000000, 0x40000000
_ALL = _MODIFIED | _ATTRIBUTES | _WRITTEN | _MOVES | _MADE | _GONE | _MOVED_AWAY | _ONLY_FOLDERS
_OF_A_FILE = _MODIFIED | _ATTRIBUTES | _WRITTEN | _GONE
_LOST, _FORGOTTEN = 0x4000, 0x8000
"""More happened than the kernel keeps; a folder is gone."""
_READ_BYTES = 65_536


class FolderWatch:
    """Of a workspace; not for several threads at once."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._folders: dict[int, str] = {}
        """What the kernel calls a folder -> its path, relative."""

    @cached_property
    def _queue(self) -> int | None:
        """Of what happens; None: there is none. It is made when it is needed: they are few."""
        if sys.platform != "linux":
            return None
        queue = int(_libc().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        if queue < 0:
            return None
        weakref.finalize(self, os.close, queue)
        return queue

    def begin(self, folder: str) -> bool:
        """Be told of what is in a folder, from before it is looked into; False: nobody tells."""
        if self._queue is None:
            return False
        path = os.fsencode(os.path.join(self._root, folder))
        number = int(_libc().inotify_add_watch(self._queue, path, _ALL))
        if number >= 0:
            self._folders[number] = folder
        return number >= 0

    def changed(self) -> set[str] | None:
        """Folders in which something changed, or that are others now; None: any of them may be."""
        found, others, lost = set[str](), set[str](), not _is_local(self._root)
        for folder, name, what in self._events():
            if what & _LOST:
                lost = True
                continue
            found.add(folder)
            if what & _IS_FOLDER and what & (_MOVES | _MADE | _GONE):
                others.add(f"{folder}/{name}".lstrip("/"))
            lost = lost or (not folder and bool(what & _MOVED_AWAY))
        if lost:
            return None
        watched = self._folders.values() if others else ()
        return found | {one for one in watched if not others.isdisjoint((one, *outer(one)))}

    def written(self, is_left_out: Callable[[str], bool]) -> set[str] | None:
        """Files that may be others now, or gone; None: any may be, also where something was made.

        What was made may have been another name of any file.
        """
        found, any_may = set[str](), self._queue is None
        for folder, name, what in self._events():
            path = f"{folder}/{name}".lstrip("/")
            if what & _LOST or not is_left_out(path):
                any_may = any_may or bool(not name or what & ~_OF_A_FILE)
                found.add(path)
        return None if any_may else found

    def _events(self) -> Iterator[tuple[str, str, int]]:
        """The folder, the name in it, and what happened, of all since the last time."""
        while data := self._read():
            at = 0
            while at < len(data):
                number, what, _, length = _EVENT.unpack_from(data, at)
                name = os.fsdecode(data[at + _EVENT.size :][:length].rstrip(b"\0"))
                at += _EVENT.size + length
                folder = self._folders.get(number)
                if folder is not None or what & _LOST:
                    yield folder or "", name, what
                if what & _FORGOTTEN:
                    self._folders.pop(number, None)

    def _read(self) -> bytes:
        if self._queue is None:
            return b""
        try:
            return os.read(self._queue, _READ_BYTES)
        except BlockingIOError:
            return b""


def outer(path: str) -> list[str]:
    """The folders that a path lies in, the inner ones first, but for the workspace."""
    found = []
    while path := path.rpartition("/")[0]:
        found.append(path)
    return found


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def _is_local(root: str) -> bool:
    """Whether a folder, with all below it, is on one file system that only this kernel writes."""
    top, kind = "", ""
    try:
        lines = _MOUNTS.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return False
    for line in lines:
        mount, _, about = line.partition(" - ")
        point = re.sub(r"\\(\d{3})", lambda octal: chr(int(octal[1], 8)), mount.split()[4])
        if point != root and is_below(point, root):
            return False
        if is_below(root, point) and len(point) >= len(top):
            top, kind = point, about.split()[0]
    return kind in _LOCAL


MOST_FILES, MOST_BYTES = 20_000, 512_000_000
"""Of a workspace that is copied."""
_SMALL_FILES, _SMALL_BYTES = 500, 20_000_000
"""Of a folder, or a file, that git ignores."""
_SETTING = re.compile(
    r"\s*(repositoryformatversion|filemode|symlinks|ignorecase|objectformat)\s*=", re.IGNORECASE
)
"""What says how a repository's files are to be read; the rest of its configuration is left out."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_SITE = """\
import atexit, os, sys

def _tell(root=os.environ["DUETTO_SHADOW_OF"], file=os.environ["DUETTO_STRAYED"]):
    for module in list(sys.modules.values()):
        name = getattr(module, "__file__", None)
        if isinstance(name, str) and name.startswith(root) and "site-packages" not in name:
            with open(file, "a") as opened:
                opened.write(name + "\\n")

atexit.register(_tell)
_own = sys.modules.pop("sitecustomize")
sys.path[:] = [one for one in sys.path if one != os.path.dirname(__file__)]
try:
    import sitecustomize
except ImportError:
    sys.modules["sitecustomize"] = _own
"""
"""Python runs it at its start; it runs the environment's own."""


class CopyShadow:
    """A copy that is brought in step with the disk and the texts before each command."""

    def __init__(
        self,
        source: ShadowSource,
        folder: Path,
        *,
        bound: bool,
        on_close: Callable[[CopyShadow], None],
    ) -> None:
        """Raises OSError."""
        self._root, self._source, self._on_close = source.root, source, on_close
        root = source.root
        self._copy, self._help = folder / "copy", folder / "help"
        self._disk = folder / "disk" if bound else Path(root)
        """Where the workspace on the disk is seen."""
        self._bound = bound
        make_like(self._copy, root)
        for made in (self._help, *([self._disk] if bound else [])):
            made.mkdir()
        (self._help / "sitecustomize.py").write_text(_SITE)
        self._texts: dict[str, bytes | None] = {}
        self._times = ShadowTimes(root)
        self._changed: set[str] = set()
        """Files that once had another text than the disk's."""
        self._known: dict[str, tuple[object, object]] = {}
        """Path -> what was copied, or written, and how the copy looked then."""
        self._folders = {""}
        """Those that were made as on the disk."""
        self._watch = FolderWatch(str(self._copy))
        self._watched = True
        """It is told what happens in all folders of the copy but caches."""
        self._unwatched = [""]
        """Those that were made since the last command, of which it is not told yet."""
        self._has_mount = False
        """A command left something mounted in it, which was not cleaned therefore."""
        self._lock = threading.Lock()
        self._cleaning: threading.Thread | None = None
        """Takes out what the last command left; the next one waits for it."""

    async def hold(self, texts: Mapping[str, bytes | None]) -> None:
        """See `core.programs.Shadow`; they are written when a command enters."""
        self._texts = {self._place(path): data for path, data in texts.items()}
        self._changed |= self._texts.keys()

    def close(self) -> None:
        """See `core.programs.Shadow`."""
        self._on_close(self)

    def enter(self, *, confined: bool, written: Written | None = None) -> Entry:
        """See `core.programs.Shadow`."""
        if not self._lock.acquire(blocking=False):
            raise OSError("another command runs in this copy of the workspace")
        try:
            self.settle()
            if is_mounted_in(self._copy):
                raise OSError(f"something is mounted in {self._copy}: unmount it")
            if self._has_mount:
                self._has_mount = False
                self._clean(caches_stay=False)
            found = self._source.look()
            self._bring(found)
        except BaseException:
            self._lock.release()
            raise
        strayed = self._help / "strayed"
        strayed.unlink(missing_ok=True)

        def clean() -> None:
            with contextlib.suppress(OSError):  # the next look finds what is missing
                self._clean(caches_stay=not confined)  # what it left there must not run unconfined

        def leave() -> str:
            try:
                if written is not None:
                    with contextlib.suppress(OSError, RecursionError):
                        written(self._written())
            finally:
                self._cleaning = threading.Thread(target=clean, daemon=True)
                self._cleaning.start()
                self._lock.release()
            with contextlib.suppress(OSError):
                path = strayed.read_text("utf-8", "replace").partition("\n")[0]
                return os.path.relpath(path, self._root)
            return ""

        copy = str(self._copy)
        if self._bound:
            disk = Overlay(str(self._disk), (), self._root, "", writable=False)
            mounted = (disk, Overlay(self._root, (), copy, ""))
            return Entry(self._root, mounted, {}, ROOM, leave, (copy,))
        paths = [str(self._help), *self._python_paths(found)]
        variables = {
            "PYTHONPATH": os.pathsep.join(filter(None, [*paths, os.environ.get("PYTHONPATH")])),
            "DUETTO_SHADOW_OF": f"{self._root.rstrip('/')}/",
            "DUETTO_STRAYED": str(strayed),
        }
        return Entry(copy, (), variables, ROOM, leave, (copy,))

    def settle(self) -> None:
        """Wait until what the last command left is gone."""
        if self._cleaning is not None:
            self._cleaning.join()
            self._cleaning = None

    def _python_paths(self, found: SourceFiles) -> Iterator[str]:
        """Where editable installs lead to, in the copy."""
        for env in found.environments:
            for file in Path(self._root, env).glob("[lL]ib/**/site-packages/*.pth"):
                with contextlib.suppress(OSError):
                    for line in file.read_text("utf-8", "replace").splitlines():
                        if line.startswith("/") and is_below(line, self._root):
                            yield os.path.join(self._copy, os.path.relpath(line, self._root))

    def _bring(self, found: SourceFiles) -> None:
        """Have the copy be as the disk with the texts. Raises OSError."""
        copy, texts = f"{self._copy}/", self._texts
        wanted = {**found.files, **found.links, **texts}
        self._uncover(texts)
        for path in [one for one in self._known if one not in wanted]:
            self._drop(path)
        for path in found.folders:
            if path not in self._folders:
                self._make_folder(path)
        for path, about in found.files.items():
            if path not in texts and self._known.get(path, _NEVER)[0] != about:
                self._take(path, about)
        for path, target in found.links.items():
            if self._known.get(path, _NEVER)[0] != target and path not in texts:
                self._drop(path)
                os.symlink(target.replace("{disk}", str(self._disk)), copy + path)
                self._known[path] = (target, _looks(copy + path))
        for path, data in texts.items():
            self._write(path, data)
        for path in found.caches:
            if not os.path.lexists(copy + path):
                shutil.copytree(Path(self._root, path), copy + path, symlinks=True)
        self._bring_git()
        self._watch.written(lambda path: True)  # that was we
        while self._unwatched:
            self._watched = self._watch.begin(self._unwatched.pop()) and self._watched

    def _uncover(self, texts: Iterable[str]) -> None:
        """Drop caches at the places of texts; a command may have made a link of one to the disk."""
        for path in texts:
            if cache := outermost_cache(path, self._source.caches):
                self._drop(cache)
                self._folders = {one for one in self._folders if not is_below(one, cache)}

    def _drop(self, path: str) -> None:
        """Take a file out of the copy."""
        self._known.pop(path, None)
        self._folders.discard(path)
        clear(self._copy / path)

    def _make_folder(self, path: str) -> None:
        for above in [*reversed(outer(path)), path]:
            if above and above not in self._folders:
                if not os.path.isdir(self._copy / above):
                    self._drop(above)
                    make_like(self._copy / above, os.path.join(self._root, above))
                    self._unwatched.append(above)
                self._folders.add(above)

    def _take(self, path: str, about: object) -> None:
        """Copy a file of the disk. It is done for each of thousands, so it is short."""
        target = f"{self._copy}/{path}"
        source = os.open(f"{self._root}/{path}", os.O_RDONLY | os.O_CLOEXEC)
        try:
            is_ = os.fstat(source)
            mode, left = stat.S_IMODE(is_.st_mode), is_.st_size
            try:
                file = os.open(target, _NEW, mode)
            except FileExistsError:
                self._drop(path)
                file = os.open(target, _NEW, mode)
            try:
                while left > 0 and (data := os.read(source, left)):
                    left -= len(data)
                    while data := data[os.write(file, data) :]:
                        pass  # of a disk that is nearly full
                os.utime(file, ns=(is_.st_atime_ns, is_.st_mtime_ns))
                looks = os.fstat(file)
                if stat.S_IMODE(looks.st_mode) != mode:
                    os.fchmod(file, mode)
                    looks = os.fstat(file)
            finally:
                os.close(file)
        finally:
            os.close(source)
        if path in self._changed:  # newer than what was built of the other text
            self._times.set(path, Path(target), Path(target).read_bytes())
            looks = os.lstat(target)
        self._known[path] = (about, _looks_of(looks))

    def _place(self, path: str) -> str:
        """Where a text lies; that of a link is where the link leads to."""
        real = os.path.realpath(os.path.join(self._root, path))
        return os.path.relpath(real, self._root) if is_below(real, self._root) else path

    def _write(self, path: str, data: bytes | None) -> None:
        target = self._copy / path
        if data is None:
            self._drop(path)
        elif self._known.get(path, _NEVER)[0] != data:
            self._make_folder(os.path.dirname(path))
            self._drop(path)
            target.write_bytes(data)
            with contextlib.suppress(OSError):
                shutil.copymode(os.path.join(self._root, path), target)
            self._times.set(path, target, data)
            self._known[path] = (data, _looks(str(target)))

    def _written(self) -> dict[str, bytes | None]:
        """What a command left in the copy, but for caches."""
        found: dict[str, bytes | None] = {}
        left, there = MOST_WRITTEN, set[str]()
        for _, paths in written_below(self._copy, self._source.caches):
            for path in paths:
                full = os.path.join(self._copy, path)
                there.add(path)
                about = os.lstat(full)
                known = self._known.get(path)
                if (known is not None and known[1] == _looks(full)) or about.st_size > left:
                    continue
                if stat.S_ISREG(about.st_mode) and not is_cache(path, self._source.caches):
                    with contextlib.suppress(OSError):
                        found[path] = Path(full).read_bytes()
                    left -= about.st_size
        gone = (path for path in self._known if path not in there)
        return found | dict.fromkeys(
            path for path in gone if not os.path.lexists(self._copy / path)
        )

    def _clean(self, *, caches_stay: bool) -> None:
        """Forget what a command changed, and remove what it made, but for caches."""
        if is_mounted_in(self._copy):
            self._has_mount = True
            return  # the next command is told
        written = self._watch.written(self._is_kept)
        if written is not None and self._watched and caches_stay:
            with contextlib.suppress(OSError):
                for path in written:
                    if self._known.get(path, _NEVER)[1] != _looks(f"{self._copy}/{path}"):
                        self._drop(path)
                return
        self._watched = True
        if self._copy.is_symlink() or not self._copy.is_dir():
            clear(self._copy)
            make_like(self._copy, self._root)
        try:
            there = self._cleaned("", caches_stay=caches_stay)
        except (RecursionError, OSError):  # folders without end, or somebody else's
            clear(self._copy)
            make_like(self._copy, self._root)
            there, self._watched = set(), False
        self._folders &= there
        self._known = {path: known for path, known in self._known.items() if path in there}

    def _is_kept(self, path: str) -> bool:
        """Whether the next command finds what this one left there; git's is made anew for it."""
        return path == ".git" or is_cache(path, self._source.caches)

    def _cleaned(self, folder: str, *, caches_stay: bool) -> set[str]:
        """All below that is as it was."""
        found = {folder}
        full = f"{self._copy}/{folder}"
        self._watched = self._watch.begin(folder) and self._watched
        with contextlib.suppress(OSError):
            mode = stat.S_IMODE(os.stat(f"{self._root}/{folder}").st_mode) | 0o700
            if stat.S_IMODE(os.stat(full).st_mode) != mode:
                os.chmod(full, mode)
        for entry in list(os.scandir(full)):
            path = f"{folder}/{entry.name}".lstrip("/")
            if path == ".git" or (caches_stay and self._is_kept(path)):
                continue
            if not entry.is_dir(follow_symlinks=False):
                if self._known.get(path, _NEVER)[1] == _looks(entry.path):
                    found.add(path)
                else:
                    os.unlink(entry.path)
                continue
            below = self._cleaned(path, caches_stay=caches_stay)
            if path not in self._folders:
                with contextlib.suppress(OSError):  # a cache may be left in it
                    os.rmdir(entry.path)
            found |= below
        return found

    def _bring_git(self) -> None:
        """A repository that borrows objects, and shares nothing that can be written."""
        own, git = self._copy / ".git", git_folder(self._root)
        clear(own)
        if git is None or not is_below(str(git.top), self._root):
            return
        with contextlib.suppress(OSError):
            config = (git.common / "config").read_text("utf-8", "replace")
            if "refstorage" in config.lower():
                return
            (own / "objects/info").mkdir(parents=True)
            objects = git.common / "objects"
            if is_below(str(objects), self._root):
                objects = self._disk / objects.relative_to(self._root)
            (own / "objects/info/alternates").write_text(f"{objects}\n")
            lines = [one for one in config.splitlines() if _SETTING.match(one)]
            of_format = [one for one in lines if "objectformat" in one.lower()]
            core = [one for one in lines if one not in of_format]
            text = "\n".join(["[core]", *core, "[extensions]", *of_format, ""])
            (own / "config").write_text(text)
            shutil.copytree(git.common / "refs", own / "refs", symlinks=True)
            for name, folder in (
                ("packed-refs", git.common),
                ("shallow", git.common),
                ("index", git.own),
                ("HEAD", git.own),
            ):
                with contextlib.suppress(FileNotFoundError):
                    shutil.copy2(folder / name, own / name)


_NEVER: tuple[object, object] = (None, None)


_signs = attrgetter("st_mtime_ns", "st_size", "st_ino", "st_mode")
"""By which a file of the disk is known to be another one."""


_looks_of = attrgetter("st_mtime_ns", "st_ctime_ns", "st_size", "st_ino", "st_mode")


def _looks(path: str) -> object:
    try:
        return _looks_of(os.lstat(path))
    except OSError:
        return None


class SourceFiles:
    """What of a workspace, or of one folder, is to be in a copy; paths are relative."""

    def __init__(self) -> None:
        self.files: dict[str, object] = {}
        """Path -> what is another one when the file was changed."""
        self.links: dict[str, str] = {}
        """Path -> where it leads; ``{disk}`` is the workspace on the disk."""
        self.folders: dict[str, None] = {}
        """Outer ones first."""
        self.inner: list[str] = []
        """Those of them that are looked into."""
        self.caches: list[str] = []
        self.environments: list[str] = []
        self.size = 0
        self.stays = True
        """It is the same until something is changed in the folder."""

    def take(self, other: SourceFiles) -> None:
        """Have what another one has, too."""
        self.files |= other.files
        self.links |= other.links
        self.folders |= other.folders
        self.caches += other.caches
        self.environments += other.environments
        self.size += other.size


class ShadowSource:
    """The workspace that shadows are of."""

    def __init__(
        self, root: str, caches: Sequence[str], listing: Callable[[], Iterable[str]]
    ) -> None:
        """``listing``: the files that git does not ignore.

        ``caches``: names of files and folders (``target``, ``node_modules/.cache``) that are kept
        between commands.
        """
        self.root, self._listing, self.caches = os.path.realpath(root), listing, caches
        self._listed: set[str] | None = None
        """All that git does not ignore, if that was asked in this look."""
        self._entered: set[str] = set()
        """Folders that are copied."""
        self._lock = threading.Lock()
        self._watch = FolderWatch(self.root)
        self._seen: dict[str, SourceFiles] = {}
        """Folder -> what was there, where it is told when that changes."""
        self._found: SourceFiles | None = None
        """What the last look found, if all of it stays."""

    def look(self) -> SourceFiles:
        """What of it is to be copied now; only to be read. Raises OSError: too much."""
        with self._lock:
            changed = self._watch.changed()
            if changed is None:
                self._seen.clear()
            elif self._found is not None and not changed:
                return self._found
            for folder in changed or ():
                self._seen.pop(folder, None)
            self._found, self._listed = None, None
            found = self._looked()
            self._found = found if found.stays else None
            return found

    def _looked(self) -> SourceFiles:
        """Into all that may have changed."""
        found, waiting = SourceFiles(), [""]
        while waiting:
            folder = waiting.pop()
            if (seen := self._seen.get(folder)) is None:
                seen = SourceFiles()
                seen.stays = self._watch.begin(folder)
                self._look_into(folder, seen)
                if seen.stays:
                    self._seen[folder] = seen
            waiting += seen.inner
            found.take(seen)
            found.stays = found.stays and seen.stays
            if len(found.files) > MOST_FILES or found.size > MOST_BYTES:
                most = f"{MOST_FILES:,} files or {MOST_BYTES // 1_000_000} MB"
                raise OSError(f"the workspace is too large to be copied (more than {most})")
        return found

    def _look_into(self, folder: str, found: SourceFiles) -> None:
        """One folder. It may be done for each file before each command, so it is short."""
        above, files, size = f"{folder}/" if folder else "", found.files, 0
        with os.scandir(f"{self.root}/{folder}") as entries:
            for entry in entries:
                path = above + entry.name
                if path == ".git":
                    continue
                if entry.is_file(follow_symlinks=False):
                    about = entry.stat(follow_symlinks=False)
                    large = about.st_size >= _SMALL_BYTES
                    if large or about.st_nlink > 1:  # it may be written by another name
                        found.stays = False
                    if not large or self._is_listed(path):
                        files[path] = _signs(about)
                        size += about.st_size
                elif entry.is_symlink():
                    found.links[path] = self._target(path, os.readlink(entry.path))
                elif entry.is_dir() and self._goes_into(found, path):
                    found.folders[path] = None
                    found.inner.append(path)
        found.size += size

    def _target(self, path: str, to: str) -> str:
        """Where a link leads in the copy: what was in the workspace is in the copy."""
        real = os.path.normpath(os.path.join(self.root, os.path.dirname(path), to))
        if not is_below(real, self.root):
            return real
        if os.path.isabs(to):
            return os.path.relpath(real, os.path.join(self.root, os.path.dirname(path)))
        return to

    def _goes_into(self, found: SourceFiles, path: str) -> bool:
        """Whether a folder is copied; else it is reached in another way, or left out."""
        if path in self._entered and os.path.basename(path) != "node_modules":
            return True
        full = Path(self.root, path)
        if is_cache(path, self.caches):
            if _is_small(full):
                found.caches.append(path)
            return False
        if (full / "pyvenv.cfg").is_file():
            found.links[path] = f"{{disk}}/{path}"
            found.environments.append(path)
            return False
        listed = self._is_listed(path)
        if full.name == "node_modules" and not listed:
            self._packages(found, path)
            return False
        if listed or _is_small(full):
            self._entered.add(path)
            return True
        found.stays = False  # it may become one that is small, or not ignored
        return False

    def _is_listed(self, path: str) -> bool:
        """Whether git does not ignore a file, or something in a folder; they are listed once."""
        if self._listed is None:
            listed = self._listing()
            self._listed = {above for path in listed for above in (path, *outer(path))}
        return path in self._listed

    def _packages(self, found: SourceFiles, path: str) -> None:
        """Packages are reached as they are, but for links into the workspace: these are copied."""
        found.folders[path] = None
        found.stays = False
        for entry in os.scandir(os.path.join(self.root, path)):
            below = f"{path}/{entry.name}"
            if entry.is_symlink():
                found.links[below] = self._target(below, os.readlink(entry.path))
            elif entry.name.startswith(("@", ".bin")) and entry.is_dir(follow_symlinks=False):
                self._packages(found, below)
            elif not is_cache(below, self.caches):
                found.links[below] = f"{{disk}}/{below}"


def _is_small(folder: Path) -> bool:
    count = size = 0
    for top, folders, files in os.walk(folder):
        count += len(files) + len(folders)
        if count > _SMALL_FILES:
            return False
        for name in files:
            with contextlib.suppress(OSError):
                size += os.lstat(os.path.join(top, name)).st_size
    return size <= _SMALL_BYTES
