"""Where a project and its user keep skills and instructions: found and read, bounded, for a thread.

What lies in the workspace may have come from anybody: no link there leads out of it. In the
user's own folders links are followed, for skills are often linked from one tool to the other.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from tui.core.files import MAX_BYTES, FileRead
from tui.core.programs import is_below
from tui.core.project_words import HEAD_BYTES, SkillFile

_MOST_FOLDERS = 2_000
"""That are looked through in one place, and so deep:"""
_DEPTH = 4
IN_WORKSPACE = (".agents/skills", ".claude/skills", ".codex/skills", ".opencode/skills")
AT_HOME = (".agents/skills", ".claude/skills", ".codex/skills")
_SKILL_FILE = "SKILL.md"


class ProjectFolders:
    """The skills of a workspace and of its user, and the user's own instructions."""

    def __init__(self, root: str | Path, own: Path, environment: Mapping[str, str]) -> None:
        """``own`` is duetto's configuration folder."""
        self._root = os.path.realpath(root)
        self._own = own
        home = environment.get("HOME") or os.path.expanduser("~")
        config = environment.get("XDG_CONFIG_HOME") or f"{home}/.config"
        self._users = [
            f"{own}/skills",
            *(f"{home}/{name}" for name in AT_HOME),
            f"{config}/opencode/skills",
        ]
        self._known: dict[str, tuple[tuple[int, int, int], bytes]] = {}
        """Path -> what the file system said of a SKILL.md, and its beginning."""

    def rules(self) -> tuple[str, FileRead]:
        """The path and the bytes of the user's own instructions. Never raises."""
        path = f"{self._own}/AGENTS.md"
        return path, read_bounded(path)

    def skills(self) -> list[SkillFile]:
        """Every SKILL.md, the workspace's first. Never raises."""
        found = [
            file for name in IN_WORKSPACE for file in self._below(f"{self._root}/{name}", own=False)
        ]
        return found + [file for name in self._users for file in self._below(name, own=True)]

    def read(self, file: SkillFile, path: str) -> FileRead:
        """A file of a skill of the user's; ``path`` is relative to its folder. Never raises."""
        try:
            real = os.path.realpath(os.path.join(file.folder, path or _SKILL_FILE))
        except ValueError:
            return FileRead(None, f"{path!r} is not a usable path")
        if not is_below(real, file.folder):
            return FileRead(None, f"'{path}' leads out of the skill's folder")
        return read_bounded(real)

    def _below(self, top: str, *, own: bool) -> Iterator[SkillFile]:
        """The skills of one place: folders that have a SKILL.md, links that go round left out."""
        seen: set[str] = set()
        waiting = [(top, 0)]
        while waiting and len(seen) < _MOST_FOLDERS:
            folder, depth = waiting.pop(0)
            real = os.path.realpath(folder)
            if real in seen or not (
                os.path.isdir(real) and (own or depth or is_below(real, self._root))
            ):
                continue
            seen.add(real)
            if depth and os.path.lexists(f"{folder}/{_SKILL_FILE}"):
                yield self._skill(folder, real, own=own)
            elif depth < _DEPTH and (own or is_below(real, self._root)):
                with suppress(OSError):
                    names = sorted(name for name in os.listdir(real) if not name.startswith("."))
                    waiting += [(f"{folder}/{name}", depth + 1) for name in names]

    def _skill(self, folder: str, real: str, *, own: bool) -> SkillFile:
        path = f"{folder}/{_SKILL_FILE}"
        shown = path if own else os.path.relpath(path, self._root)
        if not (own or is_below(os.path.realpath(path), self._root)):
            return SkillFile(shown, real, problem="it leads out of the workspace", own=own)
        try:
            there = os.stat(path)
            if not stat.S_ISREG(there.st_mode):
                return SkillFile(shown, real, problem="it is not a file", own=own)
            sign = there.st_mtime_ns, there.st_size, there.st_ino
            if self._known.get(path, ((), b""))[0] != sign:
                with open(path, "rb") as opened:
                    self._known[path] = sign, opened.read(HEAD_BYTES)
        except OSError as error:
            return SkillFile(shown, real, problem=(error.strerror or str(error)).lower(), own=own)
        return SkillFile(shown, real, self._known[path][1], own=own)


def read_bounded(path: str) -> FileRead:
    """The bytes of a file of the user's; empty if there is none. Never raises."""
    try:
        # without waiting for who would write into a FIFO
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return FileRead(None, f"'{path}' is not a file")
            data = file.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return FileRead(None)
    except (OSError, ValueError) as error:
        return FileRead(
            None, f"'{path}': {(getattr(error, 'strerror', None) or str(error)).lower()}"
        )
    if len(data) > MAX_BYTES:
        return FileRead(None, f"'{path}' is larger than 8 MB")
    return FileRead(data)
