"""Which command judges a workspace: configured, else found."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

from tui.cli.verifiers.finding import KINDS
from tui.cli.verifiers.finding import find_verifiers as found_verifiers
from tui.cli.verifiers.project import Project
from tui.cli.verifiers.reading import RunReader
from tui.core.programs import USUAL_PATH, CommandLine, is_below
from tui.effects.listing import Listing
from tui.engine.ports import HookEvent, Part, VerifyCommand
from tui.settings import PROJECT_FILE, OwnVerifier, Settings, load_project


def find_verifiers(workspace: Path, settings: Settings) -> list[VerifyCommand]:
    """What judges the workspace, the cheap ones first and its tests last; empty: nothing could.

    The user's ``[verify]``, else the workspace's own, else what runs the tests of such projects,
    and their linters (`verifiers.finding`); besides, what both have under ``[[verify.own]]``. What
    may come from a stranger is asked for once: the workspace's own commands, and a program in the
    workspace unless it was made there. Raises SettingsError: the workspace's
    ``.duetto/config.toml`` is broken.
    """
    project, ours = Project(workspace), settings.verify
    theirs = load_project(workspace).verify
    found = found_verifiers(project, ours.deadline_s)
    if command := _argv(ours.command):
        tests = users_command(workspace, command, ours.deadline_s)
    elif command := _argv(theirs.command):
        tests = VerifyCommand(command, PROJECT_FILE, needs_consent=True, deadline_s=ours.deadline_s)
    else:
        tests = None
    if tests is not None:
        found = [one for one in found if one.kind != "tests"]
        found.append(_read_by_all(project, tests))
    for own in ours.own:
        users = users_command(workspace, _argv(own.command) or "", ours.deadline_s)
        found.append(_named(project, own, users))
    for own in theirs.own:
        command = _argv(own.command) or ""
        of_theirs = VerifyCommand(
            command, f"{PROJECT_FILE}, {own.name}", needs_consent=True, deadline_s=ours.deadline_s
        )
        found.append(_named(project, own, of_theirs))
    left_out = {*ours.skip, *theirs.skip}
    kept = {one.name: one for one in found if one.name not in left_out}  # the later one holds
    memory = _memory(ours.memory_gb)
    limited = [with_memory(one, memory) for one in kept.values()]
    return sorted(limited, key=lambda one: KINDS.index(one.kind))


def with_memory(command: VerifyCommand, memory: int) -> VerifyCommand:
    """The command, and what it is for a part, with so many bytes."""
    makes = command.part

    def part(part: Part) -> VerifyCommand | None:
        small = None if makes is None else makes(part)
        return None if small is None else with_memory(small, memory)

    return replace(command, memory=memory, part=part if makes is not None else None)


def _memory(limit_gb: float | None) -> int:
    """Bytes that one verifier may have: half of the machine's where nothing is set."""
    if limit_gb is not None:
        return int(limit_gb * 1e9)
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (OSError, ValueError, AttributeError):
        return 0


def _read_by_all(project: Project, command: VerifyCommand) -> VerifyCommand:
    """Its output may be any runner's."""
    reader = RunReader(project)
    shown = tuple(form.progress for form in reader.formats)
    return replace(command, reader=reader.report, progress=shown, name="tests")


def _named(project: Project, own: OwnVerifier, command: VerifyCommand) -> VerifyCommand:
    """A verifier of ``[[verify.own]]``; ``{files}`` in it are the changed files that concern it."""
    whole, argv = _read_by_all(project, command), command.argv

    def with_files(files: Sequence[str]) -> str | tuple[str, ...]:
        if isinstance(argv, str):
            return argv.replace("{files}", shlex.join(files))
        return tuple(one for word in argv for one in (files if word == "{files}" else (word,)))

    def part(part: Part) -> VerifyCommand | None:
        if part == Part():
            return replace(whole, argv=with_files(()))
        there = [path for path in part.changed if path not in part.gone]
        files = [path for path in there if any(fnmatch(path, glob) for glob in own.files)]
        if not files or "{files}" not in str(argv):
            return None
        return replace(whole, argv=with_files(files))

    return replace(whole, argv=with_files(()), name=own.name, kind=own.kind, part=part)


def users_command(workspace: Path, argv: tuple[str, ...] | str, deadline_s: float) -> VerifyCommand:
    """A command of the user's settings: asked for once if its program came with the workspace."""
    program = found_in(str(workspace), argv, os.environ)
    if not program or Listing(workspace).is_made_here(program.split("/")[0]):
        return VerifyCommand(argv, "config.toml", deadline_s=deadline_s)
    return VerifyCommand(argv, f"it runs {program}", needs_consent=True, deadline_s=deadline_s)


def found_in(root: str, command: CommandLine, environment: Mapping[str, str]) -> str:
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


def _argv(command: str | list[str] | None) -> tuple[str, ...] | str | None:
    if isinstance(command, list):
        return tuple(command) or None
    return (command or "").strip() or None


def find_format(workspace: Path, settings: Settings) -> VerifyCommand | None:
    """The command of ``[format]``; None: nothing is formatted.

    The workspace's own is asked for once. Raises SettingsError: its ``.duetto/config.toml`` is
    broken.
    """
    if command := _argv(settings.format.command):
        return users_command(workspace, command, settings.format.deadline_s)
    project = load_project(workspace).format
    if command := _argv(project.command):
        return VerifyCommand(
            command, PROJECT_FILE, needs_consent=True, deadline_s=project.deadline_s
        )
    return None


def find_hooks(workspace: Path, settings: Settings, event: HookEvent) -> list[VerifyCommand]:
    """The commands of ``[hooks]`` for this: the user's, then the workspace's own.

    That one is asked for once, and again when it, or a file of the workspace that it names, is
    another one. Raises SettingsError: the workspace's ``.duetto/config.toml`` is broken.
    """
    found = []
    if command := _argv(getattr(settings.hooks, event)):
        found.append(users_command(workspace, command, settings.hooks.deadline_s))
    own = load_project(workspace).hooks
    if command := _argv(getattr(own, event)):
        content = _files_named(workspace, command)
        source = f"{PROJECT_FILE}, hooks.{event}"
        found.append(
            VerifyCommand(
                command, source, needs_consent=True, deadline_s=own.deadline_s, content=content
            )
        )
    return found


def _files_named(workspace: Path, command: CommandLine) -> str:
    """A hash of the workspace's files that a command names; empty: it names none."""
    root, whole = os.path.realpath(workspace), hashlib.sha256()
    named = False
    for word in _words(command) if isinstance(command, str) else command:
        path = os.path.realpath(os.path.join(root, word))
        if is_below(path, root) and os.path.isfile(path):
            named = True
            with contextlib.suppress(OSError), open(path, "rb") as file:
                whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()[:32] if named else ""
