from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.support.sources import ROOT
from tests.support.terminal import Terminal
from tui.cli.open_app import git_branch, options_for
from tui.cli.options import ModelFlags
from tui.cli.practice import ensure, offered_prompts
from tui.cli.resolution import resolve
from tui.cli.workplace import Workplace
from tui.settings import Paths, Settings

CRASH = """
from tui.ui.screens.workbench import Workbench

def broken(self, notices):
    raise RuntimeError("a bug")

Workbench.sync = broken
from tui.cli.main import main
main()
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DUETTO_", "OPENAI_"))}
    return kept | {"DUETTO_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)}


def workplace(root: Path, home: Path) -> Workplace:
    paths = Paths.find({"DUETTO_HOME": str(home)})
    return Workplace(root, Settings(), resolve(Settings(), ModelFlags(), {}), paths)


def test_a_bug_ends_in_one_sentence_on_a_restored_terminal(
    environment: dict[str, str], tmp_path: Path
) -> None:
    with Terminal([sys.executable, "-c", CRASH], env=environment, cwd=tmp_path) as term:
        assert term.wait_exit() == 1
        screen = term.text
        assert term.trouble() == ""
    assert "internal error (RuntimeError)" in screen
    assert "Traceback" not in screen
    log = (tmp_path / "home" / "state" / "duetto.log").read_text()
    assert "RuntimeError: a bug" in log


def test_the_practice_workspace_offers_its_exercises(tmp_path: Path) -> None:
    root = ensure(tmp_path / "data")
    options = options_for(workplace(root, tmp_path))
    assert options.prompts == tuple(exercise.prompt for exercise in offered_prompts())
    assert options.suggest is not None
    assert options.suggest() == options.prompts[0]
    assert options_for(workplace(tmp_path, tmp_path)).prompts == ()


def test_the_branch_is_read_from_git(tmp_path: Path) -> None:
    assert git_branch(tmp_path / "nowhere") in ("", git_branch(tmp_path))
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/topic/one\n")
    (tmp_path / "src").mkdir()
    assert git_branch(tmp_path / "src") == "topic/one"
    (tmp_path / ".git" / "HEAD").write_text("0123456789abcdef\n")
    assert git_branch(tmp_path) == "01234567"
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / ".git").write_text(f"gitdir: {tmp_path / '.git'}\n")
    assert git_branch(tmp_path / "tree") == "01234567"


def test_it_opens_on_a_repository_with_an_unknown_theme(
    environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / ".duetto").mkdir()
    (tmp_path / ".duetto" / "config.toml").write_text('[editor]\ntheme = "neon"\n')
    command = [sys.executable, "-m", "tui.cli", str(tmp_path)]
    with Terminal(command, env=environment, cwd=tmp_path) as term:
        term.wait_for("One thing in your settings is not used")
        term.wait_for("the theme 'neon'")
        term.type("\x11")
        assert term.wait_exit() == 0
