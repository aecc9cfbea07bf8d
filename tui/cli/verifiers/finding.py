"""Which verifiers a project has, and the command of each: rules over ``verifiers.toml``."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from tui.cli.verifiers.parts import part_words
from tui.cli.verifiers.project import Environment, Project
from tui.cli.verifiers.reading import OWN_COMMAND, RunReader, filled
from tui.cli.verifiers.table import Row, table
from tui.core.run_report import RunReport
from tui.effects.listing import Listing
from tui.engine.ports import FileMarks, Part, VerifyCommand
from tui.engine.verification import short_title


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
