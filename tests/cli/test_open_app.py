from __future__ import annotations

from pathlib import Path

from tui.cli.models import Workplace, resolve
from tui.cli.open_app import git_branch, options_for
from tui.cli.options import ModelFlags
from tui.cli.practice import ensure, offered_prompts
from tui.settings import Paths, Settings


def workplace(root: Path, home: Path) -> Workplace:
    paths = Paths.find({"DUETTO_HOME": str(home)})
    return Workplace(root, Settings(), resolve(Settings(), ModelFlags(), {}), paths)


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
