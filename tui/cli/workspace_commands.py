"""Which command judges a workspace: configured, else found."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from tui.core.programs import USUAL_PATH, is_below
from tui.effects.listing import Listing
from tui.engine.ports import VerifyCommand
from tui.settings import PROJECT_FILE, FormatSettings, Settings, VerifySettings, load_project

MAX_LOOKED_AT = 4000
"""Directory entries that the search for test files reads at most."""
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "build", "dist", "site-packages"})
_CONFIG_BYTES = 1 << 20
"""Of each of these."""
_CONFIGS = ("pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")


def find_verify(workspace: Path, settings: Settings) -> VerifyCommand | None:
    """The command, None when there is nothing that could judge.

    The user's ``[verify]``, else the workspace's own, else pytest where there are tests: that of
    the workspace's environment, or one beside duetto; without one unittest, for the tests that it
    can run. What may come from a stranger is asked for once: the workspace's own command, and a
    program in the workspace unless it was made there. Raises SettingsError: the workspace's
    ``.duetto/config.toml`` is broken.
    """
    if command := _argv(settings.verify):
        return users_command(workspace, command, settings.verify.deadline_s)
    project = load_project(workspace)
    if command := _argv(project.verify):
        return VerifyCommand(
            command, PROJECT_FILE, needs_consent=True, deadline_s=project.verify.deadline_s
        )
    if not has_tests(workspace):
        return None
    own = _own_python(workspace)
    deadline_s = settings.verify.deadline_s
    if own is not None:
        folder = own.relative_to(workspace).parts[0]
        return VerifyCommand(
            (str(own), "-m", "pytest", "-q"),
            f"pytest of {folder}",
            needs_consent=not Listing(workspace).is_made_here(folder),
            deadline_s=deadline_s,
        )
    if find_spec("pytest") is not None:
        argv = (sys.executable, "-m", "pytest", "-q")
        return VerifyCommand(argv, "pytest found", deadline_s=deadline_s)
    found = _unittest(workspace)
    return None if found is None else VerifyCommand(found, "unittest found", deadline_s=deadline_s)


def users_command(workspace: Path, argv: tuple[str, ...] | str, deadline_s: float) -> VerifyCommand:
    """A command of the user's settings: asked for once if its program came with the workspace."""
    program = found_in(str(workspace), argv, os.environ)
    if not program or Listing(workspace).is_made_here(program.split("/")[0]):
        return VerifyCommand(argv, "config.toml", deadline_s=deadline_s)
    return VerifyCommand(argv, f"it runs {program}", needs_consent=True, deadline_s=deadline_s)


def found_in(root: str, command: str | Sequence[str], environment: Mapping[str, str]) -> str:
    """Which file of a workspace a command would run there, relative; empty: none.

    Only the program itself is looked at, not what that runs. In the home folder all is the user's.
    """
    root = os.path.realpath(root)
    if is_below(os.path.realpath(environment.get("HOME", "/")), root):
        return ""
    words = _words(command) if isinstance(command, str) else command
    program = os.path.expanduser(next(iter(words), ""))
    path = environment.get("PATH", USUAL_PATH).split(os.pathsep)
    for folder in () if not program else ("",) if "/" in program else path:
        above, name = os.path.split(os.path.join(root, folder, program))
        whole = os.path.join(os.path.realpath(above), name)
        if os.path.isfile(whole) and os.access(whole, os.X_OK):
            return os.path.relpath(whole, root) if is_below(whole, root) else ""
    return ""


def _words(command: str) -> list[str]:
    """A shell's command without the variables that it sets."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    while words and re.match(r"\w+=", words[0]):
        del words[0]
    return words


def has_tests(workspace: Path) -> bool:
    """Whether pytest would find something: its configuration, or a test file."""
    for name in _CONFIGS:
        try:
            if not (workspace / name).is_file():
                continue
            with (workspace / name).open("rb") as opened:
                text = opened.read(_CONFIG_BYTES).decode("utf-8", "replace")
        except OSError:
            continue
        if name == "pytest.ini" or "[tool.pytest" in text or "[tool:pytest]" in text:
            return True
    return any(
        file.suffix == ".py" and (file.name.startswith("test_") or file.stem.endswith("_test"))
        for file in _files(workspace)
    )


def _files(workspace: Path) -> Iterator[Path]:
    looked_at = 0
    for folder, folders, files in os.walk(workspace):
        folders[:] = sorted(f for f in folders if f not in _SKIPPED and not f.startswith("."))
        looked_at += len(files) + len(folders)
        yield from (Path(folder, file) for file in sorted(files))
        if looked_at > MAX_LOOKED_AT:
            return


def _unittest(workspace: Path) -> tuple[str, ...] | None:
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
    found = (sys.executable, "-m", "unittest")
    if top == workspace:
        return found
    start, above = (str(one.relative_to(workspace)) for one in (folder, top))
    return (*found, "discover", "-s", start, *(("-t", above) if top != folder else ()))


def _is_of_unittest(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return (
                re.search(rb"^(?:import|from) unittest\b", opened.read(1 << 16), re.M) is not None
            )
    except OSError:
        return False


def _argv(verify: VerifySettings) -> tuple[str, ...] | str | None:
    if isinstance(verify.command, list):
        return tuple(verify.command) or None
    return (verify.command or "").strip() or None


def _own_python(workspace: Path) -> Path | None:
    """The interpreter of the workspace's virtual environment, if it has pytest."""
    for name in (".venv", "venv"):
        for python in (
            workspace / name / "bin" / "python",
            workspace / name / "Scripts/python.exe",
        ):
            if python.exists() and _has_pytest(workspace / name):
                return python
    return None


def _has_pytest(environment: Path) -> bool:
    patterns = ("lib/python3*/site-packages/pytest", "Lib/site-packages/pytest")
    return any(found for pattern in patterns for found in environment.glob(pattern))


def find_format(workspace: Path, settings: Settings) -> VerifyCommand | None:
    """The command of ``[format]``; None: nothing is formatted.

    The workspace's own is asked for once. Raises SettingsError: its ``.duetto/config.toml`` is
    broken.
    """
    if command := _words_of(settings.format):
        return users_command(workspace, command, settings.format.deadline_s)
    project = load_project(workspace).format
    if command := _words_of(project):
        return VerifyCommand(
            command, PROJECT_FILE, needs_consent=True, deadline_s=project.deadline_s
        )
    return None


def _words_of(table: FormatSettings) -> tuple[str, ...] | str | None:
    if isinstance(table.command, list):
        return tuple(table.command) or None
    return (table.command or "").strip() or None
