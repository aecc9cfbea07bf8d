"""What a filter leaves of the file tree: files whose paths have all the words, in their folders."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from tui.ui.files.rows import TreeRow

MOST_FOUND = 500
"""Files that a filter shows."""


class PathIndex:
    """Many paths as one text, so that looking for a word is one search.

    Paths hold no newline: such files are not listed.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = paths
        self._text = "\n".join(paths).lower()
        self._folded = self._text.split("\n")
        self._starts = [0, *accumulate(len(path) + 1 for path in self._folded)]

    def find(self, words: str) -> list[str]:
        """The first `MOST_FOUND` paths that have all the words in them; case is one."""
        parts = sorted(words.lower().split(), key=self._text.count)
        if not parts or not self.paths:
            return []
        rarest, *others = parts
        found: list[str] = []
        at = self._text.find(rarest)
        while at >= 0 and len(found) < MOST_FOUND:
            number = bisect_right(self._starts, at) - 1
            if all(part in self._folded[number] for part in others):
                found.append(self.paths[number])
            at = self._text.find(rarest, self._starts[number + 1])
        return found


def filtered(found: Sequence[str], words: str) -> list[TreeRow]:
    """These files with the folders that they lie in; what the words found in a name is marked.

    The last word is looked for first.
    """
    parts = words.lower().split()
    rows: list[TreeRow] = []
    shown: list[str] = []
    for path in sorted(found, key=_folders_first):
        *folders, name = path.split("/")
        same = 0
        while same < min(len(folders), len(shown)) and folders[same] == shown[same]:
            same += 1
        for depth in range(same, len(folders)):
            above = "/".join(folders[: depth + 1])
            rows.append(TreeRow(above, folders[depth], depth, "folder", open=True))
        shown = folders
        rows.append(TreeRow(path, name, len(folders), match=_match(name, parts)))
    return rows


def best(rows: Sequence[TreeRow]) -> int:
    """The row to light first: the file whose name begins with what was found, else the first."""
    files = [at for at, row in enumerate(rows) if row.kind == "file"]
    for at in files:
        if rows[at].match[1] and not rows[at].match[0]:
            return at
    return files[0] if files else 0


def _folders_first(path: str) -> list[tuple[bool, str, str]]:
    """As the tree has them: in every folder its folders first."""
    *folders, name = path.split("/")
    return [*((False, part.casefold(), part) for part in folders), (True, name.casefold(), name)]


def _match(name: str, parts: Sequence[str]) -> tuple[int, int]:
    folded = name.lower()
    if len(folded) != len(name):
        return (0, 0)
    for part in reversed(parts):
        at = folded.find(part)
        if at >= 0:
            return (at, at + len(part))
    return (0, 0)
