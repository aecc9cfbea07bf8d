"""Finds what runs the tests of a project, and reads what it says: rules over ``runners.toml``."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
import tomllib
import uuid
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from tui.core.programs import is_below, safe_path
from tui.core.run_report import FailedTest, OutputFormat, RunReport, read_junit, read_output
from tui.effects.listing import Listing
from tui.engine.ports import VerifyCommand

MAX_LOOKED_AT = 4000
"""Directory entries that the search for test files reads at most."""
_MOST_FILES = 20_000
"""The same of the search for a file that a runner names from its own folder."""
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "build", "dist", "site-packages"})
_FOREIGN = _SKIPPED - {"build", "dist"} | {".venv", ".tox", ".nox"}
"""Folders whose files are not the project's."""
_CONFIG_BYTES = 1 << 20
"""Of each of these."""
_CONFIGS = ("pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_REPORT_BYTES = 32 << 20
_OUTPUT_CHARS = 2_000_000
_NO_SCRIPT = "no test specified"
"""npm's own script of a package that has none."""

OWN_COMMAND = 'set command = "..." under [verify] in config.toml'

Row = Mapping[str, Any]


@cache
def table() -> Mapping[str, Any]:
    """What ``runners.toml`` says."""
    return tomllib.loads(Path(__file__).with_name("runners.toml").read_text("utf-8"))


@cache
def formats() -> dict[str, OutputFormat]:
    """How runners' output looks, by the name of the format."""

    def compiled(row: Row, name: str) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(one, re.M) for one in row.get(name, ()))

    def one(row: Row, name: str) -> re.Pattern[str] | None:
        return re.compile(row[name], re.M) if name in row else None

    return {
        row["name"]: OutputFormat(
            row["name"],
            re.compile(row["begin"], re.M),
            compiled(row, "place"),
            compiled(row, "message"),
            one(row, "title"),
            one(row, "end"),
            bool(row.get("last_place")),
        )
        for row in table()["format"]
    }


class Environment(Struct, frozen=True):
    """A Python environment."""

    name: str
    python: Path
    folder: Path

    def has(self, package: str) -> bool:
        """Whether a package is installed there."""
        patterns = (f"lib/python3*/site-packages/{package}", f"Lib/site-packages/{package}")
        return any(True for pattern in patterns for _ in self.folder.glob(pattern))


class Project:
    """A workspace, and the environment of the process that looks at it."""

    def __init__(self, root: Path, environ: Mapping[str, str] | None = None) -> None:
        self.root = root
        self._environ = os.environ if environ is None else environ
        self._path = safe_path(self._environ, str(root), os.path.realpath(root))

    def text(self, name: str) -> str:
        """The beginning of a file of the root; empty if there is none."""
        try:
            with (self.root / name).open("rb") as opened:
                return opened.read(_CONFIG_BYTES).decode("utf-8", "replace")
        except OSError:
            return ""

    def program(self, name: str) -> str:
        """Where a program lies that is not of the workspace; empty: nowhere."""
        return shutil.which(name, path=self._path) or ""

    @cached_property
    def environments(self) -> list[Environment]:
        """The Python environments that are there, in the order of the table."""
        found = []
        for row in table()["environment"]:
            named = self._environ.get(row["variable"], "") if "variable" in row else row["folder"]
            if not named or (named != row.get("folder") and self._is_not_meant(Path(named))):
                continue
            folder = self.root / named
            for python in (folder / "bin/python", folder / "Scripts/python.exe"):
                if python.exists():
                    found.append(Environment(row.get("name", named), python, folder))
                    break
        return found

    def _is_not_meant(self, folder: Path) -> bool:
        """An environment that was activated to start duetto from it, or conda's usual one."""
        if self._environ.get("CONDA_DEFAULT_ENV") == "base" and str(folder) == self._environ.get(
            "CONDA_PREFIX"
        ):
            return True
        own = os.path.realpath(sys.prefix)
        return os.path.realpath(folder) == own and not is_below(own, os.path.realpath(self.root))

    @cached_property
    def has_tests(self) -> bool:
        """Whether pytest would find something."""
        return has_tests(self.root)

    @cached_property
    def unittest(self) -> list[str] | None:
        """How unittest is told where the tests are; None: there are none that it could run."""
        return _unittest(self.root)

    @cached_property
    def scripts(self) -> dict[str, str]:
        """The scripts of ``package.json``."""
        try:
            scripts = json.loads(self.text("package.json"))["scripts"]
        except (ValueError, LookupError, TypeError, RecursionError):
            return {}
        found = scripts if isinstance(scripts, dict) else {}
        return {name: text for name, text in found.items() if isinstance(text, str)}

    def runs_script(self, name: str) -> bool:
        """Whether ``package.json`` has a script that does something."""
        text = self.scripts.get(name, "").strip()
        return bool(text) and _NO_SCRIPT not in text

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        """The project's files by their last name, relative."""
        found: dict[str, list[str]] = {}
        for number, file in enumerate(_files(self.root, _MOST_FILES)):
            if number > _MOST_FILES:
                break
            found.setdefault(file.name, []).append(file.relative_to(self.root).as_posix())
        return found

    def locate(self, named: str) -> str:
        """A file as a runner names it, relative to the root; empty: it is none of the project's."""
        named = named.removeprefix("file://").replace("\\", "/")
        root = self.root.as_posix()
        for top in (root, os.path.realpath(root)):
            named = named.removeprefix(top.rstrip("/") + "/")
        path = os.path.normpath(named).replace("\\", "/")
        if path.startswith(("/", "..")) or path == "." or _FOREIGN & set(path.split("/")):
            return ""
        with contextlib.suppress(OSError, ValueError):
            if (self.root / path).is_file():
                return path
        ends = [
            file
            for file in self._by_name.get(path.rpartition("/")[2], ())
            if f"/{file}".endswith(f"/{path}")
        ]
        return ends[0] if len(ends) == 1 else ""


def find_runner(project: Project, deadline_s: float) -> VerifyCommand | None:
    """The command that runs the project's tests; None: there are none.

    Where there are tests and nothing that could run them, a command without words that says what
    is missing.
    """
    missing: VerifyCommand | None = None
    for row in _in_order(project):
        found = _RunnerRow(project, row).command(deadline_s)
        if found is not None and found.argv:
            return found
        missing = missing or found
    if missing is None and project.has_tests:
        step = "python3 -m venv .venv && .venv/bin/python -m pip install pytest"
        missing = _cannot("pytest", "pytest is not installed", step)
    return missing


def _in_order(project: Project) -> list[Row]:
    """The runners: of the languages that are used here first, recipes last."""
    ranks = {}
    for number, language in enumerate(table()["language"]):
        used = any((project.root / name).is_file() for name in language["manifests"])
        ranks[language["name"]] = (bool(language.get("last")), not used, number)
    return sorted(table()["runner"], key=lambda row: ranks[row["language"]])


def _cannot(source: str, fault: str, step: str) -> VerifyCommand:
    return VerifyCommand((), source, reader=lambda output, passed: RunReport((), fault, step))


class _RunnerRow:
    """One row of the table held against a project."""

    def __init__(self, project: Project, row: Row) -> None:
        self._project, self._row = project, row
        self._file, self._captured = "", ""
        self._python: Environment | None = None
        self._words: dict[str, str] = {}

    def command(self, deadline_s: float) -> VerifyCommand | None:
        """The command if the row holds; without words if only its program is missing."""
        row, project = self._row, self._project
        if not (self._has_files() and self._has_tests() and self._has_python()):
            return None
        name, program = row["name"], ""
        if "program" in row and not (program := project.program(row["program"])):
            if "any" not in row:
                return None
            fault = f"the project's tests run with {name}, which is missing"
            return _cannot(name, fault, f"install {name}, or {OWN_COMMAND}")
        junit = os.path.join(tempfile.gettempdir(), f"duetto-{uuid.uuid4().hex}.xml")
        self._words["junit"] = junit
        argv = self._filled(row["command"])
        if program:
            argv[0] = program
        own = self._own_folder()
        asks = bool(row.get("asks")) or (own and not Listing(project.root).is_made_here(own))
        reader = RunReader(project, row, self._words, junit if "junit" in row else "")
        return VerifyCommand(
            tuple(argv),
            self._source(),
            needs_consent=bool(asks),
            deadline_s=deadline_s,
            options=tuple(self._filled(row.get("junit", ()))),
            report_file=junit if "junit" in row else "",
            content=self._content() if row.get("asks") else "",
            reader=reader.report,
        )

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
        if "script" in row and not project.runs_script(row["script"]):
            return False
        if "target" in row and not re.search(row["target"], project.text(self._file), re.M):
            return False
        if "capture" in row:
            found = re.search(row["capture"], project.text(self._file), re.M)
            self._captured = "" if found is None else found[1]
            return bool(found)
        return True

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
            case "path":
                python = project.program("python3") or project.program("python")
                if not python:
                    return False
            case "own":
                if package and find_spec(package) is None:
                    return False
                python, where = sys.executable, "the Python of duetto"
        shown = os.path.relpath(python, project.root) if self._own_folder() else python
        where = where if row.get("python") else f"the environment of {row['name']}"
        self._words |= {"python": python, "shown": shown, "where": where}
        return True

    def _own_folder(self) -> str:
        """The workspace's folder that the interpreter lies in; empty: it lies elsewhere."""
        root = os.path.abspath(self._project.root)
        python = None if self._python is None else os.path.abspath(self._python.python)
        if python is None or not is_below(python, root):
            return ""
        return os.path.relpath(python, root).split(os.sep)[0]

    def _filled(self, words: Iterable[str]) -> list[str]:
        filled: list[str] = []
        for word in words:
            if word == "{unittest}":
                filled += self._project.unittest or ()
                continue
            words = {**self._words, "0": self._captured, "file": self._file}
            filled.append(_with(word, words))
        return filled

    def _source(self) -> str:
        """Where the command comes from, in words."""
        row = self._row
        if "script" in row:
            return f"package.json: {self._project.scripts[row['script']]}"
        if self._python is not None:
            return f"{row['name']} of {self._python.name}"
        return self._file.partition(": ")[0] or f"{row['name']} found"

    def _content(self) -> str:
        """A sign of what the project's own command does: another one is asked about again."""
        text = self._project.text(self._file)
        if "script" in self._row:
            scripts = self._project.scripts
            text = repr([scripts.get(f"{when}test") for when in ("pre", "", "post")])
        return hashlib.sha256(text.encode()).hexdigest()[:16]


class RunReader:
    """Reads what one run of a command left."""

    def __init__(
        self,
        project: Project,
        row: Row | None = None,
        words: Mapping[str, str] | None = None,
        junit: str = "",
    ) -> None:
        """Without a ``row`` the command is the user's: all formats are tried."""
        self._project, self._row = project, row or {}
        self._words = {"where": "the environment", "shown": "python3", **(words or {})}
        self._junit = junit

    def report(self, output: str, passed: bool) -> RunReport:
        """What failed, or why nothing could be judged; takes the JUnit report away."""
        output = output[-_OUTPUT_CHARS:]
        failed: list[FailedTest] = []
        if self._junit:
            failed = read_junit(_taken(Path(self._junit)), self._project.locate)
        if passed:
            return self._fault(output, [row for row in table()["fault"] if row.get("passed")])
        if not failed:
            names = self._row.get("formats") or list(formats())
            failed = read_output(output, (formats()[name] for name in names), self._project.locate)
        return replace(self._judged(output, failed), failed=tuple(failed))

    def _judged(self, output: str, failed: list[FailedTest]) -> RunReport:
        """A fault if every failed test is for the lack of something, else none."""
        rows = table()["fault"]
        if not failed:
            return self._fault(output, rows)
        faults = [self._fault(one.detail or one.message, rows) for one in failed]
        return faults[0] if all(one.fault for one in faults) else RunReport()

    def _fault(self, text: str, rows: Iterable[Row]) -> RunReport:
        for row in rows:
            for match in re.finditer(row["pattern"], text, re.M):
                if (found := self._missing(row, match)) is not None:
                    return found
        return RunReport()

    def _missing(self, row: Row, match: re.Match[str]) -> RunReport | None:
        """The fault in words; None if it is one of the project's code, which its tests judged."""
        words = {name: value or "" for name, value in match.groupdict().items()}
        step, what = row.get("step", self._row.get("install", "")), words.get("tool", "")
        said = row["words"]
        if module := words.get("module", ""):
            own = self._own_module(module)
            if own is None:
                return None
            if own:
                said = f"the project itself is not installed in {{where}} (no module {module})"
            what = self._to_install(module, own=own)
        words = {**self._words, **words, "what": what}
        step = _with(step, {**words, "python": words["shown"]}).strip()
        return RunReport((), _with(said, words), step or f"install it, or {OWN_COMMAND}")

    def _own_module(self, module: str) -> bool | None:
        """Whether a missing module lies in the project; None: its package does, and lacks it."""
        top, *rest = module.split(".")
        for above in (self._project.root, self._project.root / "src"):
            package = above / top
            if package.is_dir() or package.with_suffix(".py").is_file():
                whole = above.joinpath(top, *rest)
                if whole.is_dir() or whole.with_suffix(".py").is_file():
                    return True
                return None
        return False

    def _to_install(self, module: str, *, own: bool) -> str:
        """What pip is to install."""
        root = self._project.root
        listed = (root / "requirements.txt").is_file()
        packaged = any((root / name).is_file() for name in ("pyproject.toml", "setup.py"))
        top = module.split(".")[0]
        if packaged and (own or not listed):
            return "-e ." if own or not self._is_extra(top) else top
        return "-r requirements.txt" if listed else top

    def _is_extra(self, name: str) -> bool:
        """Whether only a group of ``pyproject.toml`` has it: the project comes without."""
        text = self._project.text("pyproject.toml")
        named = re.compile(rf"""["']?{re.escape(name)}\b""", re.I)
        try:
            needed = tomllib.loads(text).get("project", {}).get("dependencies", [])
        except tomllib.TOMLDecodeError:
            return False
        return bool(named.search(text)) and not any(named.match(str(one)) for one in needed)


def _with(text: str, words: Mapping[str, str]) -> str:
    """The text with ``{name}`` replaced by what it stands for."""
    return re.sub(r"\{(\w+)\}", lambda match: words.get(match[1], match[0]), text)


def _taken(file: Path) -> bytes:
    """What stands in a report, which is removed."""
    try:
        with file.open("rb") as opened:
            data = opened.read(_REPORT_BYTES + 1)
        return data if len(data) <= _REPORT_BYTES else b""
    except OSError:
        return b""
    finally:
        with contextlib.suppress(OSError):
            file.unlink()


def has_tests(workspace: Path) -> bool:
    """Whether pytest would find something: its configuration, or a test file."""
    project = Project(workspace)
    for name in _CONFIGS:
        text = project.text(name)
        if "[tool.pytest" in text or "[tool:pytest]" in text or "[pytest]" in text:
            return True
    return (workspace / "pytest.ini").is_file() or any(
        file.suffix == ".py" and (file.name.startswith("test_") or file.stem.endswith("_test"))
        for file in _files(workspace)
    )


def _files(workspace: Path, most: int = MAX_LOOKED_AT) -> Iterator[Path]:
    looked_at = 0
    for folder, folders, files in os.walk(workspace):
        folders[:] = sorted(f for f in folders if f not in _SKIPPED and not f.startswith("."))
        looked_at += len(files) + len(folders)
        yield from (Path(folder, file) for file in sorted(files))
        if looked_at > most:
            return


def _unittest(workspace: Path) -> list[str] | None:
    """How unittest runs the tests in the folder of the first of its tests; None: it has none.

    It looks into packages only, and says that all is well where it finds nothing.
    """
    for file in _files(workspace):
        if file.suffix == ".py" and file.name.startswith("test") and _is_of_unittest(file):
            break
    else:
        return None
    folder = top = file.parent
    while top != workspace and (top / "__init__.py").is_file():
        top = top.parent
    if top == workspace:
        return []
    start, above = (str(one.relative_to(workspace)) for one in (folder, top))
    return ["discover", "-s", start, *(("-t", above) if top != folder else ())]


def _is_of_unittest(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return (
                re.search(rb"^(?:import|from) unittest\b", opened.read(1 << 16), re.M) is not None
            )
    except OSError:
        return False
