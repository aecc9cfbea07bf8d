"""Which tests belong to files that changed.

Where earlier runs left a map (contexts of coverage, testmon's data), that says it for the tests
that it knows. For the others what they import decides, over any number of steps, or their names:
``test_cache.py`` tests ``cache.py``.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tui.cli.verifiers.project import Project
from tui.core.project_map import READ_BYTES, FileFacts, ProjectIndex, imports_of, knows_imports
from tui.core.run_report import stem_of
from tui.engine.ports import FileMarks, Part

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
