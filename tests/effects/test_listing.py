"""Which files a workspace has."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

import pytest

from tui.effects.listing import Listing
from tui.errors import FileRefused


def make(root, *paths, **texts):
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(texts.get(path, ""))


def git(root, *arguments):
    name = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    whole = ["git", *name, *arguments]
    return subprocess.run(whole, cwd=root, check=True, capture_output=True)


@pytest.fixture(params=["git", "walk"])
def root(request, tmp_path):
    if request.param == "git":
        git(tmp_path, "init", "-q")
    return tmp_path


def test_ignored_hidden_and_bulky_folders_are_left_out(root):
    make(root, "a.py", "sub/b.py", "sub/deep/c d.py", "naïve.txt")
    make(root, ".hidden", ".github/x.yml", "node_modules/m/i.js", ".venv/lib/x.py")
    make(root, "sub/node_modules/y.js", "__pycache__/a.pyc", "env/pyvenv.cfg", "env/lib/z.py")
    make(root, "build/out.js", "x.log", "sub/keep.log", "sub/tmp/t", "docs/draft.md", "docs/x.md")
    (root / ".gitignore").write_text("build/\n*.log\nenv/\n")
    (root / "sub" / ".gitignore").write_text("!keep.log\n/tmp\n")
    (root / ".ignore").write_text("docs/draft.md\n")
    expected = ["a.py", "docs/x.md", "naïve.txt", "sub/b.py", "sub/deep/c d.py", "sub/keep.log"]
    assert Listing(root).paths() == expected


def test_the_count_is_bounded(root):
    make(root, *(f"f{number}.py" for number in range(30)))
    assert len(Listing(root, limit=10).paths()) == 10


def test_links_out_of_folders_are_not_walked(root):
    make(root, "sub/a.py")
    (root / "loop").symlink_to(".")
    (root / "gone").symlink_to("nowhere")
    assert Listing(root).paths() == ["sub/a.py"]


def test_git_lists_tracked_files_that_exist_and_only_below_the_root(tmp_path):
    git(tmp_path, "init", "-q")
    make(tmp_path, "top.py", "sub/a.py", "sub/gone.py", "sub/forced.log")
    (tmp_path / ".gitignore").write_text("*.log\n")
    git(tmp_path, "add", "-f", ".")
    git(tmp_path, "commit", "-qm", "x")
    (tmp_path / "sub" / "gone.py").unlink()
    make(tmp_path, "sub/new.py")
    listing = Listing(tmp_path / "sub")
    assert listing.paths() == ["a.py", "forced.log", "new.py"]
    assert not listing.ignored(["forced.log"])
    assert listing.ignored(["other.log"])


def test_nothing_of_the_repository_is_run(tmp_path):
    git(tmp_path, "init", "-q")
    make(tmp_path, "a.py")
    evil = tmp_path / "evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    evil.chmod(0o755)
    git(tmp_path, "config", "core.fsmonitor", str(evil))
    Listing(tmp_path).paths()
    Listing(tmp_path).ignored(["a.py"])
    assert not (tmp_path / "ran").exists()


def test_without_git(tmp_path, monkeypatch):
    make(tmp_path, "a.py", "b.log")
    (tmp_path / ".gitignore").write_text("*.log\n")
    monkeypatch.setenv("PATH", os.devnull)
    assert Listing(tmp_path).paths() == ["a.py"]
    assert Listing(tmp_path).ignored(["b.log"])


def test_what_cannot_be_opened_is_not_listed(root):
    """A loop of links, a FIFO, and names that are not text or hold control characters."""
    make(root, "a.py", "sub/b.py")
    os.symlink("loop2", root / "loop1")
    os.symlink("loop1", root / "loop2")
    os.symlink("gone", root / "dangling")
    os.symlink("..", root / "sub" / "up")
    os.mkfifo(root / "fifo")
    (root / "new\nline\x1b[31m.py").write_text("")
    with open(os.fsencode(root) + b"/latin\xff.py", "w"):
        pass
    assert Listing(root).paths() == ["a.py", "sub/b.py"]


def test_closing_ends_a_git_that_hangs(tmp_path):
    """Nobody who quits waits for it."""
    make(tmp_path, "a.py", ".git/config")
    os.mkfifo(tmp_path / ".git" / "HEAD")
    listing = Listing(tmp_path)
    looking = threading.Thread(target=listing.paths)
    looking.start()
    looking.join(0.2)
    listing.close()
    looking.join(30)
    assert not looking.is_alive()
    assert listing.paths() == []


def test_a_walk_has_a_deadline(tmp_path, monkeypatch):
    make(tmp_path, *(f"d{number}/a.py" for number in range(20)))
    monkeypatch.setattr("tui.effects.listing.WALK_DEADLINE_S", -1.0)
    assert Listing(tmp_path).paths() == []


@pytest.mark.parametrize("text", ["gitdir: /nowhere\n", "gitdir: \0\n", "\0\xff", ""])
def test_a_broken_git_file_means_a_walk(tmp_path, text):
    make(tmp_path, "a.py", "b.log")
    (tmp_path / ".git").write_text(text)
    (tmp_path / ".gitignore").write_text("*.log\n")
    listing = Listing(tmp_path)
    assert listing.paths() == ["a.py"]
    assert listing.ignored(["b.log"])


def test_a_folder_that_may_not_be_read_is_passed_over(tmp_path, monkeypatch):
    make(tmp_path, "a.py", "shut/b.py", "open/c.py")
    scandir = os.scandir

    def refusing(path):
        if str(path).endswith("shut"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    assert Listing(tmp_path).paths() == ["a.py", "open/c.py"]


def names(listing, folder=""):
    return [(entry.name, entry.kind, entry.ignored) for entry in listing.folder(folder)]


def test_a_folder_is_listed_with_what_is_hidden_and_ignored(root):
    make(root, "b.py", "A.py", "sub/x.py", "build/out.js", ".env", "node_modules/m/i.js", "c.log")
    (root / ".gitignore").write_text("build/\n*.log\n")
    (root / ".ignore").write_text("docs\n")
    make(root, "docs/x.md")
    (root / "link").symlink_to(root / "sub")
    (root / "broken").symlink_to(root / "nowhere")
    (root / "pipe\n").touch()
    assert names(Listing(root)) == [
        ("build", "folder", True),
        ("docs", "folder", True),
        ("link", "link", False),
        ("node_modules", "folder", True),
        ("sub", "folder", False),
        (".env", "file", True),
        (".gitignore", "file", True),
        (".ignore", "file", True),
        ("A.py", "file", False),
        ("b.py", "file", False),
        ("broken", "file", False),
        ("c.log", "file", True),
    ]
    assert names(Listing(root), "sub") == [("x.py", "file", False)]


def test_what_is_no_text_by_its_name_has_its_size(root):
    (root / "boat.png").write_bytes(b"x" * 321)
    make(root, "a.py")
    listing = Listing(root)
    assert [entry.size_bytes for entry in listing.folder("")] == [None, 321]
    (root / "link.png").symlink_to("boat.png")
    assert listing.sizes(["boat.png", "gone.png", "link.png"]) == {"boat.png": 321}


def test_a_folder_that_cannot_be_listed_says_why(root, tmp_path_factory):
    make(root, "sub/x.py")
    (root / "out").symlink_to(tmp_path_factory.mktemp("elsewhere"))
    listing = Listing(root)
    with pytest.raises(FileRefused, match="no such file"):
        listing.folder("nowhere")
    with pytest.raises(FileRefused, match="leads elsewhere"):
        listing.folder("out")
    with pytest.raises(FileRefused, match="leads elsewhere"):
        listing.folder("sub/..")
    with pytest.raises(FileRefused, match="not a directory"):
        listing.folder("sub/x.py")


def test_a_partial_clone_does_not_run_its_transport(tmp_path):
    """git reads an ignore file that was not checked out, and would fetch it."""
    root, ran = tmp_path / "work", tmp_path / "ran"
    make(root, "d/.gitignore", "d/f")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "update-index", "--skip-worktree", "d/.gitignore")
    named = git(root, "rev-parse", ":d/.gitignore").stdout.decode().strip()
    (root / ".git/objects" / named[:2] / named[2:]).unlink()
    (root / "d/.gitignore").unlink()
    (root / "d/new").touch()
    for name, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::touch {ran}",
        "protocol.ext.allow": "always",
    }.items():
        git(root, "config", name, value)
    listing = Listing(root)
    assert listing.paths() == ["d/f", "d/new"]
    listing.ignored(["d/new"])
    assert not ran.exists()


def test_the_branch_is_read_from_git(tmp_path: Path) -> None:
    assert Listing(tmp_path / "nowhere").branch() in ("", Listing(tmp_path).branch())
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/topic/one\n")
    (tmp_path / "src").mkdir()
    assert Listing(tmp_path / "src").branch() == "topic/one"
    (tmp_path / ".git" / "HEAD").write_text("0123456789abcdef\n")
    assert Listing(tmp_path).branch() == "01234567"
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / ".git").write_text(f"gitdir: {tmp_path / '.git'}\n")
    assert Listing(tmp_path / "tree").branch() == "01234567"


def test_loops_of_links_and_folders_that_mix_with_files_are_listed_once(tmp_path: Path) -> None:
    for path in ("a/b/c.py", "a/b.py", "a/d/e.py", "z.py", "vendor/kept.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x = 1\n")
    (tmp_path / "a" / "up").symlink_to("..")
    (tmp_path / "round").symlink_to("round")
    (tmp_path / "a" / "same.py").symlink_to("b.py")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".ignore").write_text("vendor/\n")
    expected = ["a/b.py", "a/b/c.py", "a/d/e.py", "a/same.py", "z.py"]
    assert Listing(tmp_path).paths() == expected
    subprocess.run(["git", "-C", str(tmp_path), "add", "-A"], check=True)
    (tmp_path / "a" / "b.py").unlink()
    (tmp_path / "a" / "new.py").write_text("y = 1\n")
    assert Listing(tmp_path).paths() == ["a/b/c.py", "a/d/e.py", "a/new.py", "z.py"]
