"""A shadow that is a copy of the workspace, where there can be no overlay.

Where commands can have mounts of their own it is seen at the workspace's own path (``bound``). Else
it lies elsewhere, and what a Python program loaded from the disk is found out, as an editable
install leads there.

Environments and packages are not copied but reached as they are on the disk. Of folders that git
ignores small ones are there.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tui.core.programs import Entry, Overlay, is_below
from tui.effects.shadow.overlay import ROOM, ShadowTimes, clear, git_folder, is_cache, make_like

MOST_FILES, MOST_BYTES = 20_000, 512_000_000
"""Of a workspace that is copied."""
_SMALL_FILES, _SMALL_BYTES = 500, 20_000_000
"""Of a folder, or a file, that git ignores."""
_SETTING = re.compile(
    r"\s*(repositoryformatversion|filemode|symlinks|ignorecase|objectformat)\s*=", re.IGNORECASE
)
"""What says how a repository's files are to be read; the rest of its configuration is left out."""
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
        """Path -> what was copied, and how the copy looked then."""
        self._lock = threading.Lock()
        self._caches_go = False

    async def hold(self, texts: Mapping[str, bytes | None]) -> None:
        """See `core.programs.Shadow`; they are written when a command enters."""
        self._texts = dict(texts)
        self._changed |= texts.keys()

    def close(self) -> None:
        """See `core.programs.Shadow`."""
        self._on_close(self)

    def enter(self, *, confined: bool) -> Entry:
        """See `core.programs.Shadow`."""
        if not self._lock.acquire(blocking=False):
            raise OSError("another command runs in this copy of the workspace")
        try:
            found = self._source.look()
            try:
                self._bring(found)
            except RecursionError:  # a command made folders without end
                _make_way(self._copy)
                self._bring(found)
        except BaseException:
            self._lock.release()
            raise
        strayed = self._help / "strayed"
        strayed.unlink(missing_ok=True)

        def leave() -> str:
            self._caches_go |= confined  # nothing that it left there may run unconfined
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
        texts = self._texts
        if self._copy.is_symlink() or not self._copy.is_dir():
            _make_way(self._copy)
            make_like(self._copy, self._root)
        self._prune("", found, {above for path in texts for above in _above(path)})
        self._caches_go = False
        for path in found.folders:
            if not (self._copy / path).is_dir():
                make_like(self._copy / path, os.path.join(self._root, path))
        for path, about in found.files.items():
            if path not in texts:
                self._take(path, about)
        for path, target in found.links.items():
            self._link(path, target.replace("{disk}", str(self._disk)))
        for path, data in texts.items():
            self._write(path, data)
        for path in found.caches:
            if not os.path.lexists(self._copy / path):
                shutil.copytree(Path(self._root, path), self._copy / path, symlinks=True)
        self._bring_git()

    def _prune(self, folder: str, found: SourceFiles, above: set[str]) -> None:
        """Remove what is neither on the disk nor a cache, whatever a command made of it."""
        with contextlib.suppress(OSError):
            os.chmod(self._copy / folder, 0o700)
        for entry in list(os.scandir(self._copy / folder)):
            path = f"{folder}/{entry.name}".lstrip("/")
            if is_cache(path, self._source.caches) and not self._caches_go:
                continue
            if not entry.is_dir(follow_symlinks=False):
                if path not in found.files and path not in found.links and path not in self._texts:
                    os.unlink(entry.path)
            elif path != ".git":
                self._prune(path, found, above)
                if path not in found.folders and path not in above:
                    with contextlib.suppress(OSError):  # a cache may be left in it
                        os.rmdir(entry.path)
        with contextlib.suppress(OSError):
            about = os.stat(os.path.join(self._root, folder))
            os.chmod(self._copy / folder, stat.S_IMODE(about.st_mode) | 0o700)

    def _take(self, path: str, about: object) -> None:
        target = self._copy / path
        if self._known.get(path) == (about, _looks(target)):
            return
        _make_way(target)
        shutil.copy2(os.path.join(self._root, path), target)
        if path in self._changed:  # newer than what was built of the other text
            self._times.set(path, target, target.read_bytes())
        self._known[path] = (about, _looks(target))

    def _link(self, path: str, to: str) -> None:
        target = self._copy / path
        if not (target.is_symlink() and os.readlink(target) == to):
            _make_way(target)
            target.symlink_to(to)

    def _write(self, path: str, data: bytes | None) -> None:
        real = os.path.realpath(os.path.join(self._root, path))
        if is_below(real, self._root):  # a link's text is where the link leads to
            path = os.path.relpath(real, self._root)
        target = self._copy / path
        if data is None:
            _make_way(target)
        elif self._known.get(path) != (data, _looks(target)):
            for above in reversed(_above(path)):
                if not (self._copy / above).is_dir():
                    _make_way(self._copy / above)
                    make_like(self._copy / above, os.path.join(self._root, above))
            _make_way(target)
            target.write_bytes(data)
            with contextlib.suppress(OSError):
                shutil.copymode(os.path.join(self._root, path), target)
            self._times.set(path, target, data)
            self._known[path] = (data, _looks(target))

    def _bring_git(self) -> None:
        """A repository that borrows objects, and shares nothing that can be written."""
        own, git = self._copy / ".git", git_folder(self._root)
        _make_way(own)
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


def _above(path: str) -> list[str]:
    """Its folders, the inner ones first."""
    return [str(one) for one in Path(path).parents][:-1]


def _looks(path: Path) -> object:
    try:
        about = path.lstat()
    except OSError:
        return None
    return about.st_mtime_ns, about.st_ctime_ns, about.st_size, about.st_ino, about.st_mode


def _make_way(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        clear(path)
    else:
        path.unlink(missing_ok=True)


class SourceFiles:
    """What of a workspace is to be in a copy; paths are relative."""

    def __init__(self) -> None:
        self.files: dict[str, object] = {}
        """Path -> what is another one when the file was changed."""
        self.links: dict[str, str] = {}
        """Path -> where it leads; ``{disk}`` is the workspace on the disk."""
        self.folders: dict[str, None] = {}
        """Outer ones first."""
        self.caches: list[str] = []
        self.environments: list[str] = []
        self.size = 0


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

    def look(self) -> SourceFiles:
        """What of it is to be copied now. Raises OSError: too much."""
        found, listed = SourceFiles(), set(self._listing())
        folders = {above for path in listed for above in _above(path)}
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            for entry in sorted(os.scandir(os.path.join(self.root, folder)), key=_name):
                path = f"{folder}/{entry.name}".lstrip("/")
                if path == ".git":
                    continue
                if not entry.is_dir(follow_symlinks=False):
                    self._file(found, entry, path, listed)
                elif self._goes_into(found, path, folders):
                    found.folders[path] = None
                    waiting.append(path)
            if len(found.files) > MOST_FILES or found.size > MOST_BYTES:
                most = f"{MOST_FILES:,} files or {MOST_BYTES // 1_000_000} MB"
                raise OSError(f"the workspace is too large to be copied (more than {most})")
        return found

    def _file(
        self, found: SourceFiles, entry: os.DirEntry[str], path: str, listed: set[str]
    ) -> None:
        if entry.is_symlink():
            found.links[path] = self._target(path, os.readlink(entry.path))
            return
        about = entry.stat(follow_symlinks=False)
        if stat.S_ISREG(about.st_mode) and (path in listed or about.st_size < _SMALL_BYTES):
            found.files[path] = about.st_mtime_ns, about.st_size, about.st_ino, about.st_mode
            found.size += about.st_size

    def _target(self, path: str, to: str) -> str:
        """Where a link leads in the copy: what was in the workspace is in the copy."""
        real = os.path.normpath(os.path.join(self.root, os.path.dirname(path), to))
        if not is_below(real, self.root):
            return real
        if os.path.isabs(to):
            return os.path.relpath(real, os.path.join(self.root, os.path.dirname(path)))
        return to

    def _goes_into(self, found: SourceFiles, path: str, folders: set[str]) -> bool:
        """Whether a folder is copied; else it is reached in another way, or left out."""
        full = Path(self.root, path)
        if is_cache(path, self.caches):
            if _is_small(full):
                found.caches.append(path)
            return False
        if (full / "pyvenv.cfg").is_file():
            found.links[path] = f"{{disk}}/{path}"
            found.environments.append(path)
            return False
        if path not in folders and full.name == "node_modules":
            self._packages(found, path)
            return False
        return path in folders or _is_small(full)

    def _packages(self, found: SourceFiles, path: str) -> None:
        """Packages are reached as they are, but for links into the workspace: these are copied."""
        found.folders[path] = None
        for entry in os.scandir(os.path.join(self.root, path)):
            below = f"{path}/{entry.name}"
            if entry.is_symlink():
                found.links[below] = self._target(below, os.readlink(entry.path))
            elif entry.name.startswith(("@", ".bin")) and entry.is_dir(follow_symlinks=False):
                self._packages(found, below)
            elif not is_cache(below, self.caches):
                found.links[below] = f"{{disk}}/{below}"


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


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
