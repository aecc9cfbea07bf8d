"""Which files a workspace has: what git lists, else a walk that honours ignore files."""

from __future__ import annotations

import os
import stat
import subprocess
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tui.core.files import EntryKind, FolderEntry, kind_by_name
from tui.core.programs import NO_COMMANDS, git_environment
from tui.errors import FileRefused

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

Place = tuple[int, int]
"""A file by its device and number, whatever its names are."""
LIMIT = 50_000
"""Files; a larger workspace is listed up to here."""
NAMES_DEADLINE_S = 2.0
"""A look for the other names of files ends here."""
WALK_DEADLINE_S = 5.0
"""A walk through a home folder or / ends here, with what it has found."""
_GIT_DEADLINE_S = 10.0
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})
"""Directories that are never listed, besides the hidden ones."""


class Listing:
    """The path list of one workspace, looked up anew at every call."""

    def __init__(
        self,
        root: str | Path,
        limit: int = LIMIT,
        *,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """``root`` is the workspace's directory; at most ``limit`` paths are listed.

        git is run in this environment, where no key is (None: our own).
        """
        self._root = os.path.realpath(root)
        self._named = os.path.abspath(root)
        self._environment = environment
        self._limit = limit
        self._closed = threading.Event()
        self._running: set[subprocess.Popen[bytes]] = set()

    def close(self) -> None:
        """End what another thread still looks up; there is nothing to list from now on."""
        self._closed.set()
        for process in list(self._running):
            process.kill()

    def paths(self) -> list[str]:
        """All files that are neither hidden nor ignored: relative, with ``/``, sorted."""
        listed = self._said("ls-files", "-z", "-co", "--exclude-standard", "--deduplicate")
        found = self._kept(listed) if listed else self._walked()
        paths = []
        for path in found:
            if not _is_usable(path):
                continue
            paths.append(path)
            if len(paths) >= self._limit:
                break
        return sorted(paths)

    def folder(self, path: str) -> list[FolderEntry]:
        """What lies in a folder (relative, with ``/``; empty: the root): folders first, by name.

        Only ``.git`` is left out. What is ignored is told by the path alone: whoever lists the
        folders in an ignored one knows that it is.

        Raises:
            FileRefused: it cannot be read, or is no folder inside of the workspace.
        """
        whole = os.path.join(self._root, path) if path else self._root
        if os.path.realpath(whole) != whole:
            raise FileRefused(f"'{path}' leads elsewhere through a symlink")
        try:
            with os.scandir(whole) as found:
                listed = {entry.name: (_entry_kind(entry), _size(entry)) for entry in found}
        except OSError as error:
            raise FileRefused((error.strerror or str(error)).lower()) from None
        sizes = {name: size for name, (_, size) in listed.items()}
        kinds = {
            name: kind for name, (kind, _) in listed.items() if name != ".git" and _is_usable(name)
        }
        below = {name: f"{path}/{name}" if path else name for name in kinds}
        left_out = {name for name, kind in kinds.items() if _is_left_out(whole, name, kind)}
        folders = {below[name] for name, kind in kinds.items() if kind == "folder"}
        named = self.ignored([below[n] for n in kinds if n not in left_out], folders)
        entries = [
            FolderEntry(name, kind, name in left_out or below[name] in named, sizes[name])
            for name, kind in kinds.items()
        ]
        return sorted(entries, key=lambda e: (e.kind == "file", e.name.casefold(), e.name))

    def sizes(self, paths: Iterable[str]) -> dict[str, int]:
        """Bytes of these files; what is gone, or a link that nobody follows here, is left out."""
        found: dict[str, int] = {}
        for path in paths:
            with suppress(OSError):
                about = os.lstat(os.path.join(self._root, path))
                if stat.S_ISREG(about.st_mode):
                    found[path] = about.st_size
        return found

    def ignored(self, paths: Collection[str], folders: Collection[str] = ()) -> set[str]:
        """Those of the paths (relative, with ``/``) that an ignore file of the workspace names.

        ``folders`` are those of them that are folders.
        """
        rules = _Rules(self._root, (".ignore",))
        found = {path for path in paths if rules.ignores(path, is_folder=path in folders)}
        rest = sorted(set(paths) - found)
        if not rest:
            return found
        asked = b"".join(os.fsencode(path) + b"\0" for path in rest)
        answer = self._git("check-ignore", "-z", "--stdin", stdin=asked)
        if answer is not None and answer.returncode in (0, 1):
            return found | {os.fsdecode(name) for name in answer.stdout.split(b"\0") if name}
        root = Path(self._root)
        in_repository = any((above / ".git").exists() for above in (root, *root.parents))
        if len(rest) > 1 and in_repository:
            # one that git cannot judge spoils the answer for all
            half = len(rest) // 2
            return found.union(*(self.ignored(p, folders) for p in (rest[:half], rest[half:])))
        rules = _Rules(self._root, (".gitignore",))
        return found | {path for path in rest if rules.ignores(path, is_folder=path in folders)}

    def names(self, places: Mapping[Place, int]) -> dict[Place, list[str]]:
        """The names in the workspace, hidden and ignored ones too, of files with several.

        ``places`` has how many names each file has anywhere; the walk ends when all are found,
        or at its deadline. What lies in ``.git`` is not looked at. No link is followed.
        """
        found: dict[Place, list[str]] = {place: [] for place in places}
        numbers = {number for _, number in places}
        missing = sum(places.values())
        folders = [""]
        deadline = time.monotonic() + NAMES_DEADLINE_S
        while folders and missing and not self._closed.is_set() and time.monotonic() < deadline:
            folder = folders.pop()
            for entry in _entries(os.path.join(self._root, folder)):
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.inode() in numbers and (place := _place(entry)) in found:
                    found[place].append(path)
                    missing -= 1
                elif entry.name != ".git" and _is_folder(entry):
                    folders.append(path)
        return found

    def is_made_here(self, folder: str) -> bool:
        """True for a folder (or file) of a git checkout of the user's that does not track it.

        git answers for no repository of another owner. An archive that was unpacked somewhere in
        a repository is no part of it: nothing of the workspace is tracked then.
        """
        named = self._said("ls-files", "-z", "--", f":(icase,literal){folder}")
        if named != b"":
            return False
        return self._said("rev-parse", "--show-cdup") == b"\n" or bool(self._said("ls-files", "-z"))

    def branch(self) -> str:
        """What git has checked out, read from its HEAD: a branch, else the commit; else empty."""
        root = Path(self._root)
        for folder in (root, *root.parents):
            git = folder / ".git"
            try:
                if git.is_file():
                    git = folder / _beginning(git).partition("gitdir:")[2].strip()
                head = _beginning(git / "HEAD").strip()
            except (OSError, ValueError):
                continue
            return head.removeprefix("ref: refs/heads/") if head.startswith("ref:") else head[:8]
        return ""

    def _said(self, *arguments: str) -> bytes | None:
        """What git says; None if it does not answer."""
        answer = self._git(*arguments)
        return answer.stdout if answer is not None and answer.returncode == 0 else None

    def _git(
        self, *arguments: str, stdin: bytes | None = None
    ) -> subprocess.CompletedProcess[bytes] | None:
        """Run git in the root; None if there is none or it takes too long."""
        ours = os.environ if self._environment is None else self._environment
        try:
            process = subprocess.Popen(
                ["git", *NO_COMMANDS, *arguments],
                cwd=self._root,
                stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=git_environment(ours, self._root, self._named),
            )
        except OSError:
            return None
        with process:
            self._running.add(process)
            try:
                if self._closed.is_set():
                    process.kill()
                output, _ = process.communicate(stdin, timeout=_GIT_DEADLINE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                return None
            finally:
                self._running.discard(process)
        return subprocess.CompletedProcess(process.args, process.returncode, output)

    def _kept(self, listed: bytes) -> Iterator[str]:
        """The files of git's list that exist and are to be shown."""
        rules = _Rules(self._root, (".ignore",))
        known: dict[str, tuple[frozenset[str], bool]] = {}
        """Folder -> its files, and whether ignore files hold in it: a look each, not one a file."""
        for path in map(os.fsdecode, filter(None, listed.split(b"\0"))):
            folder, _, name = path.rpartition("/")
            if folder not in known:
                known[folder] = self._files_in(folder, rules), rules.hold_for(path)
            there, ruled = known[folder]
            if name in there and not (ruled and rules.matches(path, is_folder=False)):
                yield path

    def _files_in(self, folder: str, rules: _Rules) -> frozenset[str]:
        """The names of a folder's files, none of a folder that is left out."""
        if any(map(_is_skipped, folder.split("/") if folder else ())):
            return frozenset()
        if folder and rules.ignores(folder, is_folder=True):
            return frozenset()
        entries = _entries(os.path.join(self._root, folder))
        return frozenset(
            entry.name for entry in entries if entry.name[0] != "." and _is_file(entry)
        )

    def _walked(self) -> Iterator[str]:
        rules = _Rules(self._root, (".gitignore", ".ignore"))
        folders = [""]
        deadline = time.monotonic() + WALK_DEADLINE_S
        while folders and not self._closed.is_set() and time.monotonic() < deadline:
            folder = folders.pop()
            below: list[str] = []
            for entry in _entries(os.path.join(self._root, folder)):
                path = f"{folder}/{entry.name}" if folder else entry.name
                if _is_folder(entry):
                    skipped = _is_skipped(entry.name) or _is_environment(entry.path)
                    if not skipped and not rules.matches(path, is_folder=True):
                        below.append(path)
                elif entry.name.startswith(".") or not _is_file(entry):
                    continue
                elif not rules.matches(path, is_folder=False):
                    yield path
            folders += reversed(below)


class _Rules:
    """The ignore files of a tree, each valid for its folder and below."""

    def __init__(self, root: str, names: tuple[str, ...]) -> None:
        self._root = root
        self._names = names
        self._specs: dict[str, GitIgnoreSpec | None] = {}

    def ignores(self, path: str, *, is_folder: bool = False) -> bool:
        """True if the path, or a folder that it lies in, is ignored."""
        parts = path.split("/")
        folders = ("/".join(parts[:count]) for count in range(1, len(parts)))
        return any(self.matches(folder, is_folder=True) for folder in folders) or self.matches(
            path, is_folder=is_folder
        )

    def hold_for(self, path: str) -> bool:
        """False where no ignore file is in the path's folders."""
        folders = path.split("/")[:-1]
        return any(self._spec("/".join(folders[:count])) for count in range(len(folders) + 1))

    def matches(self, path: str, *, is_folder: bool) -> bool:
        """True if the path itself is ignored; the deepest ignore file that names it decides."""
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            spec = self._spec(folder)
            if spec is None:
                continue
            below = path[len(folder) + 1 :] if folder else path
            verdict = spec.check_file(below + "/" if is_folder else below).include
            if verdict is not None:
                return verdict
        return False

    def _spec(self, folder: str) -> GitIgnoreSpec | None:
        if folder not in self._specs:
            lines: list[str] = []
            for name in self._names:
                file = Path(self._root, folder, name)
                try:
                    if file.is_file() and file.stat().st_size < 1 << 20:
                        lines += file.read_text("utf-8", "replace").split("\n")
                except OSError:
                    continue
            self._specs[folder] = _spec_of(lines)
        return self._specs[folder]


def warm() -> None:
    """Load what ignore rules need: after the first paint, before the first prompt waits for it."""
    _spec_of(["warm"])


def _spec_of(lines: list[str]) -> GitIgnoreSpec | None:
    """The rules of some lines; broken ones are left out."""
    from pathspec import GitIgnoreSpec  # not before the first paint

    good = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        good.append(line)
    return GitIgnoreSpec.from_lines(good) if good else None


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []


def _place(entry: os.DirEntry[str]) -> Place | None:
    with suppress(OSError):
        there = entry.stat(follow_symlinks=False)
        return there.st_dev, there.st_ino
    return None


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _entry_kind(entry: os.DirEntry[str]) -> EntryKind:
    try:
        if entry.is_symlink():
            return "link" if entry.is_dir() else "file"
        return "folder" if entry.is_dir() else "file"
    except OSError:
        return "file"


def _size(entry: os.DirEntry[str]) -> int | None:
    """Of what is no text by its name; None: it may be text, or it is gone."""
    with suppress(OSError):
        if kind_by_name(entry.name) and entry.is_file():
            return entry.stat().st_size
    return None


def _is_left_out(folder: str, name: str, kind: EntryKind) -> bool:
    """True for what is not listed whatever the ignore files say."""
    if kind == "file":
        return name.startswith(".")
    return _is_skipped(name) or _is_environment(os.path.join(folder, name))


def _is_usable(path: str) -> bool:
    """A name that is no text, or that holds control characters, can be neither opened nor sent."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return path.isprintable() or not any(ord(char) < 32 or ord(char) == 127 for char in path)


def _beginning(file: Path) -> str:
    """Of a small text file; a link to a device or a pipe is not waited for."""
    if not file.is_file():
        raise FileNotFoundError(file)
    with file.open("rb") as opened:
        return opened.read(4096).decode()


def _is_skipped(folder: str) -> bool:
    return folder.startswith(".") or folder in _SKIPPED


def _is_environment(folder: str) -> bool:
    """A virtual environment, whatever its name."""
    return os.path.exists(os.path.join(folder, "pyvenv.cfg"))
