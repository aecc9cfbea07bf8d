"""Which verifiers a project has, and the command of each, whole or for a part.

The rules are those of ``verifiers.toml``. Which tests belong to files that changed: where earlier
runs left a map (contexts of coverage, testmon's data), that says it for the tests that it knows.
For the others what they import decides, over any number of steps, or their names:
``test_cache.py`` tests ``cache.py``.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import re
import sqlite3
import sys
import tempfile
import threading
import uuid
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from tui.cli.verifiers.project import Environment, Project, Row, table
from tui.cli.verifiers.reading import OWN_COMMAND, RunReader, filled
from tui.core.project_map import READ_BYTES, FileFacts, ProjectIndex, imports_of, knows_imports
from tui.core.run_report import RunReport, stem_of
from tui.effects.listing import Listing
from tui.engine.ports import FileMarks, Part, VerifyCommand
from tui.engine.verifier_plan import short_title
from tui.own_process import LINE_BYTES, ended, spawned


def find_verifiers(project: Project, deadline_s: float) -> list[VerifyCommand]:
    """What judges the project, the cheap ones first and its tests last.

    Where there are tests and nothing that could run them, these are a command without words that
    says what is missing.
    """
    found: dict[str, VerifyCommand] = {}
    for row in _in_order(project):
        kind = row.get("kind", "tests")
        name = kind if kind == "tests" else row["name"]
        if name not in found or not found[name].argv:
            command = _VerifierRow(project, row).command(deadline_s)
            if command is not None and (command.argv or name not in found):
                found[name] = command
    if "tests" not in found and project.has_tests:
        step = "python3 -m venv .venv && .venv/bin/python -m pip install pytest"
        found["tests"] = _cannot("pytest", "pytest is not installed", step)
    found["syntax"] = _syntax(project)
    return sorted(found.values(), key=lambda one: KINDS.index(one.kind))


_LONG = 48
"""Characters of files and tests that a title names."""
KINDS = ("syntax", "lint", "types", "tests")
"""In the order of what they cost."""


def _syntax(project: Project) -> VerifyCommand:
    """Reads what changed: Python with the project's own, which knows what is right there."""
    python, listing = sys.executable, Listing(project.root)
    for one in project.environments:
        own = project.own_folder(str(one.python))
        if not own or listing.is_made_here(own):
            python = str(one.python)
            break
    argv = (python, "-I", "-S", str(Path(__file__).with_name("check_syntax.py")))
    row = {"kind": "syntax", "formats": ["syntax"]}
    whole = VerifyCommand(
        argv,
        "syntax found",
        name="syntax",
        kind="syntax",
        title="syntax",
        deadline_s=_SYNTAX_S,
        reader=RunReader(project, row).report,
    )

    def part(part: Part) -> VerifyCommand | None:
        files = [path for path in part.changed if path not in part.gone and path.endswith(_READ)]
        if not files or part.named or part.failed:
            return None
        scope = f"syntax · {len(files)} file{'' if len(files) == 1 else 's'}"
        return replace(whole, argv=(*argv, *files), title=scope)

    return replace(whole, part=part)


_READ = (".py", ".pyi", ".json", ".toml")
_SYNTAX_S = 10.0


def _in_order(project: Project) -> list[Row]:
    """The verifiers: of the languages that are used here first, recipes last."""
    ranks = {}
    for number, language in enumerate(table()["language"]):
        used = any((project.root / name).is_file() for name in language["manifests"])
        ranks[language["name"]] = (bool(language.get("last")), not used, number)
    return sorted(table()["verifier"], key=lambda row: ranks[row["language"]])


def _cannot(source: str, fault: str, step: str) -> VerifyCommand:
    return VerifyCommand(
        (), source, name=source, reader=lambda output, passed: RunReport((), fault, step)
    )


class _VerifierRow:
    """One row of the table held against a project."""

    def __init__(self, project: Project, row: Row) -> None:
        self._project, self._row = project, row
        self._file, self._captured, self._program = "", "", ""
        self._python: Environment | None = None
        self._words: dict[str, str] = {}
        self._script: Row = {}
        """What is known of the program that the script of ``package.json`` runs."""
        self._deadline_s = 0.0

    def command(self, deadline_s: float) -> VerifyCommand | None:
        """The command if the row holds; without words if only its program is missing."""
        row, project = self._row, self._project
        self._deadline_s = deadline_s
        if not (self._has_files() and self._has_tests() and self._has_python()):
            return None
        name = row["name"]
        if "tool" in row:
            self._program = project.tool(row["tool"])
            if not self._program:
                return None
            self._words |= {"tool": self._program, "where": "the environment"}
        elif "program" in row and not (program := project.program(row["program"])):
            if "any" not in row:
                return None
            fault = f"the project's tests run with {name}, which is missing"
            return _cannot(name, fault, f"install {name}, or {OWN_COMMAND}")
        elif "program" in row:
            self._words["program"] = program
        return self._whole()

    def _whole(self) -> VerifyCommand:
        row = self._row
        named = "targets" in row and re.search(row["targets"], self._project.text(self._file), re.M)
        return self._made(row["command"], () if named else row.get("all", ()))

    def _made(
        self, command: Sequence[str], more: Iterable[str], scope: str = "", *, direct: bool = False
    ) -> VerifyCommand:
        """The command, with a report of its own; ``scope`` says what of, where that is less.

        ``direct``: the script of package.json does not stand between it and what it is given.
        """
        row, project, script = self._row, self._project, self._script
        argv = self._filled(command)
        if "program" in row and argv[0] == row["program"]:
            argv[0] = self._words["program"]
        reads = {**row, **script}
        report, options = reads.get("report", ()), list[str]()
        file, words = "", dict(self._words)
        if report:
            file = os.path.join(tempfile.gettempdir(), f"duetto-{uuid.uuid4().hex}.report")
            words |= {"report": file, "late_s": str(int(self._deadline_s / 2) or 1)}
            passed_on = row.get("pass", ()) if script and not direct else ()
            options = [*passed_on, *self._filled(report, words)]
        own = project.own_folder(self._program)
        asks = bool(row.get("asks")) or (own and not Listing(project.root).is_made_here(own))
        reader = RunReader(project, reads, words, file)
        behind = self._filled(more)
        title = row.get("shown", "")
        if scope and (title or len(" ".join(behind)) > _LONG):
            title = f"{title or short_title(argv)} · {scope}"
        return VerifyCommand(
            (*argv, *behind),
            self._source(),
            name=script.get("name", row["name"]),
            kind=row.get("kind", "tests"),
            title=title,
            writes=bool(row.get("writes")),
            needs_consent=bool(asks),
            deadline_s=self._deadline_s,
            options=tuple(options),
            report_file=file,
            content=self._content() if row.get("asks") else "",
            reader=reader.report,
            progress=tuple(form.progress for form in reader.formats),
            part=self._part,
            marks=self._marks(),
        )

    def _marks(self) -> FileMarks:
        language = next(one for one in table()["language"] if one["name"] == self._row["language"])
        own = self._row.get("configuration", ())
        return FileMarks(
            tuple(language.get("tests", ())), (*language.get("configuration", ()), *own)
        )

    def _part(self, part: Part) -> VerifyCommand | None:
        """The command for a part; None: it has none that is smaller than all."""
        row = {**self._row, **self._script}
        if not part.named and not part.failed and not part.changed:
            return self._whole()
        words = part_words(self._project, row, self._marks(), part)
        if words is None:
            return None
        again = part.named or part.failed
        command = row["command"] if again else row.get("part_command", row["command"])
        paths = sum(not word.startswith("-") for word in words)
        noun = "test" if again else "file"
        scope = f"{paths} {noun}{'' if paths == 1 else 's'}"
        passed_on = row.get("pass", ()) if command == self._row["command"] else ()
        if self._script:
            return self._made(command, [*passed_on, *words], scope, direct=True)
        return self._made(command, words, scope)

    def _has_files(self) -> bool:
        row, project = self._row, self._project
        for condition in row.get("any", ()):
            name, _, text = condition.partition(": ")
            if (project.root / name).is_file() and (not text or text in project.text(name)):
                self._file = name
                break
        else:
            if "any" in row:
                return False
        if "script" in row:
            if not project.runs_script(row["script"]):
                return False
            self._script = self._program_of(project.scripts[row["script"]])
        if "target" in row and not re.search(row["target"], project.text(self._file), re.M):
            return False
        if "capture" in row:
            found = re.search(row["capture"], project.text(self._file), re.M)
            self._captured = "" if found is None else found[1]
            return bool(found)
        return True

    def _program_of(self, script: str) -> Row:
        """What is known of the one program that a script runs, with its own place filled in."""
        for row in table()["script"]:
            if re.search(row["runs"], script):
                program = self._project.tool(row["name"])
                self._words["tool"] = program
                return row if program else {k: v for k, v in row.items() if k != "part_command"}
        return {}

    def _has_tests(self) -> bool:
        kind = self._row.get("tests")
        if kind == "unittest":
            return self._project.unittest is not None
        return kind is None or self._project.has_tests

    def _has_python(self) -> bool:
        """Whether the row's Python is there; fills in where it lies."""
        row, project = self._row, self._project
        package = row.get("package", "")
        python, where = "python3", "this Python"
        match row.get("python"):
            case "environment":
                of_it = (one for one in project.environments if not package or one.has(package))
                self._python = next(of_it, None)
                if self._python is None:
                    return False
                python, where = str(self._python.python), self._python.name
                self._program = python
            case "path":
                python = project.program("python3") or project.program("python")
                if not python:
                    return False
            case "own":
                if package and find_spec(package) is None:
                    return False
                python, where = sys.executable, "the Python of duetto"
        own = self._python is not None and project.own_folder(python)
        shown = os.path.relpath(python, project.root) if own else python
        where = where if row.get("python") else f"the environment of {row['name']}"
        self._words |= {"python": python, "shown": shown, "where": where}
        return True

    def _filled(self, words: Iterable[str], more: Mapping[str, str] | None = None) -> list[str]:
        found: list[str] = []
        for word in words:
            if word == "{unittest}":
                found += self._project.unittest or ()
                continue
            known = {**self._words, **(more or {}), "0": self._captured, "file": self._file}
            found.append(filled(word, known))
        return found

    def _source(self) -> str:
        """Where the command comes from, in words."""
        row = self._row
        if "script" in row:
            return f"package.json: {self._project.scripts[row['script']]}"
        if self._row.get("kind") in ("lint", "types"):
            return f"{row['name']} found"
        if self._python is not None:
            return f"{row['name']} of {self._python.name}"
        return self._file.partition(": ")[0] or f"{row['name']} found"

    def _content(self) -> str:
        """A sign of what the project's own command does: another one is asked about again."""
        text = self._project.text(self._file)
        if "script" in self._row:
            scripts, name = self._project.scripts, self._row["script"]
            text = repr([scripts.get(f"{when}{name}") for when in ("pre", "", "post")])
        return hashlib.sha256(text.encode()).hexdigest()[:16]


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


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


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
            "tested": lambda: self._packages(of_tests=True),
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

    def _packages(self, *, of_tests: bool = False) -> list[str] | None:
        """Folders of Go: of what changed, and of the tests that reach it; or of the tests alone."""
        changed, gone = self._part.changed, self._part.gone
        tests = self._tests()
        if tests is None or any(not path.endswith(".go") for path in changed):
            return None
        there = [*self._project.files, *self._part.texts]
        left = {_folder(path) for path in there if path.endswith(".go") and path not in gone}
        folders = {_folder(path) for path in (*(() if of_tests else changed), *tests)} & left
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


_IDLE_S = 60.0
"""Behind the last check it ends."""


class KeptSyntax:
    """A process that stays and judges the syntax of texts: a check costs no start of Python.

    It runs ``check_syntax.py`` by the project's own Python, and ends with its stdin, so that none
    can outlive the app; nothing of the texts is run.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._process: Process | None = None
        self._python = ""
        self._lock = asyncio.Lock()
        self._idle: asyncio.TimerHandle | None = None

    def serving(self, command: VerifyCommand) -> VerifyCommand:
        """The command with this in the place of its runs, where it judges a part."""
        makes = command.part

        def part(part: Part) -> VerifyCommand | None:
            small = None if makes is None else makes(part)
            if small is None or isinstance(small.argv, str):
                return small
            return replace(small, at_once=partial(self._judge, small.argv, small.deadline_s))

        return replace(command, part=part)

    async def _judge(
        self, argv: Sequence[str], deadline_s: float, texts: Mapping[str, bytes | None]
    ) -> tuple[int, bytes] | None:
        """Exit status and output as the command has them; None: it has to be run."""
        script = next(number for number, word in enumerate(argv) if word.endswith(".py")) + 1
        wanted: dict[str, str | None] = {}
        for path in argv[script:]:
            data = texts.get(path)
            wanted[path] = None if data is None else data.decode("latin-1")
        line = json.dumps({"root": str(self._root), "files": wanted}).encode() + b"\n"
        async with self._lock:
            try:
                async with asyncio.timeout(deadline_s):
                    said = await self._asked(argv[:script], line)
            except BaseException as error:
                await self.close()  # its next answer would be of this one
                if isinstance(error, (OSError, ValueError)):  # TimeoutError is an OSError
                    return None
                raise
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(_IDLE_S, self._end)
        return int(bool(said)), "".join(f"{one}\n" for one in said).encode()

    async def _asked(self, argv: Sequence[str], line: bytes) -> list[str]:
        """Raises OSError, or ValueError: it ended, or said something else."""
        if self._idle is not None:
            self._idle.cancel()
        process = self._process
        if process is None or process.returncode is not None or self._python != argv[0]:
            await self.close()
            self._python = argv[0]
            process = self._process = await spawned(
                *argv,
                "--kept",
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                cwd="/",
                env={},
                start_new_session=True,
                limit=LINE_BYTES,
            )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(line)
        await process.stdin.drain()
        found = json.loads(await process.stdout.readline())
        if not isinstance(found, list):
            raise ValueError("no answer")
        return [str(one) for one in found]

    def _end(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process = None

    async def close(self) -> None:
        """End it."""
        process, self._process = self._process, None
        if self._idle is not None:
            self._idle.cancel()
        if process is not None:
            await ended(process)
