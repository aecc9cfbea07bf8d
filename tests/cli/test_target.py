import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.tables import case
from tui.cli.target import current_folder, target_of
from tui.errors import UsageError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "ledger"
    root.mkdir()
    (root / "cache.py").write_text("x = 1\n")
    (root / "odd:3").write_text("")
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "sub" / "b.py").write_text("b\n")
    (root / "dangling").symlink_to("gone")
    return root


def test_what_cannot_be_opened_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments, says in (
        (["nowhere/new.py"], "no such file or folder: nowhere/new.py"),
        (["nowhere/"], "no such folder: nowhere"),
        (["nowhere/new.py:3"], "no such file or folder"),
        (["dangling"], "no such file or folder: dangling"),
        (["new\n.py"], "no such file or folder"),
        ([".git"], "inside .git"),
        (["cache.py", "+1", "+2"], r"one \+LINE a file at most"),
        (["+1", "+2", "cache.py"], r"\+1 and \+2 need a file each"),
        (["+3"], r"\+3 needs a file"),
        (["cache.py", "+abc"], r"\+abc is neither a \+LINE nor a file"),
        ([".", ".."], "open one at a time"),
        (["sub", "cache.py"], "is not in"),
        (["cache.py", "/etc/hostname-of-nobody"], "have no folder in common"),
        ([".", "+3"], "a line needs a file"),
        (["cache.py/x"], "cannot open"),
        (["a\0b"], "cannot open"),
        (["/dev/null"], "neither a file nor a folder"),
    ):
        with case(arguments, says):
            monkeypatch.chdir(folder)
            with pytest.raises(UsageError, match=says) as caught:
                target_of(arguments)
            assert caught.value.exit_code == 2


@pytest.mark.parametrize("name", ["ledger", "ledger/cache.py"])
def test_no_permission_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    # root may read everything, so the answer of the system is put in
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name not in name)
    with pytest.raises(UsageError, match="permission denied"):
        target_of([str(folder.parent / name)])


WORDS = st.text("a+:,1.0/~\\\0\n\x1b \udcff\u202eé-", max_size=12) | st.sampled_from(
    ["cache.py", "+3", "sub/b.py:2", ".", "cache.py:1:", "::", "+", "+1:2:3", "~", ".git/x", "..."]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(st.lists(WORDS, max_size=4))
def test_any_words_give_a_target_or_a_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(folder)
    before = sorted(folder.rglob("*"))
    try:
        target = target_of(words)
    except UsageError:
        return
    assert sorted(folder.rglob("*")) == before
    for place in target.places if target is not None else ():
        assert target is not None
        whole = target.root / place.path
        assert whole.parent.is_dir()
        assert place.new == (not whole.exists())
        assert (place.line or 0) >= 0 <= place.col


def checkout(folder: Path) -> Path:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return folder


def linked_checkout(folder: Path) -> Path:
    """As a worktree and a submodule are."""
    folder.mkdir(parents=True)
    (folder / ".git").write_text("gitdir: /elsewhere/.git/worktrees/this\n")
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder under git, as people have who keep their dotfiles so."""
    found = checkout(tmp_path.resolve() / "home" / "anna")
    monkeypatch.setenv("HOME", str(found))
    return found


def test_the_workspace_of_files_is_the_checkout_that_they_lie_in(home: Path) -> None:
    outer = checkout(home / "outer")
    inner, tree, bare = checkout(outer / "libs" / "inner"), linked_checkout(outer / "tree"), home
    for folder in (outer / "src" / "app", inner / "src", tree / "src", bare / "notes"):
        folder.mkdir(parents=True)
    fake = outer / "src" / "fake"
    (fake / ".git").mkdir(parents=True)
    for files, root, shown in (
        ([outer / "src/app/a.py:3"], outer, ["src/app/a.py"]),
        ([outer / "a.py"], outer, ["a.py"]),
        ([inner / "src/a.py"], inner, ["src/a.py"]),
        ([tree / "src/a.py"], tree, ["src/a.py"]),
        ([inner / "src/a.py", outer / "b.py"], outer, ["libs/inner/src/a.py", "b.py"]),
        ([outer / "src/app/a.py", outer / "src/b.py"], outer, ["src/app/a.py", "src/b.py"]),
        ([fake / "a.py"], outer, ["src/fake/a.py"]),
        ([home / "notes/a.md"], home / "notes", ["a.md"]),
        ([home / "a.md"], home, ["a.md"]),
        ([outer / ".git/COMMIT_EDITMSG"], outer / ".git", ["COMMIT_EDITMSG"]),
    ):
        with case(files):
            target = target_of([str(file) for file in files])
            assert target is not None
            assert target.root == root
            assert [place.path for place in target.places] == shown


def test_the_current_folder_is_opened_where_it_is_somebodys_work(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place, file, is_work in (
        ("clone/deep/below", None, True),
        ("script", "run.sh", True),
        ("package", "src/ledger/cache.py", True),
        ("notes", "today.md", True),
        ("makes", "Makefile", True),
        ("empty", None, False),
        ("photos", "sea.jpg", False),
        ("hidden", ".config/tool.py", False),
        ("installed", "node_modules/left-pad/index.js", False),
        ("far", "a/b/c/d.py", False),
        ("all", "clone/main.py", False),
        (".", "tool.py", False),
        ("..", None, False),
        ("/", None, False),
    ):
        with case(place, file):
            folder = home / place
            folder.mkdir(parents=True, exist_ok=True)
            if place.startswith("clone"):
                checkout(home / "clone")
            if place == "all":
                checkout(folder / "clone")
            if file is not None:
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                (folder / file).write_text("")
            monkeypatch.chdir(folder)
            target = current_folder(sources=True)
            assert (target is not None) == is_work
            assert target is None or target.root == folder.resolve()
            named_by_a_model = current_folder(sources=False)
            assert (named_by_a_model is None) == (place in (".", "..", "/"))
