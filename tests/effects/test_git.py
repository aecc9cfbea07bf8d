"""What git says of a workspace; nothing of the repository's own is run for it."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from tests.support.tables import each
from tui.core.files import MAX_BYTES, GitPlace
from tui.effects import git as git_module
from tui.effects.git import Git, states_of


def git(root: Path, *arguments: str) -> None:
    name = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    subprocess.run(["git", *name, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    for path in ("kept.py", "changed.py", "gone.py", "sub/staged.py", "sub/naïve name.py"):
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_text("one\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


async def test_every_state_has_its_letter(repo: Path) -> None:
    (repo / "changed.py").write_text("two\n")
    (repo / "gone.py").unlink()
    (repo / "sub" / "added.py").write_text("")
    git(repo, "add", "sub/added.py")
    (repo / "sub" / "naïve name.py").write_text("two\n")
    (repo / "new").mkdir()
    (repo / "new" / "file.py").write_text("")
    (repo / "loose.py").write_text("")
    assert await Git(str(repo)).states() == {
        "changed.py": "M",
        "gone.py": "D",
        "sub/added.py": "A",
        "sub/naïve name.py": "M",
        "new": "?",
        "loose.py": "?",
    }


async def test_of_a_folder_in_a_repository_only_that_folder(repo: Path) -> None:
    (repo / "changed.py").write_text("two\n")
    (repo / "sub" / "staged.py").write_text("two\n")
    (repo / "sub" / "new").mkdir()
    (repo / "sub" / "new" / "x").write_text("")
    assert await Git(str(repo / "sub")).states() == {"staged.py": "M", "new": "?"}


async def test_a_repository_that_is_made_later_is_noticed(repo: Path) -> None:
    (repo / "sub/new.py").write_text("two\n")
    status = Git(str(repo / "sub"))
    assert await status.states() == {"new.py": "?"}
    git(repo / "sub", "init", "-q")
    await status.states()
    assert (await status.states())["new.py"] == "?"


async def test_where_the_workspace_is_in_its_repository_is_asked_once(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo / "changed.py").write_text("two\n")
    status, asked = Git(str(repo)), list[str]()
    run = status._run

    async def counted(*arguments: str) -> tuple[int, bytes]:
        asked.append(arguments[0])
        return await run(*arguments)

    monkeypatch.setattr(status, "_run", counted)
    for _ in range(2):
        assert await status.states() == {"changed.py": "M"}
    assert asked.count("rev-parse") == 1


@pytest.mark.parametrize("setting", ["core.fsmonitor", "filter.x.clean", "filter.x.process"])
async def test_nothing_that_the_repository_configures_is_run(
    repo: Path, tmp_path: Path, setting: str
) -> None:
    trap = repo / ".git" / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {repo}/.git/run\ncat\n")
    trap.chmod(0o755)
    git(repo, "config", setting, str(trap))
    git(repo, "config", "filter.x.required", "true")
    (repo / ".git" / "info").mkdir(exist_ok=True)
    (repo / ".git" / "info" / "attributes").write_text("*.py filter=x\n")
    (repo / "changed.py").write_text("two\n")
    assert (await Git(str(repo)).states())["changed.py"] == "M"
    assert not (repo / ".git" / "run").exists()


async def test_nothing_is_written_to_the_repository(repo: Path) -> None:
    index = repo / ".git" / "index"
    os.utime(repo / "kept.py")  # git would write into the index what it found out about it
    before = index.read_bytes(), index.stat().st_mtime_ns
    await Git(str(repo)).states()
    assert (index.read_bytes(), index.stat().st_mtime_ns) == before


async def test_without_a_repository_or_git_there_is_nothing_to_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert await Git(str(tmp_path)).states() == {}
    monkeypatch.setenv("PATH", str(tmp_path))
    assert await Git(str(tmp_path)).states() == {}
    assert await Git(str(tmp_path / "nowhere")).states() == {}


def stubborn(folder: Path, words: str) -> Path:
    """A git of our own on a path of its own."""
    file = folder / "git"
    file.write_text(f"#!/bin/sh\n{words}\n")
    file.chmod(0o755)
    return folder


async def test_a_git_that_does_not_answer_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = stubborn(tmp_path, "exec /bin/sleep 60")
    monkeypatch.setenv("PATH", str(path))
    monkeypatch.setattr(git_module, "DEADLINE_S", 0.3)
    assert await Git(str(tmp_path)).states() == {}


async def test_a_git_that_never_ends_talking_is_not_heard_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = 'case "$*" in *status*) exec /usr/bin/yes x;; *rev-parse*) echo;; *) exit 1;; esac'
    monkeypatch.setenv("PATH", str(stubborn(tmp_path, talk)))
    async with asyncio.timeout(60):
        assert await Git(str(tmp_path)).states() == {}


@each(
    "answer, states",
    [
        (b"", {}),
        (b"1 .M N... 100644 100644 100644 a b x y.py\0", {"x y.py": "M"}),
        (b"1 MD N... 100644 100644 100644 a b x\0", {"x": "D"}),
        (b"1 AM N... 100644 100644 100644 a b x\0", {"x": "A"}),
        (b"u UU N... 1 2 3 4 a b c x\0", {"x": "U"}),
        (b"? new/\0! ignored\0# branch.oid x\0", {"new": "?"}),
        (b"1 .M N...\0u UU\0?\0\0garbage", {}),
        (b"? \xff\xfe\0", {"\udcff\udcfe": "?"}),
        (b"1 D. N... 100644 000000 000000 a b x\0? x\0", {"x": "D"}),
    ],
)
def test_what_git_writes(answer: bytes, states: dict[str, str]) -> None:
    assert states_of(answer) == states


def test_what_lies_outside_of_the_workspace_is_left_out() -> None:
    assert states_of(b"? sub/x\0? other/y\0? subway\0", b"sub/") == {"x": "?"}


@pytest.fixture
def committed(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.py").write_bytes(b"one\r\ntwo")
    (tmp_path / "sub" / "-n naïve.py").write_text("three\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


async def test_a_folder_below_the_repository_has_its_own_paths(committed: Path) -> None:
    assert (await Git(str(committed / "sub")).head("-n naïve.py")).data == b"three\n"


async def test_what_was_never_committed_is_missing_without_a_reason(committed: Path) -> None:
    (committed / "new.py").write_text("x\n")
    read = await Git(str(committed)).head("new.py")
    assert (read.data, read.refusal) == (None, "")


async def test_without_git_it_says_so(committed: Path) -> None:
    read = await Git(str(committed), {"PATH": str(committed)}).head("a.py")
    assert read.refusal == "git is not installed"


async def test_a_huge_file_is_not_read_to_its_end(committed: Path) -> None:
    (committed / "huge.txt").write_bytes(b"x" * (MAX_BYTES + 10))
    git(committed, "add", ".")
    git(committed, "commit", "-qm", "huge")
    read = await Git(str(committed)).head("huge.txt")
    assert (read.data, read.refusal) == (None, "'huge.txt' is larger than 8 MB in git's HEAD")


async def test_nothing_that_the_repository_names_is_run(committed: Path) -> None:
    ran = committed / "ran"
    command = f"touch '{ran}'; cat"
    for name in ("filter.x.smudge", "filter.x.clean", "filter.x.process", "diff.x.textconv"):
        git(committed, "config", name, command)
    git(committed, "config", "core.fsmonitor", command)
    git(committed, "config", "core.pager", command)
    (committed / ".gitattributes").write_text("*.py filter=x diff=x\n")
    assert (await Git(str(committed)).head("a.py")).data == b"one\r\ntwo"
    assert not ran.exists()


async def test_what_differs_from_any_commit_with_what_is_new(repo: Path) -> None:
    (repo / "changed.py").write_text("two\n")
    git(repo, "commit", "-qam", "second")
    (repo / "gone.py").unlink()
    (repo / "loose.py").write_text("")
    asked = Git(str(repo))
    assert await asked.changed("HEAD") == (["gone.py", "loose.py"], "")
    assert await asked.changed("HEAD~1") == (["changed.py", "gone.py", "loose.py"], "")
    assert (await asked.head("changed.py", "HEAD~1")).data == b"one\n"
    (repo / "sub" / "staged.py").write_text("two\n")
    assert await Git(str(repo / "sub")).changed("HEAD") == (["staged.py"], "")


@each("ref", ["nope", "-h", "--output=x", "HEAD:gone.py", "", "HEAD^{tree}"])
async def test_what_is_no_commit_is_refused(repo: Path, ref: str) -> None:
    paths, why = await Git(str(repo)).changed(ref)
    assert paths == []
    assert "no commit" in why
    assert not (repo / "x").exists()


async def test_a_folder_without_git_or_commits_is_said_to_be_that(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    assert await Git(str(folder)).changed("HEAD") == ([], "this folder is in no git repository")
    git(folder, "init", "-q")
    assert await Git(str(folder)).changed("HEAD") == ([], "nothing is committed here yet")


async def test_where_git_went_and_which_files_differ_by_that(repo: Path) -> None:
    asked = Git(str(repo))
    git(repo, "checkout", "-qb", "topic")
    first = await asked.place()
    assert first.branch == "topic"
    (repo / "changed.py").write_text("two\n")
    git(repo, "commit", "-qam", "second")
    second = await asked.place()
    assert (await asked.moved(first, second)).words == "commit: second"
    git(repo, "checkout", "-q", "-")
    third = await asked.place()
    move = await asked.moved(second, third)
    assert move.words.startswith("checkout: moving from topic to ")
    assert move.paths == ("changed.py",)
    both = await asked.moved(first, third)
    assert both.paths == ()
    (repo / "gone.py").write_text("mine\n")
    git(repo, "stash")
    stashed = await asked.place()
    assert await asked.moved(third, stashed) == ("stash", ("gone.py",))
    git(repo, "stash", "pop")
    assert await asked.moved(stashed, await asked.place()) == ("stash", ("gone.py",))
    git(repo, "checkout", "-q", "topic")
    (repo / "sub" / "staged.py").write_text("two\n")
    git(repo, "stash")
    git(repo, "rebase", "-q", "--force-rebase", "HEAD~1")
    here = await asked.place()
    rebased = await asked.moved(third, here)
    assert "rebase" in rebased.words
    below = await Git(str(repo / "sub")).moved(third, here)
    assert below.paths == ("staged.py",)


async def test_without_a_repository_git_is_nowhere(tmp_path: Path) -> None:
    asked = Git(str(tmp_path))
    assert await asked.place() == GitPlace()
    assert (await asked.moved(GitPlace("a" * 40), GitPlace("b" * 40))).paths == ()
