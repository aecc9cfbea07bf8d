"""What a command is given to judge a part: files, tests, packages.

Which tests belong to files that changed: where earlier runs left a map (contexts of coverage,
testmon's data), that says it for the tests that it knows. For the others what they import decides,
over any number of steps, or their names: ``test_cache.py`` tests ``cache.py``.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path

from tui.cli.verifiers.project import Project
from tui.cli.verifiers.table import Row
from tui.core.project_map import READ_BYTES, FileFacts, ProjectIndex, imports_of, knows_imports
from tui.core.run_report import stem_of
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


_MOST_ROWS = 200_000
"""Of a map that are read."""
_indexes: dict[Path, ProjectIndex] = {}
"""Kept for the next time: most files are as they were."""
_lock = threading.Lock()
_imports: dict[str, tuple[tuple[int, int], FileFacts]] = {}
"""A file (absolute) -> when it was changed and its size, and what it imports."""


class RelatedTests:
    """Of one project."""

    def __init__(self, project: Project, marks: FileMarks) -> None:
        self._project, self._marks = project, marks

    def of(self, part: Part) -> list[str] | None:
        """The files of the tests, those that changed among them; None: any may be meant."""
        marks, changed = self._marks, set(part.changed)
        files = {*self._project.files, *part.texts} - {
            path for path, text in part.texts.items() if text is None
        }
        if any(map(marks.is_configuration, changed)):
            return None
        tests = {path for path in {*files, *changed} if marks.is_test(path)}
        own = {path for path in changed if knows_imports(path)}
        if not own or not tests:
            return None
        mapped = _Mapped(self._project.root)
        found = {test for test in mapped.tests_of(own) if test in tests}
        reached = own | importers(self._project, own, files, part.texts)
        # tests of Go lie in the package that they test
        packages = {path.rpartition("/")[0] for path in reached if path.endswith(".go")}
        found |= {test for test in tests if test.rpartition("/")[0] in packages}
        stems = {stem_of(path) for path in own}
        unmapped = tests - mapped.known
        found |= {test for test in unmapped if test in reached or stem_of(test) in stems}
        found |= own & tests
        found -= set(part.gone)
        return None if len(found) == len(tests) else sorted(found)


def importers(
    project: Project,
    changed: Iterable[str],
    files: Iterable[str],
    texts: Mapping[str, bytes | None],
) -> set[str]:
    """Those that import these, over any number of steps; ``texts`` differ from the disk."""
    paths = [path for path in files if knows_imports(path)]
    with _lock:
        index = _indexes.setdefault(project.root, ProjectIndex())
        index.list_files({*paths, *changed})
        for path in paths:
            text = texts.get(path)
            facts = _facts(project.root / path, path) if text is None else _facts_in(path, text)
            index.learn(path, facts)
        return index.importers(changed)


def _facts(file: Path, path: str) -> FileFacts:
    """What a file imports; read again only if it was changed."""
    try:
        seen = os.stat(file)
        stamp = (seen.st_mtime_ns, seen.st_size)
        known = _imports.get(str(file))
        if known is None or known[0] != stamp:
            with file.open("rb") as opened:
                known = _imports[str(file)] = (stamp, _facts_in(path, opened.read(READ_BYTES)))
        return known[1]
    except OSError:
        return FileFacts()


def _facts_in(path: str, data: bytes) -> FileFacts:
    text = data[:READ_BYTES].decode("utf-8", "replace")
    return FileFacts(imports=tuple(imports_of(path, text)))


class _Mapped:
    """What earlier runs left."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.known: set[str] = set()
        """Files of tests of which it says what they run."""
        self._by_file: dict[str, set[str]] = {}
        for name, query in (
            (".coverage", _COVERAGE),
            (".coverage", _ARCS),
            (".testmondata", _TESTMON),
        ):
            for path, test in self._rows(name, query):
                if test:
                    self.known.add(test)
                    self._by_file.setdefault(self._relative(path), set()).add(test)

    def tests_of(self, paths: Iterable[str]) -> set[str]:
        return set[str]().union(*(self._by_file.get(path, ()) for path in paths))

    def _rows(self, name: str, query: str) -> Iterator[Sequence[str]]:
        file = self._root / name
        if not file.is_file():
            return
        address = f"{file.absolute().as_uri()}?mode=ro&immutable=1"
        with (
            contextlib.suppress(sqlite3.Error),
            contextlib.closing(sqlite3.connect(address, uri=True)) as opened,
        ):
            for path, test in opened.execute(query).fetchmany(_MOST_ROWS):
                # of pytest-cov ``tests/test_a.py::test_x|run``, of coverage ``tests.test_a.test_x``
                named = str(test).partition("::")[0]
                if not named.endswith(".py"):
                    named = self._module(named)
                yield str(path), self._relative(named)

    def _module(self, name: str) -> str:
        """The file of a dotted name, the end of which is a test."""
        parts = name.split(".")
        for end in range(len(parts) - 1, 0, -1):
            path = "/".join(parts[:end]) + ".py"
            if (self._root / path).is_file():
                return path
        return ""

    def _relative(self, path: str) -> str:
        for root in (str(self._root), os.path.realpath(self._root)):
            path = path.removeprefix(root.rstrip("/") + "/")
        return path


_COVERAGE = """SELECT DISTINCT file.path, context.context FROM line_bits
    JOIN file ON file.id = file_id JOIN context ON context.id = context_id"""
_ARCS = _COVERAGE.replace("line_bits", "arc")
_TESTMON = """SELECT DISTINCT file_fp.filename, test_execution.test_name
    FROM test_execution_file_fp AS both
    JOIN file_fp ON file_fp.id = both.fingerprint_id
    JOIN test_execution ON test_execution.id = both.test_execution_id"""
