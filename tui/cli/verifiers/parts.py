"""What a command is given to judge a part: files, tests, packages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch

from tui.cli.verifiers.project import Project
from tui.cli.verifiers.related import RelatedTests
from tui.cli.verifiers.table import Row
from tui.engine.ports import FileMarks, Part

MOST_WORDS = 400
"""More of them are no part: the whole is judged."""


def part_words(project: Project, row: Row, marks: FileMarks, part: Part) -> list[str] | None:
    """The words behind the command; None: there is no part that is smaller than all."""
    chosen = _Chosen(project, marks, part, row.get("files", ()))
    words = row.get("again" if part.named or part.failed else "part", ())
    found: list[str] = []
    for word in words:
        name = word.strip("{}")
        maker = chosen.lists.get(name) if word.startswith("{") else None
        if maker is not None:
            listed = maker()
            if listed and len(listed) > MOST_WORDS:
                return list(row["all"]) if "all" in row else None
            if not listed:
                return None
            found += listed
        elif "{pattern}" in word:
            names = chosen.names()
            if not names:
                return None
            tops = dict.fromkeys(re.escape(one.split("/")[0]) for one in names)
            found.append(word.replace("{pattern}", "|".join(tops)))
        else:
            found.append(word)
    return found or None


class _Chosen:
    """The lists that a word in braces stands for; None: it cannot be said."""

    def __init__(
        self, project: Project, marks: FileMarks, part: Part, globs: Sequence[str]
    ) -> None:
        self._project, self._marks, self._part, self._globs = project, marks, part, globs
        self.lists: dict[str, Callable[[], list[str] | None]] = {
            "files": self._files,
            "tests": self._tests,
            "modules": self._modules,
            "ids": self._ids,
            "names": self.names,
            "packages": self._packages,
            "crates": self._crates,
        }

    def names(self) -> list[str]:
        """The failed tests, or those that the user names; none: some of them are no tests."""
        failed = self._part.failed
        if any(one.name == one.path for one in failed):
            return []  # a file that could not be built
        return list(self._part.named) or list(dict.fromkeys(one.name for one in failed))

    def _files(self) -> list[str]:
        there = [path for path in self._part.changed if path not in self._part.gone]
        return [
            f"./{path}" if path.startswith("-") else path
            for path in there
            if any(fnmatch(path, glob) for glob in self._globs)
        ]

    def _tests(self) -> list[str] | None:
        if self._part.failed:
            return list(dict.fromkeys(one.id for one in self._part.failed if one.id)) or None
        return RelatedTests(self._project, self._marks).of(self._part)

    def _modules(self) -> list[str] | None:
        """Files of tests as unittest names them, where it needs no other top folder."""
        if self._project.unittest:
            return None
        return [path.removesuffix(".py").replace("/", ".") for path in self._tests() or ()]

    def _ids(self) -> list[str] | None:
        if self._part.named:
            return list(self._part.named)
        ids = [one.id for one in self._part.failed]
        return list(dict.fromkeys(ids)) if all(ids) else None

    def _packages(self) -> list[str] | None:
        """Folders of Go: of what changed, and of the tests that reach it."""
        changed = self._part.changed
        tests = self._tests()
        if tests is None or any(not path.endswith(".go") for path in changed):
            return None
        paths = [*changed, *tests]
        folders = {path.rpartition("/")[0] for path in paths}
        return sorted(f"./{folder}" if folder else "." for folder in folders)

    def _crates(self) -> list[str] | None:
        """``-p CRATE`` for each crate of a workspace in which something changed."""
        crates = {self._crate(path) for path in self._part.changed}
        if "" in crates or len(crates) == len(list(self._members())):
            return None
        return [word for crate in sorted(crates) for word in ("-p", crate)]

    def _crate(self, path: str) -> str:
        """The name of the crate that a file lies in, below the root; empty: in the root's."""
        folder = path.rpartition("/")[0]
        while folder:
            text = self._project.text(f"{folder}/Cargo.toml")
            if found := re.search(r'^name\s*=\s*"([^"\n]+)"', text, re.M):
                return found[1]
            folder = folder.rpartition("/")[0]
        return ""

    def _members(self) -> Iterator[str]:
        for path in self._project.named("Cargo.toml"):
            if "/" in path:
                yield path
