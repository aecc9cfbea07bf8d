"""A folder that was only opened does not bring the programs along that duetto runs by itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.tables import case
from tui.cli.workspace_commands import found_in
from tui.core.programs import safe_path
from tui.effects.git import Git
from tui.effects.listing import Listing


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "work" / "bin").mkdir(parents=True)
    return tmp_path / "work"


def program(file: Path, words: str = "") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{words}\n")
    file.chmod(0o755)
    return file


BAD_PATHS = [".", "", "bin", "./bin", "{root}", "{root}/bin", "{root}/../work/bin"]


@pytest.fixture(params=BAD_PATHS)
def path(request: pytest.FixtureRequest, root: Path) -> str:
    """A PATH that leads into the workspace first."""
    bad = request.param.format(root=root)
    return os.pathsep.join([bad, "/usr/bin", "/bin"])


def test_path_does_not_lead_into_the_workspace(root: Path, path: str) -> None:
    assert safe_path({"PATH": path}, str(root)) == "/usr/bin:/bin"


async def test_git_is_not_that_of_the_workspace(
    root: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = root.parent / "ran"
    for folder in (root, root / "bin"):
        program(folder / "git", f"touch {ran}")
    monkeypatch.chdir(root)
    environment = {**os.environ, "PATH": path}
    Listing(root, environment=environment).paths()
    Listing(root, environment=environment).is_made_here(".venv")
    await Git(str(root), environment).states()
    assert not ran.exists()


def test_the_program_of_a_command_is_found(root: Path) -> None:
    for command, path, found in (
        ("node_modules/.bin/fmt --write", "/bin", "node_modules/.bin/fmt"),
        ("./node_modules/.bin/fmt", "/bin", "node_modules/.bin/fmt"),
        ("A=1 B='2 3' node_modules/.bin/fmt", "/bin", "node_modules/.bin/fmt"),
        (("node_modules/.bin/fmt", "-q"), "/bin", "node_modules/.bin/fmt"),
        ("{root}/node_modules/.bin/fmt", "/bin", "node_modules/.bin/fmt"),
        ("fmt", "node_modules/.bin:/bin", "node_modules/.bin/fmt"),
        ("fmt", "{root}/node_modules/.bin:/bin", "node_modules/.bin/fmt"),
        ("fmt 'unfinished", "node_modules/.bin", "node_modules/.bin/fmt"),
        ("fmt", "/bin", ""),
        ("sh -c true", "/bin:node_modules/.bin", ""),
        ("../outside", "/bin", ""),
        ("", "node_modules/.bin", ""),
        ((), "node_modules/.bin", ""),
    ):
        with case(command, path, found):
            program(root / "node_modules/.bin/fmt")
            program(root.parent / "outside")
            if isinstance(command, str):
                command = command.format(root=root)
            assert (
                found_in(str(root), command, {"PATH": path.format(root=root), "HOME": "/home/me"})
                == found
            )
