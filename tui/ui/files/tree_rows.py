"""The rows of the file tree: which folders are open, and what is in them.

Pure: folders are listed elsewhere and told here by `Tree.loaded`. Opening or closing a folder
costs what comes or goes, not what is shown already. A filter leaves the files whose paths have all
its words, in their folders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from tui.core.files import FolderEntry, GitStates

RowKind = Literal["folder", "file", "link", "gone", "note"]
"""``gone``: git has the file, the disk has not; ``note``: what is to be said of a folder."""
MOST_IN_FOLDER = 4000
"""Rows that one folder gets; the others are found by typing."""


class TreeRow(NamedTuple):
    """One row."""

    path: str
    """Relative to the workspace's root; of a note that of the folder."""
    name: str
    depth: int
    kind: RowKind = "file"
    open: bool = False
    ignored: bool = False
    match: tuple[int, int] = (0, 0)
    """Columns of the name that the filter found."""
    size_bytes: int | None = None
    """Of what is no text by its name."""


class Tree:
    """The folders of a workspace as rows, top to bottom."""

    def __init__(self) -> None:
        self.rows: list[TreeRow] = []
        self.states = GitStates()
        self.all = False
        """What is hidden or ignored is shown, too."""
        self._opened = {""}
        self._entries: dict[str, Sequence[FolderEntry]] = {}
        self._refused: dict[str, str] = {}
        self._stale: set[str] = set()
        """Folders in which something changed since they were listed."""
        self._gone: dict[str, list[str]] = {}
        """Folder -> names that git has and the disk has not."""

    # -- folders

    def is_open(self, folder: str) -> bool:
        """True if its content is to be seen."""
        return folder in self._opened

    def wanted(self) -> list[str]:
        """The folders in sight that must be listed (anew), upper ones first."""
        return sorted(
            folder
            for folder in self._opened
            if (folder in self._stale or not self._is_known(folder)) and self._is_in_sight(folder)
        )

    def forget(self, folders: Iterable[str] | None = None) -> None:
        """List these folders anew when they are needed (None: all); shown rows stay till then."""
        self._stale.update([*self._entries, *self._refused] if folders is None else folders)

    def asking(self, folders: Iterable[str]) -> None:
        """These are being listed: what changes from now on must be listed once more."""
        self._stale.difference_update(folders)

    def loaded(self, listed: Mapping[str, Sequence[FolderEntry] | str]) -> None:
        """What lies in these folders; a text says why one cannot be listed."""
        for folder, found in listed.items():
            self._entries.pop(folder, None)
            self._refused.pop(folder, None)
            if isinstance(found, str):
                self._refused[folder] = found
            else:
                self._entries[folder] = found
        folders = [folder for folder in listed if self.is_open(folder)]
        if len(folders) == 1:
            self._refill(folders[0])
        elif folders:
            self.rebuild()

    def open(self, folder: str) -> None:
        """Show what is in a folder; it may have to be listed first (`wanted`)."""
        if folder not in self._opened:
            self._opened.add(folder)
            self._refill(folder)

    def close(self, folder: str) -> None:
        """Show the folder only."""
        if folder in self._opened and folder:
            self._opened.discard(folder)
            self._refill(folder)

    def take(self, states: GitStates) -> None:
        """What git says now; files that it misses get a row."""
        self.states = states
        gone: dict[str, list[str]] = {}
        for path, state in states.files.items():
            if state == "D":
                folder, _, name = path.rpartition("/")
                gone.setdefault(folder, []).append(name)
        hidden = any(e.ignored for entries in self._entries.values() for e in entries)
        if gone != self._gone or (hidden and not self.all):
            self._gone = gone
            self.rebuild()

    def show_all(self, wanted: bool) -> None:
        """With or without what is hidden or ignored."""
        if wanted != self.all:
            self.all = wanted
            self.rebuild()

    def rebuild(self) -> None:
        """All rows anew."""
        self.rows = list(self._below("", 0, ignored=False))

    def crowded(self) -> Iterator[str]:
        """The files of listed folders that have more of them than they show."""
        for folder, entries in self._entries.items():
            if len(entries) > MOST_IN_FOLDER:
                start = f"{folder}/" if folder else ""
                yield from (start + entry.name for entry in entries if entry.kind == "file")

    def index(self, path: str) -> int | None:
        """The row of a file or folder."""
        return next(
            (at for at, row in enumerate(self.rows) if row.path == path and row.kind != "note"),
            None,
        )

    # -- rows

    def _is_known(self, folder: str) -> bool:
        return folder in self._entries or folder in self._refused

    def _is_in_sight(self, folder: str) -> bool:
        """True if all folders above it are open."""
        while folder:
            folder = folder.rpartition("/")[0]
            if folder not in self._opened:
                return False
        return True

    def _refill(self, folder: str) -> None:
        """The rows below a folder anew; the others are as they were."""
        if not folder:
            self.rebuild()
            return
        at = self.index(folder)
        if at is None:
            return
        head = self.rows[at]
        end = at + 1
        while end < len(self.rows) and self.rows[end].depth > head.depth:
            end += 1
        opened = folder in self._opened
        below = self._below(folder, head.depth + 1, ignored=head.ignored) if opened else ()
        self.rows[at:end] = [head._replace(open=opened), *below]

    def _below(self, folder: str, depth: int, *, ignored: bool) -> Iterator[TreeRow]:
        """The rows in a folder, those of the open folders in it included."""
        if folder in self._refused:
            yield TreeRow(folder, self._refused[folder], depth, "note", ignored=ignored)
            return
        start = f"{folder}/" if folder else ""
        count = 0
        entries = self._entries.get(folder, ())
        for at, entry in enumerate(entries):
            path = start + entry.name
            dim = ignored or entry.ignored
            if entry.ignored and not self.all and self.states.of(path) in (None, "?"):
                continue
            if count >= MOST_IN_FOLDER:
                words = f"{len(entries) - at:,} more: type letters of the name"
                yield TreeRow(folder, words, depth, "note", ignored=ignored)
                return
            count += 1
            opened = path in self._opened
            size = entry.size_bytes
            yield TreeRow(path, entry.name, depth, entry.kind, opened, dim, size_bytes=size)
            if opened and entry.kind == "folder":
                yield from self._below(path, depth + 1, ignored=dim)
        for name in self._gone_from(folder):
            count += 1
            yield TreeRow(start + name, name, depth, "gone")
        if not count and folder in self._entries:
            words = "only hidden files" if self._entries[folder] else "empty"
            yield TreeRow(folder, words, depth, "note", ignored=ignored)

    def _gone_from(self, folder: str) -> list[str]:
        if folder not in self._entries or folder not in self._gone:
            return []
        there = {entry.name for entry in self._entries[folder]}
        return sorted(name for name in self._gone[folder] if name not in there)


MOST_FOUND = 500
"""Files that a filter shows."""


class PathIndex:
    """Many paths, in lower case once, so that a word is looked for in a few milliseconds."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._pairs = [(path, path.lower()) for path in paths]

    def find(self, words: str) -> list[str]:
        """The first `MOST_FOUND` paths that have all the words in them; case is one."""
        fits = self._pairs if words.strip() else []
        for part in sorted(words.lower().split(), key=len, reverse=True):
            fits = [pair for pair in fits if part in pair[1]]
        return [path for path, _ in fits[:MOST_FOUND]]


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


class TreeList:
    """The rows as they are shown, filtered or not: which one is lit, which is the first."""

    def __init__(self) -> None:
        self.tree = Tree()
        self.words = ""
        """What the rows are filtered by; empty: not at all."""
        self.found: list[TreeRow] = []
        """What the filter left."""
        self.height = 1
        """How many rows can be shown."""
        self.at = self.top = 0
        """The lit row, and the first one that is shown."""

    @property
    def rows(self) -> list[TreeRow]:
        """The rows, filtered or not."""
        return self.found if self.words else self.tree.rows

    @property
    def chosen(self) -> TreeRow | None:
        """The lit row."""
        return self.rows[self.at] if self.at < len(self.rows) else None

    @property
    def page(self) -> int:
        """Rows of a page."""
        return max(self.height - 1, 1)

    def row_at(self, y: int) -> int | None:
        """The index of the row at a line of the widget, whose first line is a header."""
        at = self.top + y - 1
        return at if y and at < len(self.rows) else None

    def go(self, at: int) -> None:
        """Light another row, and show it."""
        self.at = max(min(at, len(self.rows) - 1), 0)
        self.top = max(min(self.top, self.at), self.at - self.height + 1)
        self.top = max(min(self.top, len(self.rows) - self.height), 0)

    def scroll(self, lines: int) -> bool:
        """Show others, the lit one as it is; False if there are none."""
        before = self.top
        self.top = max(min(self.top + lines, len(self.rows) - self.height), 0)
        return self.top != before

    def keeping(self, change: Callable[[], None]) -> None:
        """Change the tree; the lit file stays lit, and where it is."""
        row = None if self.words else self.chosen
        change()
        if row is not None:
            rows = self.tree.rows
            moved = self.at >= len(rows) or rows[self.at].path != row.path
            self._go_along(self.tree.index(row.path) if moved else self.at)

    def refind(self, found: list[TreeRow]) -> None:
        """The filter leaves others now; the lit file stays lit, and where it is."""
        row, self.found = self.chosen, found
        known = (at for at, now in enumerate(found) if row is not None and now.path == row.path)
        self._go_along(next(known, None))

    def _go_along(self, at: int | None) -> None:
        """The lit row is in another place now; None: it is gone."""
        self.top = max(self.top + (0 if at is None else at - self.at), 0)
        self.go(self.at if at is None else at)
