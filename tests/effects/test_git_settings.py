"""A repository whose configuration names programs: git runs none of them unasked."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.effects.test_commands import Lines
from tests.support.tables import each
from tui.core.programs import RunOptions
from tui.core.shell.only_reads import judge
from tui.effects.commands.runner import CommandRunner

READS = RunOptions(bash=True, keys=False, reads=True)
LOOKS = (
    "git diff && git status -v && git show && git log -p -m && git blame a.txt && git grep one",
    "git log --format=evil; git log; git cat-file -p HEAD:a.txt; git describe --always --dirty",
)


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    git(root, "init", "-q")
    (root / ".gitattributes").write_text("*.txt diff=evil filter=evil merge=evil\n")
    (root / "a.txt").write_text("one\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    (root / "a.txt").write_text("two\n")
    return root


@each(
    "name, asked",
    [
        ("diff.external", True),
        ("diff.evil.command", True),
        ("diff.evil.textconv", True),
        ("filter.evil.clean", True),
        ("filter.evil.process", True),
        ("merge.evil.driver", True),
        ("core.alternateRefsCommand", True),
        ("core.worktree", True),
        ("core.fsmonitor", False),
        ("core.pager", False),
        ("pager.log", False),
        ("core.hooksPath", False),
        ("core.sshCommand", False),
        ("gpg.program", False),
        ("alias.status", False),
    ],
)
async def test_what_the_configuration_names_is_not_run_unasked(
    repository: Path, tmp_path: Path, name: str, *, asked: bool
) -> None:
    ran, program = tmp_path / "ran", tmp_path / "post-index-change"
    program.write_text(f'#!/bin/sh\ntouch {ran}\ncat "$1" 2>/dev/null\n')
    program.chmod(0o755)
    values = {"core.hooksPath": str(tmp_path), "core.worktree": str(tmp_path)}
    config = repository / ".git" / "config"
    plain = config.read_bytes()
    git(repository, "config", name, values.get(name, str(program)))
    git(repository, "config", "pretty.evil", "%h %G?")
    (repository / ".git" / "hooks" / "post-index-change").write_bytes(program.read_bytes())
    runner = CommandRunner(str(repository), os.environ)
    assert bool(await runner.git_programs([""])) is asked
    for line in () if asked else LOOKS:
        assert judge(line).reads, judge(line).why
        await runner.run(line, Lines(), 60, READS)
        assert not ran.exists(), line
    config.write_bytes(plain)


async def test_a_submodule_is_looked_into_and_a_plain_repository_is_fine(
    repository: Path, tmp_path: Path
) -> None:
    runner = CommandRunner(str(repository), os.environ)
    assert await runner.git_programs(["", "missing"]) == ""
    assert await CommandRunner(str(tmp_path)).git_programs([""]) == ""
    git(tmp_path, "clone", "-q", "root", "other")
    git(repository, "submodule", "add", "-q", str(tmp_path / "other"), "sub")
    assert await runner.git_programs([""]) == ""
    git(repository / "sub", "config", "core.fsmonitor", "/bin/evil")
    assert await runner.git_programs([""]) == "core.fsmonitor"


async def test_programs_of_the_workspace_take_no_others_name(tmp_path: Path) -> None:
    (tmp_path / "ls").write_text("#!/bin/sh\necho evil\n")
    (tmp_path / "ls").chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "RIPGREP_CONFIG_PATH": "x"}
    runner = CommandRunner(str(tmp_path), environment)
    await runner.run("ls; env", output := Lines(), 30, READS)
    assert output.text.startswith("ls\n")
    assert "RIPGREP" not in output.text
