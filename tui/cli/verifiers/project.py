"""The rules of ``verifiers.toml``, and a workspace as they look at it.

``verifiers.toml`` says what its fields mean; of a workspace they ask its files, programs and
environments.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Struct

from tui.core.programs import is_below, safe_path
from tui.core.run_report import OutputFormat

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
_NO_SCRIPT = "no test specified"
"""npm's own script of a package that has none."""


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

    def tool(self, name: str) -> str:
        """Where a tool of the project lies: in its environment, in node_modules, or on PATH."""
        folders = [one.python.parent for one in self.environments]
        for folder in (*folders, self.root / "node_modules/.bin"):
            if os.access(folder / name, os.X_OK):
                return str(folder / name)
        return self.program(name)

    def own_folder(self, program: str) -> str:
        """The workspace's folder that a program lies in; empty: it lies elsewhere."""
        root, path = os.path.abspath(self.root), os.path.abspath(program)
        if not program or not is_below(path, root):
            return ""
        return os.path.relpath(path, root).split(os.sep)[0]

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
        """Whether pytest would find something: its configuration, or a test file."""
        for name in _CONFIGS:
            text = self.text(name)
            if "[tool.pytest" in text or "[tool:pytest]" in text or "[pytest]" in text:
                return True
        return (self.root / "pytest.ini").is_file() or any(
            file.suffix == ".py" and (file.name.startswith("test_") or file.stem.endswith("_test"))
            for file in _files(self.root)
        )

    @cached_property
    def unittest(self) -> list[str] | None:
        """The command that has unittest run a project's tests; None: it has no tests of unittest.

        It looks into packages only, and says that all is well where it finds nothing.
        """
        for file in _files(self.root):
            if file.suffix == ".py" and file.name.startswith("test") and _is_of_unittest(file):
                break
        else:
            return None
        folder = top = file.parent
        while top != self.root and (top / "__init__.py").is_file():
            top = top.parent
        if top == self.root:
            return []
        start, above = (str(one.relative_to(self.root)) for one in (folder, top))
        return ["discover", "-s", start, *(("-t", above) if top != folder else ())]

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
    def files(self) -> list[str]:
        """The project's files, relative."""
        found = islice(_files(self.root, _MOST_FILES), _MOST_FILES)
        return [os.path.relpath(file, self.root).replace(os.sep, "/") for file in found]

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        """The project's files by their last name, relative."""
        found: dict[str, list[str]] = {}
        for path in self.files:
            found.setdefault(path.rpartition("/")[2], []).append(path)
        return found

    def named(self, name: str) -> list[str]:
        """The files of this last name, relative."""
        return self._by_name.get(name, [])

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


def _files(workspace: Path, most: int = MAX_LOOKED_AT) -> Iterator[Path]:
    looked_at = 0
    for folder, folders, files in os.walk(workspace):
        folders[:] = sorted(f for f in folders if f not in _SKIPPED and not f.startswith("."))
        looked_at += len(files) + len(folders)
        yield from (Path(folder, file) for file in sorted(files))
        if looked_at > most:
            return


def _is_of_unittest(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return (
                re.search(rb"^(?:import|from) unittest\b", opened.read(1 << 16), re.M) is not None
            )
    except OSError:
        return False


Row = Mapping[str, Any]


@cache
def table() -> Mapping[str, Any]:
    """What ``verifiers.toml`` says."""
    return tomllib.loads(Path(__file__).with_name("verifiers.toml").read_text("utf-8"))


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
            one(row, "summary"),
            bool(row.get("every")),
            one(row, "total"),
            one(row, "passed"),
            one(row, "failures"),
            one(row, "skipped"),
            bool(row.get("certain")),
            compiled(row, "progress"),
        )
        for row in table()["format"]
    }
