"""The file tree in the real binary, over a real repository."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.terminal import Terminal

Start = Callable[..., Terminal]
F4 = "\x1bOS"


def git(root: Path, *arguments: str) -> None:
    name = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    subprocess.run(["git", *name, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "ledger"
    (root / "core").mkdir(parents=True)
    for path in ("core/cache.py", "core/lock.py", "README.md"):
        (root / path).write_text("first = 1\n")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    return root


def row(term: Terminal, name: str) -> list[str]:
    """The words of the tree's row for a name."""
    return next((line.split("│")[0].split() for line in term.lines if f" {name} " in line), [])


def test_the_tree_follows_what_others_do(start: Start, repo: Path) -> None:
    (repo / "core" / "cache.py").write_text("first = 2\n")
    term = start(repo / "README.md", size=(80, 24))
    term.wait_for("following")
    term.type(F4)
    term.wait_for("▸ core")
    term.type("\x1b[H\x1b[C")  # home, right
    term.wait_for(lambda _: row(term, "cache.py") == ["cache.py", "M"])
    assert row(term, "core") == ["▾", "core", "•"]
    (repo / "core" / "new.py").write_text("")
    term.wait_for(lambda _: row(term, "new.py") == ["new.py", "?"])
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "second")
    term.wait_for(lambda _: row(term, "cache.py") == ["cache.py"])
    term.type("lock\r")
    term.wait_for("lock.py ×")
    term.wait_gone("Alt+Enter beside")
