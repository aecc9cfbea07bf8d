"""What a folder of the workspace holds, and how git sees the files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

EntryKind = Literal["folder", "file", "link"]
"""``link``: a symlink to a folder, which is shown and not entered."""
GitState = Literal["U", "D", "M", "A", "?"]
"""Unmerged, deleted, modified, added (staged), untracked."""
_STRONGEST: tuple[GitState, ...] = ("U", "D", "M", "A", "?")


class FolderEntry(NamedTuple):
    """One name in a folder."""

    name: str
    kind: EntryKind = "file"
    ignored: bool = False
    """Hidden, or named by an ignore file: the file finder does not offer it."""


class GitStates(NamedTuple):
    """What git says of the workspace's files; what it does not name is as it was committed."""

    files: Mapping[str, GitState] = {}
    """Path relative to the workspace's root -> its state; an untracked folder stands for all
    that it holds."""
    folders: Mapping[str, GitState] = {}
    """Folder -> the strongest state below it; the root is the empty string."""

    def of(self, path: str) -> GitState | None:
        """The state of a file or folder, that of the untracked folder it lies in included."""
        state = self.files.get(path) or self.folders.get(path)
        if state is not None:
            return state
        at = path.rfind("/")
        while at > 0:
            if self.files.get(path[:at]) == "?":
                return "?"
            at = path.rfind("/", 0, at)
        return None


def summed(files: Mapping[str, GitState]) -> GitStates:
    """The states with those of the folders above them."""
    folders: dict[str, GitState] = {}
    for state in reversed(_STRONGEST):
        for path in (path for path, found in files.items() if found == state):
            folders.update(dict.fromkeys(_above(path), state))
    return GitStates(files, folders)


def _above(path: str) -> Iterable[str]:
    """The folders that a path lies in, the root as the empty string."""
    while path:
        path = path.rpartition("/")[0]
        yield path
