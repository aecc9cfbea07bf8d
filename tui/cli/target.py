"""What to open: ``duetto [PATH ...] [+LINE]``.

A PATH is a folder, a file, ``file:line`` or ``file:line:col``; ``+LINE`` and ``+LINE:COL`` belong
to the file before them, or to the one behind them where that has no line of its own yet. A file
that does not exist is opened empty, if its folder exists.

The workspace of files is the checkout that they lie in, else their folder; of nothing at all it is
the current folder, where that is somebody's work.
"""

from __future__ import annotations

import itertools
import os
import re
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from tui.core.files import checked_path
from tui.errors import EditRefused, UsageError

_PLACE = re.compile(r"^(?P<path>.+?):(?P<line>\d+)(?::(?P<col>\d+))?$", re.DOTALL)
_LINE = re.compile(r"^(?P<path>.+):(?P<line>\d+)(?P<col>)$", re.DOTALL)
"""The same without a column: the name itself may end with ``:4``."""
_PLUS = re.compile(r"^\+(?P<line>\d+)(?:[:,](?P<col>\d+))?$")
_MOST = 1_000_000_000
"""No file has more lines; what is behind the end is its end."""


class FileAtLine(Struct, frozen=True):
    """A file to show, and where in it."""

    path: str
    """Relative to the workspace, with ``/``."""
    line: int | None = None
    """0-based."""
    col: int = 0
    new: bool = False
    """There is no such file yet."""


class OpenTarget(Struct, frozen=True):
    """A workspace, and what to show of it."""

    root: Path
    """Absolute, links resolved."""
    places: tuple[FileAtLine, ...] = ()
    """In the order of their tabs; the first one is the active one."""


class _Named(Struct):
    """One argument that is a path."""

    argument: str
    path: Path
    line: int | None
    """1-based."""
    col: int

    def at(self, plus: re.Match[str]) -> None:
        """A ``+LINE`` of its own: it wins over a place behind the name."""
        self.line, self.col = _numbers(plus)


def target_of(arguments: Sequence[str]) -> OpenTarget | None:
    """The target that the arguments name, None when they name none.

    Raises UsageError: missing, not readable, or they do not go together.
    """
    named = list(_named(arguments))
    if not named:
        return None
    found = [(one, _checked(one.path, is_folder=one.argument.endswith(os.sep))) for one in named]
    folders = [(one, path) for one, path in found if path.is_dir()]
    files = [(one, path) for one, path in found if not path.is_dir()]
    for one, _ in folders:
        if one.line is not None:
            raise UsageError(f"{one.argument} is a folder: a line needs a file")
    if len(folders) > 1:
        first, second = folders[0][0].argument, folders[1][0].argument
        raise UsageError(f"{first} and {second} are folders: open one at a time")
    if folders:
        return OpenTarget(folders[0][1], tuple(_places(folders[0][1], files)))
    common = _common(files)
    root = checkout_of(common) or common
    return OpenTarget(root, tuple(_places(root, files)))


_SUFFIXES = (
    ".adoc .bash .c .cc .clj .cljs .cpp .cs .css .cxx .d .dart .el .erl .ex .exs .f90 .fs .go"
    " .gradle .groovy .h .hpp .hrl .hs .html .ipynb .java .jl .js .jsx .kt .kts .less .lisp"
    " .lua .m .md .ml .mli .mm .nim .nix .org .pas .php .pl .pm .proto .ps1 .py .pyi .pyx .r .rb"
    " .rs .rst .sass .scala .scm .scss .sh .sol .sql .svelte .swift .tcl .tex .tf .toml .ts .tsx"
    " .typ .v .vb .vhd .vim .vue .zig .zsh"
)
_SOURCES = frozenset(_SUFFIXES.split())
_PROJECT_FILES = frozenset(
    ("makefile", "justfile", "dockerfile", "package.json", "cmakelists.txt", "gemfile", "rakefile")
)
_DEEP = 2
"""Folders below the current one that are looked into: ``src/package``."""
_MOST_LOOKED_AT = 2000
_OTHERS_CODE = frozenset(("node_modules", "venv", "env", "site-packages", "__pycache__"))


def current_folder(*, sources: bool) -> OpenTarget | None:
    """The current folder, where it may be opened without being named; None: it may not.

    With ``sources`` it has to be a checkout or hold sources. The home folder, and what is above
    it, are only opened by name.
    """
    try:
        here = Path.cwd().resolve(strict=True)
    except (OSError, RuntimeError):
        return None
    if not os.access(here, os.R_OK | os.X_OK) or _holds_home(here):
        return None
    its_own = not sources or checkout_of(here) is not None or _has_sources(here)
    return OpenTarget(here) if its_own else None


def checkout_of(folder: Path) -> Path | None:
    """The innermost git checkout around a folder: a clone, a worktree, a submodule.

    None: there is none, it cannot be read, it is the home folder, or this is git's own folder.
    """
    for one in (folder, *folder.parents):
        if one.name == ".git" or _holds_home(one):
            return None
        if _is_checkout(one):
            return one if os.access(one, os.R_OK | os.X_OK) else None
    return None


def _is_checkout(folder: Path) -> bool:
    """Whether git keeps something here; a worktree and a submodule have a file that says where."""
    git = folder / ".git"
    try:
        if git.is_file():
            with git.open("rb") as opened:
                return opened.read(8) == b"gitdir: "
        return (git / "HEAD").is_file()
    except OSError:
        return False


def _holds_home(folder: Path) -> bool:
    """The home folder itself, or one that holds it, as the root of the disk."""
    if folder == folder.parent:
        return True
    try:
        return Path.home().resolve().is_relative_to(folder)
    except (OSError, RuntimeError):
        return False


def _has_sources(folder: Path) -> bool:
    """Whether files of a project lie here or a little deeper; other checkouts do not count."""
    waiting, left = deque([(folder, 0)]), _MOST_LOOKED_AT
    while waiting and left > 0:
        at, depth = waiting.popleft()
        for entry in _entries(at, left):
            left -= 1
            name = entry.name.lower()
            if not entry.is_dir(follow_symlinks=False):
                if name in _PROJECT_FILES or os.path.splitext(name)[1] in _SOURCES:
                    return True
            elif depth < _DEEP and not _is_checkout(Path(entry.path)):
                waiting.append((Path(entry.path), depth + 1))
    return False


def _entries(folder: Path, most: int) -> list[os.DirEntry[str]]:
    """What lies there and is neither hidden nor another program's; none, if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return [
                entry
                for entry in itertools.islice(entries, most)
                if not entry.name.startswith(".") and entry.name not in _OTHERS_CODE
            ]
    except OSError:
        return []


def _named(arguments: Sequence[str]) -> Iterator[_Named]:
    """The paths, each with its line."""
    waiting: re.Match[str] | None = None
    last: _Named | None = None
    free = False
    """The last path may still be given a ``+LINE``."""
    for argument in arguments:
        plus = _PLUS.match(argument)
        if plus is None:
            if argument == "":
                raise UsageError("PATH is empty: name a folder or a file")
            if argument[0] == "+" and not os.path.lexists(argument):
                raise UsageError(f"{argument} is neither a +LINE nor a file")
            if last is not None:
                yield last
            last, free = _split(argument), waiting is None
            if waiting is not None:
                last.at(waiting)
            waiting = None
        elif last is not None and free:
            last.at(plus)
            free = False
        elif waiting is None:
            waiting = plus
        else:
            raise UsageError(f"{waiting[0]} and {argument} need a file each")
    if waiting is not None:
        what = "one +LINE a file at most" if last else f"{waiting[0]} needs a file"
        raise UsageError(f"{what}: duetto FILE {waiting[0]}")
    if last is not None:
        yield last


def _split(argument: str) -> _Named:
    """A path with the line and the column behind it; the longest name that is real wins."""
    bare = argument.removesuffix(":")  # of an error message: a.py:3:
    for name in (argument, bare):
        if name and os.path.lexists(path := _expanded(name)):
            return _Named(argument, path, None, 0)
    for pattern in (_LINE, _PLACE):
        place = pattern.match(bare)
        if place is not None and (pattern is _PLACE or os.path.lexists(_expanded(place["path"]))):
            return _Named(argument, _expanded(place["path"]), *_numbers(place))
    return _Named(argument, _expanded(argument), None, 0)


def _numbers(place: re.Match[str]) -> tuple[int, int]:
    """Line, 1-based, and column, 0-based; digits without end are a large number."""
    line, col = (int(place[name][:12]) if place[name] else 1 for name in ("line", "col"))
    return min(line, _MOST), max(0, min(col, _MOST) - 1)


def _places(root: Path, files: Sequence[tuple[_Named, Path]]) -> Iterator[FileAtLine]:
    """The files below the workspace. Raises UsageError: one is not."""
    for one, path in files:
        try:
            relative = path.relative_to(root).as_posix()
            if new := not path.exists():
                checked_path(relative)
        except ValueError:
            raise UsageError(f"{one.argument} is not in {root}: open it by itself") from None
        except EditRefused as error:
            raise UsageError(f"cannot open {one.argument}: {error}") from None
        line = None if one.line is None else max(0, one.line - 1)
        yield FileAtLine(relative, line, one.col, new)


def _common(files: Sequence[tuple[_Named, Path]]) -> Path:
    """The folder that holds all of the files, for one file its own.

    Raises UsageError: there is none but the root of the disk, which nobody means.
    """
    parents = {path.parent for _, path in files}
    if len(parents) == 1:
        return parents.pop()
    root = Path(os.path.commonpath(parents))
    if root == root.parent:
        first, last = files[0][0].argument, files[-1][0].argument
        raise UsageError(f"{first} and {last} have no folder in common: open them one by one")
    return root


def _expanded(path: str) -> Path:
    """With ``~`` resolved; a user that does not exist has no files."""
    try:
        return Path(path).expanduser()
    except (RuntimeError, ValueError):
        return Path(path)


def _checked(path: Path, *, is_folder: bool) -> Path:
    """The real path of what is there, or of a file that can be made.

    ``is_folder``: it was written as the name of a folder.
    """
    try:
        resolved = path.resolve(strict=True)
    except FileNotFoundError:
        if is_folder:
            raise UsageError(f"no such folder: {path}") from None
        return _new(path)
    except RuntimeError as error:
        raise UsageError(f"cannot open {path}: its links lead in a circle") from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "not a usable path"
        raise UsageError(f"cannot open {path}: {why}") from error
    _allow_folder(resolved if resolved.is_dir() else resolved.parent)
    if not resolved.is_dir() and not resolved.is_file():
        raise UsageError(f"{path} is neither a file nor a folder")
    if resolved.is_file() and not os.access(resolved, os.R_OK):
        raise UsageError(f"cannot read {path}: permission denied")
    return resolved


def _new(path: Path) -> Path:
    """The real path of a file that is not there. Raises UsageError: there cannot be one."""
    missing = UsageError(f"no such file or folder: {path}")
    if os.path.lexists(path) or not path.name.isprintable():
        raise missing  # a link that leads nowhere; a name that nobody typed on purpose
    try:
        folder = path.parent.resolve(strict=True)
        path.name.encode()
    except (OSError, RuntimeError, ValueError):
        raise missing from None
    if not folder.is_dir():
        raise missing
    _allow_folder(folder)
    return folder / path.name


def _allow_folder(folder: Path) -> None:
    """Raises UsageError: it may not be read."""
    if not os.access(folder, os.R_OK | os.X_OK):
        raise UsageError(f"cannot read the folder {folder}: permission denied")


def short_path(path: Path) -> str:
    """A path as people write it: the home folder is ``~``."""
    try:
        return f"~/{path.relative_to(Path.home()).as_posix()}".removesuffix("/.")
    except (ValueError, RuntimeError, OSError):
        return str(path)
