"""A file as it was committed; nothing of the repository's own is run for it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tui.core.file_read import MAX_BYTES
from tui.effects.git.show import GitShow


def git(root: Path, *arguments: str) -> None:
    name = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    subprocess.run(["git", *name, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.py").write_bytes(b"one\r\ntwo")
    (tmp_path / "sub" / "-n naïve.py").write_text("three\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


async def test_it_is_given_byte_for_byte(repo: Path) -> None:
    (repo / "a.py").write_text("changed\n")
    assert (await GitShow(str(repo)).head("a.py")).data == b"one\r\ntwo"


async def test_a_folder_below_the_repository_has_its_own_paths(repo: Path) -> None:
    assert (await GitShow(str(repo / "sub")).head("-n naïve.py")).data == b"three\n"


async def test_what_was_never_committed_is_missing_without_a_reason(repo: Path) -> None:
    (repo / "new.py").write_text("x\n")
    read = await GitShow(str(repo)).head("new.py")
    assert (read.data, read.refusal) == (None, "")


async def test_without_a_commit_it_says_so(tmp_path: Path) -> None:
    read = await GitShow(str(tmp_path)).head("a.py")
    assert read.refusal == "this folder has no git commit yet"
    git(tmp_path, "init", "-q")
    read = await GitShow(str(tmp_path)).head("a.py")
    assert read.refusal == "this folder has no git commit yet"


async def test_without_git_it_says_so(repo: Path) -> None:
    read = await GitShow(str(repo), {"PATH": str(repo)}).head("a.py")
    assert read.refusal == "git is not installed"


async def test_a_huge_file_is_not_read_to_its_end(repo: Path) -> None:
    (repo / "huge.txt").write_bytes(b"x" * (MAX_BYTES + 10))
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "huge")
    read = await GitShow(str(repo)).head("huge.txt")
    assert (read.data, read.refusal) == (None, "'huge.txt' is larger than 8 MB in git's HEAD")


async def test_nothing_that_the_repository_names_is_run(repo: Path) -> None:
    ran = repo / "ran"
    command = f"touch '{ran}'; cat"
    for name in ("filter.x.smudge", "filter.x.clean", "filter.x.process", "diff.x.textconv"):
        git(repo, "config", name, command)
    git(repo, "config", "core.fsmonitor", command)
    git(repo, "config", "core.pager", command)
    (repo / ".gitattributes").write_text("*.py filter=x diff=x\n")
    assert (await GitShow(str(repo)).head("a.py")).data == b"one\r\ntwo"
    assert not ran.exists()
